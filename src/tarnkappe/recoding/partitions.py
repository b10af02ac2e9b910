"""Single-dimension partitions: every quasi-identifier is cut into intervals, the same for all rows.

The values of each column are put in order: numbers and dates by size, others as they stand from left to
right under the hierarchy. All values of all columns are then numbered consecutively. A number in a *value
set* says "a new interval starts here"; the first value of a column always starts one and need not be named.
So the empty value set generalizes everything and the set of all values leaves the table as it is.

A least level makes its labels the smallest intervals, a greatest level puts the borders of its labels into
every value set; such a column is written in the words of these levels.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SearchProblem
from tarnkappe.recoding.dimensions import Dimension, dimension
from tarnkappe.recoding.labels import LabelReader, interval_label, set_label
from tarnkappe.recoding.written import Extents, WrittenColumn, whole_bounds
from tarnkappe.table import MISSING, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes

MOST_VALUES = 4096
"""A search keeps two sets of values for every depth of its tree; kernels keep a number in 16 bits."""


Keys = npt.NDArray[np.uint64]


class MergedRows(NamedTuple):
    """Groups of rows that no value set tells apart.

    Attributes:
        codes: for each cell and column, the number (from 0) of the value that its interval starts with.
        sizes: how many rows each cell has.
        labels: how many of them have each class label; no columns where no label is predicted.
        hashes: the sum of the keys of its values, by which a cell is found.
    """

    codes: npt.NDArray[np.int16]
    sizes: Counts
    labels: Counts
    hashes: Keys


class Numbering(NamedTuple):
    """How values are numbered, as kernels see it.

    Attributes:
        first: the number of the first value of each column, and at last how many values there are.
        keys: a random number for each value.
    """

    first: Counts
    keys: Keys


@dataclasses.dataclass(frozen=True, eq=False)
class Letters:
    """The ordered values (or smallest intervals) of one column.

    Attributes:
        dimension: the column with its order.
        level: the level of the hierarchy whose labels they are.
        number_of: for each code of the column, the place of its letter.
        starts: the place in the dimension at which each letter starts.
        limited: whether a job limits the levels, so that only words of the hierarchy may be written.
    """

    dimension: Dimension
    level: int
    number_of: Codes
    starts: Codes
    limited: bool

    def write(self, codes: Codes, head: Mask) -> WrittenColumn:
        """The column as a value set (of this column alone) writes it, for rows given by their codes."""
        if not self.limited and head[1:].all():
            return WrittenColumn(codes, self.dimension.column.values)
        interval = (np.cumsum(head) - head[0]).astype(np.int32)
        first = np.flatnonzero(np.concatenate([[True], head[1:]]))
        low = self.starts[first]
        high = np.append(self.starts, len(self.dimension.code_at))[np.append(first[1:], len(head))] - 1
        reader = LabelReader(self.dimension.column)
        words = [self._word(reader, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        leaves = np.array([reader.leaves(word) for word in words], dtype=np.int64)
        extents = Extents(leaves, self._bounds(low, high))
        nullable = self.dimension.column.values.null_count > 0
        values = pa.array([None if nullable and word == MISSING else word for word in words], pa.string())
        return WrittenColumn(interval[self.number_of[codes]], values, extents=extents)

    def _word(self, reader: LabelReader, low: int, high: int) -> str:
        own = self.dimension
        names, codes = own.column.labels, own.code_at[low : high + 1].tolist()
        if not self.limited and (low == high or (own.is_ordered and high < own.present)):
            return interval_label(names[codes[0]], names[codes[-1]])
        return set_label(self._cover(reader, codes))

    def _cover(self, reader: LabelReader, codes: Sequence[int]) -> list[str]:
        """The most general words of the hierarchy that stand for these values and no others."""
        levels, words, left, at = self.dimension.levels, [], set(codes), 0
        while at < len(codes):
            for level in range(levels.height, self.level - 1, -1):
                word = levels.labels[level][int(levels.maps[level][codes[at]])]
                meaning = reader.meaning(word) or ()
                if level == self.level or left.issuperset(meaning):
                    words.append(word)
                    break
            same = levels.maps[level] == levels.maps[level][codes[at]]
            left -= set(np.flatnonzero(same).tolist())
            while at < len(codes) and codes[at] not in left:
                at += 1
        return words

    def _bounds(self, low: Codes, high: Codes) -> npt.NDArray[np.float64]:
        own = self.dimension
        numbers = own.column.numbers
        if numbers is None:
            return np.full((len(low), 2), np.nan)
        if self.limited:
            return np.tile(np.array(whole_bounds(own.levels), np.float64), (len(low), 1))
        bounds = np.stack([numbers[own.code_at[low]], numbers[own.code_at[high]]], axis=1)
        mixed = high >= max(own.present, 0)
        bounds[mixed & (low < high)] = whole_bounds(own.levels)
        return bounds


@dataclasses.dataclass(frozen=True, eq=False)
class Alphabet:
    """All values of all quasi-identifiers, numbered consecutively in the alphabetical order of the columns.

    Attributes:
        letters: the values of each column.
        numbering: their numbers.
        required: the values that every value set has, the first of each column aside.
        free: the values that a value set may have or not.
    """

    letters: tuple[Letters, ...]
    numbering: Numbering
    required: Mask
    free: Mask

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.free)

    def value_set(self, head: Mask) -> tuple[int, ...]:
        """The numbers of a value set, counted from 1."""
        return tuple((np.flatnonzero(head) + 1).tolist())

    def cells(self, tuples: Tuples, label: str | None = None) -> MergedRows:
        """The rows of a table, equal ones merged."""
        codes = [own.number_of[tuples.columns[own.dimension.column.name].codes] for own in self.letters]
        groups = group_codes(codes, [len(own.starts) for own in self.letters])
        number = groups.num_groups
        sizes = np.bincount(groups.ids, tuples.counts, number).astype(np.int64)
        values = np.stack([own[groups.representatives] for own in codes], axis=1) + self.numbering.first[:-1]
        if label is None:
            labels = np.zeros((number, 0), np.int64)
        else:
            column = tuples.columns[label]
            labels = np.zeros((number, column.cardinality), np.int64)
            np.add.at(labels, (groups.ids, column.codes), tuples.visible_counts((label,)))
        occurring = sizes > 0  # those of a population need not
        hashes = self.numbering.keys[values].sum(axis=1, dtype=np.uint64)
        return MergedRows(
            values.astype(np.int16)[occurring], sizes[occurring], labels[occurring], hashes[occurring]
        )

    def write(self, rows: Tuples, head: Mask) -> dict[str, WrittenColumn]:
        """Every quasi-identifier as a value set writes it, row by row."""
        parts = np.split(head, self.numbering.first[1:-1])
        return {
            own.dimension.column.name: own.write(rows.columns[own.dimension.column.name].codes, part)
            for own, part in zip(self.letters, parts, strict=True)
        }

    def kept(self, rows: Tuples, head: Mask, least_size: int) -> Mask:
        """Which rows are in a class that is large enough."""
        parts = np.split(head, self.numbering.first[1:-1])
        codes = [
            np.cumsum(part, dtype=np.int32)[own.number_of[rows.columns[own.dimension.column.name].codes]]
            for own, part in zip(self.letters, parts, strict=True)
        ]
        groups = group_codes(codes, [len(part) + 1 for part in parts])
        sizes = np.bincount(groups.ids, rows.counts, groups.num_groups)
        return np.asarray(sizes[groups.ids] >= least_size)


def alphabet(problem: SearchProblem) -> Alphabet:
    """The ordered values of a problem's quasi-identifiers."""
    letters, required, free = [], [], []
    for name in sorted(problem.quasi_identifiers):
        index = problem.quasi_identifiers.index(name)
        least, greatest = problem.level_ranges[index][0], problem.level_ranges[index][-1]
        own = _letters(dimension(problem.columns[index], categorical=name in problem.level_limits), least)
        letters.append(dataclasses.replace(own, limited=name in problem.level_limits))
        top = own.dimension.levels.maps[greatest][own.dimension.code_at[own.starts]]
        borders = np.concatenate([[False], top[1:] != top[:-1]])
        required.append(borders)
        free.append(np.concatenate([[False], ~borders[1:]]))
    first = np.concatenate([[0], np.cumsum([len(own) for own in free])]).astype(np.int64)
    if first[-1] > MOST_VALUES:
        raise ParameterError(
            "recoding.quasi-identifiers-values-more-can-searched",
            "the quasi-identifiers have {first:,} values, more than the {most_values:,} that can be "
            "searched over: set a least level for the column with the most values, or use mondrian",
            first=first[-1],
            most_values=MOST_VALUES,
        )
    keys = np.random.default_rng(0).integers(1, 2**63, int(first[-1]), dtype=np.uint64)
    return Alphabet(tuple(letters), Numbering(first, keys), np.concatenate(required), np.concatenate(free))


def _letters(own: Dimension, level: int) -> Letters:
    at = own.levels.maps[level][own.code_at]
    starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]])).astype(np.int32)
    place_to_letter = np.searchsorted(starts, np.arange(len(at)), "right") - 1
    return Letters(own, level, place_to_letter[own.place_of].astype(np.int32), starts, False)
