"""How equal two plans are, and what that is worth under further operators.

*Equal* means that every possible result is equally likely on both sides. *Partially equal* is a weaker
promise of the same number of rows: for generalization that all columns outside X agree, for slicing that
every correlation set by itself agrees. It says nothing of the degree of anonymity, and it is no
congruence: an operator above may look at what differs. `through` says which operators do.

Even equality has a limit of that kind. Slicing cuts its buckets by the positions of rows, so below a slicing
equal bags in another order are not enough; `BAG_EQUAL` says that the order may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algebra.distribution import OutcomeDistribution
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    Projection,
    Randomization,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)

Groups = frozenset[frozenset[str]]


@dataclass(frozen=True)
class Equal:
    """⇔: the same distribution of results; unless `keeps_order` is false, of their order as well."""

    keeps_order: bool = True
    is_equal: ClassVar[bool] = True

    def holds(self, left: OutcomeDistribution, right: OutcomeDistribution) -> bool:
        """Whether two results are equal."""
        return left.same_as(right)

    def __str__(self) -> str:
        return "equal"


@dataclass(frozen=True)
class PartialGeneralization:
    """⇔⊆ for generalization: the columns outside `attributes` have the same distribution."""

    attributes: frozenset[str]
    is_equal: ClassVar[bool] = False

    def holds(self, left: OutcomeDistribution, right: OutcomeDistribution) -> bool:
        """Whether two results have the same columns and agree outside the attributes."""
        rest = set(left.columns) - self.attributes
        same_schema = set(left.columns) == set(right.columns)
        return same_schema and left.project(rest).same_as(right.project(rest))

    def __str__(self) -> str:
        return f"partially equal outside {_set(self.attributes)}"


@dataclass(frozen=True)
class PartialSlicing:
    """⇔⊆ for slicing: every correlation set by itself has the same distribution."""

    groups: Groups
    is_equal: ClassVar[bool] = False

    def holds(self, left: OutcomeDistribution, right: OutcomeDistribution) -> bool:
        """Whether two results have the same columns and agree on each correlation set."""
        same_schema = set(left.columns) == set(right.columns)
        return same_schema and all(left.project(group).same_as(right.project(group)) for group in self.groups)

    def __str__(self) -> str:
        return f"partially equal in each of {', '.join(sorted(map(_set, self.groups)))}"


@dataclass(frozen=True)
class NotEqual:
    """⇎: no exchange holds in general."""

    is_equal: ClassVar[bool] = False

    def holds(self, left: OutcomeDistribution, right: OutcomeDistribution) -> bool:
        """Always: nothing is promised."""
        return True

    def __str__(self) -> str:
        return "not equal"


Partial = PartialGeneralization | PartialSlicing
Kind = Equal | Partial | NotEqual

EQUAL = Equal()
BAG_EQUAL = Equal(keeps_order=False)
NOT_EQUAL = NotEqual()


def partial_generalization(attributes: Iterable[str]) -> Kind:
    """Partial equality outside these columns; without columns it is equality."""
    attributes = frozenset(attributes)
    return PartialGeneralization(attributes) if attributes else EQUAL


def partial_slicing(groups: Iterable[Iterable[str]]) -> Kind:
    """Partial equality in each of these sets; one set alone, which then has all columns, is equality."""
    sets = frozenset(frozenset(group) for group in groups) - {frozenset()}
    return PartialSlicing(sets) if len(sets) > 1 else EQUAL


def refinement(first: Iterable[Iterable[str]], second: Iterable[Iterable[str]]) -> Groups:
    """The common refinement of two partitions: all non-empty intersections.

    >>> sorted("".join(sorted(g)) for g in refinement(["AB", "CDE", "FG"], ["ABC", "DE", "FG"]))
    ['AB', 'C', 'DE', 'FG']
    """
    seconds = [frozenset(group) for group in second]
    return frozenset(frozenset(a) & b for a in first for b in seconds) - {frozenset()}


def chain(first: Kind, second: Kind) -> Kind:
    """How equal the ends of two rewrites in a row are: the weaker kind, with both parameters."""
    match first, second:
        case Equal(True), other:
            return other
        case Equal(False), Equal():
            return BAG_EQUAL
        case other, Equal():
            return other
        case Equal(), other:
            return other
        case PartialGeneralization(x), PartialGeneralization(y):
            return PartialGeneralization(x | y)
        case PartialSlicing(v), PartialSlicing(w):
            return partial_slicing(refinement(v, w))
    return NOT_EQUAL  # generalization and slicing have no common notion of partial equality


def through(ancestor: Plan, kind: Kind) -> Kind:
    """How equal the results of an operator are whose child was replaced by one that is equal in a kind.

    A kind that does not survive is `NOT_EQUAL`: then the rewrite below must be refused.
    """
    match kind:
        case Equal(False) if isinstance(ancestor, SlicingNode):
            return partial_slicing(refinement([ancestor.schema], ancestor.groups))
        case PartialGeneralization(x):
            return _above_generalization(ancestor, x)
        case PartialSlicing(v):
            return _above_slicing(ancestor, v)
    return kind


def _above_generalization(ancestor: Plan, x: frozenset[str]) -> Kind:
    match ancestor:
        case Projection(_, onto, distinct):
            left = x & set(onto)
            if not left:
                return BAG_EQUAL
            return NOT_EQUAL if distinct else PartialGeneralization(left)
        case Selection(_, predicate) if not predicate.columns & x:
            return PartialGeneralization(x)
        case Grouping() if not _read_by(ancestor) & x:
            return BAG_EQUAL
        case Rename(_, names):
            new = dict(names)
            return PartialGeneralization(frozenset(new.get(column, column) for column in x))
        case Join() if not ancestor.on & x:
            return PartialGeneralization(x)
        case ThetaJoin() if not ancestor.predicate.columns & x:
            return PartialGeneralization(x)
        case Union() | Randomization():
            return PartialGeneralization(x)
        case Generalization():
            return PartialGeneralization(x | (ancestor.attributes & ancestor.schema))
    return NOT_EQUAL


def _above_slicing(ancestor: Plan, v: Groups) -> Kind:
    match ancestor:
        case Projection(_, onto, distinct):
            groups = frozenset(group & set(onto) for group in v) - {frozenset()}
            if len(groups) == 1:
                return BAG_EQUAL
            return NOT_EQUAL if distinct else PartialSlicing(groups)
        case Grouping() if any(_read_by(ancestor) <= group for group in v):
            return BAG_EQUAL
        case Rename(_, names):
            new = dict(names)
            return PartialSlicing(frozenset(frozenset(new.get(c, c) for c in group) for group in v))
        case Union() | Randomization():
            return PartialSlicing(v)
        case Generalization() if any(ancestor.attributes & ancestor.schema <= group for group in v):
            return PartialSlicing(v)
        case SlicingNode(_, groups):
            return partial_slicing(refinement(v, groups))
    return NOT_EQUAL


def _read_by(grouping: Grouping) -> frozenset[str]:
    read = {aggregate.column for aggregate in grouping.aggregates if aggregate.column is not None}
    return frozenset(read.union(grouping.by))


def _set(columns: Iterable[str]) -> str:
    return "{" + ", ".join(sorted(columns)) + "}"
