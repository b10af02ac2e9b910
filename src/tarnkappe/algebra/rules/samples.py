"""The relations and predicates of the example plans on which rules are checked."""

from __future__ import annotations

from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Literal, Predicate
from tarnkappe.algebra.nodes import (
    Generalization,
    Plan,
    Projection,
    Randomization,
    Relation,
    Selection,
    SlicingNode,
)

AB = Relation("r", ("A", "B"))
AC = Relation("r", ("A", "C"))
ABC = Relation("r", ("A", "B", "C"))
ABCD = Relation("r", ("A", "B", "C", "D"))
R1 = Relation("r1", ("A", "B"))
R2 = Relation("r2", ("A", "B"))
A1 = Relation("r1", ("A",))
A2 = Relation("r2", ("A",))
LEFT_PART = Relation("r1", ("A", "ID"))
RIGHT_PART = Relation("r2", ("B", "ID"))


def is_not(column: str, value: str) -> Predicate:
    """The predicate `column <> value`."""
    return ComparisonPredicate("<>", ColumnRef(column), Literal(value))


def gen(plan: Plan, by: str, k: int) -> Generalization:
    """αG over columns with one-letter names."""
    return Generalization(plan, tuple(by), k)


def cut(plan: Plan, *groups: str) -> SlicingNode:
    """αS over columns with one-letter names."""
    return SlicingNode(plan, tuple(tuple(group) for group in groups))


def noise(plan: Plan, **probabilities: str) -> Randomization:
    """αD with probabilities as text."""
    return Randomization.of(plan, probabilities)


def onto(plan: Plan, columns: str, *, distinct: bool = False) -> Projection:
    """π onto columns with one-letter names."""
    return Projection(plan, tuple(columns), distinct)


def where(plan: Plan, column: str, value: str) -> Selection:
    """σ by a predicate `column <> value`."""
    return Selection(plan, is_not(column, value))
