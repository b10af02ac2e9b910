"""A release is of the kind that came in: pandas, polars, Arrow; with types, pickles, and pages without cells."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import pickle
import random
from collections import Counter
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import TarnkappeError
from tarnkappe.hierarchy import DatesBuilder
from tarnkappe.table.frames import ordered_labels

ROWS = 120
SECRET = "Unterbiberg"
PUBLISHED = ["int", "big", "float", "flag", "fee", "stay", "day", "category", "note", "zoned"]


def frame() -> pd.DataFrame:
    draw = random.Random(3)
    start = dt.datetime(2020, 1, 1)
    days = [start + dt.timedelta(days=draw.randint(0, 900)) for _ in range(ROWS)]
    return pd.DataFrame(
        {
            "age": pd.array([draw.randint(18, 90) for _ in range(ROWS)], dtype="Int64"),
            "town": [draw.choice(["Ulm", "Hof", SECRET]) for _ in range(ROWS)],
            "illness": [draw.choice(["flu", "cold", "gout"]) for _ in range(ROWS)],
            "int": [draw.randint(0, 3) for _ in range(ROWS)],
            "big": pd.array([2**60 + n % 4 if n % 7 else None for n in range(ROWS)], dtype="Int64"),
            "float": [draw.randint(0, 5) / 2 for _ in range(ROWS)],
            "flag": [draw.random() < 0.5 for _ in range(ROWS)],
            "fee": [decimal.Decimal(draw.randint(1, 9)) / 10 for _ in range(ROWS)],
            "stay": pd.to_timedelta([draw.randint(1, 9) for _ in range(ROWS)], unit="D"),
            "day": [day.date().replace(day=1) for day in days],
            "category": pd.Categorical([draw.choice("ab") for _ in range(ROWS)], ["a", "b", SECRET]),
            "note": pd.array([draw.choice(["x", "y"]) for _ in range(ROWS)], dtype="string"),
            "zoned": pd.to_datetime([day.replace(day=1) for day in days]).tz_localize("Europe/Berlin"),
        }
    )


def released(source: Any) -> tarnkappe.Result:
    return tarnkappe.anonymize(
        source, k=5, quasi_identifiers=["age", "town"], sensitive=["illness"], publish=PUBLISHED,
        seed=1,
    )  # fmt: skip


@pytest.fixture(scope="module")
def result() -> tarnkappe.Result:
    return released(frame())


def test_pandas_in_pandas_out_with_the_types_of_unchanged_columns(result: tarnkappe.Result) -> None:
    before, after = frame(), result.frame
    assert isinstance(after, pd.DataFrame)
    assert isinstance(after.index, pd.RangeIndex)  # the index would link rows
    for name in PUBLISHED:
        if name != "category":
            assert after[name].dtype == before[name].dtype, name
        assert Counter(map(str, after[name])) == Counter(map(str, before[name])), name
    assert list(after["category"].cat.categories) == ["a", "b"]  # no category that no row has
    assert after["age"].cat.ordered
    assert set(after["age"].cat.categories) == set(after["age"].dropna())


def test_polars_in_polars_out(result: tarnkappe.Result) -> None:
    before = pl.from_pandas(frame())
    after = released(before).frame
    assert isinstance(after, pl.DataFrame)
    for name in set(PUBLISHED) - {"category"}:
        assert after.schema[name] == before.schema[name], name
    assert isinstance(after.schema["age"], pl.Enum)
    assert after.drop("category").sort(PUBLISHED[:3]).height == ROWS
    assert Counter(after["age"].cast(pl.String)) == Counter(result.to_polars()["age"].cast(pl.String))


def test_arrow_in_arrow_out() -> None:
    before = pa.Table.from_pandas(frame(), preserve_index=False)
    after = released(before).frame
    assert isinstance(after, pa.Table)
    for name in set(PUBLISHED) - {"category"}:
        assert after.schema.field(name).type == before.schema.field(name).type, name
    assert after.schema.field("age").type.ordered
    assert SECRET not in after.column("category").combine_chunks().dictionary.to_pylist()


def test_check_takes_a_frame_and_proposes_the_roles() -> None:
    report = tarnkappe.check(frame()[["age", "town", "illness"]])
    assert report.quasi_identifiers == ("age", "town")
    assert "illness" in report.sensitive


def test_labels_are_in_the_order_of_their_numbers() -> None:
    labels = ["*", ">=90", "<20", "100-109", "[20, 25)", "20-39", "2019-02", "Ulm"]
    assert ordered_labels(pa.chunked_array([labels])) == [
        "<20", "[20, 25)", "20-39", "100-109", "2019-02", ">=90", "Ulm", "*",
    ]  # fmt: skip


def test_results_proposals_and_tables_can_be_copied_and_pickled(result: tarnkappe.Result) -> None:
    proposal = tarnkappe.propose(frame())
    for thing in (
        result,
        proposal,
        result.release,
        tarnkappe.check(frame()),
        DatesBuilder(),
        tarnkappe.models.KAnonymity(3),
    ):
        again = pickle.loads(pickle.dumps(thing))
        assert str(again) == str(thing)
        assert str(copy.copy(thing)) == str(thing)
    assert (
        pickle.loads(pickle.dumps(proposal))
        .anonymize(seed=1)
        .release.data.equals(proposal.anonymize(seed=1).release.data)
    )


def test_pages_have_no_script_and_no_cell_and_texts_are_short(result: tarnkappe.Result) -> None:
    hierarchy = result.hierarchies["town"]
    things = (result, tarnkappe.propose(frame()), result.input, tarnkappe.check(frame()), hierarchy)
    for thing in things:
        page = thing._repr_html_()
        assert "<script" not in page
        assert SECRET not in page
        assert len(repr(thing).splitlines()) <= 12


def test_help_names_every_argument() -> None:
    for work in (tarnkappe.anonymize, tarnkappe.propose, tarnkappe.check):
        text = work.__doc__ or ""
        for name in (
            work.__wrapped__.__annotations__ if hasattr(work, "__wrapped__") else work.__annotations__
        ):
            assert name == "return" or f"        {name}: " in text, (work.__name__, name)


@pytest.mark.parametrize("wrong", [None, 5, "no such file.csv", object(), [], {}, b"x", float("nan")])
def test_what_is_no_table_is_refused_with_a_sentence_of_ours(wrong: Any) -> None:
    for work in (tarnkappe.propose, tarnkappe.anonymize, tarnkappe.check):
        with pytest.raises(TarnkappeError):
            work(wrong)


@pytest.mark.parametrize(
    "name", ["for_", "k", "sensitive", "publish", "hierarchies", "accept", "weights", "uniform"]
)
@pytest.mark.parametrize("wrong", [5.5, "age", b"x", [None], {"age": None}, float("nan"), object()])
def test_wrong_statements_are_refused_with_a_sentence_of_ours(name: str, wrong: Any) -> None:
    table = pa.table({"age": [30, 40], "illness": ["flu", "cold"]})
    with pytest.raises(TarnkappeError):
        tarnkappe.propose(table, **{name: wrong})


def test_minus_zero_is_zero() -> None:
    people = pd.DataFrame({"score": [-0.0, 0.0, 1.5, 2.5, None] * 12, "town": ["Ulm", "Hof", "Rom"] * 20})
    result = tarnkappe.anonymize(people, k=5, quasi_identifiers=["score", "town"])
    assert len(result.frame) == 60


def test_values_of_a_kind_of_pandas_alone_are_read_as_their_texts() -> None:
    months = pd.period_range("2020-01", periods=60, freq="M")
    people = pd.DataFrame({"month": months, "age": range(60)})
    released = tarnkappe.anonymize(people, k=5, quasi_identifiers=["age"], publish=["month"]).frame
    assert sorted(released["month"]) == sorted(map(str, months))
