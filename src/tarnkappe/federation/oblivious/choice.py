"""Which of the nodes that satisfy loses least, found without telling any loss.

Losses of levels alone are public. Entropy is a sum over columns of E(j, v) - E(j, 0), where E is the sum over
the labels of F log2 F and F says in how many rows a label occurs: sites share their counts, and all else is
a circuit. Ties are broken as `SearchProblem.order` does; of that order the share of distinct values that
are lost depends on the data and is a circuit too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from tarnkappe.federation.contract import Contract
from tarnkappe.federation.oblivious import gates
from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.dense import LocalRows
from tarnkappe.federation.oblivious.fixed_log import FRACTION, log2_bits, log2_fixed
from tarnkappe.federation.oblivious.streams import Words
from tarnkappe.lattice import Node, SearchProblem
from tarnkappe.lattice.problem import TIE
from tarnkappe.loss import ColumnLoss
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Column, Levels, Tuples

TIE_PARTS = round(1 / TIE)
"""Losses that differ by less than the least one divided by this are equal, as in a central search."""


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """What all parties know of the order of nodes.

    Attributes:
        contract: what all have agreed on.
    """

    contract: Contract

    @cached_property
    def problem(self) -> SearchProblem:
        """A problem of the same levels and loss, without data."""
        columns = {}
        for name in self.contract.quasi_identifiers:
            height = self.contract.column(name).height
            one = Levels(
                (np.zeros(1, np.int32),) * (height + 1),
                (("*",),) * (height + 1),
                (np.ones(1, np.int64),) * (height + 1),
            )
            columns[name] = Column(name, np.zeros(1, np.int32), pa.array(["*"])).with_levels(one)
        return SearchProblem(
            Tuples(columns, np.full(1, 2, np.int64)),
            self.contract.quasi_identifiers,
            (KAnonymity(2),),
            self.contract.loss,
            level_limits=self.contract.level_limits,
        )

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes that may be chosen; the number of a node is its place here."""
        by_name = self.problem.order
        return sorted(self.problem.nodes(), key=lambda node: by_name(node)[3])

    @property
    def loss_is_public(self) -> bool:
        """Whether the loss depends on the levels alone."""
        return self.contract.loss.name in ("height", "precision-star")

    def public_loss(self, node: Node) -> float:
        """The loss of a node, where it depends on the levels alone."""
        loss, columns = self.contract.loss, self.problem.columns
        assert isinstance(loss, ColumnLoss)
        steps = zip(columns, node, strict=True)
        return loss.combine([loss.of_column(self.problem.tuples, c, level) for c, level in steps], columns)

    def ranks(self, candidates: Sequence[Node]) -> list[int]:
        """The rank of each candidate by all that is public: loss, sum of levels, share of heights."""
        losses = [self.public_loss(node) if self.loss_is_public else 0.0 for node in candidates]
        group, first = {}, None
        for loss in sorted(set(losses)):
            if first is None or loss > first + TIE * max(1.0, abs(first)):
                first = loss
            group[loss] = first
        keys = [
            (group[loss], *self.problem.order(node)[:2])
            for loss, node in zip(losses, candidates, strict=True)
        ]
        place = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return [place[key] for key in keys]

    def contenders(self, satisfying: Sequence[Node]) -> list[Node]:
        """Of nodes that are known to satisfy, those that may be the best as far as all know."""
        if not self.loss_is_public:
            return list(satisfying)
        ranks = self.ranks(satisfying)
        return [node for node, rank in zip(satisfying, ranks, strict=True) if rank == min(ranks)]


