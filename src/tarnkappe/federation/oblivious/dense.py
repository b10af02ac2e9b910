"""The test of nodes where sites have different rows: each counts its own classes, and only the sum is secret.

Sum of min(c_p, K) over the sites is at least K if and only if the sum of c_p is, and below K both are equal.
So a count has as many bits as K, however many rows there are.

Explained in docs/explanation/federation.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.criterion import Criterion
from tarnkappe.federation.oblivious.insiders import holds_against_insiders
from tarnkappe.federation.oblivious.streams import Words
from tarnkappe.lattice import Node
from tarnkappe.native import compiled
from tarnkappe.table.encoding import Codes, Counts


@dataclasses.dataclass(frozen=True)
class CellGrid:
    """The cells of some nodes side by side: each node begins with a new word.

    Attributes:
        sizes: how many cells each node has.
    """

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, nodes: Sequence[Node], labels: Sequence[Sequence[int]]) -> CellGrid:
        """The cells of nodes, from the number of labels of each column at each level."""
        return cls(
            tuple(math.prod(column[v] for column, v in zip(labels, node, strict=True)) for node in nodes)
        )

    @cached_property
    def words(self) -> int:
        """How many words one plane has."""
        return sum(map(gates.words_for, self.sizes))

    @cached_property
    def parts(self) -> gates.Places:
        """The node of each word."""
        return np.repeat(np.arange(len(self.sizes)), list(map(gates.words_for, self.sizes)))


@dataclasses.dataclass(frozen=True, eq=False)
class LocalRows:
    """The own rows of a site as numbers of labels.

    Attributes:
        labels: for each quasi-identifier and level the label of every row; levels that are not allowed have
            none.
        values: for each sensitive column that a model counts the value of every row.
        sizes: how many labels each quasi-identifier has at each level.
    """

    labels: tuple[tuple[Codes, ...], ...]
    values: tuple[Codes, ...]
    sizes: tuple[tuple[int, ...], ...]

    def cells(self, node: Node) -> Counts:
        """The cell of every row at a node; the last column changes fastest."""
        keys = np.zeros(len(self.labels[0][node[0]]), np.int64)
        for labels, sizes, level in zip(self.labels, self.sizes, node, strict=True):
            keys *= sizes[level]
            keys += labels[level]
        return keys

    def planes(self, nodes: Sequence[Node], cells: CellGrid, criterion: Criterion) -> Words:
        """What the site shares of some nodes: clipped counts, and which values its classes have."""
        planes = np.zeros((criterion.planes, cells.words), np.uint64)
        sizes, small, present = criterion.parts
        begin = 0
        for node, size in zip(nodes, cells.sizes, strict=True):
            keys = self.cells(node)
            end = begin + gates.words_for(size)
            write_counts(keys, size, criterion.clip, planes[sizes, begin:end])
            if criterion.coalitions:
                write_counts(keys, size, criterion.k, planes[small, begin:end])
            for codes, part in zip(self.values, present, strict=True):
                write_presence(keys, codes, planes[part, begin:end])
            begin = end
        return planes


@compiled
def write_counts(keys: npt.NDArray[np.int64], size: int, clip: int, planes: npt.NDArray[np.uint64]) -> None:
    """Count rows in every cell, clip, and write the bits of the counts to planes."""
    # Counts stop at `clip`, so they have as many bits as K. Bit j of all counts is one plane, 64 cells a
    # word: the gates of the protocol then work on words. Time is rows and cells times planes; the planes must
    # come as zeros.
    counts = np.zeros(size, np.int64)
    for key in keys:
        if counts[key] < clip:
            counts[key] += 1
    for cell in range(size):
        count = counts[cell]
        for plane in range(planes.shape[0]):
            planes[plane, cell >> 6] |= np.uint64((count >> plane) & 1) << np.uint64(cell & 63)


@compiled
def write_presence(
    keys: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], planes: npt.NDArray[np.uint64]
) -> None:
    """Set a bit for every value that some row of a cell has; a plane a value."""
    # One bit for each value and cell, set as often as rows come: no counts, as only presence is asked. The
    # planes must come as zeros; 64 cells share a word, so threads must not write to the same plane.
    for row in range(len(keys)):
        planes[codes[row], keys[row] >> 6] |= np.uint64(1) << np.uint64(keys[row] & 63)


def kept_cells(c: Computer, shared: Sequence[Shared], criterion: Criterion) -> Steps[tuple[Shared, Shared]]:
    """Which cells are released, and the number of rows of those that are not.

    Args:
        c: who computes.
        shared: the planes of every site, (2, planes, words) each.
        criterion: what a class must have.
    """
    sizes, small, present = criterion.parts
    total = yield from gates.add_all(c, [planes[:, sizes] for planes in shared], criterion.clip)
    enough = yield from gates.at_least(c, total, criterion.k)
    flags = [enough]
    for part, (_, least) in zip(present, criterion.diversity, strict=True):
        flags.append((yield from _is_diverse(c, [planes[:, part] for planes in shared], least)))
    if criterion.coalitions:
        counts = [planes[:, small] for planes in shared]
        values = [[planes[:, part] for planes in shared] for part in present]
        flags.append((yield from holds_against_insiders(c, counts, values, criterion)))
    kept = yield from gates.all_of(c, flags)
    looked_at = total if criterion.keeps_only_large else total[:, : gates.bits_of(criterion.k - 1)]
    dropped = np.broadcast_to(c.invert(kept)[:, None], looked_at.shape)
    left_out = yield from c.both(looked_at, dropped)
    return kept, left_out


def _is_diverse(c: Computer, present: Sequence[Shared], least: int) -> Steps[Shared]:
    """Whether a class has so many values: a value is there if some site has it."""
    there = yield from gates.any_of(c, present)
    counted = yield from gates.count_of(c, there)
    return (yield from gates.at_least(c, counted, least))


def satisfied_nodes(
    c: Computer, shared: Sequence[Shared], cells: CellGrid, criterion: Criterion
) -> Steps[Shared]:
    """Whether each node satisfies, one a lane: whether no more rows than allowed are suppressed.

    Clipped counts add up to no more than all rows, so higher bits are left out.
    """
    _, small = yield from kept_cells(c, shared, criterion)
    bits = gates.bits_of(criterion.rows)
    suppressed = yield from gates.count_per_part(c, small, cells.parts, len(cells.sizes), bits)
    too_many = yield from gates.at_least(c, suppressed, criterion.limit + 1)
    return c.invert(too_many)
