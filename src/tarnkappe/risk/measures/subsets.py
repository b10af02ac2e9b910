"""How well each set of columns tells people apart: classes and unique rows, each set counted once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tarnkappe.table import Classes
from tarnkappe.table.classes import num_labels
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes, sum_by_group

Columns = frozenset[int]
Done = Callable[[int, int], None]


class Apartness(NamedTuple):
    """How well some columns tell people apart."""

    classes: int
    uniques: int


class SubsetTable:
    """The distinct rows of a table, and what is known of its sets of columns so far."""

    def __init__(self, classes: Classes) -> None:
        released = np.flatnonzero(classes.released)
        self._columns = [
            classes.label_codes(place)[released] for place in range(len(classes.quasi_identifiers))
        ]
        pairs = zip(classes.quasi_identifiers, classes.levels, strict=True)
        self._cardinalities = [num_labels(column, level) for column, level in pairs]
        self._sizes = classes.sizes[released]
        self.everything = Apartness(len(self._sizes), int(np.count_nonzero(self._sizes == 1)))
        self._enough: list[Columns] = []
        self.known: dict[Columns, Apartness] = {frozenset(range(self.width)): self.everything}

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    @property
    def num_tuples(self) -> int:
        """How many distinct rows there are."""
        return len(self._sizes)

    def of(self, columns: Columns) -> Apartness:
        """What one set of columns tells apart.

        A set that tells apart as much as all columns do leaves nothing to its larger sets.
        """
        if columns not in self.known:
            if any(enough <= columns for enough in self._enough):
                return self.everything
            self.known[columns] = self._group(self._columns, self._sizes, sorted(columns))[0]
            if self.known[columns] == self.everything:
                self._enough.append(columns)
        return self.known[columns]

    def count_all(self, done: Done | None = None) -> None:
        """Count every set of columns.

        Sets are made by leaving columns out in a fixed order, so that each is met once, and is counted on
        the distinct rows of the set that it was made from. The column with the most values is left out
        first: half of all sets are then counted without it, on fewer rows.
        """
        order = sorted(range(self.width), key=lambda column: -self._cardinalities[column])
        self._leave_out(self._columns, self._sizes, order, 0, done)

    def _leave_out(
        self, columns: list[Codes], sizes: Counts, left: list[int], start: int, done: Done | None
    ) -> None:
        for place in range(start, len(left)):
            fewer = left[:place] + left[place + 1 :]
            found, members, merged = self._group(columns, sizes, fewer)
            self.known[frozenset(fewer)] = found
            if done:
                done(len(self.known), 2**self.width)
            if place < len(fewer):
                self._leave_out([codes[members] for codes in columns], merged, fewer, place, done)

    def _group(
        self, columns: list[Codes], sizes: Counts, chosen: Sequence[int]
    ) -> tuple[Apartness, Counts, Counts]:
        if not chosen:
            rows = np.array([sizes.sum()])
            return Apartness(1, int(rows[0] == 1)), np.zeros(1, np.int64), rows
        grouping = group_codes([columns[c] for c in chosen], [self._cardinalities[c] for c in chosen])
        merged = sum_by_group(grouping.ids, sizes, grouping.num_groups)
        found = Apartness(grouping.num_groups, int(np.count_nonzero(merged == 1)))
        return found, grouping.representatives, merged
