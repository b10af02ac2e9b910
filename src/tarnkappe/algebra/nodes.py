"""Plan nodes: queries with anonymization as immutable trees of relational algebra.

Relations are multisets of rows, and neither rows nor columns are ordered: a projection keeps duplicates
(unless it is `distinct`, which is another operator for every rule), a union adds multiplicities, an
intersection takes the minimum, a difference subtracts down to zero. The order in which a user wants to
see columns is no part of a plan.

A node is a frozen dataclass: equal parameters and children are equal plans, usable as dictionary keys.
Constructors bring parameters into one canonical order (columns sorted by name), so that plans that say
the same compare equal, and refuse at once what has no meaning: a projection on a missing column, a union
of different schemas, k = 0.

Parameters of the three anonymization operators may name columns that the child does not have, because
rules pass through such plans on their way (and other rules remove them). A plan that is to be run must be
`check`ed: then they are errors.

What belongs to a column and not to an operator (its hierarchy, its noise distribution) and what no user
may choose (the buckets of slicing) is not in the plan either.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.expressions import Predicate
from tarnkappe.algebra.further_nodes import PostProcessing, RowBound
from tarnkappe.algebra.plan import Binary, Plan, Unary, canonical, expect_children, listed, refuse_repetition
from tarnkappe.errors import ColumnError, ParameterError

__all__ = [
    "Anonymization",
    "Binary",
    "Difference",
    "Generalization",
    "Grouping",
    "Intersection",
    "Join",
    "Plan",
    "PostProcessing",
    "Projection",
    "Randomization",
    "Relation",
    "Rename",
    "RowBound",
    "Selection",
    "SetOperation",
    "SlicingNode",
    "ThetaJoin",
    "Unary",
    "Union",
    "draws_at_random",
]


@dataclass(frozen=True)
class Relation(Plan):
    """A base relation with the columns that it is declared to have."""

    name: str
    declared: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.name:
            raise ParameterError("algebra.base-relation-needs-name", "A base relation needs a name.")
        if not self.declared:
            raise ColumnError(
                "algebra.relation-no-columns", "The relation '{name}' has no columns.", name=self.name
            )
        refuse_repetition(self.declared, f"the relation '{self.name}'")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.declared

    @property
    def children(self) -> tuple[Plan, ...]:
        return ()

    def with_children(self, *children: Plan) -> Self:
        """Itself: a base relation has no children."""
        expect_children(children, 0)
        return self


@dataclass(frozen=True)
class Projection(Unary):
    """π_Y: only the columns Y. Duplicates stay, unless `distinct` asks to remove them."""

    onto: tuple[str, ...]
    distinct: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "onto", canonical(self.onto, "the projection"))
        if not self.onto:
            raise ColumnError(
                "algebra.projection-needs-least-column", "A projection needs at least one column."
            )
        self.require(self.onto, "The projection")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.onto


@dataclass(frozen=True)
class Selection(Unary):
    """σ_F: the rows on which the predicate is true."""

    predicate: Predicate

    def __post_init__(self) -> None:
        self.require(self.predicate.columns, "The selection")


@dataclass(frozen=True)
class Rename(Unary):
    """ρ: some columns under new names, all at once (two columns may swap theirs): pairs (old, new)."""

    names: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(sorted((old, new) for old, new in self.names if old != new)))
        if not self.names:
            raise ColumnError(
                "algebra.renaming-needs-least-column", "A renaming needs at least one column with a new name."
            )
        refuse_repetition([old for old, _ in self.names], "the renaming")
        self.require((old for old, _ in self.names), "The renaming")
        refuse_repetition(self.columns, "the result of the renaming")

    @property
    def columns(self) -> tuple[str, ...]:
        new = dict(self.names)
        return tuple(new.get(column, column) for column in self.child.columns)


@dataclass(frozen=True)
class Grouping(Unary):
    """γ: one row for each combination of values in `by`, with aggregates of its rows.

    Without `by` the whole relation is one group, even an empty one (as in SQL).
    """

    by: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", canonical(self.by, "the grouping"))
        object.__setattr__(self, "aggregates", tuple(sorted(self.aggregates, key=lambda a: a.name)))
        if not self.columns:
            raise ColumnError(
                "algebra.grouping-needs-column-group",
                "A grouping needs a column to group by or an aggregate.",
            )
        self.require(self.by, "The grouping")
        self.require((a.column for a in self.aggregates if a.column is not None), "The aggregation")
        refuse_repetition(self.columns, "the result of the grouping")

    @property
    def columns(self) -> tuple[str, ...]:
        return self.by + tuple(aggregate.name for aggregate in self.aggregates)


@dataclass(frozen=True)
class SetOperation(Binary):
    """An operator on two relations of the same schema (columns are matched by name)."""

    def __post_init__(self) -> None:
        if self.left.schema != self.right.schema:
            name = type(self).__name__.lower()
            raise ColumnError(
                "algebra.needs-same-columns-both",
                "The {name} needs the same columns on both sides, but the left has {columns} and the right "
                "{columns_2}.",
                name=name,
                columns=listed(self.left.columns),
                columns_2=listed(self.right.columns),
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns


@dataclass(frozen=True)
class Union(SetOperation):
    """∪ of multisets (UNION ALL): multiplicities add."""


@dataclass(frozen=True)
class Intersection(SetOperation):
    """∩ of multisets (INTERSECT ALL): the smaller multiplicity."""


@dataclass(frozen=True)
class Difference(SetOperation):
    """− of multisets (EXCEPT ALL): the left multiplicity less the right one, at least 0."""


@dataclass(frozen=True)
class Join(Binary):
    """⋈, the natural join on all common columns; without common columns, all pairs."""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns + tuple(c for c in self.right.columns if c not in self.left.schema)

    @property
    def on(self) -> frozenset[str]:
        """The join columns: R1 ∩ R2."""
        return self.left.schema & self.right.schema


@dataclass(frozen=True)
class ThetaJoin(Binary):
    """⋈_F: the pairs on which the predicate is true. The sides have no common columns; no rule knows it."""

    predicate: Predicate

    def __post_init__(self) -> None:
        common = self.left.schema & self.right.schema
        if common:
            raise ColumnError(
                "algebra.join-predicate-needs-different",
                "A join by a predicate needs different columns, but both sides have {common}.",
                common=listed(common),
            )
        missing = self.predicate.columns - self.left.schema - self.right.schema
        if missing:
            raise ColumnError(
                "algebra.join-reads-neither-side",
                "The join reads {missing}, which neither side has.",
                missing=listed(missing),
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.left.columns + self.right.columns


@dataclass(frozen=True)
class Anonymization(Unary):
    """An operator that protects the persons behind its rows, and keeps schema and number of rows."""

    @property
    @abstractmethod
    def attributes(self) -> frozenset[str]:
        """The columns that the parameters name."""


@dataclass(frozen=True)
class Generalization(Anonymization):
    """αG[X, k]: the columns X lifted in their hierarchies until every combination occurs at least k times.

    Contract: one level for all values of a column (full domain); never more general than needed; among
    several minimal levels the choice is a function of the multiset π_X(r) alone; columns outside X are
    untouched; a relation of fewer than k rows is refused; general values are lifted further, never back.
    """

    by: tuple[str, ...]
    k: int
    person: str | None = None
    """Where people are counted, the column that tells them apart; set when a plan runs, not when written."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", canonical(self.by, "the generalization"))
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ParameterError(
                "algebra.k-generalization-must-whole",
                "The k of a generalization must be a whole number of at least 1, not {k}.",
                k=self.k,
            )

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset(self.by)

    def check(self) -> None:
        self.require(self.by, "The generalization")
        super().check()


