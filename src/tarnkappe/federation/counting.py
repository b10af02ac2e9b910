"""What the holder of the counters' key does: decide and measure from counts without names.

It sees how many true rows each group of a test has, in a random order, and where a model needs them the
counts of opaque sensitive values; never which labels a group has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from tarnkappe.federation.contract import Contract
from tarnkappe.federation.engine import opaque_levels
from tarnkappe.lattice import Node
from tarnkappe.lattice.problem import TIE
from tarnkappe.privacy import protect, satisfied
from tarnkappe.privacy.exact import share_of
from tarnkappe.table import Classes, ClassState, Column, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts


@dataclasses.dataclass(frozen=True, eq=False)
class ValueCounts:
    """How often each opaque value of a column occurs in each group.

    Attributes:
        groups: the group of every entry.
        values: its value.
        counts: how many true rows.
        lines: for every value its labels level by level, where the model needs them.
    """

    groups: Codes
    values: Codes
    counts: Counts
    lines: Codes | None = None

    def distribution(self, name: str, number: Mapping[int, int]) -> Distribution:
        """The entries of the groups that have true rows, which are given new numbers."""
        real = self.counts > 0
        groups = np.array([number[g] for g in self.groups[real].tolist()], np.int32)
        order = np.argsort(groups, kind="stable")
        occurring, values = np.unique(self.values[real], return_inverse=True)
        column = _opaque(name, len(occurring), None if self.lines is None else self.lines[occurring])
        counts = self.counts[real]
        totals = np.bincount(values, weights=counts, minlength=len(occurring)).astype(np.int64)
        sizes = np.bincount(groups, minlength=len(number))
        return Distribution(
            column,
            totals,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            values[order].astype(np.int32),
            counts[order],
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Marginals(Tuples):
    """A table of which only the number of rows is known, and how often the values of single columns occur."""

    by_column: Mapping[str, Counts] = dataclasses.field(default_factory=dict)

    def label_counts(self, name: str, level: int) -> Counts:
        """In how many rows each label of a column occurs at a level."""
        levels = self.columns[name].levels
        assert levels is not None
        labels = levels.maps[level]
        counts = np.bincount(labels, weights=self.by_column[name], minlength=levels.distinct(level))
        return counts.astype(np.int64)


@dataclasses.dataclass(frozen=True)
class NodeVerdict:
    """What a test found: whether the node satisfies, what it loses, which groups stay."""

    node: Node
    satisfied: bool
    loss: float
    suppressed: int
    kept: Mask


class CounterEvaluator:
    """Decides tests.

    Args:
        contract: what is promised.
        marginals: for columns whose values the loss counts, how often each opaque value occurs in true rows,
            and the labels of each.
    """

    def __init__(self, contract: Contract, marginals: Mapping[str, tuple[Counts, Codes]]) -> None:
        self._contract = contract
        self._counts: dict[str, Counts] = {}
        self._columns: dict[str, Column] = {}
        for name in contract.quasi_identifiers:
            if name in marginals:
                counts, lines = marginals[name]
                real = counts > 0
                self._counts[name], lines = counts[real], lines[real]
            else:
                lines = np.zeros((1, contract.column(name).height + 1), np.int32)
            self._columns[name] = dataclasses.replace(
                _opaque(name, len(lines), lines), codes=np.zeros(1, np.int32)
            )
        self._verdicts: dict[int, NodeVerdict] = {}

    def judge(self, test: int, node: Node, sizes: Counts, values: Mapping[str, ValueCounts]) -> NodeVerdict:
        """Decide a test from true counts; a group without true rows is none."""
        contract, rows = self._contract, int(sizes.sum())
        real = np.flatnonzero(sizes > 0)
        number = {group: index for index, group in enumerate(real.tolist())}
        classes = Classes(
            Marginals(self._columns, np.array([rows]), by_column=self._counts),
            tuple(self._columns.values()),
            node,
            sizes[real],
            None,
            np.zeros(len(real), np.int64),
            {(name,): each.distribution(name, number) for name, each in values.items()},
        )
        state: ClassState = protect(classes, contract.models)
        good = satisfied(state, contract.models, share_of(contract.suppression_limit, rows))
        kept = np.zeros(len(sizes), bool)
        kept[real] = state.kept
        loss = contract.loss(state) if good else float("inf")
        self._verdicts[test] = NodeVerdict(node, good, loss, state.suppressed_rows, kept)
        return self._verdicts[test]

    def best(self) -> list[int]:
        """The tests that satisfy with the least loss."""
        good = {test: verdict.loss for test, verdict in self._verdicts.items() if verdict.satisfied}
        least = min(good.values())
        return [test for test, loss in good.items() if loss <= least + TIE * max(1.0, abs(least))]

    def verdict_on(self, node: Node) -> NodeVerdict:
        """What was found of a node."""
        return next(verdict for verdict in self._verdicts.values() if verdict.node == node)


def counted_columns(contract: Contract) -> tuple[str, ...]:
    """The sensitive columns whose values the models count in every group."""
    return tuple(dict.fromkeys(names[0] for model in contract.models for names in model.distributions))


def _opaque(name: str, number: int, lines: Codes | None) -> Column:
    values = pa.array([f"v{i}" for i in range(number)], pa.string())
    column = Column(name, np.empty(0, np.int32), values)
    return column if lines is None else column.with_levels(opaque_levels(lines))
