"""Somebody who changes a release or its certificate, makes all digests fit again, and hopes to be believed."""

from __future__ import annotations

import copy
import csv
import dataclasses
import hashlib
import io
import itertools
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim

Rows = list[list[str]]


@dataclasses.dataclass(frozen=True)
class Certified:
    """A release with its certificate, and the command that verifies them."""

    certificate: Path
    release: Path
    source: Path
    other: Path
    """The certificate of another release of the same input."""
    command: tuple[str, ...]
    """What comes before the certificate and `--release FILE`."""
    rest: tuple[str, ...]
    """What comes after, such as `--input FILE`."""


@dataclasses.dataclass
class Forgery:
    """What is changed: both lines of the certificate, the rows of the release, or the very bytes."""

    head: dict[str, Any]
    private: dict[str, Any]
    rows: Rows
    certificate: Callable[[bytes, bytes], bytes] = lambda first, second: first + second
    release: Callable[[bytes], bytes] = lambda data: data

    @property
    def known(self) -> list[int]:
        """The places of the quasi-identifiers."""
        return [self.rows[0].index(name) for name in self.head["quasi_identifiers"]]

    def classes(self) -> list[list[int]]:
        """The rows of each class, the largest class first."""
        found: dict[tuple[str, ...], list[int]] = {}
        for place, row in enumerate(self.rows[1:], 1):
            found.setdefault(tuple(row[i] for i in self.known), []).append(place)
        return sorted(found.values(), key=len, reverse=True)


