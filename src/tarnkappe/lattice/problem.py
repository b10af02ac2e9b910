"""One anonymization problem: a compact table, what is promised, and how loss is measured."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.lattice.lattice import Lattice, Node
from tarnkappe.loss import Loss
from tarnkappe.privacy import Model, needed_distributions, protect, satisfied
from tarnkappe.privacy.exact import share_of
from tarnkappe.table import Classes, Column, Tuples

TIE = 1e-9
"""Losses that differ relatively by less than this are equal: sums of logarithms differ in the last digits."""

Order = tuple[int, int, int, Node]


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What one node does to the table.

    Attributes:
        node: the levels.
        satisfied: whether the promises are kept.
        loss: what is minimized.
        suppressed: how many rows are suppressed.
        classes: how many classes are kept.
        ranks: what nodes of equal loss are compared by before anything else, where the loss says so.
    """

    node: Node
    satisfied: bool
    loss: float
    suppressed: int
    classes: int
    ranks: tuple[float, ...] = dataclasses.field(default=(), compare=False)


@dataclasses.dataclass(frozen=True, eq=False)
class SearchProblem:
    """What is to be solved.

    Attributes:
        tuples: the table as distinct tuples; the quasi-identifiers have levels.
        quasi_identifiers: the columns to generalize.
        models: the privacy models; a class must meet all of them.
        loss: what to minimize.
        suppression_limit: the share of rows that may be suppressed.
        level_limits: the least and the greatest level allowed, for columns that have such limits.
    """

    tuples: Tuples
    quasi_identifiers: tuple[str, ...]
    models: tuple[Model, ...]
    loss: Loss
    suppression_limit: float = 0.0
    level_limits: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.models:
            raise ParameterError(
                "lattice.no-privacy-model-given",
                "no privacy model is given: say what the release must promise",
            )
        if not 0 <= self.suppression_limit <= 1:
            raise ParameterError(
                "lattice.suppression-limit-share-rows",
                "the suppression limit is a share of the rows from 0 to 1, not {suppression_limit}",
                suppression_limit=self.suppression_limit,
            )
        if not self.quasi_identifiers:
            raise ColumnError(
                "lattice.no-quasi-identifier-given",
                "no quasi-identifier is given: name the columns that an attacker may know",
            )
        for name in self.quasi_identifiers:
            if name not in self.tuples.columns:
                raise ColumnError("lattice.table-no-column", "the table has no column '{name}'", name=name)
            if self.tuples.columns[name].levels is None:
                raise ColumnError(
                    "lattice.quasi-identifier-no-hierarchy",
                    "the quasi-identifier '{name}' has no hierarchy",
                    name=name,
                )
        for model in self.models:
            model.check(self.tuples, self.quasi_identifiers)
        self.loss.check(self.tuples, self.quasi_identifiers)
        for name, (least, greatest) in self.level_limits.items():
            if name not in self.quasi_identifiers:
                raise ColumnError(
                    "lattice.level-limits-but-no-quasi",
                    "'{name}' has level limits but is no quasi-identifier",
                    name=name,
                )
            height = self.lattice.heights[self.quasi_identifiers.index(name)]
            if not 0 <= least <= greatest <= height:
                raise ParameterError(
                    "lattice.levels-0-level-impossible",
                    "'{name}' has the levels 0 to {height}: a level from {least} to {greatest} is impossible",
                    name=name,
                    height=height,
                    least=least,
                    greatest=greatest,
                )

    @cached_property
    def limit(self) -> int:
        """How many rows may be suppressed."""
        return share_of(self.suppression_limit, self.tuples.num_rows)

    @cached_property
    def suppression_rule(self) -> str:
        """How classes are chosen for suppression, where others would do too and might lose less; else empty.

        A search compares levels. Only where this is empty does the least loss of all levels mean that no
        release loses less.
        """
        if self.limit == 0:
            return ""
        rules = [part.suppression_rule for model in self.models for part in model.parts]
        spared = "nothing is suppressed that may stay" if self.loss.suppression_may_pay else ""
        return " and ".join(dict.fromkeys(filter(None, (*rules, spared))))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(self.tuples.columns[name] for name in self.quasi_identifiers)

    @cached_property
    def lattice(self) -> Lattice:
        """All combinations of levels."""
        return Lattice(tuple(column.levels.height for column in self.columns if column.levels is not None))

    @cached_property
    def level_ranges(self) -> tuple[range, ...]:
        """The levels of each quasi-identifier that may be chosen."""
        full = zip(self.quasi_identifiers, self.lattice.heights, strict=True)
        limits = (self.level_limits.get(name, (0, height)) for name, height in full)
        return tuple(range(least, greatest + 1) for least, greatest in limits)

    @property
    def num_nodes(self) -> int:
        """How many combinations of levels may be chosen."""
        return math.prod(map(len, self.level_ranges))

    def nodes(self) -> Iterator[Node]:
        """All combinations of levels that may be chosen."""
        return itertools.product(*self.level_ranges)

    @cached_property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The distributions that the models and the loss look at."""
        return tuple(dict.fromkeys([*needed_distributions(self.models), *self.loss.distributions]))

    def classes(self, node: Sequence[int]) -> Classes:
        """The equivalence classes at a node."""
        return self.tuples.classes(self.quasi_identifiers, node, self.distributions)

    def evaluate(self, node: Node) -> Evaluation:
        """Test one node: generalize, group, suppress what no model allows, measure the loss."""
        state = protect(self.classes(node), self.models)
        return Evaluation(
            node,
            satisfied(state, self.models, self.limit),
            self.loss(state),
            state.suppressed_rows,
            state.num_kept,
            self.loss.ranks(state),
        )

    def order(self, node: Node) -> Order:
        """The total order that breaks ties: less general first, whatever the order of the columns.

        Compared are the sum of the levels, the mean share of each hierarchy's height, the mean share of
        distinct values lost, and at last the levels in the alphabetical order of the columns.
        """
        share = sum(weights[level] for weights, level in zip(self._shares, node, strict=True))
        lost = sum(weights[level] for weights, level in zip(self._losses, node, strict=True))
        return sum(node), share, lost, tuple(node[i] for i in self._by_name)

    # The shares are brought to one denominator, so that they are compared exactly and without fractions.

    @cached_property
    def _shares(self) -> tuple[tuple[int, ...], ...]:
        common = math.lcm(*(max(height, 1) for height in self.lattice.heights))
        return tuple(
            tuple(level * common // max(height, 1) for level in range(height + 1))
            for height in self.lattice.heights
        )

    @cached_property
    def _losses(self) -> tuple[tuple[int, ...], ...]:
        levels = [column.levels for column in self.columns if column.levels is not None]
        common = math.lcm(*(each.distinct(0) for each in levels))
        return tuple(
            tuple(
                (each.distinct(0) - each.distinct(level)) * common // each.distinct(0)
                for level in range(each.height + 1)
            )
            for each in levels
        )

    @cached_property
    def _by_name(self) -> tuple[int, ...]:
        return tuple(sorted(range(len(self.quasi_identifiers)), key=self.quasi_identifiers.__getitem__))


class BestNodes:
    """The best nodes seen so far; equally good ones are told apart by the total order."""

    def __init__(self, problem: SearchProblem) -> None:
        self._problem = problem
        self._candidates: list[Evaluation] = []
        self.loss = float("inf")

    def offer(self, evaluation: Evaluation) -> None:
        """Consider one more node."""
        if not evaluation.satisfied or evaluation.loss > self.ceiling:
            return
        self._candidates.append(evaluation)
        if evaluation.loss < self.loss:
            self.loss = evaluation.loss
            ceiling = self.ceiling
            self._candidates = [e for e in self._candidates if e.loss <= ceiling]

    @property
    def found(self) -> bool:
        """Whether a satisfying node was offered."""
        return bool(self._candidates)

    @property
    def ceiling(self) -> float:
        """The greatest loss that counts as equally good as the best."""
        return self.loss + TIE * max(1.0, abs(self.loss))

    @property
    def least(self) -> float:
        """The least loss that counts as equally good as the best."""
        return self.loss - TIE * max(1.0, abs(self.loss))

    @property
    def evaluation(self) -> Evaluation | None:
        """The best of all that were offered, or None."""
        if not self._candidates:
            return None
        return min(self._candidates, key=lambda e: (e.ranks, self._problem.order(e.node)))
