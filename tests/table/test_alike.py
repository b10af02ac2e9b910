"""One value written in several ways counts once for every promise."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe
from tarnkappe import models
from tarnkappe.errors import ColumnError
from tarnkappe.job import Job, run
from tarnkappe.table import Table
from tarnkappe.table.spelling.alike import heard, one_way_each, ways_beyond_one

SIGNS = "aAbB \t\u00a0\u200b\u00e9e\u0301\uff21+-."
texts = st.lists(st.none() | st.text(SIGNS, max_size=5), max_size=30)


def said(text: str) -> str:
    """The twin: sign by sign."""
    plain = unicodedata.normalize("NFKC", text).lower()
    kept = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    return " ".join(kept.split())


@given(texts)
def test_what_is_heard_equals_the_twin(values: list[str | None]) -> None:
    expected = [None if text is None else said(text) for text in values]
    assert heard(pa.array(values, pa.string())).to_pylist() == expected


@given(texts, st.booleans())
def test_each_value_is_written_in_its_most_frequent_way(values: list[str | None], coded: bool) -> None:
    column = pa.chunked_array([pa.array(values[:7], pa.string()), pa.array(values[7:], pa.string())])
    table = Table(pa.table({"d": column.dictionary_encode() if coded else column}))
    written, gone = one_way_each(table, ["d"])
    after = written.data.column("d").to_pylist()
    ways: dict[str, set[str]] = {}
    for before, text in zip(values, after, strict=True):
        assert (before is None) == (text is None)
        if before is not None and text is not None:
            assert said(before) == said(text)
            assert values.count(text) >= values.count(before)
            ways.setdefault(said(text), set()).add(text)
    assert all(len(several) == 1 for several in ways.values())
    assert gone.get("d", 0) == len({v for v in values if v is not None}) - len(ways)
    assert ways_beyond_one(written.data.column("d")) == 0
    assert written.data.schema == table.data.schema


def test_numbers_and_flags_stay_as_they_are() -> None:
    table = Table(pa.table({"n": [1, 1, 2], "f": [True, False, None]}))
    assert one_way_each(table, ["n", "f"]) == (table, {})


SLOPPY = pd.DataFrame({"age": [30, 30, 40, 40], "illness": ["HIV", "hiv ", "flu", "cold"]})


def test_a_check_hears_what_a_class_gives_away() -> None:
    report = tarnkappe.check(SLOPPY, quasi_identifiers=["age"], sensitive=["illness"])
    assert report.sensitive["illness"].measured["distinct_l"].value == 1


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_what_a_promise_counts_is_written_in_one_way_whatever_its_role_is(role: str) -> None:
    table = tarnkappe.read(SLOPPY).with_roles({"age": "quasi-identifier", "illness": role})
    result = tarnkappe.anonymize(table, privacy=[models.DistinctDiversity("illness", 2)])
    assert result.respelled == {"illness": 1}
    assert result.release.num_rows == 4
    assert result.state.num_kept == 1


def test_categories_of_a_frame_keep_their_order() -> None:
    frame = SLOPPY.assign(
        illness=pd.Categorical(SLOPPY["illness"], ["flu", "hiv ", "cold", "HIV"], ordered=True)
    )
    table = tarnkappe.read(frame).with_roles(quasi_identifiers=["age"], sensitive=["illness"])
    result = tarnkappe.anonymize(table, privacy=[models.DistinctDiversity("illness", 2)])
    assert result.respelled == {"illness": 1}
    assert "written in one way: values of illness" in str(result)
    assert sorted(result.frame["illness"]) == ["HIV", "HIV", "cold", "flu"]
    assert [c for c in ("flu", "cold", "HIV") if c in result.frame["illness"].cat.categories] == [
        *result.frame["illness"].cat.categories
    ]


def test_an_engine_that_keeps_the_rows_refuses_such_a_column(tmp_path: Path) -> None:
    SLOPPY.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "job.toml").write_text(
        """
        [input]
        path = "people.csv"
        engine = "duckdb"
        [columns.age]
        role = "quasi-identifier"
        hierarchy = {builder = "root"}
        [columns.illness]
        role = "sensitive"
        [[privacy]]
        model = "distinct-diversity"
        column = "illness"
        l = 2
        [output]
        path = "release.csv"
        """,
        encoding="utf-8",
    )
    with pytest.raises(ColumnError, match="differ in case or blanks alone"):
        run(Job.load(tmp_path / "job.toml"))
    assert not (tmp_path / "release.csv").exists()
