"""Columns that come with dictionaries of their own, and numbers near and far apart."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError
from tarnkappe.table import encoding
from tarnkappe.table.encoding import Column, encode_column, with_one_dictionary


def encoded(*chunks: pa.Array) -> tuple[list[int], list[object]]:
    column: Column = encode_column("x", pa.chunked_array(list(chunks)))
    return column.codes.tolist(), column.values.to_pylist()


def dictionary(indices: list[int | None], values: list[object], index: pa.DataType | None = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, index or pa.int32()), pa.array(values))


def test_a_value_that_stands_twice_in_a_dictionary_is_one_value() -> None:
    assert encoded(dictionary([0, 1, 2, 3], ["b", "a", "b", "a"])) == ([1, 0, 1, 0], ["a", "b"])


def test_a_missing_value_in_a_dictionary_is_a_missing_value() -> None:
    assert encoded(dictionary([0, 1, None], ["b", None])) == ([0, 1, 1], ["b", None])
    assert encoded(dictionary([0], ["b"]), dictionary([0, 1], [None, "a"])) == ([1, 2, 0], ["a", "b", None])


def test_small_indices_have_room_for_the_missing_value() -> None:
    values = [f"{n:03}" for n in range(128)]
    codes, _ = encoded(dictionary([*range(128), None], values, pa.int8()))
    assert codes == [*range(129)]


def test_zero_is_zero_whatever_its_sign() -> None:
    assert encoded(pa.array([0.0, -0.0, 1.0])) == encoded(pa.array([-0.0, 0.0, 1.0]))
    assert encode_column("x", pa.chunked_array([[-0.0]])).labels == ("0",)


def test_chunks_that_share_a_dictionary_are_only_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    values = pa.array(["b", "a"])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([n % 2]), values) for n in range(5)]
    whole = with_one_dictionary(pa.chunked_array(chunks))
    assert whole.num_chunks == 1
    assert whole.chunk(0).dictionary.buffers()[2].address == values.buffers()[2].address
    assert whole.to_pylist() == ["b", "a", "b", "a", "b"]


def test_no_chunks_and_no_rows() -> None:
    for kind in (pa.string(), pa.int64(), pa.date32(), pa.float64(), pa.dictionary(pa.int32(), pa.string())):
        column = encode_column("x", pa.chunked_array([], kind))
        assert (len(column.codes), column.cardinality) == (0, 0)


def test_too_much_distinct_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = pa.chunked_array([dictionary([0], ["a"]), dictionary([0], ["b"])])
    monkeypatch.setattr(encoding, "with_one_dictionary", lambda column: column)
    with pytest.raises(ColumnError, match="the column 'x' has more than 2 GB of distinct text"):
        encode_column("x", chunks)


numbers = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20)


@given(st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=20) | numbers)
def test_numbers_near_and_far_are_ranked(values: list[int | None]) -> None:
    codes, distinct = encoded(pa.array(values, pa.int64()))
    present = sorted({value for value in values if value is not None})
    assert distinct == [*present, *([None] if None in values else [])]
    assert [distinct[code] for code in codes] == values


@pytest.mark.parametrize(
    "values",
    [
        pa.array([3, -1, None], pa.int8()),
        pa.array([3, 2**64 - 1, None], pa.uint64()),
        pa.array([dt.time(2), dt.time(1), None], pa.time32("s")),
        pa.array([dt.time(2), dt.time(1), None], pa.time64("us")),
        pa.array([2, 1, None], pa.timestamp("ns", "UTC")),
        pa.array([2, 1, None], pa.duration("s")),
        pa.array([86_400_000, 0, None], pa.date64()),
        pa.array(["b", "a", None], pa.large_string()),
        pa.array(["b", "a", None], pa.string_view()),
        pa.array([True, False, None]),
        pa.array([2.5, float("nan"), None]),
    ],
    ids=lambda values: str(values.type),
)
def test_every_plain_kind_is_encoded_and_kept(values: pa.Array) -> None:
    column = encode_column("x", pa.chunked_array([values.slice(0, 1), values.slice(1)]))
    kept = pa.string() if "string" in str(values.type) else values.type
    assert column.values.type == kept
    back = column.values.take(pa.array(np.asarray(column.codes)))
    assert [str(value) for value in back] == [str(value) for value in values]
    assert column.codes[2] == 2
