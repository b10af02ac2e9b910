"""Models on numbers: missing ones, decimal ones, and large ones that differ by little."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError
from tarnkappe.privacy import EpsilonMAnonymity, Model, SquaredErrorDiversity, ValueRange
from tarnkappe.privacy.epsilon_m_anonymity import close_codes
from tarnkappe.privacy.shares import ratios_at_least, ratios_at_most
from tarnkappe.privacy.verify import verify
from tarnkappe.table.encoding import encode_column
from tests.privacy.tables import holding, measured, weighted


def values(*numbers: object) -> dict[str, list[object]]:
    return {"block": [1] * len(numbers), "income": list(numbers)}


@pytest.mark.parametrize(
    ("model", "numbers", "value", "holds"),
    [
        (ValueRange("income", 0.3), (0.1, 0.4), 0.3, True),
        (ValueRange("income", 5), (1, None, 6), 5, True),
        (ValueRange("income", 0), (None, None), 0, False),
        (SquaredErrorDiversity("income", 0.02), (0.1, 0.3), 0.02, True),
        (SquaredErrorDiversity("income", 200), (2490, 2500, 2510, None), 200, True),
        (SquaredErrorDiversity("income", 2), (10.0**12, 10.0**12 + 2), 2, True),
        (SquaredErrorDiversity("income", 2.01), (10.0**12, 10.0**12 + 2), 2, False),
        (EpsilonMAnonymity("income", 0.3, 2), (0.1, 0.4), 1, False),
        (EpsilonMAnonymity("income", 0.29, 2), (0.1, 0.4), 0.5, True),
        (EpsilonMAnonymity("income", 0.1, 2, relative=True), (1.0, 1.1), 1, False),
        (EpsilonMAnonymity("income", 0.1, 2, relative=True), (-1.1, -1.0), 1, False),
        (EpsilonMAnonymity("income", 100, 1.5), (None, None, 5), 2 / 3, True),
        (EpsilonMAnonymity("income", 100, 2), (None, None, 5), 2 / 3, False),
    ],
    ids=str,
)
def test_numbers_are_compared_as_they_were_written(
    model: Model, numbers: tuple[object, ...], value: float, holds: bool
) -> None:
    columns = values(*numbers)
    if numbers == (None, None):
        columns = {"block": [1, 1, 2], "income": [None, None, 7]}
    table = weighted(columns, [1] * len(columns["block"]))
    assert measured(table, model)["1"] == pytest.approx(value)
    assert holding(table, model)["1"] == holds
    release = pa.table(columns).filter(pa.array([block == 1 for block in columns["block"]]))
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", release)
    connection.register("input", pa.table(columns))
    (found,) = verify(connection, [model], ["block"])
    assert found.value == pytest.approx(value)


def test_dates_are_numbers_of_days() -> None:
    days = pa.array([18_262, 18_272, 18_273], pa.int32()).cast(pa.date32())
    release = pa.table({"block": [1, 1, 1], "income": days})
    model = ValueRange("income", 11)
    table = weighted(values(*days.to_pylist()), [1] * 3)
    assert measured(table, model) == {"1": 11}
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", release)
    connection.register("input", release)
    (found,) = verify(connection, [model], ["block"])
    assert (found.value, found.holds) == (11, True)


@given(
    numbers=st.lists(
        st.builds(lambda n, k: round(n / 10 + k * 1e-10, 11), st.integers(-30, 30), st.integers(-1, 1)),
        min_size=1,
        max_size=12,
    ),
    epsilon=st.integers(0, 20).map(lambda n: n / 10),
    relative=st.booleans(),
)
def test_what_is_close_is_decided_exactly(numbers: list[float], epsilon: float, relative: bool) -> None:
    column = encode_column("x", pa.chunked_array([[*numbers, None]]))
    first, last = close_codes(column, epsilon, relative=relative)
    exact = [Fraction(str(x)) for x in sorted(set(numbers))]
    for code, x in enumerate(exact):
        reach = Fraction(str(epsilon)) * (abs(x) if relative else 1)
        close = [other for other, y in enumerate(exact) if abs(x - y) <= reach]
        assert (first[code], last[code]) == (close[0], close[-1])
    assert first[-1] == last[-1] == len(exact)


@given(
    part=st.integers(0, 2**40), whole=st.integers(1, 2**40), bound=st.fractions(0, 1, max_denominator=10**18)
)
def test_ratios_are_compared_in_whole_numbers_of_any_size(part: int, whole: int, bound: Fraction) -> None:
    parts, wholes = np.array([part, 0]), np.array([whole, 0])
    assert ratios_at_most(parts, wholes, bound).tolist() == [Fraction(part, whole) <= bound, True]
    assert ratios_at_least(parts, wholes, bound).tolist() == [Fraction(part, whole) >= bound, True]


def test_text_is_no_number() -> None:
    with pytest.raises(ColumnError, match="'income' does not hold numbers"):
        measured(weighted(values("much", "little"), [1, 1]), ValueRange("income", 1))
