"""Plans that carry people along, hidden, to where they are counted."""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Join,
    Plan,
    Projection,
    Relation,
    RowBound,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.person_paths import HIDDEN
from tarnkappe.algebra.persons import Persons, behind


def carries_people(plan: Plan, persons: Persons) -> bool:
    """Whether every row of a plan is one person's, so that people can be counted in its result."""
    people = behind(plan, persons)
    return people is not None and not people.lost


def counted(plan: Plan, persons: Persons, bucket: int, *, carry: bool = False) -> Plan:
    """The plan as it runs: generalizations count people, and buckets are so large that enough are in each.

    Args:
        plan: as it was written or rewritten.
        persons: how people are found.
        bucket: how many people are in a bucket of slicing.
        carry: whether the result has the column `HIDDEN` as well.
    """

    def below(child: Plan, with_person: bool) -> Plan:
        return counted(child, persons, bucket, carry=with_person)

    match plan:
        case Relation(name, columns):
            return Relation(name, (*columns, HIDDEN)) if carry else plan
        case Generalization(child, by, k) if k > 1 and behind(child, persons) is not None:
            lifted = Generalization(below(child, True), by, k, HIDDEN)
            return lifted if carry else Projection(lifted, plan.columns)
        case RowBound(child, most):
            kept = RowBound(below(child, True), most, HIDDEN)
            return kept if carry else Projection(kept, plan.columns)
        case SlicingNode(child, groups):
            if len(groups) == 1:  # it moves nothing
                return below(child, carry)
            people = behind(child, persons)
            rows = None if people is None or people.most is None else bucket * people.most
            return SlicingNode(below(child, carry), groups, rows)
        case Projection(child, onto, distinct) if carry:
            return Projection(below(child, True), (*onto, HIDDEN), distinct)
        case Grouping(child, by, aggregates) if carry:
            return Grouping(below(child, True), (*by, HIDDEN), aggregates)
        case Join(left, right) | ThetaJoin(left, right) if carry:
            here = behind(left, persons) is not None
            return plan.with_children(below(left, here), below(right, not here))
    return plan.with_children(*(below(child, carry) for child in plan.children))


def several_rows(plan: Plan, persons: Persons) -> Iterator[Generalization]:
    """The generalizations of which one person may have several rows, which together may fit only her."""
    for node in plan.walk():
        if isinstance(node, Generalization) and node.k > 1:
            people = behind(node.child, persons)
            if people is not None and people.most != 1:
                yield node


def repeated(plan: Plan) -> Iterator[tuple[Generalization, str]]:
    """The generalizations above copies of the same stored rows: k of them may be one row, k times."""
    for node in plan.walk():
        if isinstance(node, Generalization) and node.k > 1:
            names = [each.name for each in node.child.walk() if isinstance(each, Relation)]
            if any(isinstance(each, Union) for each in node.child.walk()):
                yield from ((node, name) for name in sorted({n for n in names if names.count(n) > 1}))
            elif any(isinstance(each, Join | ThetaJoin) for each in node.child.walk()):
                yield node, ", ".join(sorted(set(names)))
