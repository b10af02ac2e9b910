"""Plans as XML, the exchange format of the rewriter that these operators come from.

    <projection isDistinct="false">
      <differentialPrivacy>
        <baseRelation name="spender"> ... </baseRelation>
        <noiseAttributes>
          <noiseAttribute attribute="datum" noiseProbability="0.16"/>
        </noiseAttributes>
      </differentialPrivacy>
      <attributes>
        <attribute>datum</attribute>
      </attributes>
    </projection>

Writing is canonical: inputs before parameters, lists sorted, two spaces a level. Reading takes inputs and
parameters in any order and any spaces. Predicates are SQL. `rename`, and what a `grouping` or a `join` by
predicate holds, are ours: the format does not define them. Views are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.expressions import Predicate
from tarnkappe.algebra.nodes import (
    Difference,
    Generalization,
    Grouping,
    Intersection,
    Join,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
    ThetaJoin,
    Union,
)
from tarnkappe.algebra.numbers import number_text, read_number
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.printing import expression_sql
from tarnkappe.algebra.xml_elements import Element, escaped, inline, parse_xml
from tarnkappe.errors import ParameterError, QueryError, TarnkappeError

_BINARY: dict[type[Plan], str] = {
    Union: "union",
    Intersection: "intersect",
    Difference: "difference",
    Join: "naturalJoin",
    ThetaJoin: "join",
}


def plan_xml(plan: Plan) -> str:
    """The plan as XML, which `read_xml` reads back as this plan."""
    return "\n".join(_lines(plan)) + "\n"


def read_xml(text: str) -> Plan:
    """The plan that an XML document describes."""
    try:
        return _plan(parse_xml(text))
    except RecursionError:
        raise QueryError("algebra.plan-nested-too-deeply", "The plan is nested too deeply.") from None


def _lines(plan: Plan) -> Iterator[str]:
    tag, attributes, parameters = _element(plan)
    yield "".join([f"<{tag}", *(f' {name}="{escaped(value)}"' for name, value in attributes.items()), ">"])
    for child in plan.children:
        yield from (f"  {line}" for line in _lines(child))
    yield from (f"  {line}" for line in parameters)
    yield f"</{tag}>"


def _element(plan: Plan) -> tuple[str, dict[str, str], list[str]]:
    """The tag of an operator, its attributes, and the lines of its parameters."""
    match plan:
        case Relation():
            return "baseRelation", {"name": plan.name}, _names("attributes", plan.columns)
        case Projection():
            distinct = {"isDistinct": "true" if plan.distinct else "false"}
            return "projection", distinct, _names("attributes", plan.onto)
        case Selection():
            return "selection", {}, [inline("predicate", [expression_sql(plan.predicate)])]
        case ThetaJoin():
            return "join", {}, [inline("predicate", [expression_sql(plan.predicate)])]
        case Rename():
            renamed = [_empty("renamedAttribute", {"attribute": old, "name": new}) for old, new in plan.names]
            return "rename", {}, _list("renamedAttributes", renamed)
        case Grouping():
            aggregates = _list("aggregates", [_aggregate(aggregate) for aggregate in plan.aggregates])
            return "grouping", {}, _names("attributes", plan.by) + aggregates
        case Generalization():
            return "generalization", {"k": str(plan.k)}, _names("generalizationAttributes", plan.by)
        case SlicingNode():
            sets = [f"<correlationSet>{inline('attribute', s)}</correlationSet>" for s in plan.groups]
            return "slicing", {}, _list("correlationSets", sets)
        case Randomization():
            noise = [
                _empty("noiseAttribute", {"attribute": column, "noiseProbability": number_text(p)})
                for column, p in plan.probabilities
            ]
            return "differentialPrivacy", {}, _list("noiseAttributes", noise)
    if type(plan) not in _BINARY:
        raise ParameterError(
            "algebra.cannot-written-xml-write",
            "a {name} cannot be written as XML: write JSON or SQL",
            name=type(plan).__name__,
        )
    return _BINARY[type(plan)], {}, []


def _names(tag: str, columns: tuple[str, ...]) -> list[str]:
    return _list(tag, [inline("attribute", columns)] if columns else [])


def _list(tag: str, lines: list[str]) -> list[str]:
    return [f"<{tag}>", *(f"  {line}" for line in lines), f"</{tag}>"] if lines else [f"<{tag}/>"]


def _empty(tag: str, attributes: dict[str, str]) -> str:
    return "".join([f"<{tag}", *(f' {name}="{escaped(value)}"' for name, value in attributes.items()), "/>"])


def _aggregate(aggregate: Aggregate) -> str:
    noise = aggregate.noise
    attributes = {
        "function": aggregate.function,
        "attribute": aggregate.column,
        "name": aggregate.name,
        "at": number_text(aggregate.at) if aggregate.at is not None else None,
        "epsilon": number_text(noise.epsilon) if noise else None,
        "lower": number_text(noise.lower) if noise and noise.lower is not None else None,
        "upper": number_text(noise.upper) if noise and noise.upper is not None else None,
    }
    return _empty("aggregate", {name: value for name, value in attributes.items() if value is not None})


def _plan(element: Element) -> Plan:
    read = _READERS.get(element.tag)
    if element.tag == "view":
        raise element.error(
            "algebra.views-not-read-put", "views are not read; put the query of the view in its place"
        )
    if read is None:
        raise element.error(
            "algebra.xml-document-no-operator",
            "no such operator; there are {readers}",
            readers=", ".join(_READERS),
        )
    try:
        return read(element)
    except QueryError:
        raise
    except TarnkappeError as error:
        raise element.error_because(error.reason.clause) from None


def _inputs(element: Element, number: int, *parameters: str) -> list[Plan]:
    """The operators below an element, which has these parameters beside them and nothing else."""
    element.only_children(*_READERS, "view", *parameters)
    found = [child for child in element.children if child.tag not in parameters]
    if len(found) != number:
        raise element.error(
            "algebra.needs-operators-inside",
            "it needs {number} operators inside, and has {found}",
            number=number,
            found=len(found),
        )
    return [_plan(child) for child in found]


def _relation(element: Element) -> Plan:
    element.only_attributes("name")
    element.only_children("attributes")
    return Relation(element.attribute("name"), element.child("attributes").texts("attribute"))


def _projection(element: Element) -> Plan:
    element.only_attributes("isDistinct")
    distinct = element.attribute("isDistinct")
    if distinct not in ("true", "false"):
        raise element.error("algebra.isdistinct-true-false", "isDistinct is 'true' or 'false'")
    (child,) = _inputs(element, 1, "attributes")
    return Projection(child, element.child("attributes").texts("attribute"), distinct == "true")


def _selection(element: Element) -> Plan:
    element.only_attributes()
    (child,) = _inputs(element, 1, "predicate")
    return Selection(child, _predicate(element.child("predicate")))


def _rename(element: Element) -> Plan:
    element.only_attributes()
    (child,) = _inputs(element, 1, "renamedAttributes")
    entries = _entries(element.child("renamedAttributes"), "renamedAttribute", "attribute", "name")
    return Rename(child, tuple((entry.attribute("attribute"), entry.attribute("name")) for entry in entries))


def _grouping(element: Element) -> Plan:
    element.only_attributes()
    (child,) = _inputs(element, 1, "attributes", "aggregates")
    names = ("function", "attribute", "name", "at", "epsilon", "lower", "upper")
    entries = _entries(element.child("aggregates"), "aggregate", *names)
    by = element.child("attributes").texts("attribute")
    return Grouping(child, by, tuple(_read_aggregate(entry) for entry in entries))


def _read_aggregate(element: Element) -> Aggregate:
    at, epsilon, lower, upper = (
        read_number(element.attributes[name]) if name in element.attributes else None
        for name in ("at", "epsilon", "lower", "upper")
    )
    noise = None if epsilon is None else Noise(epsilon, lower, upper)
    column = element.attributes.get("attribute")
    return Aggregate(element.attribute("function"), column, element.attribute("name"), at, noise)


def _generalization(element: Element) -> Plan:
    element.only_attributes("k")
    k = element.attribute("k")
    if not (k.isascii() and k.isdigit() and len(k) < 20):
        raise element.error("algebra.k-must-whole-number", "k must be a whole number")
    (child,) = _inputs(element, 1, "generalizationAttributes")
    return Generalization(child, element.child("generalizationAttributes").texts("attribute"), int(k))


def _slicing(element: Element) -> Plan:
    element.only_attributes()
    (child,) = _inputs(element, 1, "correlationSets")
    sets = element.child("correlationSets")
    sets.only_attributes()
    sets.only_children("correlationSet")
    return SlicingNode(child, tuple(group.texts("attribute") for group in sets.children))


def _randomization(element: Element) -> Plan:
    element.only_attributes()
    (child,) = _inputs(element, 1, "noiseAttributes")
    entries = _entries(element.child("noiseAttributes"), "noiseAttribute", "attribute", "noiseProbability")
    return Randomization(
        child,
        tuple((e.attribute("attribute"), read_number(e.attribute("noiseProbability"))) for e in entries),
    )


def _theta_join(element: Element) -> Plan:
    element.only_attributes()
    left, right = _inputs(element, 2, "predicate")
    return ThetaJoin(left, right, _predicate(element.child("predicate")))


def _predicate(element: Element) -> Predicate:
    try:
        return read_predicate(element.leaf())
    except QueryError as error:
        raise element.error(
            "algebra.sql-wrong", "its SQL is wrong: {error}", error=error.reason.clause
        ) from None


def _entries(element: Element, tag: str, *attributes: str) -> list[Element]:
    element.only_attributes()
    element.only_children(tag)
    for entry in element.children:
        entry.only_attributes(*attributes)
        entry.only_children()
    return element.children


def _binary(make: Callable[[Plan, Plan], Plan]) -> Callable[[Element], Plan]:
    def read(element: Element) -> Plan:
        element.only_attributes()
        left, right = _inputs(element, 2)
        return make(left, right)

    return read


_READERS: dict[str, Callable[[Element], Plan]] = {
    "baseRelation": _relation,
    "projection": _projection,
    "selection": _selection,
    "rename": _rename,
    "grouping": _grouping,
    "union": _binary(Union),
    "intersect": _binary(Intersection),
    "difference": _binary(Difference),
    "naturalJoin": _binary(Join),
    "join": _theta_join,
    "generalization": _generalization,
    "slicing": _slicing,
    "differentialPrivacy": _randomization,
}
