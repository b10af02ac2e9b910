from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.hierarchy import BUILDERS, DatesBuilder, read_hierarchy
from tarnkappe.hierarchy.dates import PERIODS
from tests.conftest import FIXTURES


def test_the_date_hierarchy_of_birth_dates() -> None:
    expected = read_hierarchy(FIXTURES / "hierarchies" / "birth-date.csv")
    built = DatesBuilder(levels=["month", "year", "five-years", "decade"]).build(pa.array(expected.values))
    assert list(built.rows()) == list(expected.rows())


@pytest.mark.parametrize(
    ("period", "label"),
    [
        ("day", "1999-12-31"),
        ("week", "1999-W52"),
        ("month", "1999-12"),
        ("quarter", "1999-Q4"),
        ("year", "1999"),
        ("five-years", "1995-1999"),
        ("decade", "1990-1999"),
        ("century", "1900-1999"),
    ],
)
def test_the_label_of_each_period(period, label) -> None:
    assert DatesBuilder(levels=[period]).build(pa.array([dt.date(1999, 12, 31)])).labels(1) == (label,)


@settings(max_examples=60)
@given(st.lists(st.dates(), min_size=1, max_size=30, unique=True))
def test_periods_agree_with_the_calendar_of_the_standard_library(days) -> None:
    levels = ("month", "quarter", "year", "decade")
    calendar, weeks = (
        DatesBuilder(levels=levels).build(pa.array(days)),
        DatesBuilder(levels="week").build(pa.array(days)),
    )
    for day in days:
        text, iso = day.isoformat(), day.isocalendar()
        assert calendar.label(text, 1) == text[:7]
        assert calendar.label(text, 2) == f"{day.year:04d}-Q{(day.month + 2) // 3}"
        assert calendar.label(text, 3) == text[:4]
        assert calendar.label(text, 4)[:3] == text[:3]
        assert weeks.label(text, 1) == f"{iso.year:04d}-W{iso.week:02d}"


def test_dates_points_in_time_and_iso_texts_mean_the_same_day() -> None:
    moment = dt.datetime(2024, 2, 29, 23, 30)
    for values in (
        pa.array([moment.date()]),
        pa.array([moment.date()], pa.date64()),
        pa.array([moment], pa.timestamp("s")),
        pa.array([moment], pa.timestamp("ns")),
        pa.array(["2024-02-29"]),
        pa.array(["2024-02-29T23:30:00Z"]),
        pa.array(["2024-02-29 23:30:00.000000"]),
    ):
        assert DatesBuilder(levels="day").build(values).labels(1) == ("2024-02-29",)


def test_a_point_in_time_is_on_the_day_of_its_time_zone() -> None:
    utc = dt.datetime(2024, 2, 29, 23, 30)
    vienna = pa.array([utc], pa.timestamp("s", tz="Europe/Vienna"))
    assert DatesBuilder(levels="day").build(vienna).labels(1) == ("2024-03-01",)


def test_other_ways_to_write_a_date_need_a_format() -> None:
    german = DatesBuilder(levels=["month", "year"], format="%d.%m.%Y").build(
        pa.array(["17.04.1975", "31.07.1975"])
    )
    assert german.labels(1) == ("1975-04", "1975-07")
    with pytest.raises(HierarchyError, match=r"in ISO form .* has the value '17\.04\.1975'.* set format"):
        DatesBuilder().build(pa.array(["17.04.1975"]))
    with pytest.raises(HierarchyError, match=r"in the format %d\.%m\.%Y"):
        DatesBuilder(format="%d.%m.%Y").build(pa.array(["1975-04-17"]))


def test_numbers_are_no_dates() -> None:
    with pytest.raises(HierarchyError, match="dates needs dates, but the data holds int64 values"):
        DatesBuilder().build(pa.array([1975]))


@pytest.mark.parametrize("longer", list(PERIODS)[2:])
def test_weeks_nest_in_no_longer_period(longer) -> None:
    with pytest.raises(HierarchyError, match=f"weeks do not nest in the level '{longer}'"):
        DatesBuilder(levels=["day", "week", longer])
    assert DatesBuilder(levels=["day", "week"]).height == 3


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([], "levels: too few entries: 0, at least 1 needed"),
        (["fortnight"], "levels 1: one of century, day, decade, .* is needed, not 'fortnight'"),
        ([7], "levels 1: a name is needed, not 7"),
        (["year", "month"], "'month' cannot follow 'year'"),
        (["year", "year"], "'year' cannot follow 'year'"),
    ],
)
def test_impossible_levels_are_refused(levels, message) -> None:
    with pytest.raises(ParameterError, match=message):
        BUILDERS.create("dates", {"levels": levels})
