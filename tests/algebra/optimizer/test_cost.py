"""Costs: what statistics change, what parallelism changes, and what is never a number of the data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tarnkappe.algebra.nodes import Grouping, Join, Plan, Projection, Relation, Union
from tarnkappe.algebra.optimizer.cost import ASSUMED_ROWS, CardinalityEstimator
from tarnkappe.algebra.rules.samples import AB, ABC, R1, R2, cut, gen, is_not, noise, onto, where
from tarnkappe.algebra.statistics import ColumnStatistics, RelationStatistics
from tarnkappe.errors import ParameterError
from tests.algebra.random_plans import plans

COLUMNS = {"A": ColumnStatistics(10), "B": ColumnStatistics(100)}
ESTIMATE = CardinalityEstimator({name: RelationStatistics(1000, COLUMNS) for name in ("r", "r1", "r2")})


def test_rows_are_estimated_from_statistics() -> None:
    assert ESTIMATE.rows(AB) == 1000
    assert ESTIMATE.rows(where(AB, "A", "a")) == pytest.approx(900)
    assert ESTIMATE.rows(Union(R1, R2)) == 2000
    assert ESTIMATE.rows(onto(AB, "A", distinct=True)) == 10
    assert ESTIMATE.rows(Grouping(AB, ("A", "B"), ())) == 1000
    assert ESTIMATE.rows(Join(AB, Relation("s", ("B", "C")))) == pytest.approx(1000 * ASSUMED_ROWS / 1000)
    assert ESTIMATE.rows(gen(noise(cut(AB, "A", "B"), A="1/4"), "A", 3)) == 1000


def test_what_is_not_known_is_assumed_for_costs_only() -> None:
    assert CardinalityEstimator({}).rows(AB) == ASSUMED_ROWS
    assert CardinalityEstimator({"r": RelationStatistics(None, {})}).distinct(AB, "A") == ASSUMED_ROWS**0.5


def test_fewer_rows_and_fewer_columns_cost_less() -> None:
    for late, early in (
        (where(noise(AB, A="1/4"), "B", "b"), noise(where(AB, "B", "b"), A="1/4")),
        (onto(gen(ABC, "A", 3), "AB"), gen(onto(ABC, "AB"), "A", 3)),
        (noise(noise(AB, A="1/4"), A="1/4"), noise(AB, A="7/16")),
    ):
        assert ESTIMATE.cost(early) < ESTIMATE.cost(late)


def test_parts_run_side_by_side_as_far_as_the_engine_allows() -> None:
    parts = Union(Union(gen(R1, "A", 3), gen(R2, "A", 3)), Union(gen(R1, "A", 3), gen(R2, "A", 3)))
    times = [CardinalityEstimator(ESTIMATE.statistics, n).cost(parts).time for n in (1, 2, 4, 8)]
    assert times[0] > times[1] > times[2] == times[3]
    whole = gen(Union(R1, R2), "A", 3)
    assert CardinalityEstimator(ESTIMATE.statistics, 8).cost(whole).time == ESTIMATE.cost(whole).time


def test_raw_rows_that_meet_others_are_counted() -> None:
    late = noise(Union(R1, R2), A="1/4")
    early = Union(noise(R1, A="1/4"), noise(R2, A="1/4"))
    assert (ESTIMATE.cost(late).exposure, ESTIMATE.cost(early).exposure) == (2, 0)
    assert ESTIMATE.cost(late).time == ESTIMATE.cost(early).time


def test_a_parallelism_below_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        CardinalityEstimator({}, 0)


@given(plans(depth=4))
@settings(max_examples=100)
def test_every_plan_has_a_cost_and_its_parts_cost_no_more(plan: Plan) -> None:
    estimator = CardinalityEstimator({})
    assert estimator.time(plan) >= 0
    assert all(estimator.time(child) <= estimator.time(plan) for child in plan.children)


def test_predicates_keep_shares_between_nothing_and_all() -> None:
    for plan in (where(AB, "A", "a"), Projection(where(AB, "B", "b"), ("A",))):
        assert 0 < ESTIMATE.rows(plan) < 1000
    assert is_not("A", "a").columns == {"A"}
