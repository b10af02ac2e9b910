"""Aggregates of classes: compared with plain Python, for every kind of column."""

from __future__ import annotations

import datetime as dt
import math
import statistics
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.recoding.microaggregation import Aggregates, Aggregation, aggregate
from tarnkappe.table.encoding import encode_column


def aggregates(
    values: Any,
    classes: list[int],
    function: str,
    *,
    order: list[str] | None = None,
    weights: list[int] | None = None,
) -> Aggregates:
    data = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    return aggregate(
        encode_column("x", data),
        Aggregation(function),
        np.array(classes, np.int32),
        max(classes, default=-1) + 1,
        np.array(weights if weights is not None else [1] * len(classes), np.int64),
        order,
    )


def twin(values: list[float | None], function: str) -> float | str | None:
    """One class, the slow way."""
    known = sorted(v for v in values if v is not None)
    if not known:
        return None
    if function == "mode":
        most = max(known.count(v) for v in known)
        return next(v for v in known if known.count(v) == most)
    if function == "interval":
        return f"[{known[0]}, {known[-1]}]"
    if function == "set":
        return "{" + ", ".join(map(str, sorted(set(known)))) + "}"
    return {
        "mean": statistics.fmean,
        "geometric-mean": lambda known: math.exp(statistics.fmean(map(math.log, known))),
        "median": statistics.median,
    }[function](known)


rows = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(1, 9))), min_size=1, max_size=30
)


@pytest.mark.parametrize("function", list(Aggregation))
@given(rows=rows)
@settings(max_examples=60)
def test_aggregates_agree_with_their_slow_twin(
    function: Aggregation, rows: list[tuple[int, int | None]]
) -> None:
    classes, values = [c for c, _ in rows], [v for _, v in rows]
    found = aggregates(pa.array(values, pa.int64()), classes, function)
    for number in range(max(classes) + 1):
        expected = twin([v for c, v in rows if c == number], function)
        own = found.of_class[number].as_py()
        assert own == (pytest.approx(expected) if isinstance(expected, float) else expected)
    known = [(c, v) for c, v in rows if v is not None]
    if not known:
        assert found.error == 0
    elif function is Aggregation.INTERVAL:
        ends = {c: [v for other, v in known if other == c] for c, _ in known}
        whole = max(v for _, v in known) - min(v for _, v in known)
        widths = [max(ends[c]) - min(ends[c]) for c, _ in known]
        assert found.error == pytest.approx(statistics.fmean(widths) / whole if whole else 0)
    elif function is Aggregation.SET:
        sets = {c: {v for other, v in known if other == c} for c, _ in known}
        others = len({v for _, v in known}) - 1
        hidden = statistics.fmean(len(sets[c]) - 1 for c, _ in known)
        assert found.error == pytest.approx(hidden / others if others else 0)
    else:
        center = statistics.fmean(v for _, v in known)
        whole = sum((v - center) ** 2 for _, v in known)
        lost = sum((v - found.of_class[c].as_py()) ** 2 for c, v in known)
        assert found.error == pytest.approx(lost / whole if whole else 0, abs=1e-9)


@given(rows=rows)
@settings(max_examples=60)
def test_the_mean_has_the_least_squared_error_of_all(rows: list[tuple[int, int | None]]) -> None:
    classes, values = [c for c, _ in rows], pa.array([v for _, v in rows], pa.int64())
    errors = {f: aggregates(values, classes, f).error for f in ("mean", "median", "mode", "geometric-mean")}
    assert errors["mean"] <= min(errors.values()) + 1e-9
    assert 0 <= errors["mean"] <= 1 + 1e-9


def test_dates_times_and_decimals_keep_their_kind() -> None:
    days = pa.array([dt.date(2024, 1, 1), dt.date(2024, 1, 3), dt.date(2024, 5, 5), None])
    found = aggregates(days, [0, 0, 1, 1], "mean").of_class
    assert found.type == pa.date32()
    assert found.to_pylist() == [dt.date(2024, 1, 2), dt.date(2024, 5, 5)]
    times = pa.array([dt.datetime(2024, 1, 1, 8), dt.datetime(2024, 1, 1, 10)], pa.timestamp("s"))
    assert aggregates(times, [0, 0], "median").of_class.to_pylist() == [dt.datetime(2024, 1, 1, 9)]
    money = pa.array([Decimal("1.50"), Decimal("2.50")])
    assert aggregates(money, [0, 0], "mean").of_class.to_pylist() == [2.0]
    assert aggregates(money, [0, 0], "interval").of_class.to_pylist() == ["[1.50, 2.50]"]
    assert aggregates(days, [0, 0, 1, 1], "interval").of_class[0].as_py() == "[2024-01-01, 2024-01-03]"


def test_text_has_a_mode_and_where_it_has_an_order_a_median() -> None:
    pain = pa.array(["mild", "severe", "severe", "fatal", "mild", None])
    classes = [0, 0, 0, 0, 1, 1]
    mode = aggregates(pain, classes, "mode")
    assert mode.of_class.to_pylist() == ["severe", "mild"]
    assert (mode.error, mode.measure) == (pytest.approx(2 / 5), "misses")
    order = ["mild", "severe", "fatal"]
    assert aggregates(pain, classes, "median", order=order).of_class.to_pylist() == ["severe", "mild"]
    assert aggregates(pain, classes, "interval", order=order).of_class.to_pylist() == [
        "[mild, fatal]",
        "[mild, mild]",
    ]
    assert aggregates(pain, classes, "set").of_class.to_pylist() == ["{fatal, mild, severe}", "{mild}"]
    assert aggregates(pa.array([True, True, False]), [0, 0, 0], "mode").of_class.to_pylist() == [True]


def test_a_class_without_a_value_has_no_aggregate_and_rows_that_do_not_count_are_passed_over() -> None:
    ages = pa.array([30, 40, None, 99], pa.int64())
    assert aggregates(ages, [0, 0, 1, 0], "mean", weights=[1, 1, 1, 0]).of_class.to_pylist() == [35.0, None]
    nan = pa.array([30.0, float("nan")])
    assert aggregates(nan, [0, 0], "mean").of_class.to_pylist() == [30.0]


def test_what_cannot_be_aggregated_is_refused_without_telling_values() -> None:
    with pytest.raises(ColumnError, match="'x' has no numbers and so no mean"):
        aggregates(pa.array(["secret"]), [0], "mean")
    with pytest.raises(ColumnError, match="have no order, which median needs") as error:
        aggregates(pa.array(["secret"]), [0], "median")
    assert "secret" not in str(error.value)
    with pytest.raises(ParameterError, match="not above 0, so they have no geometric mean"):
        aggregates(pa.array([0, 7]), [0, 0], "geometric-mean")
    with pytest.raises(ParameterError, match="unknown aggregation 'avg': use mean"):
        Aggregation.parse("avg")
