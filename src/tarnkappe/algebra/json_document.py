"""Plans as JSON: each operator an object that names itself, its parameters and its inputs.

    {"operator": "generalization", "k": 3, "by": ["alter", "plz"], "input": {"operator": "relation", ...}}

Predicates are SQL, probabilities and bounds are texts of exact numbers ("0.16", "1/3").
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.model_nodes import Diversity, ModelGeneralization
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
from tarnkappe.algebra.numbers import number_text, read_number
from tarnkappe.algebra.plan import Binary, Plan, Unary
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.printing import expression_sql
from tarnkappe.errors import QueryError, TarnkappeError

Object = dict[str, Any]

_OPERATORS: dict[type[Plan], str] = {
    Relation: "relation",
    Projection: "projection",
    Selection: "selection",
    Rename: "rename",
    RowBound: "bound",
    Grouping: "grouping",
    Union: "union",
    Intersection: "intersection",
    Difference: "difference",
    Join: "join",
    ThetaJoin: "theta-join",
    Generalization: "generalization",
    ModelGeneralization: "generalization-under-models",
    SlicingNode: "slicing",
    Randomization: "randomization",
}


def plan_json(plan: Plan) -> str:
    """The plan as a JSON text, which `read_json` reads back as this plan."""
    return json.dumps(plan_object(plan), ensure_ascii=False, indent=2)


def plan_object(plan: Plan) -> Object:
    """The plan as a JSON object."""
    inputs: Object = {}
    match plan:
        case Unary():
            inputs = {"input": plan_object(plan.child)}
        case Binary():
            inputs = {"left": plan_object(plan.left), "right": plan_object(plan.right)}
        case PostProcessing():  # only written: a statement is read from SQL, which is checked
            below = zip(plan.names, map(plan_object, plan.inputs), strict=True)
            return {"operator": "post-processing", "statement": plan.statement, "inputs": dict(below)}
    return {"operator": _OPERATORS[type(plan)], **_parameters(plan), **inputs}


def read_json(text: str) -> Plan:
    """The plan that a JSON text describes."""
    try:
        return read_object(json.loads(text, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        raise QueryError(
            "algebra.line-column-not-json",
            "Line {lineno}, column {colno}: this is not JSON.",
            lineno=error.lineno,
            colno=error.colno,
        ) from None
    except RecursionError:
        raise QueryError("algebra.plan-nested-too-deeply", "The plan is nested too deeply.") from None


def read_object(document: Any, path: str = "the plan") -> Plan:
    """The plan that a JSON object describes; errors name the way to the wrong operator."""
    fields = _Fields(document, path)
    operator = fields.take("operator", str)
    make = _READERS.get(operator)
    if make is None:
        raise QueryError(
            "algebra.no-operator",
            "In {path}: no operator '{operator}'; there are {readers}.",
            path=path,
            operator=operator,
            readers=", ".join(_READERS),
        )
    plan: Plan
    try:
        plan = make(fields)
    except QueryError as error:
        if str(error).startswith("In "):
            raise
        raise QueryError("algebra.path-error", "In {path}: {error}", path=path, error=error) from None
    except TarnkappeError as error:
        raise QueryError("algebra.path-error", "In {path}: {error}", path=path, error=error) from None
    fields.nothing_left()
    return plan


def _once(pairs: list[tuple[str, Any]]) -> Object:
    """An object whose fields stand once: what two readers could read differently is refused."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise QueryError(
            "algebra.json-plan-field-stands", "In the JSON of the plan, a field stands twice in one object."
        )
    return found


def _parameters(plan: Plan) -> Object:
    match plan:
        case Relation():
            return {"name": plan.name, "columns": list(plan.columns)}
        case Projection():
            return {"onto": list(plan.onto), "distinct": plan.distinct}
        case Selection() | ThetaJoin():
            return {"where": expression_sql(plan.predicate)}
        case Rename():
            return {"names": dict(plan.names)}
        case RowBound():
            return {"rows": plan.rows}
        case Grouping():
            return {"by": list(plan.by), "aggregates": [_aggregate(a) for a in plan.aggregates]}
        case Generalization():
            return {"k": plan.k, "by": list(plan.by)}
        case ModelGeneralization():
            return {
                "k": plan.k,
                "by": list(plan.by),
                "l": [[column, kind, *map(number_text, numbers)] for column, kind, numbers in plan.diversity],
                "t": {column: number_text(t) for column, t in plan.closeness},
                "suppress": number_text(plan.suppress),
                "suppression": plan.suppression,
                "loss": plan.loss,
                "method": plan.method,
            }
        case SlicingNode():
            return {"groups": [list(group) for group in plan.groups]}
        case Randomization():
            return {"probability": {column: number_text(p) for column, p in plan.probabilities}}
    return {}


def _aggregate(aggregate: Aggregate) -> Object:
    noise = aggregate.noise
    numbers = {
        "at": aggregate.at,
        "epsilon": noise.epsilon if noise else None,
        "lower": noise.lower if noise else None,
        "upper": noise.upper if noise else None,
    }
    return {
        "function": aggregate.function,
        "column": aggregate.column,
        "name": aggregate.name,
        **{key: number_text(number) for key, number in numbers.items() if number is not None},
    }


