"""How far one row reaches: how many rows of a plan's result may come or go with one row of a base relation.

Noise must be scaled to it. Where the reach has no bound, there is no differential privacy, and the plan is
refused with the operator that is to blame.
"""

from __future__ import annotations

from collections import Counter

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
from tarnkappe.errors import ParameterError

_REASONS: dict[type[Plan], str] = {
    Join: "a join, where one row may meet any number of others",
    ThetaJoin: "a join, where one row may meet any number of others",
    Generalization: "a generalization, whose levels depend on all rows",
    SlicingNode: "a slicing, where one row more shifts the buckets of all others",
    Grouping: "a grouping, whose results are no longer rows of persons",
}


def reach(plan: Plan) -> Counter[str]:
    """For each base relation, how many rows of the result one of its rows may add or remove.

    A selection, a projection (also a distinct one) and noise keep it; a union, an intersection and a
    difference add up what both sides let through, since the same relation may stand on both.

    Raises:
        ParameterError: it has no bound.
    """
    match plan:
        case Relation(name):
            return Counter({name: 1})
        case Selection() | Projection() | Rename() | Randomization():
            return reach(plan.child)
        case Union() | Intersection() | Difference():
            return reach(plan.left) + reach(plan.right)
    raise ParameterError(
        f"A noisy aggregate cannot stand above {_REASONS.get(type(plan), 'this operator')}: no noise would "
        "hide a row. Take the aggregate of the table itself."
    )