@dataclasses.dataclass(frozen=True)
class MarginalLabels:
    """The counts of the labels of single columns, side by side: one lane a label of a column at a level.

    Attributes:
        levels: column and level of each part.
        sizes: how many labels each part has.
        rows: how many rows there are in all.
    """

    levels: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    rows: int

    @classmethod
    def of(cls, labels: Sequence[Sequence[int]], ranges: Sequence[range], rows: int) -> MarginalLabels:
        """All labels of all levels that may be chosen."""
        levels = tuple((j, level) for j, allowed in enumerate(ranges) for level in allowed)
        return cls(levels, tuple(labels[j][level] for j, level in levels), rows)

    @property
    def bits(self) -> int:
        """Of a count."""
        return gates.bits_of(self.rows)

    @property
    def lanes(self) -> int:
        """How many labels there are."""
        return sum(self.sizes)

    def planes(self, rows: LocalRows) -> Words:
        """The counts of the own rows."""
        counts = np.concatenate(
            [
                np.bincount(rows.labels[j][level], minlength=size)
                for (j, level), size in zip(self.levels, self.sizes, strict=True)
            ]
        )
        bits = (counts[None] >> np.arange(self.bits)[:, None] & 1).astype(np.uint8)
        return gates.packed(bits)

    def part(self, column: int, level: int) -> int:
        """The place of a column at a level among the parts."""
        return self.levels.index((column, level))

    def base(self, column: int) -> int:
        """The part of the values of a column, before any of them is generalized."""
        return next(place for place, (j, _) in enumerate(self.levels) if j == column)

    def summed(self, c: Computer, x: Shared, bits: int) -> Steps[Shared]:
        """The sum of numbers over the labels of each part, one part a lane."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        places = np.full((max(self.sizes), len(self.sizes)), self.lanes)  # one lane more, of zeros
        for part, size in enumerate(self.sizes):
            places[:size, part] = starts[part] + np.arange(size)
        lanes = gates.unpacked(x, self.lanes)
        padded = np.concatenate([lanes, np.zeros((*lanes.shape[:-1], 1), np.uint8)], axis=-1)
        items = gates.packed(padded[..., places])  # 2, bits, labels, words
        weights = np.repeat(np.arange(items.shape[1]), items.shape[2])
        return (yield from gates.weighted_sum(c, items.reshape(2, len(weights), -1), weights, bits))

    def of_nodes(self, c: Computer, x: Shared, nodes: Sequence[Node], bits: int) -> Steps[Shared]:
        """The sum over the columns of each node of numbers that parts have, one node a lane."""
        items = []
        for column in range(len(nodes[0])):
            places = np.array([self.part(column, node[column]) for node in nodes])
            items.append(gates.moved(x, len(self.levels), places))
        stacked = np.concatenate(items, axis=1)
        weights = np.tile(np.arange(x.shape[1]), len(items))
        return (yield from gates.weighted_sum(c, stacked, weights, bits))


def chosen(
    c: Computer,
    candidates: Sequence[Node],
    good: Shared | None,
    counts: Shared,
    marginals: MarginalLabels,
    ranking: Ranking,
) -> Steps[Shared]:
    """The number of the best candidate, in one lane; its highest bit says that none satisfies.

    Args:
        c: who computes.
        candidates: the nodes, one a lane.
        good: which of them satisfy; all if None.
        counts: how often labels occur in all rows.
        marginals: what the lanes of the counts are.
        ranking: the public part of the order.
    """
    lanes = len(candidates)
    numbers = {node: number for number, node in enumerate(ranking.nodes)}
    if good is None:
        good = gates.constants(c, [1] * lanes, 1)[:, 0]
    if not ranking.loss_is_public:
        good = yield from _least_entropy(c, candidates, good, counts, marginals)
    ranks = ranking.ranks(candidates)
    keys = [gates.constants(c, [numbers[node] for node in candidates], gates.bits_of(len(numbers) - 1))]
    if len(set(ranks)) < lanes:
        keys.append((yield from _lost_values(c, candidates, counts, marginals)))
    keys.append(gates.constants(c, ranks, gates.bits_of(max(ranks))))
    keys.append(c.invert(good)[:, None])
    best = yield from gates.least_of(c, np.concatenate(keys, axis=1), lanes)
    return np.concatenate([best[:, : keys[0].shape[1]], best[:, -1:]], axis=1)


def _least_entropy(
    c: Computer, candidates: Sequence[Node], good: Shared, counts: Shared, marginals: MarginalLabels
) -> Steps[Shared]:
    """Which good candidates lose least, or as little as a central search takes for the same."""
    logs = yield from log2_fixed(c, counts)
    bits = marginals.bits + log2_bits(marginals.rows)
    products = yield from gates.multiply(c, counts, logs, bits)
    entropy = yield from marginals.summed(c, products, bits)
    base = np.array([marginals.base(column) for column, _ in marginals.levels])
    before = gates.moved(entropy, len(base), base)
    lost = yield from gates.subtract(c, entropy, before, bits)
    bits += gates.bits_of(len(candidates[0]))
    losses = yield from marginals.of_nodes(c, lost, candidates, bits)
    lanes = len(candidates)
    keys = np.concatenate([losses, c.invert(good)[:, None]], axis=1)
    best = yield from gates.least_of(c, keys, lanes)
    least = gates.moved(best[:, :-1], 1, np.zeros(lanes, np.int64))
    more = yield from gates.subtract(c, losses, least, bits)
    one = gates.constants(c, [1 << FRACTION] * lanes, max(bits, FRACTION + 1))
    below_one = yield from gates.less(c, least, one)
    width = yield from gates.select(c, below_one, one, gates.widened(least, one.shape[1]))
    shifts = [shift for shift in range(TIE_PARTS.bit_length()) if TIE_PARTS >> shift & 1]
    weights = np.add.outer(np.array(shifts), np.arange(bits)).reshape(-1)
    items = np.concatenate([more] * len(shifts), axis=1)
    total = bits + TIE_PARTS.bit_length()
    scaled = yield from gates.weighted_sum(c, items, weights, total)
    too_much = yield from gates.less(c, width, scaled)
    return (yield from c.both(good, c.invert(too_much)))


def _lost_values(
    c: Computer, candidates: Sequence[Node], counts: Shared, marginals: MarginalLabels
) -> Steps[Shared]:
    """How many distinct values each candidate loses: the sum of the shares of all columns.

    A share is a number of values by the number of all values of its column. All shares are brought to one
    denominator, the product of the numbers of all columns, so that they are compared without fractions.
    """
    absent = yield from gates.all_of(c, [c.invert(counts[:, bit]) for bit in range(counts.shape[1])])
    bits = gates.bits_of(max(marginals.sizes))
    occurring = yield from marginals.summed(c, c.invert(absent)[:, None], bits)
    parts, columns = len(marginals.levels), len(candidates[0])
    base = np.array([marginals.base(column) for column, _ in marginals.levels])
    before = gates.moved(occurring, parts, base)
    lost = yield from gates.subtract(c, before, occurring, bits)
    for step in range(1, columns):
        others = np.array([marginals.base((column + step) % columns) for column, _ in marginals.levels])
        factor = gates.moved(occurring, parts, others)
        lost = yield from gates.multiply(c, lost, factor, lost.shape[1] + bits)
    return (yield from marginals.of_nodes(c, lost, candidates, lost.shape[1] + gates.bits_of(columns)))
