"""Checks the certificate of a release. This file needs Python 3.11 and nothing else; copy it where you like:

    python checker.py CERTIFICATE --release RELEASE.csv [--input INPUT.csv] [--hierarchies FOLDER]

It shares no code with the program that made the release, and believes nothing that it can measure.
1. Promise: the privacy models hold on the values as they are written (needs the release).
2. Truth: every released row says what is true of an input row of its own (needs the input).
3. Optimality: no other levels lose less (needs the input). The certificate names nodes (a level for each
   column); each is measured again. A node excludes what is below it if more rows than may be suppressed are
   in classes no part of which can be good, or if none may be and a class is bad: going down only divides.
   It excludes itself if it breaks a promise or loses no less; others by what levels lose (`Loss.by_level`).
Exit codes: 0 proven; 1 a claim is false; 2 a file cannot be used; 3 not false, but not proven either.
"""

from __future__ import annotations

import argparse
import csv
import gc
import hashlib
import io
import json
import math
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from operator import itemgetter, le
from pathlib import Path
from typing import Any, cast

Counts = Mapping[Any, int]
MISSING, STAR, TIE, MOST_NODES = "", "*", 1e-9, 3_000_000
WORDS = ("proven", "FALSE", "cannot be used", "not proven", "not asked")
PROVEN, FALSE, UNUSABLE, NOT_PROVEN, NOT_ASKED = range(5)
CLAIMS = ("promise", "truth", "bound", "optimality")
LOSSES = re.compile("height|precision(-star)?|loss|entropy(-suppression-aware)?")
NUMBER = re.compile(r"-?(0|[1-9]\d{0,99})(\.\d{1,99})?")


class VerdictError(Exception):
    """Why a check ended: a code and a sentence, which quotes no cell."""


def need(condition: object, sentence: str, code: int = UNUSABLE) -> None:
    """Go on only if a condition holds."""
    if not condition:
        raise VerdictError(code, sentence)


def exact(said: object) -> Fraction:
    """A number as it is written, of a size that can be computed with."""
    need(re.fullmatch(r"-?\d{1,40}(\.\d{1,40})?(/\d{1,40}|e[+-]?\d{1,3})?", str(said)), "a number is none")
    return Fraction(str(said))


