"""Predicates: their value on a row is what a database says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.algebra.expressions import (
    And,
    ColumnRef,
    ComparisonPredicate,
    IsNull,
    Like,
    Literal,
    Not,
    OneOf,
    Or,
    Predicate,
    conjunction,
    conjuncts,
)
from tarnkappe.algebra.sql.expressions import read_predicate
from tarnkappe.algebra.sql.printing import expression_sql
from tarnkappe.errors import ParameterError, QueryError
from tests.algebra.random_plans import predicates

DATABASE = duckdb.connect(config={"threads": 1})
TEXTS = st.sampled_from(["", "a", "b", "ab", "%", "_", "A", "\\"])
CELLS = TEXTS | st.none()


@settings(max_examples=150)
@given(predicates(["x", "y"], CELLS.map(Literal)), CELLS, CELLS)
def test_a_predicate_is_true_false_or_unknown_as_in_a_database(predicate: Predicate, x: Any, y: Any) -> None:
    found = DATABASE.execute(
        f"SELECT {expression_sql(predicate)} FROM (SELECT ?::VARCHAR AS x, ?::VARCHAR AS y)", [x, y]
    ).fetchone()
    row = {"x": x, "y": y}
    assert (predicate.value(row),) == found
    assert predicate.holds(row) == (predicate.value(row) is True)


@given(predicates(["x", "y", "z"], TEXTS.map(Literal)))
def test_a_predicate_knows_the_columns_that_it_reads(predicate: Predicate) -> None:
    row: dict[str, Any] = {}

    class Spy(dict[str, Any]):
        def __getitem__(self, column: str) -> None:
            row[column] = None

    predicate.value(Spy())
    assert set(row) <= predicate.columns
    assert all(column in expression_sql(predicate) for column in predicate.columns)


def test_literals_of_different_types_are_different() -> None:
    different = [Literal(1), Literal(True), Literal("1"), Literal(None), Literal(False), Literal(0)]
    assert len(set(different)) == len(different)
    assert Literal(Decimal("5.0")) == Literal(5)
    assert Literal(Decimal("5.50")) == Literal(Decimal("5.5"))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999999999", "1e-999999999"])
def test_numbers_that_would_fill_the_memory_are_refused(number: str) -> None:
    with pytest.raises(ParameterError, match="of reasonable size"):
        Literal(Decimal(number))
    with pytest.raises(QueryError):
        read_predicate(f"x < {number}(1)")


def test_connectives_are_flat_and_keep_their_order() -> None:
    a, b, c = (ComparisonPredicate("=", ColumnRef(name), Literal(1)) for name in "abc")
    assert And((a, And((b, c)))) == And((And((a, b)), c)) == And((a, b, c))
    assert And((a, b)) != And((b, a))
    assert And((a, Or((b, c)))).operands == (a, Or((b, c)))
    assert conjuncts(And((a, b))) == (a, b)
    assert conjuncts(Or((a, b))) == (Or((a, b)),)
    assert conjunction([a]) == a
    assert conjunction([a, And((b, c))]) == And((a, b, c))


def test_texts_and_numbers_have_no_order() -> None:
    with pytest.raises(ParameterError, match="values of different types"):
        read_predicate("x < 18").value({"x": "17"})


def test_the_blood_groups_of_figure_17() -> None:
    not_b0 = read_predicate("B != 'B0'")
    assert not_b0 == ComparisonPredicate("<>", ColumnRef("B"), Literal("B0"))
    assert [group for group in ("00", "B0", "A0", None) if not_b0.holds({"B": group})] == ["00", "A0"]


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("x IS NOT NULL", Not(IsNull(ColumnRef("x")))),
        ("x NOT IN ('a', NULL)", Not(OneOf(ColumnRef("x"), (Literal("a"), Literal(None))))),
        ("x NOT LIKE 'a%'", Not(Like(ColumnRef("x"), "a%"))),
        ("(((x))) = ((-1))", ComparisonPredicate("=", ColumnRef("x"), Literal(-1))),
        (
            "x NOT BETWEEN 1 AND .5",
            Not(
                And(
                    (
                        ComparisonPredicate(">=", ColumnRef("x"), Literal(1)),
                        ComparisonPredicate("<=", ColumnRef("x"), Literal(Decimal("0.5"))),
                    )
                )
            ),
        ),
        ("NOT NOT x = TRUE", Not(Not(ComparisonPredicate("=", ColumnRef("x"), Literal(True))))),
        ("x == y", ComparisonPredicate("=", ColumnRef("x"), ColumnRef("y"))),
    ],
)
def test_other_ways_to_write_a_predicate(text: str, predicate: Predicate) -> None:
    assert read_predicate(text) == predicate


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ComparisonPredicate("~", ColumnRef("x"), ColumnRef("y")),
            "No comparison '~'; there are =, <>",
        ),
        (lambda: OneOf(ColumnRef("x"), ()), "at least one value"),
        (lambda: And((IsNull(ColumnRef("x")),)), "AND needs at least two"),
        (lambda: Or(()), "OR needs at least two"),
    ],
)
def test_predicates_that_have_no_meaning_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()
