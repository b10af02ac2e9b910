"""Groups of rows with encrypted counters, at any node: sums of counters instead of counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tarnkappe.federation.ciphers import PublicKey
from tarnkappe.federation.ciphers.long_numbers import mpz
from tarnkappe.lattice import Node
from tarnkappe.table import Column, Levels
from tarnkappe.table.encoding import Codes
from tarnkappe.table.grouping import RowGrouping, group_codes

REMEMBERED = 32
"""So many nodes are kept to start others from: sums of sums are cheaper than sums of rows."""


@dataclasses.dataclass(frozen=True, eq=False)
class CounterTable:
    """Distinct combinations of labels and further values, each with the sum of its counters.

    Attributes:
        node: the levels of the labels.
        labels: the label of each cell in every quasi-identifier.
        values: its value in every further column.
        counters: its encrypted count.
        visible: how many rows it is made of, made-up ones included.
    """

    node: Node
    labels: tuple[Codes, ...]
    values: tuple[Codes, ...]
    counters: list[mpz]
    visible: Codes


class CellTable:
    """The cells of a table at every node.

    Args:
        columns: the quasi-identifiers with their levels, row by row.
        values: further columns whose values are told apart.
        counters: the encrypted counter of each row.
        public: the key of the counters.
    """

    def __init__(
        self, columns: Sequence[Column], values: Sequence[Column], counters: list[mpz], public: PublicKey
    ) -> None:
        self._levels = [column.levels for column in columns if column.levels is not None]
        self._cardinalities = [column.cardinality for column in values]
        self._public = public
        self._rows = codes = tuple(column.codes for column in columns)
        bottom: Node = (0,) * len(codes)
        rows = CounterTable(
            bottom, codes, tuple(c.codes for c in values), counters, np.ones(len(counters), np.int32)
        )
        self._known = {bottom: self._merged(rows, bottom)}

    def at(self, node: Node) -> CounterTable:
        """The cells of a node, made from the fewest cells of a node below that are at hand."""
        if node not in self._known:
            below = (n for n in self._known if all(a <= b for a, b in zip(n, node, strict=True)))
            base = min((self._known[n] for n in below), key=lambda cells: len(cells.counters))
            self._known[node] = self._merged(base, node)
            if len(self._known) > REMEMBERED:
                del self._known[list(self._known)[1]]  # the first is the bottom, which all can start from
        return self._known[node]

    @property
    def bottom(self) -> CounterTable:
        """The cells of the values themselves."""
        return next(iter(self._known.values()))

    def groups(self, cells: CounterTable) -> RowGrouping:
        """Which cells have the same labels."""
        sizes = [levels.distinct(level) for levels, level in zip(self._levels, cells.node, strict=True)]
        return group_codes(cells.labels, sizes)

    def group_of_rows(self, cells: CounterTable) -> Codes:
        """For every row the group that it is in at the node of some cells."""
        groups = self.groups(cells)
        steps = zip(self._levels, cells.node, self._rows, cells.labels, strict=True)
        both = [np.append(own[groups.representatives], lv.maps[at][rows]) for lv, at, rows, own in steps]
        sizes = [levels.distinct(level) for levels, level in zip(self._levels, cells.node, strict=True)]
        # Groups are numbered as they first occur, so those of the cells keep their numbers.
        return group_codes(both, sizes).ids[groups.num_groups :]

    def sums(self, groups: RowGrouping, counters: Sequence[mpz]) -> list[mpz]:
        """The encrypted count of every group."""
        sums, square = [mpz(1)] * groups.num_groups, self._public.square
        for group, counter in zip(groups.ids.tolist(), counters, strict=True):
            sums[group] = sums[group] * counter % square
        return sums

    def _merged(self, cells: CounterTable, node: Node) -> CounterTable:
        steps = zip(self._levels, cells.node, node, cells.labels, strict=True)
        labels = tuple(_lift(levels, low, high)[codes] for levels, low, high, codes in steps)
        sizes = [levels.distinct(level) for levels, level in zip(self._levels, node, strict=True)]
        groups = group_codes([*labels, *cells.values], [*sizes, *self._cardinalities])
        first = groups.representatives
        return CounterTable(
            node,
            tuple(codes[first] for codes in labels),
            tuple(codes[first] for codes in cells.values),
            self.sums(groups, cells.counters),
            np.bincount(groups.ids, weights=cells.visible, minlength=groups.num_groups).astype(np.int32),
        )


def _lift(levels: Levels, low: int, high: int) -> Codes:
    """For each label of a level its label of a higher one."""
    up = np.zeros(levels.distinct(low), np.int32)
    up[levels.maps[low]] = levels.maps[high]
    return up
