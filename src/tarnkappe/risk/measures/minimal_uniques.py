"""Minimal sample uniques: the smallest sets of columns by which a row is told from all others.

A row is unique in a set of columns if no other row has the same values there, and the set is minimal for
the row if the row is not unique in any smaller part of it. Whoever is unique in a set is unique in every
larger one, so minimality needs a look only at the parts with one column less. Three facts keep the work
small:

- Rows with the same values in all columns are unique in none, so they count as one row that is never unique.
- If a row is unique in a part of a set, its values there are shared with nobody. So it cannot make another
  row ambiguous in the set: such rows are left out of the counting.
- The sets of one size do not depend on each other: they are counted on all cores.

Explained in docs/explanation/risk.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import MAX_KEYS, append_codes, group_codes
from tarnkappe.table.parallel import in_order

Bits = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]
Columns = tuple[int, ...]

ARRAY_KEYS_PER_ROW = 16
"""Up to so many possible combinations per row are counted in an array of bytes, more in a hash table."""


class MinimalUniques(NamedTuple):
    """A set of columns, and the rows for which it is a smallest one that singles them out."""

    columns: Columns
    rows: Counts


class UniqueRows:
    """The distinct rows of a table, and which of them stand for one person only."""

    def __init__(self, columns: list[Codes], cardinalities: list[int], sizes: Counts) -> None:
        self.columns = columns
        self.cardinalities = cardinalities
        self.single = sizes == 1

    def minimal_uniques(
        self, largest: int, done: Callable[[int, int], None] | None = None
    ) -> Iterator[MinimalUniques]:
        """All minimal sample uniques with at most `largest` columns, the smallest sets first.

        Args:
            largest: the most columns that are combined.
            done: told how many sets of how many are done.
        """
        width = len(self.columns)
        sets = [list(itertools.combinations(range(width), size)) for size in range(1, largest + 1)]
        total, ready = sum(map(len, sets)), 0
        below: dict[Columns, Bits] = {(): np.packbits(np.zeros(len(self.single), dtype=bool))}
        for of_one_size in sets:
            unique: dict[Columns, Bits] = {}
            keep = of_one_size is not sets[-1]
            for columns, (found, rows) in zip(
                of_one_size, in_order(self._with(below), of_one_size), strict=True
            ):
                if keep:
                    unique[columns] = found
                if len(rows):
                    yield MinimalUniques(columns, rows)
                ready += 1
                if done:
                    done(ready, total)
            below = unique

    def _with(self, below: dict[Columns, Bits]) -> Callable[[Columns], tuple[Bits, Counts]]:
        return lambda columns: self._newly_unique(columns, below)

    def _newly_unique(self, columns: Columns, below: dict[Columns, Bits]) -> tuple[Bits, Counts]:
        """The rows unique in some columns (as bits), and those of them that are so in no part."""
        parts = [below[columns[:place] + columns[place + 1 :]] for place in range(len(columns))]
        before = np.bitwise_or.reduce(parts)
        left_out = np.unpackbits(before, count=len(self.single)).view(bool)
        keys, num_keys = self._keys(columns)
        if num_keys <= ARRAY_KEYS_PER_ROW * len(keys):
            now = count_in_array(keys, num_keys, left_out, self.single)
        else:
            now = count_in_hash_table(keys, left_out, self.single)
        return before | np.packbits(now), np.flatnonzero(now)

    def _keys(self, columns: Columns) -> tuple[npt.NDArray[np.uint64], int]:
        """One number for each combination of values."""
        num_keys = 1
        for column in columns:
            num_keys *= self.cardinalities[column]
        if num_keys >= MAX_KEYS:
            grouping = group_codes(
                [self.columns[c] for c in columns], [self.cardinalities[c] for c in columns]
            )
            return grouping.ids.astype(np.uint64), grouping.num_groups
        keys = self.columns[columns[0]].astype(np.uint64)
        for column in columns[1:]:
            append_codes(keys, self.columns[column], self.cardinalities[column])
        return keys, num_keys

    def of_row(self, row: int, largest: int) -> list[Columns]:
        """The minimal sample uniques of one row."""
        alike = [np.packbits(codes == codes[row]) for codes in self.columns]
        found: list[Columns] = []
        for size in range(1, largest + 1):
            for columns in itertools.combinations(range(len(alike)), size):
                same = np.bitwise_and.reduce([alike[column] for column in columns])
                if (
                    self.single[row]
                    and not any(set(smaller) <= set(columns) for smaller in found)
                    and int(np.bitwise_count(same).sum()) == 1
                ):
                    found.append(columns)
        return found


@compiled
def count_in_array(keys: npt.NDArray[np.uint64], num_keys: int, left_out: Flags, single: Flags) -> Flags:
    """Which rows have a key that no other row has, by an array with a place for every key."""
    # Two passes and a byte for each possible key. Left out rows must not be counted: they are unique already
    # and make nobody ambiguous. A row that stands for several is never unique, so its key counts as seen
    # twice at once.
    seen = np.zeros(num_keys, np.uint8)  # 0 nobody, 1 one person, 2 more
    for row in range(len(keys)):
        if not left_out[row]:
            seen[keys[row]] = 2 if seen[keys[row]] or not single[row] else 1
    unique = np.zeros(len(keys), np.bool_)
    for row in range(len(keys)):
        unique[row] = not left_out[row] and seen[keys[row]] == 1
    return unique


@compiled
def count_in_hash_table(keys: npt.NDArray[np.uint64], left_out: Flags, single: Flags) -> Flags:
    """Which rows have a key that no other row has, by a hash table of the rows that were first."""
    # One pass: the first row of a key is unique until a second one comes and takes that back. The table is
    # sized by the rows that count, at most half full; slots have row numbers, and keys are compared at these
    # rows.
    rows = 0
    for row in range(len(keys)):
        rows += not left_out[row]
    capacity = 16
    while capacity < 2 * rows:
        capacity *= 2
    mask = np.uint64(capacity - 1)
    slots = np.full(capacity, -1, np.int32)
    unique = np.zeros(len(keys), np.bool_)
    for row in range(len(keys)):
        if left_out[row]:
            continue
        key = keys[row]
        mixed = (key ^ (key >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(29))) & mask
        while True:
            first = slots[slot]
            if first < 0:
                slots[slot] = row
                unique[row] = single[row]
                break
            if keys[first] == key:
                unique[first] = False
                break
            slot = (slot + np.uint64(1)) & mask
    return unique
