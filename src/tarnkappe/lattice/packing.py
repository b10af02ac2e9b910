"""Labels of classes as bit fields, and tables that lift them to higher levels.

The labels of a class are packed into as few 64-bit words as their widths allow, one for most tables. To
lift a label from one level to another is one look-up in a table of labels that are already in their place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.lattice import Node
from tarnkappe.table import Column
from tarnkappe.table.classes import labels_at, num_labels
from tarnkappe.table.grouping import Counts

Words = npt.NDArray[np.uint64]

WORD = 64

Steps = tuple[tuple[int, int, int], ...]
"""The columns that are lifted, each with its level before and after."""


class Lift(NamedTuple):
    """How one word of a class at one node becomes that at a node above it.

    Attributes:
        same: the bits of the columns whose level stays.
        fields: for each column that is lifted: its shift, its mask, where its table starts.
        tables: the tables of all columns and levels.
    """

    same: np.uint64
    fields: Counts
    tables: Words


class Fields(NamedTuple):
    """Labels in one word as arrays, by column.

    Attributes:
        shifts: where the bits of a column begin.
        masks: its bits, not yet shifted.
        counts: how many labels it has at each level.
        lifts: where the table from one level to a higher one begins.
        tables: the tables of all columns and levels.
    """

    shifts: Words
    masks: Words
    counts: Counts
    lifts: Counts
    tables: Words


class Packing:
    """Where each column has its bits, and the tables from each level to each higher one."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        heights = [0 if column.levels is None else column.levels.height for column in columns]
        self._places: list[tuple[int, int, int]] = []
        word, shift = 0, 0
        for column in columns:
            bits = max(column.cardinality - 1, 1).bit_length()
            if shift + bits > WORD:
                word, shift = word + 1, 0
            self._places.append((word, shift, (1 << bits) - 1))
            shift += bits
        self.num_words = word + 1
        self._labels = [
            [num_labels(column, level) for level in range(height + 1)]
            for column, height in zip(columns, heights, strict=True)
        ]
        self._masks = [0] * self.num_words
        for place, shift, mask in self._places:
            self._masks[place] |= mask << shift
        self._lifts: dict[Steps, list[Lift]] = {}
        self._starts: list[dict[tuple[int, int], int]] = []
        tables: list[Words] = [np.zeros(0, np.uint64)]
        start = 0
        for column, height, (_, shift, _) in zip(columns, heights, self._places, strict=True):
            starts: dict[tuple[int, int], int] = {}
            for low in range(height):
                for high in range(low + 1, height + 1):
                    starts[low, high] = start
                    tables.append(_table(column, low, high) << np.uint64(shift))
                    start += len(tables[-1])
            self._starts.append(starts)
        self._tables = np.concatenate(tables)

    def pack(self, codes: Sequence[npt.NDArray[np.int32]]) -> tuple[Words, ...]:
        """The words of rows whose labels in each column are given."""
        words = tuple(np.zeros(len(codes[0]), np.uint64) for _ in range(self.num_words))
        for column, (word, shift, _) in zip(codes, self._places, strict=True):
            words[word][:] |= column.astype(np.uint64) << np.uint64(shift)
        return words

    def lift(self, low: Node, high: Node) -> list[Lift]:
        """How to come from one node to a node above it, word by word."""
        steps = tuple(
            (index, before, after)
            for index, (before, after) in enumerate(zip(low, high, strict=True))
            if before != after
        )
        if len(steps) > 1:
            return self._lift(steps)
        if steps not in self._lifts:  # one column after the other is lifted again and again
            self._lifts[steps] = self._lift(steps)
        return self._lifts[steps]

    def _lift(self, steps: Steps) -> list[Lift]:
        same = list(self._masks)
        fields: list[list[tuple[int, int, int]]] = [[] for _ in range(self.num_words)]
        for index, before, after in steps:
            word, shift, mask = self._places[index]
            same[word] &= ~(mask << shift)
            if self._labels[index][after] > 1:  # a single label is number 0, which sets no bit
                fields[word].append((shift, mask, self._starts[index][before, after]))
        return [
            Lift(np.uint64(kept), np.array(lifted, np.int64).reshape(-1, 3), self._tables)
            for kept, lifted in zip(same, fields, strict=True)
        ]

    def arrays(self) -> Fields:
        """Where labels have their bits and how they are lifted, for compiled code."""
        highest = max(map(len, self._labels))
        counts = np.ones((len(self._labels), highest), np.int64)
        lifts = np.zeros((len(self._labels), highest, highest), np.int64)
        for column, (labels, starts) in enumerate(zip(self._labels, self._starts, strict=True)):
            counts[column, : len(labels)] = labels
            for (low, high), start in starts.items():
                lifts[column, low, high] = start
        shifts = np.array([shift for _, shift, _ in self._places], np.uint64)
        masks = np.array([mask for _, _, mask in self._places], np.uint64)
        return Fields(shifts, masks, counts, lifts, self._tables)

    def used(self, node: Node) -> list[int]:
        """The bits of each word that may be set at a node."""
        used = [0] * self.num_words
        for (word, shift, _), labels, level in zip(self._places, self._labels, node, strict=True):
            used[word] |= ((1 << (labels[level] - 1).bit_length()) - 1) << shift
        return used

    def most(self, node: Node) -> int:
        """How many different combinations of labels there can be at a node."""
        return math.prod(labels[level] for labels, level in zip(self._labels, node, strict=True))


def _table(column: Column, low: int, high: int) -> Words:
    """The label at a higher level of each label at a lower one."""
    above = labels_at(column, high)
    assert above is not None
    below = labels_at(column, low)
    if below is None:
        return above.astype(np.uint64)
    lifted = np.zeros(num_labels(column, low), np.uint64)
    lifted[below] = above
    return lifted