def read_certificate(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head, and what only the house and its auditors have (nothing in a certificate for outsiders)."""
    lines, found = path.read_bytes().splitlines(keepends=True), []
    for line in lines[:2]:  # canonical JSON, no fractions, no key twice: it cannot be read in two ways
        found.append(json.loads(line, parse_float=int, parse_constant=int))
        written = json.dumps(found[-1], sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        need(written.encode() == line, "a line of the certificate is no canonical JSON, or is cut off")
    head, private = [*found, {}, {}][:2]
    known = len(lines) in (1, 2) and head["format"] == "tarnkappe certificate 1" and head["claim"] in CLAIMS
    need(known, "this is no certificate that is understood here")
    own = not private or hashlib.sha256(lines[1]).hexdigest() == head["private"]
    need(own, "the second line of the certificate is not the one that the first was made with", FALSE)
    return head, private


def read_rows(path: Path, said: Any, columns: list[str], encoding: str, *, alone: bool) -> Counter[Any]:
    """The distinct rows of the CSV file that is meant, with numbers; `alone`: it has no other columns."""
    data, rows = path.read_bytes(), Counter[Any]()
    need(hashlib.sha256(data).hexdigest() == said["sha256"], f"{path} is not the file that is meant", FALSE)
    text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    for mark in ";,\t|":
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        header = next(reader, [])
        if header == columns or (not alone and set(columns) <= set(header)):
            break
    fits = (
        set(columns) <= set(header) and len(set(header)) == len(header) and (header == columns or not alone)
    )
    need(fits, f"{path} has other columns than it should", FALSE)
    doubtful = '""' in text and re.search(rf'(?m)(^|{re.escape(mark)})""({re.escape(mark)}|\r?$)', text)
    need(not doubtful, f"{path}: an empty text cannot be told from a missing value here")
    places = [header.index(name) for name in columns]
    for row in reader:
        if row or len(header) == 1:  # else an empty line
            need(len(row or [MISSING]) == len(header), f"{path}: a row has too few or too many cells")
            rows[tuple([row[place] for place in places]) if row else (MISSING,)] += 1
    need(rows.total() == said["rows"], f"{path} has another number of rows", FALSE)
    return rows


def sum_by(counts: Counts, key: Callable[[Any], Any]) -> Counter[Any]:
    """Counts by another key."""
    found: Counter[Any] = Counter()
    for each, n in counts.items():
        found[key(each)] += n
    return found


class Model:
    """A privacy model. Each of these holds for a union of classes that it holds for."""

    def __init__(self, said: Mapping[str, Any], watched: Sequence[str]) -> None:
        self.name, column = str(said["model"]), said.get("column")
        self.words = " ".join([self.name, *(f"{key}={said[key]}" for key in sorted(said) if key != "model")])
        known = self.name in MODELS and set(said) <= {"model", "column", "k", "l", "c"}
        need(known, f"{self.words}: this checker does not know the model, or a setting of it", NOT_PROVEN)
        need(column in (None, *watched), f"{self.words}: the column is not released", NOT_PROVEN)
        numbers = [exact(said.get(key, 1)) for key in "klc"]
        self.k, self.l, self.c = (int(x) if x.denominator == 1 else x for x in numbers)
        self.place = None if column is None else watched.index(column)

    def judge(self, size: int, values: Counts) -> tuple[bool, bool]:
        """Whether a class is good, and whether no part of it can be: it has no more rows and values."""
        if self.place is None:
            return size >= self.k, size < self.k
        counts = sum_by(values, lambda cells: cells[self.place])
        counts.pop(STAR, 0)  # a suppressed cell is no value
        return bool(counts) and MODELS[self.name](self, list(counts.values())), len(counts) < self.l


MODELS: dict[str, Callable[[Model, list[int]], bool]] = {
    "k-anonymity": lambda model, counts: bool(model and counts),  # not asked: the number of rows decides
    "distinct-diversity": lambda model, counts: len(counts) >= model.l,
    "entropy-diversity": lambda model, counts: as_even(counts, Fraction(model.l)),
    "recursive-diversity": lambda m, counts: max(counts) < m.c * sum(sorted(counts)[::-1][int(m.l) - 1 :]),
}


def as_even(counts: Sequence[int], least: Fraction) -> bool:
    """Whether e to the entropy is at least l; near ties in whole numbers: m^m >= l^m x the product of n^n."""
    m = sum(counts)
    gap = m * math.log(m / least) - math.fsum(n * math.log(n) for n in counts)
    if abs(gap) > 1e-9 * m * math.log(m + 1):
        return gap > 0
    return bool((m * least.denominator) ** m >= least.numerator**m * math.prod(n**n for n in counts))


def classify(rows: Iterable[Any], models: Sequence[Model]) -> tuple[int, dict[Any, Any], int]:
    """Of rows (class, tuple, sensitive values, number): the good classes, the bad, the hopeless rows."""
    found, bad, hopeless = dict[Any, Any](), dict[Any, Any](), 0
    for key, row, values, n in rows:
        found.setdefault(key, (row, defaultdict(int)))[1][values] += n
    for key, (row, values) in found.items():
        n = sum(values.values())
        verdicts = [model.judge(n, values) for model in models]
        if not all(good for good, _ in verdicts):
            bad[key] = row, n
            hopeless += n * any(lost for _, lost in verdicts)
    return len(found) - len(bad), bad, hopeless


def within(label: str, value: str) -> bool | None:
    """Whether a value is in the interval (20-29, [20, 29], [20, 30), <20, >=90) that a label is, or None."""
    span = re.fullmatch(r"\[?([^,\[]+?)(?:, | to |(?<=\d)-(?=\d))([^,\])]+?)[\])]?", label)
    half = re.fullmatch(r"(<|>=)(.+)", label)
    texts = (value, *(span.group(1, 2) if span else half.group(2, 2) if half else ("", "")))
    dates = all(re.match(r"\d{4}-\d\d-\d\d", text) for text in texts)
    if not dates and not all(map(NUMBER.fullmatch, texts)):
        return None
    at, low, high = cast(Any, texts if dates else map(Fraction, texts))
    if half:
        return bool((at < low) == (half[1] == "<"))
    return bool(low <= at < high or (low <= at == high and label[-1] != ")"))


class Column:
    """A quasi-identifier: the label of each value on every level, and in how many rows each value occurs."""

    def __init__(self, name: str, tree: Sequence[Sequence[str]], counts: Counts) -> None:
        self.name, self.counts, self.height = name, counts, len(tree[0]) - 1
        paths = [(row[0] or MISSING, row[0] or MISSING, *row[1:]) for row in tree]
        self.at = [{path[0]: path[level + 1] for path in paths} for level in range(self.height + 1)]
        whole = len(self.at[0]) == len(tree) and set(counts) <= set(self.at[0])
        need(whole, f"the hierarchy of {name} lacks values of the input, or has one twice", FALSE)
        self.leaves = [Counter(labels.values()) for labels in self.at]
        self.rows = [sum_by(counts, labels.__getitem__) for labels in self.at]
        for level in range(1, self.height + 1):
            pairs = {path[level : level + 2] for path in paths}
            nested = len(pairs) == len({low for low, _ in pairs})
            need(nested, f"level {level} of {name} parts what is one below it", FALSE)

    def stands_for(self, word: str, value: str) -> bool:
        """Whether what is written (a label, an interval, a set {a, b}) is true of a value."""
        labels = [at[value] for at in self.at]
        if word == STAR or word in labels or within(word, value):
            return True
        return word[:1] + word[-1:] == "{}" and any(f", {label}, " in f", {word[1:-1]}, " for label in labels)


class Loss:
    """An information loss that is measured column by column."""

    def __init__(self, said: Mapping[str, Any], columns: Sequence[Column], rows: int) -> None:
        self.name, self.columns, self.m, way = str(said["loss"]), columns, rows, said.get("aggregate")
        usual, weights = {"coding_model": "1/2", "leaves": "hierarchy"}, dict(said.get("weights", []))
        known = bool(LOSSES.fullmatch(self.name)) and set(said) <= {"loss", "weights", "aggregate", *usual}
        known = known and way in ("sum", "mean") and usual.items() <= {**usual, **said}.items()
        need(known, f"{self.name}: this checker does not know the loss, or a setting of it", NOT_PROVEN)
        numbers = [float(exact(weights.get(column.name, 1))) for column in columns]
        need(min(numbers, default=0) >= 0, "a weight is less than nothing")
        self.weights = [x / (1.0 if way == "sum" else sum(numbers) or 1.0) for x in numbers]
        self.by_level = [[self.at_level(each, i) for i in range(each.height + 1)] for each in columns]

    def at_level(self, column: Column, level: int) -> float:
        """What a column loses while all rows are kept: going up joins labels, so it never falls."""
        lost = math.fsum(n * self.cost(column, level, value) for value, n in column.counts.items())
        return lost if self.name.startswith("entropy") else lost / self.m

    def cost(self, column: Column, level: int, value: str) -> float:
        """What a kept cell loses."""
        label = column.at[level][value]
        if "entropy" in self.name:  # what it takes to get the value back from its label
            return math.log2(column.rows[level][label] / column.counts[value])
        if self.name == "loss":
            return (column.leaves[level][label] - 1) / (len(column.at[0]) - 1 or 1)
        return level / (1 if self.name == "height" else column.height or 1)

    def value(self, node: Any, bad: Iterable[tuple[Any, int]]) -> float:
        """The loss of a node, with a tuple and the rows of each suppressed class; these never lower it."""
        total, rows = 0.0, sum(n for _, n in bad)
        for place, (column, level) in enumerate(zip(self.columns, node, strict=True)):
            lost, values = self.by_level[place][level], Counter[str]()
            for row, n in bad:
                values[row[place]] += n
            if self.name == "entropy-suppression-aware":  # what it takes to tell the suppressed labels apart
                labels = sum_by(values, column.at[level].__getitem__)
                lost += math.fsum(n * math.log2(rows / n) for n in labels.values())
            elif self.name in ("precision", "loss"):  # a suppressed cell loses everything
                lost += math.fsum(n - n * self.cost(column, level, v) for v, n in values.items()) / self.m
            total += self.weights[place] * lost
        return total


def visit(nodes: Sequence[Any], rows: Sequence[Any], at: Any, columns: Sequence[Column]) -> Iterator[Any]:
    """Some nodes with their classes: rows are counted where all nodes meet, from there where halves meet."""
    meet = tuple(map(min, zip(*nodes, strict=True)))
    if meet != at or len(nodes) == 1:
        labels = [column.at[level].__getitem__ for column, level in zip(columns, meet, strict=True)]
        *cells, values = zip(*(row for row, _ in rows), strict=True)
        found: dict[Any, list[Any]] = {}
        for key, (row, n) in zip(zip(*map(map, labels, cells), values, strict=True), rows, strict=True):
            found.setdefault(key, [row, 0])[1] += n
        rows = list(found.values())
        if len(nodes) == 1:
            yield meet, ((key[:-1], row, row[-1], n) for key, (row, n) in found.items())
    if len(nodes) > 1:
        spread = [len(set(levels)) for levels in zip(*nodes, strict=True)]
        nodes = sorted(nodes, key=lambda node: node[spread.index(max(spread))])
        for part in (nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]):
            yield from visit(part, rows, meet, columns)


def check_optimality(rows: Counts, models: Any, loss: Loss, private: Any, limit: int, best: Any) -> str:
    """Whether all nodes but the best are excluded; `rows` end with the tuple of their sensitive values."""
    ranges = [range(low, high + 1) for low, high in zip(private["low"], private["high"], strict=True)]
    need(math.prod(map(len, ranges)) <= MOST_NODES, "optimality: there are too many levels", NOT_PROVEN)
    least, said = (float(exact(private[key])) for key in ("least", "value"))
    floor, nodes = least - TIE * max(1.0, abs(least)), list(product(*ranges))
    below, alone = (set(map(tuple, private[rule])) for rule in ("below", "alone"))
    need({best} | below | alone <= set(nodes), "the certificate names levels that there are not")
    for node, classes in visit([*{best} | below | alone], [*rows.items()], (), loss.columns):
        _, bad, hopeless = classify(classes, models)
        suppressed = sum(n for _, n in bad.values())
        value = loss.value(node, bad.values()) if node in {best} | alone else math.inf
        fails = hopeless > limit or (limit == 0 and suppressed > 0)
        need(node not in below or fails, f"{node} does not fail with all that is below it", FALSE)
        worse = suppressed > limit or value >= floor
        need(node not in alone or worse, f"{node} may be released and loses {value:.12g}", FALSE)
        right = abs(value - said) <= TIE * max(1.0, abs(said)) and value >= floor
        right &= suppressed == private["suppressed"]
        need(node != best or right, f"{node} loses {value:.12g} and {suppressed:,} rows, not as said", FALSE)
    bounds, left = [0.0], 0
    for numbers, weight, levels in zip(loss.by_level, loss.weights, ranges, strict=True):
        bounds = [bound + weight * numbers[level] for bound in bounds for level in levels]
    for node, bound in zip(nodes, bounds, strict=True):
        if bound < floor and node not in alone and node != best:
            left += not any(all(map(le, node, high)) for high in below)
    need(not left, f"{left:,} of {len(nodes):,} combinations of levels are not excluded", FALSE)
    whole = [range(column.height + 1) for column in loss.columns] == ranges
    words = f" by {loss.name}" + ("" if whole else ", within limits of levels")
    words += "" if least == said else f", than {least:.12g} (the release loses {said:.12g})"
    return (
        f"no other of {len(nodes):,} combinations of levels loses less{words} ({len(below | alone)} measured)"
    )


def check_cells(released: Counts, originals: Counts, columns: Mapping[int, Column]) -> None:
    """Whether each released row has an input row of its own that its cells are true of, narrow ones first."""
    having, meaning, fits = defaultdict[Any, set[Any]](set), dict[Any, set[Any]](), dict[Any, set[Any]]()
    for row in originals:
        for key in enumerate(row):
            having[key].add(row)
    for row in released:
        for at, word in enumerate(row):
            if (at, word) not in meaning:
                values = [value for place, value in having if place == at]
                true = [v for v in values if v == word or (at in columns and columns[at].stands_for(word, v))]
                meaning[at, word] = set[Any]().union(*(having[at, value] for value in true))
        fits[row] = set.intersection(*sorted((meaning[key] for key in enumerate(row)), key=len))
        need(fits[row], "a released row is true of no input row", FALSE)
    free = dict(originals)
    for row in sorted(fits, key=lambda row: len(fits[row])):
        wanted = released[row]
        for original in fits[row]:
            taken = min(wanted, free[original])
            free[original], wanted = free[original] - taken, wanted - taken
        need(not wanted, "truth: some released rows have no input row of their own in this order", NOT_PROVEN)


def check(path: Path, release: Path, source: Path | None, folder: Path | None, code: str) -> Iterator[Any]:
    """What is proven, and what is not: a code and a sentence each."""
    head, private = read_certificate(path)
    names, known, models = head["release"]["columns"], head["quasi_identifiers"], []
    released, rows = read_rows(release, head["release"], names, "utf-8", alone=True), Counter[Any]()
    need(private or not source, "this certificate is for outsiders: the house has another for its auditors")
    if source:
        rows = read_rows(source, private["input"], names, code, alone=False)
    at, others = [names.index(name) for name in known], [name for name in names if name not in known]
    watched = [name for name in others if name in [model.get("column") for model in head["models"]]]
    sensitive = [names.index(name) for name in watched]
    before, after = (
        sum_by(each, lambda row: (*[row[i] for i in at], (*[row[i] for i in sensitive],)))
        for each in (rows, released)
    )
    for model in head["models"]:
        try:
            models.append(Model(model, watched))
        except VerdictError as error:
            yield error.args
    good, bad, _ = classify(((row[:-1], row, row[-1], n) for row, n in after.items()), models)
    need(not bad and good and head["models"], f"{len(bad):,} classes of the release break a promise", FALSE)
    if models:
        words, also = "; ".join(model.words for model in models), ", ".join(others) or "nothing"
        yield PROVEN, f"{words}: in each of {good:,} classes by {', '.join(known)}; also released: {also}"
    if not source:
        for cells in map(set, zip(*released, strict=True)):  # whether they are words, the input would tell
            shown = {"".join(filter(str.isprintable, unicodedata.normalize("NFKC", cell))) for cell in cells}
            need(len(shown) == len(cells), "values of a column differ only to a machine", NOT_PROVEN)
        yield NOT_ASKED, "truth and optimality: they need the input"
        return
    trees, lost = dict(private["hierarchies"]), rows.total() - released.total()
    for name, tree in trees.items() if folder else ():
        lines = (cast(Path, folder) / f"{name}.csv").read_text("utf-8").splitlines()
        same = sorted(csv.reader(lines, delimiter=";")) == sorted([r[0] or MISSING, *r[1:]] for r in tree)
        need(same, f"the hierarchy of {name} is not the one in the folder", FALSE)
    by_place = {i: Column(names[i], trees[names[i]], sum_by(rows, itemgetter(i))) for i in at}
    limit = math.floor(exact(head["suppression_limit"]) * rows.total())
    need(lost == private["suppressed"] <= limit, f"{lost:,} rows are left out, and {limit:,} may be", FALSE)
    if head["levels"] is None:
        check_cells(released, rows, by_place)
    else:
        labels = {i: by_place[i].at[level] for i, level in zip(at, head["levels"], strict=True)}
        for i in at:
            belied = any(within(labels[i][value], value) is False for value in by_place[i].counts)
            need(not belied, f"an interval of {names[i]} does not hold the values that it stands for", FALSE)
        moved = sum_by(rows, lambda row: (*[labels[i][c] if i in labels else c for i, c in enumerate(row)],))
        need(released <= moved, "a released row is true of no input row of its own", FALSE)
    yield PROVEN, f"{released.total():,} rows, each true of its own of {rows.total():,}; {lost:,} left out"
    if head["claim"] not in CLAIMS[2:]:
        yield NOT_ASKED, "optimality: it is not claimed"
        return
    need(len(models) == len(head["models"]), "optimality: not all models are known here", NOT_PROVEN)
    loss = Loss(head["loss"], list(by_place.values()), rows.total())
    yield PROVEN, check_optimality(before, models, loss, private, limit, (*head["levels"],))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="tarn verify", description="Check the certificate of a release.")
    parser.add_argument("certificate", type=Path)
    for name in ("release", "input", "hierarchies"):
        parser.add_argument(f"--{name}", type=Path, required=name == "release")
    parser.add_argument("--encoding", default="utf-8", help="of the input")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    *given, as_json = vars(parser.parse_args(arguments)).values()
    found: list[Any] = []
    try:
        found.extend(check(*given))
    except VerdictError as error:
        found.append(error.args)
    except Exception as error:  # whatever a forger has thought of; its text may quote cells
        found.append((UNUSABLE, f"a file is not what it should be ({type(error).__name__})"))
    findings = [(WORDS[code], sentence) for code, sentence in found]
    print(json.dumps({"findings": findings}) if as_json else "\n".join(map(": ".join, findings)))
    return int(max(code % NOT_ASKED for code, _ in found))


if __name__ == "__main__":
    gc.disable()  # nothing here refers to itself, and looking for it would take most of the time
    sys.exit(main())
