"""Quasi-identifiers as dimensions of a space in which regions are cut.

Every value has a place. Numbers and dates lie in their order, what is missing after all of them. Other
values lie in the order of their hierarchy, so that the values under a label are neighbours: the first and
the last place of a region in a dimension tell all that its label depends on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.recoding.labels import interval_label, leaves_between
from tarnkappe.recoding.runs import Runs, runs_of
from tarnkappe.recoding.written import Extents, WrittenColumn, whole_bounds
from tarnkappe.table import MISSING, SUPPRESSED, Column, Levels
from tarnkappe.table.encoding import Codes

Places = npt.NDArray[np.int32]
Widths = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Dimension:
    """One quasi-identifier.

    Attributes:
        column: its values.
        place_of: the place of each value, by its code.
        code_at: the code of the value at each place.
        present: where values are numbers, how many places hold one; the others are missing. Otherwise -1.
        labels: for each level of the hierarchy, the label at each place, numbered in the order of places;
            numbers have level 0 only.
        widths: the numbers at each place; or for each level the width of the label at each place, which is
            the number of values under it but one, as a share of that of the root.
        range: the difference of the greatest and the least number.
        runs: the labels of level 1, if numbers are written as runs of these instead of intervals.
    """

    column: Column
    place_of: Places
    code_at: Places
    present: int
    labels: npt.NDArray[np.int32]
    widths: Widths
    range: float
    runs: Runs | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether values are numbers or dates."""
        return self.present >= 0

    @property
    def levels(self) -> Levels:
        """The hierarchy."""
        assert self.column.levels is not None, "a quasi-identifier has a hierarchy"
        return self.column.levels

    def write(self, low: Places, high: Places, region_of_row: Codes) -> WrittenColumn:
        """The column as it is written, given the first and the last place of each region."""
        if np.array_equal(low, high):
            return WrittenColumn(self.code_at[low][region_of_row], self.column.values)
        ends, region = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        first, last = self.code_at[ends[:, 0]], self.code_at[ends[:, 1]]
        words = self._intervals(first, last) if self.is_ordered else self._labels(ends[:, 0], ends[:, 1])
        # Different regions may read alike; to a reader they are one.
        encoded = pa.array(words, pa.string()).dictionary_encode()
        code = np.asarray(encoded.indices, dtype=np.int32)
        texts = encoded.dictionary.to_pylist()
        extents = self._extents(texts, code, first, last) if self.is_ordered else None
        missing = self.column.values.null_count > 0
        values = pa.array([None if missing and text == MISSING else text for text in texts], pa.string())
        return WrittenColumn(code[region.reshape(-1)][region_of_row], values, extents=extents)

    def _intervals(self, first: Places, last: Places) -> list[str]:
        names, runs = self.column.labels, self.runs

        def word(low: int, high: int) -> str:
            if low == high:
                return names[low]
            if high >= self.present:
                return SUPPRESSED
            if runs is None:
                return interval_label(names[low], names[high])
            return runs.word(int(runs.label_of[low]), int(runs.label_of[high]))

        return [word(low, high) for low, high in zip(first.tolist(), last.tolist(), strict=True)]

    def _labels(self, low: Places, high: Places) -> list[str]:
        """The label of the lowest level on which the first and the last place have the same."""
        level = np.argmax(self.labels[:, low] == self.labels[:, high], axis=0)
        levels, codes = self.levels, self.code_at[low]
        return [
            levels.labels[at][int(levels.maps[at][code])]
            for at, code in zip(level.tolist(), codes.tolist(), strict=True)
        ]

    def _extents(self, texts: Sequence[str], code: Codes, first: Places, last: Places) -> Extents:
        """What intervals stand for; an interval that reads alike twice stands for the same."""
        levels, numbers, runs = self.levels, self.column.numbers, self.runs
        assert numbers is not None
        anything = np.array([text == SUPPRESSED for text in texts])
        low, high = np.zeros(len(texts), np.int32), np.zeros(len(texts), np.int32)
        low[code], high[code] = first, last
        leaves = np.where(anything, levels.domain_size, leaves_between(self.column, low, high))
        bounds = np.stack([numbers[low], numbers[high]], axis=1)
        if runs is not None:
            wide = np.flatnonzero(~anything & (low != high))
            ends = runs.label_of[low[wide]], runs.label_of[high[wide]]
            leaves[wide] = runs.last_leaf[ends[1]] - runs.first_leaf[ends[0]]
            if runs.bounds is not None:
                bounds[wide] = np.stack([runs.bounds[ends[0], 0], runs.bounds[ends[1], 1]], axis=1)
        bounds[anything] = whole_bounds(levels)
        return Extents(leaves, bounds)


def dimension(column: Column, *, categorical: bool = False) -> Dimension:
    """A column as a dimension; with `categorical`, numbers are cut along their hierarchy too."""
    levels = column.levels
    assert levels is not None, "a quasi-identifier has a hierarchy"
    places = np.arange(column.cardinality, dtype=np.int32)
    if column.numbers is not None and not categorical:
        numbers, present = column.numbers, int(np.count_nonzero(~np.isnan(column.numbers)))
        spread = float(numbers[present - 1] - numbers[0]) if present else 0.0
        if not np.isfinite(spread):
            numbers, spread = places.astype(np.float64), float(present - 1)
        return Dimension(
            column, places, places, present, places.reshape(1, -1), numbers.reshape(1, -1), spread or 1.0
        )
    code_at = np.lexsort(levels.maps[:]).astype(np.int32)
    place_of = np.empty_like(code_at)
    place_of[code_at] = places
    domain = max(levels.domain_size - 1, 1)
    widths = np.stack([(n[m] - 1) / domain for n, m in zip(levels.leaves, levels.maps, strict=True)])
    labels = np.stack([_in_order(own[code_at]) for own in levels.maps])
    return Dimension(column, place_of, code_at, -1, labels, widths[:, code_at], 1.0)


def labelled(column: Column) -> Dimension:
    """A column as a dimension that shows no value of a row beside another one: numbers are written as runs of
    labels where these are steps of a scale, and by the labels of their hierarchy otherwise.
    """
    runs = runs_of(column)
    if runs is None:
        return dimension(column, categorical=True)
    return dataclasses.replace(dimension(column), runs=runs)


def _in_order(labels: Codes) -> Codes:
    """Labels numbered as they come; equal ones are neighbours."""
    changes = np.ones(len(labels), dtype=bool)
    changes[1:] = labels[1:] != labels[:-1]
    return (np.cumsum(changes) - 1).astype(np.int32)
