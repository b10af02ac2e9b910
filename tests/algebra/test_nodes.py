"""Plan nodes: what they are made of, what they refuse, and that equal plans are equal."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings

from tarnkappe.algebra.aggregates import Aggregate, Noise
from tarnkappe.algebra.expressions import ColumnRef, ComparisonPredicate, Literal
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
    draws_at_random,
)
from tarnkappe.errors import ColumnError, ParameterError
from tests.algebra.random_plans import plans

R = Relation("r", ("b", "a", "c"))
S = Relation("s", ("c", "d"))
A_IS_1 = ComparisonPredicate("=", ColumnRef("a"), Literal(1))


def test_schemas_of_all_operators() -> None:
    assert R.columns == ("b", "a", "c")
    assert Projection(R, ("c", "a")).columns == ("a", "c")
    for same in (
        Selection(R, A_IS_1),
        Generalization(R, ("a",), 2),
        SlicingNode(R, (("a",), ("b", "c"))),
        Randomization.of(R, {"a": 1}),
        Union(R, R),
        Intersection(R, R),
        Difference(R, R),
    ):
        assert same.schema == {"a", "b", "c"}
    assert Join(R, S).columns == ("b", "a", "c", "d")
    assert Join(R, S).on == {"c"}
    assert ThetaJoin(R, Projection(S, ("d",)), A_IS_1).columns == ("b", "a", "c", "d")
    assert Rename(R, (("a", "b"), ("b", "a"))).columns == ("a", "b", "c")
    assert Grouping(R, ("b",), (Aggregate("count", None, "n"),)).columns == ("b", "n")


def test_parameters_have_one_canonical_order() -> None:
    assert Projection(R, ("c", "a")) == Projection(R, ("a", "c"))
    assert Generalization(R, ("c", "a"), 2) == Generalization(R, ("a", "c"), 2)
    assert SlicingNode(R, (("c", "b"), ("a",))) == SlicingNode(R, (("a",), (), ("b", "c")))
    one, other = (
        Randomization.of(R, {"c": "0.50", "a": 0.1}),
        Randomization.of(R, {"a": "1/10", "c": Decimal("0.5")}),
    )
    assert one == other
    assert len({one, other}) == 1
    counts = Aggregate("count", None, "n"), Aggregate("sum", "a", "m")
    assert Grouping(R, ("b", "c"), counts) == Grouping(R, ("c", "b"), counts[::-1])
    assert Rename(R, (("a", "x"), ("b", "b"))) == Rename(R, (("a", "x"),))


def test_probabilities_are_exact() -> None:
    plan = Randomization.of(R, {"a": 0.16})
    assert 1 - (1 - plan.probability("a")) ** 2 == Fraction("0.2944")
    assert plan.probability("b") == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Relation("", ("a",)), "needs a name"),
        (lambda: Relation("r", ()), "no columns"),
        (lambda: Relation("r", ("a", "a")), "'a' stands more than once in the relation 'r'"),
        (lambda: Projection(R, ("a", "z")), "The projection names 'z', but there are only 'a', 'b', 'c'"),
        (lambda: Projection(R, ()), "at least one column"),
        (lambda: Projection(R, ("a", "a")), "more than once"),
        (lambda: Selection(S, A_IS_1), "The selection names 'a'"),
        (lambda: Rename(R, (("z", "y"),)), "The renaming names 'z'"),
        (lambda: Rename(R, (("a", "b"),)), "'b' stands more than once in the result"),
        (lambda: Rename(R, (("a", "x"), ("a", "y"))), "'a' stands more than once"),
        (lambda: Rename(R, (("a", "a"),)), "at least one column with a new name"),
        (lambda: Grouping(R, (), ()), "a column to group by or an aggregate"),
        (lambda: Grouping(R, ("z",), ()), "The grouping names 'z'"),
        (lambda: Grouping(R, ("a",), (Aggregate("sum", "z", "n"),)), "The aggregation names 'z'"),
        (lambda: Grouping(R, ("a",), (Aggregate("sum", "b", "a"),)), "more than once"),
        (lambda: Union(R, S), "The union needs the same columns on both sides"),
        (lambda: Intersection(R, S), "The intersection needs"),
        (lambda: Difference(R, S), "The difference needs"),
        (lambda: ThetaJoin(R, S, A_IS_1), "different columns, but both sides have 'c'"),
        (lambda: ThetaJoin(S, Relation("t", ("e",)), A_IS_1), "'a', which neither side has"),
        (lambda: SlicingNode(R, (("a", "b"), ("b", "c"))), "'b' stands more than once in the slicing"),
        (lambda: Randomization(R, (("a", Fraction(1)), ("a", Fraction(0)))), "more than once"),
    ],
)
def test_what_has_no_meaning_is_refused_at_once(make: object, message: str) -> None:
    with pytest.raises((ColumnError, ParameterError), match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("k", [0, -1, True, 2.0])
def test_k_is_a_whole_number_of_at_least_1(k: object) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        Generalization(R, ("a",), k)  # type: ignore[arg-type]


@pytest.mark.parametrize("p", ["-0.01", "1.01"])
def test_probabilities_lie_between_0_and_1(p: str) -> None:
    with pytest.raises(ParameterError, match="'a' must be between 0 and 1"):
        Randomization.of(R, {"a": p})


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Generalization(R, ("a", "z"), 2), "The generalization names 'z'"),
        (Randomization.of(R, {"z": 1}), "The randomization names 'z'"),
        (SlicingNode(R, (("a", "b", "c", "z"),)), "The slicing names 'z'"),
        (SlicingNode(R, (("a", "b"),)), "The slicing leaves out 'c'"),
    ],
)
def test_foreign_columns_of_anonymizations_are_errors_only_where_a_plan_is_to_run(
    plan: Plan, message: str
) -> None:
    for tree in (plan, Projection(plan, ("a",)), Union(R, plan)):
        with pytest.raises(ColumnError, match=message):
            tree.check()


@settings(max_examples=50)
@given(plans())
def test_plans_are_values(plan: Plan) -> None:
    plan.check()
    assert plan.with_children(*plan.children) == plan
    assert hash(plan.with_children(*plan.children)) == hash(plan)
    assert next(plan.walk()) is plan
    assert len(set(plan.columns)) == len(plan.columns)
    with pytest.raises(ValueError, match="children"):
        plan.with_children(R, R, R)


def test_what_draws_at_random() -> None:
    noisy = Grouping(R, (), (Aggregate("count", None, "n", noise=Noise(Fraction(1))),))
    for random in (Randomization.of(R, {"a": 1}), SlicingNode(R, (("a", "b"), ("c",))), noisy):
        assert draws_at_random(Projection(random, random.columns[:1]))
    assert not draws_at_random(Union(Generalization(R, ("a",), 3), R))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Aggregate("median", "a", "m"), "No aggregate 'median'; there are count"),
        (lambda: Aggregate("sum", None, "m"), "'sum' needs a column"),
        (lambda: Aggregate("sum", "a", ""), "needs a name"),
        (lambda: Aggregate("quantile", "a", "m"), "says where"),
        (lambda: Aggregate("sum", "a", "m", Fraction(1, 2)), "only a quantile"),
        (lambda: Aggregate("quantile", "a", "m", Fraction(2)), "between 0 and 1"),
        (lambda: Aggregate("max", "a", "m", noise=Noise(Fraction(1))), "no noisy 'max'"),
        (lambda: Aggregate("sum", "a", "m", noise=Noise(Fraction(1))), "needs bounds"),
        (
            lambda: Aggregate("count", None, "m", noise=Noise(Fraction(1), Fraction(0), Fraction(1))),
            "no bounds",
        ),
        (lambda: Noise(Fraction(0)), "greater than 0"),
        (lambda: Noise(Fraction(1), lower=Fraction(1)), "both bounds"),
        (lambda: Noise(Fraction(1), Fraction(2), Fraction(2)), "less than the upper"),
    ],
)
def test_aggregates_that_have_no_meaning_are_refused(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]
