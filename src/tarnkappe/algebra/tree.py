"""Plans as trees for people, in the notation of relational algebra.

>>> from tarnkappe.algebra.nodes import Projection, Relation
>>> print(plan_tree(Projection(Generalization(Relation("spender", ("plz", "alter")), ("plz",), 3), ("plz",))))
π plz
└─ αG k=3 on plz
   └─ spender
"""

from __future__ import annotations

from collections.abc import Iterator

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.model_nodes import ModelGeneralization
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    PostProcessing,
    Projection,
    Randomization,
    Relation,
    Rename,
    RowBound,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.numbers import number_text
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.sql.printing import aggregate_sql, expression_sql, model_arguments, quoted


def plan_tree(plan: Plan) -> str:
    """The plan with one line an operator, children below their parents."""
    return "\n".join(_lines(plan))


def operator_text(plan: Plan) -> str:
    """One operator with its parameters, without its children."""
    match plan:
        case Relation():
            return plan.name
        case Projection():
            return ("π distinct " if plan.distinct else "π ") + _names(plan.onto)
        case Selection():
            return f"σ {expression_sql(plan.predicate)}"
        case Rename():
            return "ρ " + ", ".join(f"{quoted(old)} → {quoted(new)}" for old, new in plan.names)
        case Grouping():
            return _grouping(plan.by, plan.aggregates)
        case RowBound():
            return f"at most {plan.rows} rows of a person"
        case Union():
            return "∪"
        case Intersection():
            return "∩"
        case Difference():
            return "−"
        case Join():
            return f"⋈ on {_names(sorted(plan.on))}" if plan.on else "⋈ of all pairs"
        case ThetaJoin():
            return f"⋈ where {expression_sql(plan.predicate)}"
        case Generalization():
            return f"αG k={plan.k} on {_names(plan.by)}"
        case ModelGeneralization():
            return f"αG {model_arguments(plan)} on {_names(plan.by)}"
        case SlicingNode():
            return "αS " + " ".join(f"{{{_names(group)}}}" for group in plan.groups)
        case Randomization():
            pairs = ", ".join(f"{quoted(column)}: {number_text(p)}" for column, p in plan.probabilities)
            return f"αD {{{pairs}}}"
        case PostProcessing():
            return f"post-processing: {plan.statement}"
    raise TypeError(f"no text for {type(plan).__name__}")


def _lines(plan: Plan) -> Iterator[str]:
    yield operator_text(plan)
    for number, child in enumerate(plan.children, start=1):
        is_last = number == len(plan.children)
        first, further = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        for index, line in enumerate(_lines(child)):
            yield (further if index else first) + line


def _grouping(by: tuple[str, ...], aggregates: tuple[Aggregate, ...]) -> str:
    parts = [f"by {_names(by)}"] if by else []
    return " ".join(["γ", *parts, ", ".join(map(aggregate_sql, aggregates))]).rstrip()


def _names(columns: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(quoted, columns)) or "nothing"
