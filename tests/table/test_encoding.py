"""Dictionary encoding: ascending codes, missing values, independence of the order of rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError
from tarnkappe.table import MISSING, Table, encode
from tarnkappe.table.encoding import as_numbers, encode_column, join_columns

values = st.one_of(
    st.lists(st.none() | st.integers(-(2**40), 2**40), min_size=1, max_size=30),
    st.lists(st.none() | st.text(max_size=4), min_size=1, max_size=30),
    st.lists(st.none() | st.dates(), min_size=1, max_size=30),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=30),
    st.lists(st.none() | st.floats(allow_nan=False), min_size=1, max_size=30),
)


@given(values, st.integers(1, 3), st.booleans())
def test_codes_are_positions_in_the_ascending_distinct_values(
    data: list, chunks: int, dictionary: bool
) -> None:
    array = pa.array(data)
    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    parts = np.array_split(np.arange(len(data)), chunks)
    column = pa.chunked_array([array.take(pa.array(part, pa.int64())) for part in parts])
    if dictionary and not pa.types.is_boolean(array.type):
        column = pa.chunked_array([chunk.dictionary_encode() for chunk in column.chunks])
    encoded = encode_column("x", column)
    present = sorted({v for v in data if v is not None})
    expected = [*present, *([None] if None in data else [])]
    assert encoded.values.to_pylist() == expected
    assert [expected[code] for code in encoded.codes] == data
    assert encoded.counts().tolist() == [data.count(v) for v in expected]
    assert encoded.labels[-1] == MISSING or None not in data


def test_unused_dictionary_values_are_forgotten() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["c", "b", "a"]))
    assert encode_column("x", pa.chunked_array([array])).values.to_pylist() == ["a", "c"]


def test_a_column_of_nothing_but_missing_values_has_one_value() -> None:
    encoded = encode_column("x", pa.chunked_array([pa.nulls(3)]))
    assert encoded.labels == (MISSING,)
    assert encoded.codes.tolist() == [0, 0, 0]


def test_nested_values_are_refused() -> None:
    with pytest.raises(ColumnError, match="'x' holds list"):
        encode_column("x", pa.chunked_array([[[1, 2]]]))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None]), [1.0, np.nan]),
        (pa.array([Decimal("1.5")]), [1.5]),
        (pa.array([dt.date(1970, 1, 3)]), [2.0]),
        (pa.array([dt.datetime(1970, 1, 1, 0, 1)]), [60.0]),
        (pa.array(["a"]), None),
        (pa.array([True]), None),
    ],
)
def test_numbers_and_times_are_measured(array: pa.Array, expected: list[float] | None) -> None:
    numbers = as_numbers(array)
    assert (numbers is None) if expected is None else np.array_equal(numbers, expected, equal_nan=True)


@given(st.lists(st.tuples(st.integers(0, 3) | st.none(), st.sampled_from("ab")), min_size=1, max_size=20))
def test_joint_columns_stand_for_combinations(rows: list[tuple[int | None, str]]) -> None:
    columns = [
        encode_column(n, pa.chunked_array([list(v)]))
        for n, v in zip("xy", zip(*rows, strict=True), strict=True)
    ]
    joint = join_columns(columns)
    assert joint.cardinality == len(set(rows))
    for (column, part), index in zip(joint.parts, range(2), strict=True):
        assert [column.values[int(part[code])].as_py() for code in joint.codes] == [
            row[index] for row in rows
        ]
    assert [joint.labels[code] for code in joint.codes] == [
        f"{MISSING if number is None else number}, {letter}" for number, letter in rows
    ]


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    table = Table(pa.table({"a": [1], "b": [2]}))
    encode(table, ["a", "b"], lambda what, done, total: told.append((what, done, total)))
    assert told == [("encoding", 0, 2), ("encoding", 1, 2), ("encoding", 2, 2)]
