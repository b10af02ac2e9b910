"""How far one row reaches: how many rows of a plan's result may come or go with one row of a base relation.

Noise must be scaled to it. Where the reach has no bound, there is no differential privacy, and the plan is
refused with the operator that is to blame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.person_paths import payer
from tarnkappe.algebra.persons import Persons, behind
from tarnkappe.algebra.plan import listed
from tarnkappe.errors import ParameterError

_REASONS: dict[type[Plan], str] = {
    Join: "a join, where one row may meet any number of others",
    ThetaJoin: "a join, where one row may meet any number of others",
    Generalization: "a generalization, whose levels depend on all rows",
    SlicingNode: "a slicing, where one row more shifts the buckets of all others",
    Grouping: "a grouping, whose results are no longer rows of persons",
}


def reach(plan: Plan, persons: Persons | None = None, public: Collection[str] = ()) -> Counter[str]:
    """For each base relation, how many rows of the result one of its rows may add or remove.

    Where people are declared, it is one person with all her rows; the relations of one space count as one.

    A selection, a projection (also a distinct one) and noise keep it; a union, an intersection and a
    difference add up what both sides let through, since the same relation may stand on both.

    Raises:
        ParameterError: it has no bound.
    """
    names = {node.name for node in plan.walk() if isinstance(node, Relation)}
    if names & set(persons or ()):
        return _reach_of_people(plan, persons or {}, names - set(public))
    match plan:
        case Relation(name):
            return Counter({name: 1})
        case Selection() | Projection() | Rename() | Randomization():
            return reach(plan.child, persons, public)
        case Union() | Intersection() | Difference():
            return reach(plan.left, persons, public) + reach(plan.right, persons, public)
    raise ParameterError(
        "algebra.noisy-aggregate-cannot-stand",
        "A noisy aggregate cannot stand above {kind}: no noise would hide a row. Take the aggregate of the "
        "table itself.",
        kind=_REASONS.get(type(plan), "this operator"),
    )


def _reach_of_people(plan: Plan, persons: Persons, names: set[str]) -> Counter[str]:
    """The most rows of one person, for every budget that pays."""
    undeclared = names - set(persons)
    if undeclared:
        raise ParameterError(
            "algebra.stands-beside-tables-people",
            "{undeclared} stands beside tables of people, and it is not declared whose its rows are: "
            "declare `person`, or that it is public",
            undeclared=listed(undeclared),
        )
    people = behind(plan, persons)
    assert people is not None
    if people.most is None or people.noiseless:
        reason = people.unbounded or people.noiseless
        raise ParameterError(
            "algebra.noisy-aggregate-would-hide",
            "A noisy aggregate would hide nobody: {reason}.",
            reason=reason,
        )
    return Counter({payer(persons, name): people.most for name in names})
