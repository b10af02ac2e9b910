"""What is printed reads back as the same plan, in every notation and whatever the names."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.expressions import FUNCTION_BY_NAME
from sqlglot.tokens import Tokenizer

from tarnkappe.algebra.aggregates import Aggregate
from tarnkappe.algebra.expressions import And, ColumnRef, ComparisonPredicate, IsNull, Literal, Not, Predicate
from tarnkappe.algebra.json_document import plan_json, plan_object, read_json, read_object
from tarnkappe.algebra.nodes import (
    Generalization,
    Grouping,
    Plan,
    Projection,
    Randomization,
    Relation,
    Rename,
    Selection,
    SlicingNode,
)
from tarnkappe.algebra.numbers import number_text, read_number
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.printing import expression_sql, plan_sql
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.tree import plan_tree
from tarnkappe.algebra.xml_document import plan_xml, read_xml
from tests.algebra.random_plans import AWKWARD, plans, predicates


@settings(max_examples=100)
@given(plans())
def test_sql_reads_back_as_the_same_plan(plan: Plan) -> None:
    assert read_sql(plan_sql(plan), AWKWARD).plan == plan


@settings(max_examples=100)
@given(plans())
def test_xml_reads_back_as_the_same_plan(plan: Plan) -> None:
    text = plan_xml(plan)
    assert read_xml(text) == plan
    assert plan_xml(read_xml(text)) == text


@settings(max_examples=100)
@given(plans())
def test_json_reads_back_as_the_same_plan(plan: Plan) -> None:
    assert read_json(plan_json(plan)) == plan
    assert read_object(json.loads(json.dumps(plan_object(plan)))) == plan


@settings(max_examples=100)
@given(plans())
def test_the_tree_has_a_line_for_every_operator(plan: Plan) -> None:
    assert len(plan_tree(plan).split("\n")) >= len(list(plan.walk()))


@given(predicates(["a", "alter", 'say "hi"']))
def test_predicates_read_back_as_the_same_predicate(predicate: Predicate) -> None:
    assert read_predicate(expression_sql(predicate)) == predicate


@settings(max_examples=40)
@given(plans(depth=2), plans(depth=2))
def test_different_plans_are_printed_differently(one: Plan, other: Plan) -> None:
    for printed in (plan_sql, plan_xml, plan_json):
        assert (printed(one) == printed(other)) == (one == other)


@given(st.fractions())
def test_numbers_read_back_exactly(number: Fraction) -> None:
    assert read_number(number_text(number)) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.16", "0.16"), ("0.50", "0.5"), ("1/3", "1/3"), ("100", "100"), ("-0.05", "-0.05"), ("0", "0")],
)
def test_numbers_are_decimals_where_they_end(number: str, text: str) -> None:
    assert number_text(Fraction(number)) == text


WORDS = sorted({word.lower() for word in [*Tokenizer.KEYWORDS, *FUNCTION_BY_NAME] if word.isidentifier()})


@pytest.mark.parametrize("start", range(0, len(WORDS), 40))
def test_every_word_of_sql_is_a_good_name(start: int) -> None:
    words = tuple(WORDS[start : start + 40])
    relation = Relation(words[0], words)
    predicates = [Not(ComparisonPredicate("<>", ColumnRef(word), Literal("x"))) for word in words]
    plan: Plan = Selection(
        Generalization(relation, words, 2), And((*predicates, IsNull(ColumnRef(words[0]))))
    )
    plan = SlicingNode(Randomization.of(plan, dict.fromkeys(words, "0.5")), tuple((word,) for word in words))
    plan = Rename(Projection(plan, words), tuple((word, f"{word}s_") for word in words))
    plan = Rename(plan, tuple((f"{word}s_", word) for word in words))
    plan = Grouping(plan, words, tuple(Aggregate("count", word, f"{word} n") for word in words))
    assert read_sql(plan_sql(plan), {words[0]: words}).plan == plan


def test_the_words_that_matter_are_among_them() -> None:
    assert {"select", "null", "alter", "case", "count", "interval", "lateral"} <= set(WORDS)