class Forger(Attacker[Certified]):
    """Makes forgeries of all kinds that he knows, each with digests that fit."""

    name = "forger"
    promise = "no_forgery"
    knows = "The input, the release, its certificate, and how the checker works."
    sees = "What the checker says."
    does = "Changes the release or the certificate, and writes all numbers of rows and digests anew."

    def attack(self, target: Certified) -> Iterator[Victim]:
        lines = target.certificate.read_bytes().splitlines(keepends=True)
        head, private = map(json.loads, lines)
        rows = list(
            csv.reader(io.StringIO(target.release.read_text(encoding="utf-8"), newline=""), delimiter=";")
        )
        for name, change in self.changes(target):
            forged = Forgery(copy.deepcopy(head), copy.deepcopy(private), copy.deepcopy(rows))
            change(forged)
            if self.is_believed(target, forged):
                yield Victim("an auditor", f"believes this forgery: {name}")

    def is_believed(self, target: Certified, forged: Forgery) -> bool:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(forged.rows)
        release = forged.release(text.getvalue().encode())
        if "sha256" in forged.head["release"]:
            forged.head["release"]["sha256"] = hashlib.sha256(release).hexdigest()
        second = line(forged.private)
        forged.head.setdefault("private", hashlib.sha256(second).hexdigest())
        if isinstance(forged.head["private"], str):
            forged.head["private"] = hashlib.sha256(second).hexdigest()
        files = target.release.with_name("forged.csv"), target.certificate.with_name("forged.json")
        files[0].write_bytes(release)
        files[1].write_bytes(forged.certificate(line(forged.head), second))
        call = [*target.command, str(files[1]), "--release", str(files[0]), *target.rest]
        ran = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60)
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran.returncode == 0 and "within limits" not in ran.stdout

    def changes(self, target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
        yield from released(target)
        yield from said(target)
        yield from proven(target)
        yield from written(target)


class FalseRows(Forger):
    """Changes the release alone, in the ways that are no matter of levels."""

    name = "false rows"
    promise = "true_methods"
    knows = "The input and the release."
    does = "Changes, adds or doubles released rows, and writes all numbers and digests anew."

    def changes(self, target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
        yield from released(target)


def line(document: Any) -> bytes:
    """Canonical JSON."""
    return (json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def released(target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
    """Forgeries of rows; the numbers of rows in the certificate are made to fit."""

    def fitted(change: Callable[[Forgery], object]) -> Callable[[Forgery], object]:
        def work(f: Forgery) -> None:
            before = len(f.rows)
            change(f)
            f.head["release"]["rows"] += len(f.rows) - before
            f.private["suppressed"] -= len(f.rows) - before

        return work

    def cell(f: Forgery, column: str, value: Callable[[str], str], how_many: int = 1) -> None:
        place = f.rows[0].index(column)
        for row in f.classes()[0][:how_many]:
            f.rows[row][place] = value(f.rows[row][place])

    def other_class(f: Forgery) -> None:
        first, second, *_ = f.classes()
        for place in f.known:
            f.rows[first[0]][place] = f.rows[second[0]][place]

    def double(f: Forgery) -> None:
        f.rows[f.classes()[0][0]] = list(f.rows[f.classes()[1][0]])

    def swap_names(f: Forgery) -> None:
        names = f.head["release"]["columns"]
        names[-1], names[-2] = names[-2], names[-1]
        f.rows[0] = list(names)

    yield (
        "a sensitive value changed",
        fitted(lambda f: cell(f, "illness", lambda v: "cold" if v != "cold" else "flu")),
    )
    yield "another number", fitted(lambda f: cell(f, "income", lambda v: str(int(v) + 1)))
    yield "a number with another spelling", fitted(lambda f: cell(f, "income", lambda v: v + ".0"))
    yield "a number with a plus", fitted(lambda f: cell(f, "income", lambda v: "+" + v))
    yield (
        "digits of another script",
        fitted(lambda f: cell(f, "income", lambda v: v.translate({48 + i: 0x660 + i for i in range(10)}))),
    )
    yield "an invisible character", fitted(lambda f: cell(f, "illness", lambda v: v + "\u200b"))
    yield (
        "a letter that looks the same",
        fitted(lambda f: cell(f, "illness", lambda v: chr(ord(v[0]) + 0xFEE0) + v[1:])),
    )
    yield "a space", fitted(lambda f: cell(f, "illness", lambda v: v + " "))
    yield "a row moved to another class", fitted(other_class)
    yield "a row doubled in the place of another", fitted(double)
    yield "a row added", fitted(lambda f: f.rows.append(list(f.rows[f.classes()[0][0]])))
    yield "a row of nobody", fitted(lambda f: f.rows.append([*f.rows[f.classes()[0][0]][:-1], "999999"]))
    yield (
        "a class of nobody",
        fitted(lambda f: f.rows.extend([["99", "Rome", "flu", str(i)] for i in range(9)])),
    )
    yield "an original in the place of a row", fitted(lambda f: original(target, f))
    yield "two columns exchanged", fitted(swap_names)
    yield "a column too many in one row", fitted(lambda f: f.rows[1].append("1"))
    yield "a cell too few in one row", fitted(lambda f: f.rows[1].pop())
    yield (
        "columns in another order",
        fitted(lambda f: f.rows.__setitem__(slice(None), [row[::-1] for row in f.rows])),
    )
    yield "a column named twice", fitted(lambda f: f.rows[0].__setitem__(-1, f.rows[0][0]))
    yield (
        "an empty text for a missing value",
        lambda f: setattr(f, "release", lambda d: d.replace(b";flu;", b';"";', 1)),
    )
    yield "a byte that is no text", lambda f: setattr(f, "release", lambda d: d.replace(b"flu", b"fl\xff", 1))


def original(target: Certified, f: Forgery) -> None:
    """A row that was not released, as it is in the input."""
    with target.source.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    f.rows.append([rows[0][name] for name in f.rows[0]])


def said(target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
    """Forgeries of what is promised and of what the certificate belongs to."""
    del target

    def private(**values: Any) -> Callable[[Forgery], object]:
        return lambda f: f.private.update(values)

    def head(**values: Any) -> Callable[[Forgery], object]:
        return lambda f: f.head.update(values)

    yield "k raised", head(models=[{"model": "k-anonymity", "k": 40}])
    yield "k lowered", head(models=[{"model": "k-anonymity", "k": 1}])
    yield "k of no size", head(models=[{"model": "k-anonymity", "k": "1e999999999"}])
    yield "nothing promised", head(models=[])
    yield "another promise", head(models=[{"model": "distinct-diversity", "column": "illness", "l": 4}])
    yield "a promise that nobody knows", head(models=[{"model": "perfect-anonymity"}])
    yield (
        "a promise of a column that is not there",
        head(models=[{"model": "distinct-diversity", "column": "x", "l": 1}]),
    )
    yield "more may be suppressed", head(suppression_limit="1")
    yield "less may be suppressed", head(suppression_limit="0")
    yield "another loss", head(loss={"loss": "precision-star", "aggregate": "mean"})
    yield "a loss that nobody knows", head(loss={"loss": "none", "aggregate": "mean"})
    yield (
        "a loss of negative weight",
        head(loss={"loss": "entropy", "aggregate": "sum", "weights": [["age", "-1"]]}),
    )
    yield (
        "other levels",
        lambda f: f.head.update(
            levels=[
                min(level + 1, high) for level, high in zip(f.head["levels"], f.private["high"], strict=True)
            ]
        ),
    )
    yield (
        "a quasi-identifier less",
        lambda f: f.head["quasi_identifiers"].pop() and f.head["levels"].pop(),
    )
    yield "another input", private(input={"sha256": "0" * 64, "rows": 1})
    yield "another number of suppressed rows", private(suppressed=0)
    yield "a row less of the input", lambda f: f.private["input"].update(rows=f.private["input"]["rows"] - 1)
    yield "a row less of the release", lambda f: f.head["release"].update(rows=f.head["release"]["rows"] - 1)


def proven(target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
    """Forgeries of the proof."""
    del target

    def labels(f: Forgery, column: str, change: Callable[[list[list[str]]], object]) -> None:
        change(next(rows for name, rows in f.private["hierarchies"] if name == column))

    def exchange(rows: list[list[str]]) -> None:
        rows[0][1:], rows[-1][1:] = rows[-1][1:], rows[0][1:]

    def more_general(f: Forgery, listed: str) -> None:
        """A release one level higher, which is true and keeps the promise, and is called optimal."""
        trees = {name: {row[0] or "": row for row in rows} for name, rows in f.private["hierarchies"]}
        best = f.head["levels"]
        place = next(i for i, level in enumerate(best) if level + 1 < f.private["high"][i])
        column = f.rows[0].index(f.head["quasi_identifiers"][place])
        up = {row[best[place]]: row[best[place] + 1] for row in trees[f.rows[0][column]].values()}
        for row in f.rows[1:]:
            row[column] = up[row[column]]
        f.head["levels"] = [level + (i == place) for i, level in enumerate(best)]
        f.head["loss"] = {"aggregate": "sum", "loss": "height"}
        f.private.update(
            value=str(sum(f.head["levels"])), least=str(sum(f.head["levels"])), below=[], alone=[]
        )
        ranges = [range(a, b + 1) for a, b in zip(f.private["low"], f.private["high"], strict=True)]
        others = [list(node) for node in itertools.product(*ranges) if list(node) != f.head["levels"]]
        if listed:
            f.private[listed] = others

    yield (
        "a value that is less",
        lambda f: f.private.update(
            value=str(float(f.private["value"]) * 0.9), least=str(float(f.private["value"]) * 0.9)
        ),
    )
    yield (
        "a value that is more",
        lambda f: f.private.update(
            value=str(float(f.private["value"]) * 1.1), least=str(float(f.private["value"]) * 1.1)
        ),
    )
    yield (
        "a value that is a little less",
        lambda f: f.private.update(value=str(float(f.private["value"]) - 1e-5)),
    )
    yield (
        "a bound that is more",
        lambda f: (
            f.head.update(claim="bound") or f.private.update(least=str(float(f.private["value"]) * 1.2))
        ),
    )
    yield "a value of no size", lambda f: f.private.update(value="1e99999999", least="1e99999999")
    yield "no node is listed", lambda f: f.private.update(below=[], alone=[])
    yield "a node is missing", lambda f: f.private["below"].pop(0)
    yield (
        "a node raised by a level",
        lambda f: f.private.update(below=[raised(f, f.private["below"][0]), *f.private["below"][1:]]),
    )
    yield "the top is said to fail", lambda f: f.private.update(below=[f.private["high"]], alone=[])
    yield (
        "the best is said to fail",
        lambda f: f.private.update(below=[*f.private["below"], f.head["levels"]]),
    )
    yield "a node that there is not", lambda f: f.private["below"].append([99] * len(f.head["levels"]))
    yield "a node of too few levels", lambda f: f.private["below"].append([0])
    yield "a worse release, and nothing listed", lambda f: more_general(f, "")
    yield "a worse release, all others said to fail", lambda f: more_general(f, "below")
    yield "a worse release, all others said to be no better", lambda f: more_general(f, "alone")
    yield (
        "a lattice of one node",
        lambda f: f.private.update(low=f.head["levels"], high=f.head["levels"], below=[], alone=[]),
    )
    yield "a hierarchy with labels exchanged", lambda f: labels(f, "age", exchange)
    yield (
        "a hierarchy that is not nested",
        lambda f: labels(f, "age", lambda rows: rows[0].__setitem__(1, rows[-1][1])),
    )
    yield "a hierarchy that lacks a value", lambda f: labels(f, "age", lambda rows: rows.pop(0))
    yield (
        "a hierarchy with a value twice",
        lambda f: labels(f, "age", lambda rows: rows.append([rows[0][0], *rows[-1][1:]])),
    )
    yield "no hierarchy", lambda f: f.private.update(hierarchies=[])


def raised(f: Forgery, node: list[int]) -> list[int]:
    """The node with every level one higher, as far as there is one."""
    return [min(level + 1, high) for level, high in zip(node, f.private["high"], strict=True)]


def written(target: Certified) -> Iterator[tuple[str, Callable[[Forgery], object]]]:
    """Forgeries of the very bytes of the certificate."""

    def bytes_of(change: Callable[[bytes, bytes], bytes]) -> Callable[[Forgery], object]:
        return lambda f: setattr(f, "certificate", change)

    yield "the certificate of another release", bytes_of(lambda a, b: target.other.read_bytes())
    yield (
        "the first line of another one",
        bytes_of(lambda a, b: target.other.read_bytes().splitlines(keepends=True)[0] + b),
    )
    yield "cut off at the end", bytes_of(lambda a, b: a + b[:-1])
    yield "cut off in the middle", bytes_of(lambda a, b: a + b[: len(b) // 2])
    yield "cut off in the first line", bytes_of(lambda a, b: a[: len(a) // 2])
    yield "empty", bytes_of(lambda a, b: b"")
    yield "only the second line", bytes_of(lambda a, b: b)
    yield "a third line", bytes_of(lambda a, b: a + b + b)
    yield "a key twice", bytes_of(lambda a, b: a.replace(b'{"claim":', b'{"claim":"promise","claim":', 1) + b)
    yield "a space", bytes_of(lambda a, b: a.replace(b":", b": ", 1) + b)
    yield "letters written as numbers", bytes_of(lambda a, b: a.replace(b'"claim"', b'"clai\\u006d"', 1) + b)
    yield "a number with a point", bytes_of(lambda a, b: a.replace(b'"k":3', b'"k":3.0', 1) + b)
    yield "no number at all", bytes_of(lambda a, b: a.replace(b'"k":3', b'"k":NaN', 1) + b)
    yield (
        "a number of 5,000 digits",
        bytes_of(lambda a, b: a.replace(b'"k":3', b'"k":3' + b"0" * 5000, 1) + b),
    )
    yield "100,000 brackets", bytes_of(lambda a, b: b"[" * 100_000 + b"]" * 100_000 + b"\n" + b)
    yield "bytes that are no text", bytes_of(lambda a, b: b"\xff\xfe" + a + b)
    yield "another format", lambda f: f.head.update(format="tarnkappe certificate 2")
    yield "another claim", lambda f: f.head.update(claim="everything")
    yield "no digest of the second line", lambda f: f.head.update(private=None)
    yield "no digest of the release", lambda f: f.head["release"].pop("sha256")
