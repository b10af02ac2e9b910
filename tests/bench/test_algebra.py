"""The measurements of queries: they measure what they say."""

from __future__ import annotations

import pytest

from tarnkappe_bench import algebra
from tarnkappe_bench.algebra_partitions import measure_spark
from tarnkappe_bench.algebra_price import LIMITS, measure_price
from tarnkappe_bench.algebra_queries import WORKLOADS


@pytest.mark.slow
def test_everything_but_spark_on_few_donors() -> None:
    measured = algebra.run(rows=3_000, spark_rows=0)
    assert set(algebra.LIMITS) <= set(measured)
    queries = measured["queries"]
    assert len(queries) == len(WORKLOADS) >= 6
    assert all(query["rules"] for query in queries), "in each of them a rule matters"
    assert all(query["speed_up"] > 0 for query in queries)
    assert {query["mode"] for query in queries if query["kind"] != "equal"} == {"relaxed"}
    by_hand = measured["overhead"]
    assert {each["operator"] for each in by_hand} == {"randomize", "slice", "generalize"}
    assert all(each["same_rows"] for each in by_hand), "the same randomness gives the same rows"
    levels = measured["partitions_and_levels"]
    assert all(each["highest_is_enough_for_the_whole"] for each in levels)
    alone = [each for each in levels if len(each["columns"]) == 1]
    assert all(each["finer_parts"] < 1 for each in alone), "not all parts are finer than the whole"
    assert {step["rule"] for step in measured["what_each_rule_saves"]} >= {"G11", "G13", "G14", "S6", "D9"}
    assert measured["spark"] == {}


@pytest.mark.slow
def test_partitions_on_spark(tmp_path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    from tarnkappe_bench.algebra_data import write_donors

    found = measure_spark(write_donors(tmp_path, 2_000), runs=1)
    assert "failed" not in found, found
    assert found["partitioned_speed_up"] > 0


@pytest.mark.slow
def test_the_price_is_that_of_the_same_rows() -> None:
    found = measure_price(rows=5_000)
    assert found["same_rows"]
    assert set(LIMITS) <= set(found)
    assert all(found[name] > 0 for name in LIMITS)
