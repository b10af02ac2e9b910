"""All small worlds for some plans: every relation of up to n rows over small domains.

Conditions, joins and aggregates treat a missing value (None, SQL's NULL) as no other value. So plans are
compared in two spaces: one of relations that are complete, and one in which values are missing wherever
nobody declared that they never are.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.distribution import Cell, Rows
from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Expression, Predicate
from tarnkappe.algebra.landmarks import landmarks
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
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

ENOUGH_ROWS = 3
"""Two rows that agree, and one that lacks a value: fewer would not show what a missing key does."""


@dataclass(frozen=True)
class WorldSpace:
    """Small domains for the columns of some plans, and how large their relations may be.

    Attributes:
        domains: the values of each column; None is the missing one.
        hierarchies: of the columns that are generalized.
        noise: of the columns that are randomized.
        rows: the most rows of a base relation.
        bucket: the least number of rows in a bucket of slicing.
        stable_buckets: whether slicings cut the same buckets again.
        not_null: for each relation the columns that are never missing in it.
    """

    domains: Mapping[str, tuple[Cell, ...]]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    noise: Mapping[str, NoiseDistribution] = field(default_factory=dict)
    rows: int = 3
    bucket: int = 2
    stable_buckets: bool = True
    not_null: Mapping[str, Collection[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *plans: Plan,
        worlds: int = WORLDS,
        dynamic: Collection[str] = (),
        bucket: int = 2,
        stable_buckets: bool = True,
    ) -> WorldSpace:
        """A space that tells plans apart: values that predicates compare, two-step hierarchies, uneven noise.

        Args:
            plans: the plans to compare.
            worlds: relations get as many rows as keep the number of worlds below this, but at least one.
            dynamic: the columns whose noise depends on the old value.
            bucket: the least number of rows in a bucket of slicing.
            stable_buckets: whether slicings cut the same buckets again.
        """
        empty = cls({}, bucket=bucket, stable_buckets=stable_buckets)
        return empty._filled(plans, lambda names, number: _values(names, plans, number), dynamic, worlds)

    @classmethod
    def incomplete(
        cls,
        *plans: Plan,
        worlds: int = WORLDS,
        dynamic: Collection[str] = (),
        bucket: int = 2,
        stable_buckets: bool = True,
        not_null: Mapping[str, Collection[str]] | None = None,
    ) -> WorldSpace | None:
        """A space whose relations lack values wherever they may; None if they may nowhere.

        Columns that are compared, joined or aggregated have the missing value beside others. In all others it
        takes the place of one, if relations of three rows stay few enough, since nobody tells it apart there.

        `not_null` names for each relation the columns that are never missing in it; the other arguments are
        those of `of`.
        """
        never = not_null or {}
        nullable = _nullable(plans, never)
        if not nullable:
            return None
        told_apart = _compared(plans) | _aggregated(plans, AGGREGATES)
        changing = _named(plans, Generalization) | _named(plans, Randomization)

        def values(names: frozenset[str], *, carried: bool) -> tuple[Cell, ...]:
            compared, changed = names & told_apart, names & changing
            if not names & nullable:
                return _values(names, plans, 2 if compared or changed else 1)
            present = _values(names, plans, 2 if compared else 1)
            return (None, *present) if compared or changed or carried else present

        empty = cls({}, bucket=bucket, stable_buckets=stable_buckets, not_null=never)
        rich = empty._filled(plans, lambda names, _: values(names, carried=True), dynamic, worlds)
        lean = empty._filled(plans, lambda names, _: values(names, carried=False), dynamic, worlds)
        return rich if not lean.nullable or rich.rows >= min(lean.rows, ENOUGH_ROWS) else lean

    def _filled(
        self,
        plans: Sequence[Plan],
        values_of: Callable[[frozenset[str], int], tuple[Cell, ...]],
        dynamic: Collection[str],
        worlds: int,
    ) -> WorldSpace:
        """This space with domains, hierarchies and noise, and as many rows as keep the worlds few enough."""
        together = _same_values(plans)
        domains: dict[str, tuple[Cell, ...]] = {}
        hierarchies: dict[str, Hierarchy] = {}
        noise: dict[str, NoiseDistribution] = {}
        generalized = _named(plans, Generalization)
        randomized = _named(plans, Randomization)
        for names in sorted(set(together.values()), key=min):
            stem = min(names).lower()
            lifted = bool(names & generalized)
            values = values_of(names, 3 if lifted and not hierarchies else 2)
            ladder = _ladder(stem, values) if lifted else None
            for name in names:
                domains[name] = values
                if ladder is not None:
                    hierarchies[name] = ladder
                if names & randomized:
                    labels = [] if ladder is None else _labels(ladder)
                    noise[name] = _shifted(values, labels) if name in dynamic else _uneven(values)
        space = replace(self, domains=domains, hierarchies=hierarchies, noise=noise, rows=1)
        rows, most = 1, MOST_RANDOM_ROWS if randomized else MOST_ROWS
        while rows < most and space.size(plans, rows + 1) <= worlds:
            rows += 1
        return replace(space, rows=rows)

    @property
    def nullable(self) -> frozenset[str]:
        """The columns that values are missing in."""
        return frozenset(column for column, values in self.domains.items() if None in values)

    def size(self, plans: Sequence[Plan], rows: int | None = None) -> int:
        """How many worlds there are with relations of up to so many rows."""
        limit = self.rows if rows is None else rows
        total = 1
        for relation in _relations(plans).values():
            kinds = math.prod(len(self._domain(relation, column)) for column in relation.columns)
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
        kinds = list(itertools.product(*(self._domain(relation, column) for column in relation.columns)))
        if in_order:
            return itertools.product(kinds, repeat=number)
        return itertools.combinations_with_replacement(kinds, number)

    def _domain(self, relation: Relation, column: str) -> tuple[Cell, ...]:
        values = self.domains[column]
        if column in self.not_null.get(relation.name, ()):
            return tuple(value for value in values if value is not None)
        return values


def small_spaces(
    *plans: Plan, worlds: int = WORLDS, not_null: Mapping[str, Collection[str]] | None = None, **options: Any
) -> tuple[WorldSpace, ...]:
    """Complete and incomplete small relations for some plans; the options are those of `WorldSpace.of`."""
    complete = WorldSpace.of(*plans, worlds=worlds, **options)
    incomplete = WorldSpace.incomplete(*plans, worlds=worlds, not_null=not_null, **options)
    return (complete,) if incomplete is None else (complete, incomplete)


def _sequences(kinds: int, rows: int) -> int:
    return int(kinds**rows)


def _bags(kinds: int, rows: int) -> int:
    return math.comb(kinds + rows - 1, rows)


def _reads_order(plans: Sequence[Plan]) -> bool:
    return any(isinstance(node, SlicingNode) for plan in plans for node in plan.walk())


def _relations(plans: Sequence[Plan]) -> dict[str, Relation]:
    found: dict[str, Relation] = {}
    for plan in plans:
        for node in plan.walk():
            if isinstance(node, Relation) and found.setdefault(node.name, node).columns != node.columns:
                raise ParameterError(
                    "algebra.relation-different-columns-two",
                    "the relation '{node}' has different columns in the two plans",
                    node=node.name,
                )
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
                case ComparisonPredicate(_, ColumnRef(left), ColumnRef(right)):
                    pairs.append((left, right))
    group = {name: frozenset({name}) for name in names}
    for old, new in pairs:
        merged = group[old] | group[new]
        group.update(dict.fromkeys(merged, merged))
    return group


def _compared(plans: Sequence[Plan]) -> set[str]:
    """The columns that predicates or joins compare."""
    nodes = [node for plan in plans for node in plan.walk()]
    joined = {column for node in nodes if isinstance(node, Join) for column in node.on}
    return joined.union(*(predicate.columns for predicate in _predicates(plans)))


def _nullable(plans: Sequence[Plan], not_null: Mapping[str, Collection[str]]) -> set[str]:
    """The columns that some relation may lack a value of."""
    return {
        column
        for relation in _relations(plans).values()
        for column in relation.columns
        if column not in not_null.get(relation.name, ())
    }


def _values(names: frozenset[str], plans: Sequence[Plan], number: int) -> tuple[Cell, ...]:
    stem = min(names).lower()
    found = landmarks(names, _predicates(plans))
    if not found and _aggregated(plans, SUMMED) & names:
        return tuple(range(number))
    if found and not all(isinstance(value, str) for value in found):
        return found
    fresh = (f"{stem}{i}" for i in itertools.count(1))
    others = (value for value in fresh if value not in found)
    return (*found, *itertools.islice(others, max(number - len(found), 1)))


SUMMED = ("sum", "mean", "quantile")
AGGREGATES = (*SUMMED, "min", "max", "count")


def _aggregated(plans: Sequence[Plan], functions: Collection[str]) -> set[str]:
    """The columns that such aggregates read."""
    return {
        aggregate.column
        for plan in plans
        for node in plan.walk()
        if isinstance(node, Grouping)
        for aggregate in node.aggregates
        if aggregate.column is not None and aggregate.function in functions
    }


def _ladder(stem: str, values: tuple[Cell, ...]) -> Hierarchy:
    """Two values share a label on level 1, if there are more than two; all share the root.

    The empty text gets no line: in a hierarchy its line is that of the missing value, and no other.
    """
    present = [str(value) for value in values if value not in (None, "")]
    lines: list[tuple[str | None, str]] = [(value, f"{stem}({value})") for value in present]
    if len(present) > 2:
        shared = f"{stem}({present[0]}|{present[1]})"
        lines[:2] = [(value, shared) for value in present[:2]]
    lines += [(None, f"{stem}()")] if None in values else []
    if len(present) <= 2:
        return Hierarchy.from_rows([[value, f"{stem}*"] for value, _ in lines])
    return Hierarchy.from_rows([[value, label, f"{stem}*"] for value, label in lines])


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
