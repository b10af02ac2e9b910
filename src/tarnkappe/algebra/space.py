"""All small worlds for some plans: every relation of up to n rows over small domains."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from tarnkappe.algebra.distribution import Cell, Rows
from tarnkappe.algebra.expressions import Column, Comparison, Expression, Literal, OneOf, Predicate
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Plan,
    Randomization,
    Relation,
    Rename,
    Selection,
    Slicing,
    ThetaJoin,
)
from tarnkappe.algebra.noise import Dynamic, NoiseDistribution, Static
from tarnkappe.algebra.world import World
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy

WORLDS = 1000
MOST_ROWS = 6
MOST_RANDOM_ROWS = 3
"""Noise multiplies the results with every cell, and rows are independent: more would teach nothing new."""


@dataclass(frozen=True)
class Space:
    """Small domains for the columns of some plans, and how large their relations may be.

    Attributes:
        domains: the values of each column.
        hierarchies: of the columns that are generalized.
        noise: of the columns that are randomized.
        rows: the most rows of a base relation.
        bucket: the least number of rows in a bucket of slicing.
        stable_buckets: whether slicings cut the same buckets again.
    """

    domains: Mapping[str, tuple[Cell, ...]]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    noise: Mapping[str, NoiseDistribution] = field(default_factory=dict)
    rows: int = 3
    bucket: int = 2
    stable_buckets: bool = True

    @classmethod
    def of(
        cls,
        *plans: Plan,
        worlds: int = WORLDS,
        dynamic: Collection[str] = (),
        bucket: int = 2,
        stable_buckets: bool = True,
    ) -> Space:
        """A space that tells plans apart: constants of their predicates, two-step hierarchies, uneven noise.

        Args:
            plans: the plans to compare.
            worlds: relations get as many rows as keep the number of worlds below this, but at least one.
            dynamic: the columns whose noise depends on the old value.
            bucket: the least number of rows in a bucket of slicing.
            stable_buckets: whether slicings cut the same buckets again.
        """
        together = _same_values(plans)
        domains: dict[str, tuple[Cell, ...]] = {}
        hierarchies: dict[str, Hierarchy] = {}
        noise: dict[str, NoiseDistribution] = {}
        generalized = _named(plans, Generalization)
        randomized = _named(plans, Randomization)
        for names in sorted(set(together.values()), key=min):
            stem = min(names).lower()
            lifted = bool(names & generalized)
            values = _values(stem, names, plans, 3 if lifted and not hierarchies else 2)
            ladder = _ladder(stem, values) if lifted else None
            for name in names:
                domains[name] = values
                if ladder is not None:
                    hierarchies[name] = ladder
                if names & randomized:
                    labels = [] if ladder is None else _labels(ladder)
                    noise[name] = _shifted(values, labels) if name in dynamic else _uneven(values)
        space = cls(domains, hierarchies, noise, 1, bucket, stable_buckets)
        rows, most = 1, MOST_RANDOM_ROWS if randomized else MOST_ROWS
        while rows < most and space.size(plans, rows + 1) <= worlds:
            rows += 1
        return cls(domains, hierarchies, noise, rows, bucket, stable_buckets)

    def size(self, plans: Sequence[Plan], rows: int | None = None) -> int:
        """How many worlds there are with relations of up to so many rows."""
        limit = self.rows if rows is None else rows
        total = 1
        for relation in _relations(plans).values():
            kinds = math.prod(len(self.domains[column]) for column in relation.columns)
            count = _sequences if _reads_order(plans) else _bags
            total *= sum(count(kinds, number) for number in range(limit + 1))
        return total

    def worlds(self, *plans: Plan) -> Iterator[World]:
        """All worlds, those with the fewest rows first. Order counts only if a plan has a slicing."""
        relations = _relations(plans)
        in_order = _reads_order(plans)
        sizes = itertools.product(range(self.rows + 1), repeat=len(relations))
        for numbers in sorted(sizes, key=sum):
            choices = [
                self._tables(relation, number, in_order)
                for relation, number in zip(relations.values(), numbers, strict=True)
            ]
            for tables in itertools.product(*choices):
                yield World(
                    dict(zip(relations, tables, strict=True)),
                    self.hierarchies,
                    self.noise,
                    self.bucket,
                    self.stable_buckets,
                )

    def _tables(self, relation: Relation, number: int, in_order: bool) -> Iterator[Rows]:
        kinds = list(itertools.product(*(self.domains[column] for column in relation.columns)))
        if in_order:
            return itertools.product(kinds, repeat=number)
        return itertools.combinations_with_replacement(kinds, number)


def _sequences(kinds: int, rows: int) -> int:
    return int(kinds**rows)


def _bags(kinds: int, rows: int) -> int:
    return math.comb(kinds + rows - 1, rows)


def _reads_order(plans: Sequence[Plan]) -> bool:
    return any(isinstance(node, Slicing) for plan in plans for node in plan.walk())


def _relations(plans: Sequence[Plan]) -> dict[str, Relation]:
    found: dict[str, Relation] = {}
    for plan in plans:
        for node in plan.walk():
            if isinstance(node, Relation) and found.setdefault(node.name, node).columns != node.columns:
                raise ParameterError(f"the relation '{node.name}' has different columns in the two plans")
    return dict(sorted(found.items()))


def _named(plans: Sequence[Plan], operator: type[Generalization] | type[Randomization]) -> set[str]:
    nodes = (node for plan in plans for node in plan.walk())
    return {name for node in nodes if isinstance(node, operator) for name in node.attributes}


def _predicates(plans: Sequence[Plan]) -> Iterator[Predicate]:
    for plan in plans:
        for node in plan.walk():
            if isinstance(node, Selection | ThetaJoin):
                yield node.predicate


def _expressions(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in expression.parts:
        yield from _expressions(part)


def _same_values(plans: Sequence[Plan]) -> dict[str, frozenset[str]]:
    """For each column name all names that mean the same values: renamed, or compared with each other."""
    nodes = [node for plan in plans for node in plan.walk()]
    names = {name for node in nodes for name in node.columns}
    pairs = [pair for node in nodes if isinstance(node, Rename) for pair in node.names]
    for predicate in _predicates(plans):
        for part in _expressions(predicate):
            match part:
                case Comparison(_, Column(left), Column(right)):
                    pairs.append((left, right))
    group = {name: frozenset({name}) for name in names}
    for old, new in pairs:
        merged = group[old] | group[new]
        group.update(dict.fromkeys(merged, merged))
    return group


def _values(stem: str, names: frozenset[str], plans: Sequence[Plan], number: int) -> tuple[Cell, ...]:
    constants = _constants(names, plans)
    numbers = [c for c in constants if isinstance(c, int | Decimal) and not isinstance(c, bool)]
    if numbers or _summed(names, plans):
        around = {n + step for n in numbers or [0] for step in (-1, 0, 1)}
        return tuple(sorted(around)) if numbers else tuple(range(number))
    fresh = (f"{stem}{i}" for i in itertools.count(1))
    values = list(constants)
    while len(values) < max(number, len(constants) + 1):
        value = next(fresh)
        if value not in values:
            values.append(value)
        elif len(values) >= number:
            break
    return tuple(values)


def _constants(names: frozenset[str], plans: Sequence[Plan]) -> list[Cell]:
    found: dict[Cell, None] = {}
    for predicate in _predicates(plans):
        for part in _expressions(predicate):
            match part:
                case Comparison(_, Column(name), Literal(constant)) if name in names:
                    found[constant] = None
                case Comparison(_, Literal(constant), Column(name)) if name in names:
                    found[constant] = None
                case OneOf(Column(name), literals) if name in names:
                    found.update(dict.fromkeys(literal.constant for literal in literals))
    return [constant for constant in found if constant is not None]


def _summed(names: frozenset[str], plans: Sequence[Plan]) -> bool:
    return any(
        aggregate.column in names and aggregate.function in ("sum", "mean", "quantile")
        for plan in plans
        for node in plan.walk()
        if isinstance(node, Grouping)
        for aggregate in node.aggregates
    )


def _ladder(stem: str, values: tuple[Cell, ...]) -> Hierarchy:
    """Two values share a label on level 1, if there are more than two; all share the root."""
    if len(values) <= 2:
        return Hierarchy.from_rows([[str(value), f"{stem}*"] for value in values])
    labels = [f"{stem}({values[0]}|{values[1]})"] * 2 + [f"{stem}({value})" for value in values[2:]]
    return Hierarchy.from_rows(
        [[str(value), label, f"{stem}*"] for value, label in zip(values, labels, strict=True)]
    )


def _labels(hierarchy: Hierarchy) -> list[Cell]:
    return [label for level in range(1, hierarchy.height + 1) for label in hierarchy.labels(level)]


def _uneven(values: tuple[Cell, ...]) -> Static:
    total = len(values) * (len(values) + 1) // 2
    return Static({value: Fraction(i, total) for i, value in enumerate(values, 1)})


def _shifted(values: tuple[Cell, ...], labels: Sequence[Cell]) -> Dynamic:
    """Noise that goes to the next value more often than it stays; general labels it leaves alone."""
    kernel: dict[Hashable, dict[Hashable, Fraction]] = defaultdict(dict)
    for old, new in zip(values, values[1:] + values[:1], strict=True):
        kernel[old] = {old: Fraction(1, 3), new: Fraction(2, 3)}
    for label in labels:
        kernel[label] = {label: Fraction(1)}
    return Dynamic(dict(kernel))
