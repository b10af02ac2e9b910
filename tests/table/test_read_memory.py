"""Reading what is in memory already."""

from __future__ import annotations

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import encode, read
from tests.table.test_read import SECRET, refusal, rows

PEOPLE = pa.table({"a": ["x", None, ""], "n": [1, 2, None], "d": [dt.date(2020, 1, 1), None, None]})


def test_arrow_is_taken_as_it_is() -> None:
    assert read(PEOPLE).data.equals(PEOPLE)
    assert read(PEOPLE.to_batches()[0]).data.equals(PEOPLE)
    assert read(PEOPLE.to_reader()).data.equals(PEOPLE)


def test_polars_and_duckdb_and_pandas_give_the_same_rows() -> None:
    frame = pl.from_arrow(PEOPLE)
    relation = duckdb.sql("SELECT * FROM PEOPLE")
    expected = [("x", 1, dt.date(2020, 1, 1)), (None, 2, None), ("", None, None)]
    for source in (frame, relation, PEOPLE.to_pandas(types_mapper=pd.ArrowDtype)):
        table = read(source)
        assert rows(table) == expected
        assert encode(table, ["a"])["a"].labels == ("", "x", "(missing)")


def test_pandas_in_its_own_types() -> None:
    frame = pd.DataFrame({"a": ["x", None], "n": [1.5, float("nan")], "c": pd.Categorical(["u", "v"])})
    assert rows(read(frame)) == [("x", 1.5, "u"), (None, None, "v")]
    assert rows(read(frame, columns=["c"])) == [("u",), ("v",)]


def test_an_index_of_pandas_counts_if_it_has_a_name() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["p", "q"], name="id"))
    assert read(frame).column_names == ("id", "a")
    assert rows(read(frame)) == [("p", 1), ("q", 2)]
    assert read(frame[frame.a > 1].rename_axis(None)).column_names == ("a",)


def test_column_names_must_be_unique() -> None:
    words = "the columns 1 and 2 are both named 'a'"
    assert words in refusal(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert words in refusal(pa.table([[1], [2]], names=["a", "a"]))
    assert words in refusal(pd.DataFrame({"a": [1]}, index=pd.Index([3], name="a")))
    assert "column 1 has no name" in refusal(pl.DataFrame({"": [1]}))


def test_mixed_columns_are_refused_without_their_values() -> None:
    assert "the column 'm' holds values of several kinds" in refusal(pd.DataFrame({"m": [1, SECRET]}))
    assert "the column 'm' holds values of several kinds" in refusal(pd.DataFrame({"m": [object()]}))


def test_what_is_no_table_is_refused() -> None:
    assert refusal({"a": [1]}, ParameterError).startswith(
        "cannot read a dict: pass a path, a database address"
    )
    assert refusal(pl.Series("a", [1])) == "the Arrow stream of this Series is no table"
    assert "there is no column 'b'" in refusal(PEOPLE, ColumnError, columns=["b"])


def test_nothing_is_copied() -> None:
    address = PEOPLE.column("n").chunk(0).buffers()[1].address
    assert read(PEOPLE).data.column("n").chunk(0).buffers()[1].address == address


@pytest.mark.parametrize("kind", [pl.Categorical, pl.String])
def test_text_of_polars_can_be_encoded(kind: type) -> None:
    frame = pl.DataFrame({"t": pl.Series(["b", "a", None, "b"], dtype=kind)})
    assert encode(read(frame), ["t"])["t"].codes.tolist() == [1, 0, 2, 1]