@dataclass(frozen=True)
class SlicingNode(Anonymization):
    """αS[V]: rows are cut into the correlation sets V; their parts are permuted at random in hidden buckets.

    Contract: V is a partition of the columns; the buckets depend on row positions and the number of rows
    only; every (bucket, correlation set) has its own uniform permutation; a relation smaller than a bucket is
    refused.
    """

    groups: tuple[tuple[str, ...], ...]
    bucket: int | None = None
    """How many rows a bucket has so that enough people are in it; set when a plan runs, if people count."""

    def __post_init__(self) -> None:
        groups = sorted(canonical(group, "a correlation set") for group in self.groups if group)
        object.__setattr__(self, "groups", tuple(groups))
        refuse_repetition([column for group in groups for column in group], "the slicing")

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset(column for group in self.groups for column in group)

    def check(self) -> None:
        self.require(self.attributes, "The slicing")
        left_out = self.child.schema - self.attributes
        if left_out:
            raise ColumnError(
                "algebra.slicing-leaves-out-every-column",
                "The slicing leaves out {left_out}: every column belongs to one correlation set. Add a set "
                "for it, or project it away before.",
                left_out=listed(left_out),
            )
        super().check()


@dataclass(frozen=True)
class Randomization(Anonymization):
    """αD[P]: a cell of a column A is, with the probability of A, replaced by a draw from A's distribution.

    Contract: cells are independent; a cell is kept with 1 - p exactly (p = 0 never draws, p = 1 always); the
    distribution belongs to the column, is static or depends on the old value, and may return the old value.
    Probabilities are exact fractions, so that merged ones compare equal without rounding.
    """

    probabilities: tuple[tuple[str, Fraction], ...]

    def __post_init__(self) -> None:
        pairs = sorted((column, Fraction(p)) for column, p in self.probabilities)
        refuse_repetition([column for column, _ in pairs], "the randomization")
        for column, p in pairs:
            if not 0 <= p <= 1:
                raise ParameterError(
                    "algebra.probability-must-between-0",
                    "The probability of '{column}' must be between 0 and 1, not {p}.",
                    column=column,
                    p=p,
                )
        object.__setattr__(self, "probabilities", tuple(pairs))

    @classmethod
    def of(cls, child: Plan, probabilities: Mapping[str, str | int | float | Decimal | Fraction]) -> Self:
        """From a mapping; a float means the decimal number that it is written as (0.1 is one tenth)."""
        return cls(
            child,
            tuple(
                (c, Fraction(repr(p)) if isinstance(p, float) else Fraction(p))
                for c, p in probabilities.items()
            ),
        )

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset(column for column, _ in self.probabilities)

    def probability(self, column: str) -> Fraction:
        """The probability of a column; a column that is not named is never noised."""
        return dict(self.probabilities).get(column, Fraction(0))

    def check(self) -> None:
        self.require(self.attributes, "The randomization")
        super().check()


def draws_at_random(plan: Plan) -> bool:
    """Whether two runs of the plan on the same data may differ."""
    return any(
        isinstance(node, SlicingNode | Randomization | RowBound)
        or (isinstance(node, Grouping) and any(aggregate.noise for aggregate in node.aggregates))
        for node in plan.walk()
    )
