"""Grouping of rows by integer codes: the kernel under every check.

Codes are packed into one 64-bit key per row. Few possible keys are counted in an array, many in a
hash table. When even 64 bits are too few, the columns packed so far are first replaced by their
group numbers.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

MAX_KEYS = 2**63
ARRAY_KEYS_PER_ROW = 4
ARRAY_KEYS = 2**16


class RowGrouping(NamedTuple):
    """Which group each row is in, and one row of each group. Groups are numbered as they first occur."""

    ids: Codes
    representatives: Counts

    @property
    def num_groups(self) -> int:
        """How many groups there are."""
        return len(self.representatives)


def group_codes(
    columns: Sequence[Codes],
    cardinalities: Sequence[int],
    labels: Sequence[Codes | None] | None = None,
) -> RowGrouping:
    """Group rows that agree in all columns.

    With `labels`, an array for a column gives the label of each of its codes, and rows are grouped by
    labels; the cardinality is then the number of labels.

    >>> grouping = group_codes([np.array([0, 1, 0], np.int32), np.array([2, 2, 2], np.int32)], [2, 3])
    >>> grouping.ids.tolist(), grouping.representatives.tolist()
    ([0, 1, 0], [0, 1])
    """
    num_rows = len(columns[0]) if columns else 0
    keys = np.zeros(num_rows, dtype=np.uint64)
    num_keys = 1
    for codes, cardinality, label in zip(
        columns, cardinalities, labels or (None,) * len(columns), strict=True
    ):
        if num_keys * max(cardinality, 1) >= MAX_KEYS:
            compact = group_keys(keys, num_keys)
            keys, num_keys = compact.ids.astype(np.uint64), compact.num_groups
        if label is None:
            append_codes(keys, codes, cardinality)
        else:
            append_labels(keys, codes, label, cardinality)
        num_keys *= max(cardinality, 1)
    return group_keys(keys, num_keys)


def group_keys(keys: Keys, num_keys: int) -> RowGrouping:
    """Group equal keys, all of them below `num_keys`."""
    if num_keys <= max(ARRAY_KEYS, ARRAY_KEYS_PER_ROW * len(keys)):
        ids, representatives = _group_by_array(keys, num_keys)
    else:
        ids, representatives = _group_by_hash(keys)
    return RowGrouping(ids, representatives)


@compiled
def append_codes(keys: Keys, codes: Codes, cardinality: int) -> None:
    """Append one column to packed keys."""
    # Horner's scheme, in place: while the product of cardinalities stays below 2**63, equal keys are equal
    # rows. The caller compacts before that bound (`group_codes`); a code at or above `cardinality` would
    # collide.
    factor = np.uint64(cardinality)
    for row in range(len(keys)):
        keys[row] = keys[row] * factor + np.uint64(codes[row])


@compiled
def append_labels(keys: Keys, codes: Codes, labels: Codes, cardinality: int) -> None:
    """Append one column to packed keys, each code replaced by its label."""
    # As `append_codes`; the label is looked up here, so that no second column of labels is made (8 bytes a
    # row less to write and read). Equal labels give equal keys, which is all that generalizing a column
    # takes.
    factor = np.uint64(cardinality)
    for row in range(len(keys)):
        keys[row] = keys[row] * factor + np.uint64(labels[codes[row]])


@compiled
def _group_by_array(keys: Keys, num_keys: int) -> tuple[Codes, Counts]:
    # One pass, 4 bytes for each possible key: for few keys faster than any hash. Groups are numbered as they
    # first occur, so `first` rises; `first` needs the lesser of both sizes, and `groups` must grow only after
    # its use.
    group_of_key = np.full(num_keys, -1, np.int32)
    ids = np.empty(len(keys), np.int32)
    first = np.empty(min(len(keys), num_keys), np.int64)
    groups = 0
    for row in range(len(keys)):
        group = group_of_key[keys[row]]
        if group < 0:
            group = groups
            group_of_key[keys[row]] = group
            first[group] = row
            groups += 1
        ids[row] = group
    return ids, first[:groups].copy()


@compiled
def _group_by_hash(keys: Keys) -> tuple[Codes, Counts]:
    # Open addressing with linear probing, at most half full: a probe ends after about two slots. A slot has
    # the group and not the key, which is read at the group's first row: 4 bytes a slot instead of 12. Packed
    # keys differ in few bits, often high ones, so both shifts are needed before the mask takes low bits.
    capacity = 16
    while capacity < 2 * len(keys):
        capacity *= 2
    mask = np.uint64(capacity - 1)
    slots = np.full(capacity, -1, np.int32)
    ids = np.empty(len(keys), np.int32)
    first = np.empty(len(keys), np.int64)
    groups = 0
    for row in range(len(keys)):
        key = keys[row]
        mixed = (key ^ (key >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ (mixed >> np.uint64(29))) & mask
        while True:
            group = slots[slot]
            if group < 0:
                group = groups
                slots[slot] = group
                first[group] = row
                groups += 1
                break
            if keys[first[group]] == key:
                break
            slot = (slot + np.uint64(1)) & mask
        ids[row] = group
    return ids, first[:groups].copy()


@compiled
def translate(codes: Codes, table: Codes) -> Codes:
    """Each code replaced by what the table has for it."""
    # numpy's `table[codes]` does the same with an index array of 64 bits; this stays at 4 bytes a row and
    # without the interpreter lock. The table needs an entry for every code that occurs; nothing is checked.
    translated = np.empty(len(codes), np.int32)
    for row in range(len(codes)):
        translated[row] = table[codes[row]]
    return translated


@compiled
def occurring(codes: Codes, cardinality: int) -> npt.NDArray[np.bool_]:
    """Which codes occur."""
    # One pass and a byte a code, whatever the order of the rows: sorting them to find what is different takes
    # a logarithm more. Writing the same byte again is cheaper than asking first whether it is set.
    used = np.zeros(cardinality, np.bool_)
    for code in codes:
        used[code] = True
    return used


@compiled
def sum_by_group(ids: Codes, weights: Counts, num_groups: int) -> Counts:
    """The sum of the weights of each group."""
    # Sums are in 64 bits: weights are counts of rows, and all of them together are at most the rows there
    # are. Groups may come in any order; one pass, and what the groups take in memory.
    sums = np.zeros(num_groups, np.int64)
    for row in range(len(ids)):
        sums[ids[row]] += weights[row]
    return sums


@compiled
def sort_pairs_by_group(groups: Codes, num_groups: int) -> tuple[Counts, Counts]:
    """A stable order of entries by group, and where each group starts in it."""
    # Counting sort: entries and groups in time, no comparisons. Offsets are counted one place further, so
    # that their running sum is where each group starts. Entries are placed in their order, which makes it
    # stable: the caller relies on it for results that are the same on every run. `place` must be a copy: it
    # moves, offsets stay.
    offsets = np.zeros(num_groups + 1, np.int64)
    for entry in range(len(groups)):
        offsets[groups[entry] + 1] += 1
    for group in range(num_groups):
        offsets[group + 1] += offsets[group]
    place = offsets[:-1].copy()
    order = np.empty(len(groups), np.int64)
    for entry in range(len(groups)):
        order[place[groups[entry]]] = entry
        place[groups[entry]] += 1
    return order, offsets
