"""The words that a method writes into cells, and what a reader must take them for.

A cell holds a value, a label of its column's hierarchy, an interval of numbers or dates with both its
ends, `[20, 29]`, a run of labels of level 1, `[20-24, 30-34]` or shorter `20-34` (of periods of years, too),
a set of values or labels, `{a, b}`, or '*'. `LabelReader` understands these words from the column alone. It
has no part in writing them, so the verification can ask it whether a cell is true of its row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.table import SUPPRESSED, Column, Levels
from tarnkappe.table.encoding import Counts

SEPARATOR = ", "

Places = npt.NDArray[np.integer[Any]]

Meaning = Collection[int]
"""The codes of the values that a word may stand for."""

SHORT_RUNS = (re.compile(r"(-?\d+)-(-?\d+)"), re.compile(r"\[([^\[\], ]+), ([^\[\], ]+)\)"))
"""How labels of intervals look whose ends can be taken for those of a run."""
YEARS = re.compile(r"([0-9]{4})-([0-9]{4})")
"""How labels of years look; a month, `2020-05`, is no range, nor the end of one."""


def interval_label(low: str, high: str) -> str:
    """An interval that contains both its ends; one value is written as itself.

    >>> interval_label("20", "29"), interval_label("20", "20")
    ('[20, 29]', '20')
    """
    return low if low == high else f"[{low}{SEPARATOR}{high}]"


def set_label(words: Iterable[str]) -> str:
    """A set of values or labels; one of them is written as itself.

    >>> set_label(["single", "widowed"])
    '{single, widowed}'
    """
    each = list(words)
    return each[0] if len(each) == 1 else "{" + SEPARATOR.join(each) + "}"


class LabelReader:
    """Understands what is written in a column.

    >>> import pyarrow as pa
    >>> from tarnkappe.hierarchy import Hierarchy
    >>> from tarnkappe.table.encoding import encode_column
    >>> ages = encode_column("age", pa.chunked_array([[18, 25, 29, 40]]))
    >>> rows = [["18", "young", "*"], ["25", "young", "*"], ["29", "old", "*"], ["40", "old", "*"]]
    >>> reader = LabelReader(Hierarchy.from_rows(rows).attach(ages))
    >>> [list(reader.meaning(word)) for word in ("25", "old", "[25, 40]", "{18, old}", "*")]
    [[1], [2, 3], [1, 2, 3], [0, 2, 3], [0, 1, 2, 3]]
    >>> reader.meaning("[25, 41]") is None
    True
    >>> list(reader.meaning("[young, old]"))
    [0, 1, 2, 3]
    """

    def __init__(self, column: Column) -> None:
        self._column = column
        numbers = column.numbers
        self._numbers = {
            label: code
            for code, label in enumerate(column.labels)
            if numbers is not None and not np.isnan(numbers[code])
        }
        self._known: dict[str, Meaning | None] = {}
        self._runs: dict[str, int] = {}

    def meaning(self, word: str) -> Meaning | None:
        """The codes of the values that a word may stand for; None if it is no word of this column.

        A word that stands on several levels of the hierarchy may stand for the values of each.
        """
        if word not in self._known:
            self._known[word] = self._read(word)
        return self._known[word]

    def leaves(self, word: str) -> int:
        """How many values of the whole hierarchy a word may stand for; a word that is none, for all."""
        meaning, domain = self.meaning(word), self._levels.domain_size
        if word == SUPPRESSED or meaning is None:
            return domain
        if word in self._leaves:
            return self._leaves[word]
        if word in self._runs:
            return self._runs[word]
        if isinstance(meaning, range):
            ends = np.array([meaning.start]), np.array([meaning.stop - 1])
            return int(leaves_between(self._column, *ends)[0])
        return min(domain, sum(self._leaves[part] for part in self._parts(word[1:-1]) or ()))

    def _read(self, word: str) -> Meaning | None:
        if word == SUPPRESSED:
            return range(self._column.cardinality)
        if word in self._labels:
            return self._labels[word]
        if word.startswith("[") and word.endswith("]"):
            low, _, high = word[1:-1].partition(SEPARATOR)
            ends = self._numbers
            if low in ends and high in ends and ends[low] < ends[high]:
                return range(ends[low], ends[high] + 1)
        if word.startswith("{") and word.endswith("}"):
            parts = self._parts(word[1:-1])
            if parts:
                return tuple(sorted({code for part in parts for code in self._labels[part]}))
        return self._read_run(word)

    def _read_run(self, word: str) -> Meaning | None:
        """All numbers from the least under one label of level 1 to the greatest under another."""
        for first, last in self._ends_of_run(word):
            low, high = min(self._steps[first]), max(self._steps[last])
            if max(self._steps[first]) < min(self._steps[last]):
                self._runs[word] = self._leaves_of_run(first, last, low, high)
                return range(low, high + 1)
        return None

    def _ends_of_run(self, word: str) -> Iterable[tuple[str, str]]:
        """The labels that a run may go from and to."""
        if word.startswith("[") and word.endswith("]"):
            pieces = word[1:-1].split(SEPARATOR)
            for middle in range(1, len(pieces)):
                first, last = SEPARATOR.join(pieces[:middle]), SEPARATOR.join(pieces[middle:])
                if first in self._steps and last in self._steps:
                    yield first, last
        for form, (starts, stops) in zip(SHORT_RUNS, self._short_ends, strict=True):
            ends = form.fullmatch(word)
            if ends and ends[1] in starts and ends[2] in stops:
                yield starts[ends[1]], stops[ends[2]]

    @cached_property
    def _short_ends(self) -> list[tuple[dict[str, str], dict[str, str]]]:
        """For each form of labels, the label that begins with a number, and the one that ends with it."""
        found = []
        for form in SHORT_RUNS:
            labels: Iterable[str] = self._steps
            if self._levels.bounds is None:
                labels = [label for label in self._steps if YEARS.fullmatch(label)]
            shaped = [(label, ends) for label in labels if (ends := form.fullmatch(label))]
            starts, stops = (Counter(ends[place] for _, ends in shaped) for place in (1, 2))
            found.append(
                (
                    {ends[1]: label for label, ends in shaped if starts[ends[1]] == 1},
                    {ends[2]: label for label, ends in shaped if stops[ends[2]] == 1},
                )
            )
        return found

    def _leaves_of_run(self, first: str, last: str, low: int, high: int) -> int:
        levels = self._levels
        if levels.bounds is None or levels.numbers is None:
            upto = self._leaves_up_to
            if upto is not None:
                return self._leaves[first] + int(upto[high + 1] - upto[low + 1])
            between = {levels.labels[1][int(levels.maps[1][code])] for code in range(low, high + 1)}
            return sum(self._leaves[label] for label in between)
        names = levels.labels[1]
        least = levels.bounds[1][names.index(first), 0]
        most = levels.bounds[1][names.index(last), 1]
        return int(np.count_nonzero((levels.numbers >= least) & (levels.numbers <= most)))

    @cached_property
    def _leaves_up_to(self) -> npt.NDArray[np.int64] | None:
        """The leaves under labels of level 1 that begin before each code; None if values of one lie apart."""
        labels = np.asarray(self._levels.maps[1], np.int64)
        begins = np.flatnonzero(np.diff(labels, prepend=-1))
        if len(begins) > len(np.unique(labels)):
            return None
        leaves = np.zeros(len(labels) + 1, np.int64)
        leaves[begins + 1] = [
            self._leaves[self._levels.labels[1][label]] for label in labels[begins].tolist()
        ]
        return np.cumsum(leaves)

    @cached_property
    def _steps(self) -> dict[str, tuple[int, ...]]:
        """For a column of numbers or dates, the values under each label of level 1."""
        levels, meant = self._levels, dict[str, list[int]]()
        if levels.height > 0:
            for code in self._numbers.values():
                label = int(levels.maps[1][code])
                meant.setdefault(levels.labels[1][label], []).append(code)
        return {label: tuple(codes) for label, codes in meant.items()}

    def _parts(self, inner: str) -> list[str] | None:
        """The words of a set. A word may itself contain the separator, so longer ones are tried first."""
        pieces = inner.split(SEPARATOR)
        found: list[str] = []
        start = 0
        while start < len(pieces):
            for stop in range(len(pieces), start, -1):
                word = SEPARATOR.join(pieces[start:stop])
                if word in self._labels:
                    found.append(word)
                    start = stop
                    break
            else:
                return None
        return found

    @cached_property
    def _labels(self) -> dict[str, tuple[int, ...]]:
        meant: dict[str, set[int]] = {}
        for level in range(self._levels.height + 1):
            names = self._levels.labels[level]
            for code, label in enumerate(self._levels.maps[level].tolist()):
                meant.setdefault(names[label], set()).add(code)
        return {label: tuple(sorted(codes)) for label, codes in meant.items()}

    @cached_property
    def _leaves(self) -> dict[str, int]:
        most: dict[str, int] = {}
        for names, counts in zip(self._levels.labels, self._levels.leaves, strict=True):
            for name, count in zip(names, counts.tolist(), strict=True):
                most[name] = max(count, most.get(name, 0))
        return most

    @property
    def _levels(self) -> Levels:
        levels = self._column.levels
        assert levels is not None, "a quasi-identifier has a hierarchy"
        return levels


def leaves_between(column: Column, low: Places, high: Places) -> Counts:
    """How many values of the hierarchy lie from one value of a column to another, both given by their codes.

    Where the hierarchy tells its numbers, those that do not occur in the column count too.
    """
    numbers, levels = column.numbers, column.levels
    if levels is None or levels.numbers is None or numbers is None:
        return np.asarray(high - low + 1, dtype=np.int64)
    first = np.searchsorted(levels.numbers, numbers[low], "left")
    last = np.searchsorted(levels.numbers, numbers[high], "right")
    return np.where(low == high, 1, last - first).astype(np.int64)  # a missing value is no number
