"""Text becomes numbers and dates only where they give the same text back."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table.encoding import as_text
from tarnkappe.table.formats.exact_types import TEXT, exactly_typed, joined

looking_like_numbers = st.from_regex(r"\A[+-]?0?[0-9]{0,3}(\.[0-9]{0,3})?(e[+-]?[0-9])?\Z")
looking_like_times = st.from_regex(
    r"\A20[0-9]{2}-[01][0-9]-[0-3][0-9]([ T]1[0-9]:00(:00(\.[0-9]{1,6})?)?)?\Z"
)
words = st.sampled_from(["true", "false", "True", "1", "0", "nan", "inf", "x", ""])
columns = st.one_of(
    *(
        st.lists(st.none() | values, min_size=1, max_size=6)
        for values in (looking_like_numbers, looking_like_times, words)
    ),
    st.lists(st.none() | st.integers(-(2**70), 2**70).map(str), min_size=1, max_size=6),
    st.lists(st.none() | st.floats().map(str), min_size=1, max_size=6),
)


def texts(column: pa.Array | pa.ChunkedArray) -> list[str | None]:
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    plain = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in chunks]
    return [text for chunk in plain for text in as_text(chunk).to_pylist()]


@given(columns)
def test_every_text_can_be_had_back(column: list[str | None]) -> None:
    assert texts(exactly_typed(pa.array(column, pa.string()).dictionary_encode())) == column


@given(columns, st.integers(0, 6), st.integers(0, 6))
def test_blocks_give_what_the_whole_would_give(column: list[str | None], cut: int, other: int) -> None:
    parts = [column[: min(cut, other)], column[min(cut, other) : max(cut, other)], column[max(cut, other) :]]
    blocks = [exactly_typed(pa.array(part, pa.string()).dictionary_encode()) for part in parts]
    whole = exactly_typed(pa.array(column, pa.string()).dictionary_encode())
    assert joined(blocks).type == whole.type
    assert texts(joined(blocks)) == column


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["1", "-30", None], pa.int64()),
        (["1", "2.5"], pa.float64()),
        (["true", "false"], pa.bool_()),
        ([str(n) for n in range(200)], pa.int64()),
        ([*map(str, range(200)), "0.5"], pa.float64()),
        ([*map(str, range(200)), "x"], TEXT),
        (["2020-02-29"], pa.date32()),
        (["2020-02-29 10:00:00"], pa.timestamp("s")),
        (["2020-02-29 10:00:00.125000"], pa.timestamp("us")),
        (["01234", "1"], TEXT),
        (["007"], TEXT),
        (["+5"], TEXT),
        (["1e5"], TEXT),
        (["1.50"], TEXT),
        (["-0", "x"], TEXT),
        (["nan", "1.5"], TEXT),
        (["True"], TEXT),
        (["2020-02-30"], TEXT),
        (["2020-02-29T10:00:00"], TEXT),
        (["9223372036854775808"], TEXT),
        ([""], TEXT),
        ([None], TEXT),
    ],
)
def test_the_type_is_the_one_that_loses_nothing(column: list[str | None], kind: pa.DataType) -> None:
    assert exactly_typed(pa.array(column, pa.string()).dictionary_encode()).type == kind