class _Fields:
    """The fields of an object, each to be taken once and with its type."""

    def __init__(self, document: Any, path: str) -> None:
        if not isinstance(document, dict):
            raise QueryError(
                "algebra.expected-object-operator",
                "In {path}: expected an object with an operator.",
                path=path,
            )
        self._left = dict(document)
        self.path = path

    def take(self, name: str, kind: type | tuple[type, ...]) -> Any:
        if name not in self._left:
            raise QueryError(
                "algebra.path-name-missing", "In {path}: '{name}' is missing.", path=self.path, name=name
            )
        value = self._left.pop(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise QueryError(
                "algebra.wrong-type", "In {path}: '{name}' has a wrong type.", path=self.path, name=name
            )
        return value

    def names(self, name: str) -> tuple[str, ...]:
        values = self.take(name, list)
        if not all(isinstance(value, str) for value in values):
            raise QueryError(
                "algebra.must-list-names",
                "In {path}: '{name}' must be a list of names.",
                path=self.path,
                name=name,
            )
        return tuple(values)

    def number(self, name: str) -> Any:
        return read_number(self.take(name, str)) if self._left.get(name) is not None else None

    def mapping(self, name: str) -> tuple[tuple[str, str], ...]:
        values = self.take(name, dict)
        if not all(isinstance(value, str) for value in values.values()):
            raise QueryError(
                "algebra.must-hold-texts", "In {path}: '{name}' must hold texts.", path=self.path, name=name
            )
        return tuple(values.items())

    def child(self, name: str) -> Plan:
        return read_object(self.take(name, dict), f"the {name} of {self.path}")

    def nothing_left(self) -> None:
        if self._left:
            raise QueryError(
                "algebra.not-known",
                "In {path}: '{left}' is not known.",
                path=self.path,
                left=next(iter(self._left)),
            )


def _read_aggregate(document: Any, path: str) -> Aggregate:
    fields = _Fields(document, f"an aggregate of {path}")
    epsilon, lower, upper = (fields.number(name) for name in ("epsilon", "lower", "upper"))
    noise = None if epsilon is None else Noise(epsilon, lower, upper)
    aggregate = Aggregate(
        fields.take("function", str),
        fields.take("column", (str, type(None))),
        fields.take("name", str),
        fields.number("at"),
        noise,
    )
    fields.nothing_left()
    return aggregate


_READERS: dict[str, Callable[[_Fields], Plan]] = {
    "relation": lambda f: Relation(f.take("name", str), f.names("columns")),
    "projection": lambda f: Projection(f.child("input"), f.names("onto"), f.take("distinct", bool)),
    "selection": lambda f: Selection(f.child("input"), read_predicate(f.take("where", str))),
    "rename": lambda f: Rename(f.child("input"), f.mapping("names")),
    "grouping": lambda f: Grouping(
        f.child("input"),
        f.names("by"),
        tuple(_read_aggregate(entry, f.path) for entry in f.take("aggregates", list)),
    ),
    "union": lambda f: Union(f.child("left"), f.child("right")),
    "intersection": lambda f: Intersection(f.child("left"), f.child("right")),
    "difference": lambda f: Difference(f.child("left"), f.child("right")),
    "join": lambda f: Join(f.child("left"), f.child("right")),
    "theta-join": lambda f: ThetaJoin(
        f.child("left"), f.child("right"), read_predicate(f.take("where", str))
    ),
    "bound": lambda f: RowBound(f.child("input"), f.take("rows", int)),
    "generalization": lambda f: Generalization(f.child("input"), f.names("by"), f.take("k", int)),
    "generalization-under-models": lambda f: ModelGeneralization(
        f.child("input"),
        f.names("by"),
        f.take("k", int),
        _diversity(f),
        tuple((column, read_number(t)) for column, t in f.mapping("t")),
        read_number(f.take("suppress", str)),
        *(f.take(name, str) for name in ("suppression", "loss", "method")),
    ),
    "slicing": lambda f: SlicingNode(f.child("input"), _groups(f)),
    "randomization": lambda f: Randomization(
        f.child("input"), tuple((column, read_number(p)) for column, p in f.mapping("probability"))
    ),
}


def _diversity(fields: _Fields) -> tuple[Diversity, ...]:
    stated = fields.take("l", list)
    if not all(
        isinstance(each, list) and len(each) > 2 and all(isinstance(part, str) for part in each)
        for each in stated
    ):
        raise QueryError(
            "algebra.l-must-lists-column",
            "In {path}: 'l' must be lists of a column, a kind and numbers.",
            path=fields.path,
        )
    return tuple((column, kind, tuple(map(read_number, numbers))) for column, kind, *numbers in stated)


def _groups(fields: _Fields) -> tuple[tuple[str, ...], ...]:
    groups = fields.take("groups", list)
    if not all(isinstance(group, list) and all(isinstance(c, str) for c in group) for group in groups):
        raise QueryError(
            "algebra.groups-must-lists-names", "In {path}: 'groups' must be lists of names.", path=fields.path
        )
    return tuple(map(tuple, groups))
