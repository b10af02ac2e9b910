"""Places in a plan: paths from the root, what stands there, and what reaches the root from there."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from tarnkappe.algebra.kinds import Kind, through
from tarnkappe.algebra.plan import Plan
from tarnkappe.algebra.xml_document import plan_xml
from tarnkappe.errors import ParameterError, QueryError

Path = tuple[int, ...]
"""Which child to go to, step by step from the root; the root itself is the empty path."""


def at(plan: Plan, path: Path) -> Plan:
    """The plan at a place."""
    for index in path:
        plan = plan.children[index]
    return plan


def replaced(plan: Plan, path: Path, new: Plan) -> Plan:
    """The plan with another one at a place."""
    if not path:
        return new
    children = list(plan.children)
    children[path[0]] = replaced(children[path[0]], path[1:], new)
    return plan.with_children(*children)


def lifted(plan: Plan, path: Path, kind: Kind) -> Kind:
    """How equal the whole stays if what stands at a place is replaced by what is equal in a kind."""
    for depth in range(len(path), 0, -1):
        kind = through(at(plan, path[: depth - 1]), kind)
    return kind


def places(plan: Plan) -> Iterator[tuple[Path, Plan]]:
    """All places, parents before children, left before right."""
    yield (), plan
    for index, child in enumerate(plan.children):
        for path, below in places(child):
            yield (index, *path), below


def path_text(path: Path) -> str:
    """A path for people: / is the root, /0/1 the second child of its first child."""
    return "/" + "/".join(map(str, path))


def matching(plan: Plan, xpath: str) -> list[Path]:
    """The places that an XPath expression finds in the plan's XML, in document order.

    Element names are those of the XML document: projection, selection, baseRelation, union, slicing and so
    on. The subset of XPath is that of Python's ElementTree: `//union`, `/projection/*[1]`,
    `//projection[differentialPrivacy]`, `//generalization[@k='3']`.

    >>> from tarnkappe.algebra.nodes import Projection, Relation
    >>> matching(Projection(Relation("r", ("A", "B")), ("A",)), "//baseRelation[@name='r']")
    [(0,)]
    """
    document = ElementTree.Element("document")
    try:
        root = ElementTree.fromstring(plan_xml(plan))  # noqa: S314 - written by ourselves a moment ago
    except QueryError as error:
        raise ParameterError(
            "algebra.plan-cannot-written-xml",
            "a plan that cannot be written as XML has no XPath: {error}",
            error=error,
        ) from None
    document.append(root)
    if not xpath.startswith("/"):
        raise ParameterError(
            "algebra.xpath-must-start-root",
            "the XPath '{xpath}' must start at the root, with / or //",
            xpath=xpath,
        )
    try:
        found = {id(element) for element in document.findall("." + xpath)}
    except (SyntaxError, KeyError, TypeError):  # ElementTree stumbles over some of what it does not know
        raise ParameterError(
            "algebra.xpath-cannot-understood", "the XPath '{xpath}' cannot be understood", xpath=xpath
        ) from None
    return [path for path, element in _elements(plan, root) if id(element) in found]


def _elements(plan: Plan, element: ElementTree.Element) -> Iterator[tuple[Path, ElementTree.Element]]:
    """Every place with its element: the first elements of an operator are its children, in order."""
    yield (), element
    for index, child in enumerate(plan.children):
        for path, below in _elements(child, element[index]):
            yield (index, *path), below
