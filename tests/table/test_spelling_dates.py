"""Columns of dates: one order of day and month for a shape, against a slow twin."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table.spelling.dates import DateFormat, find_dates
from tarnkappe.table.spelling.moments import DateOrder, DatePrecision

THIS_YEAR = 2026


def orders(*texts: str, name: str = "d", **stated: DateOrder) -> dict[str, str]:
    found = find_dates(dict.fromkeys(texts, 1), name, THIS_YEAR, **stated)
    return {shape: str(order) for shape, order in found.format.orders}


def days(*texts: str, name: str = "d") -> list[str | None]:
    form = find_dates(dict.fromkeys(texts, 1), name, THIS_YEAR).format
    moments = [form.parse(text) for text in texts]
    return [None if moment is None else str(moment.time.date()) for moment in moments]


def test_the_day_is_the_number_over_twelve() -> None:
    assert orders("31.12.1980", "01.02.1980") == {"a.b.Y": "dmy"}
    assert orders("1/23/1955", "3/4/1955") == {"a/b/Y": "mdy"}
    assert orders("29/12/2020") == {"a/b/Y": "dmy"}
    assert days("04/26/12") == ["2012-04-26"]


def test_dots_stand_behind_days() -> None:
    assert orders("01.02.1980") == {"a.b.Y": "dmy"}


def test_another_shape_of_the_column_decides_what_is_open() -> None:
    assert orders("07-10-1983", "09/19/88") == {"a-b-Y": "mdy", "a/b/y": "mdy"}


def test_what_nothing_decides_is_open_and_only_the_year_is_told() -> None:
    form = find_dates({"03/04/05": 1}, "d", THIS_YEAR).format
    assert form.open
    moment = form.parse("03/04/05")
    assert moment is not None
    assert (moment.time.year, moment.precision) == (2005, DatePrecision.YEAR)


def test_cells_that_contradict_each_other_make_no_dates_unless_one_order_is_twenty_times_as_frequent() -> (
    None
):
    assert find_dates({"13/01/2020": 3, "01/13/2020": 2}, "d", THIS_YEAR).fitting == 0
    found = find_dates({"13/01/2020": 40, "01/13/2020": 2}, "d", THIS_YEAR)
    assert (dict(found.format.orders), found.fitting) == ({"a/b/Y": DateOrder.DAY_FIRST}, 40)


def test_two_digits_of_a_birth_are_not_in_the_future() -> None:
    assert days("31.12.27", name="birth") == ["1927-12-31"]
    assert days("31.12.27", name="due") == ["2027-12-31"]
    assert days("31.12.28", name="due") == ["1928-12-31"]


def test_months_have_names_in_four_languages() -> None:
    assert days("30-Apr-2010", "3. März 2011") == ["2010-04-30", "2011-03-03"]
    assert days("April 30, 2010", "décembre 2012") == ["2010-04-30", "2012-12-01"]
    assert days("5 enero 2010") == ["2010-01-05"]


def test_a_coarse_date_is_as_exact_as_it_is_written() -> None:
    form = find_dates({"1986": 1, "2010-04": 1, "2010-04-30": 2}, "d", THIS_YEAR).format
    found = [form.parse(text) for text in ("1986", "2010-04", "2010-04-30", "2010-04-30 10:00")]
    assert [moment and moment.precision for moment in found] == [
        DatePrecision.YEAR,
        DatePrecision.MONTH,
        DatePrecision.DAY,
        DatePrecision.TIME,
    ]


def test_plain_digits_are_dates_only_in_company() -> None:
    assert orders("20190228", name="amount") == {}
    assert orders("20190228", name="Geburtsdatum") == {"Ymd": "dmy"}
    assert orders("1986", name="date") == {}
    assert orders("43000", "43001") == {}
    assert days("43000", "2017-09-22") == ["2017-09-22", "2017-09-22"]


def test_zones_are_compared_in_utc() -> None:
    form = find_dates({"2020-01-01T00:30:00+01:00": 1}, "d", THIS_YEAR).format
    one, other = form.parse("2020-01-01T00:30:00+01:00"), form.parse("2019-12-31 23:30:00Z")
    assert one is not None
    assert one == other


@pytest.mark.parametrize(
    "text", ["30.02.1980", "32.01.1980", "2020-13-01", "2020-01-01 25:00", "0.0.0000", "1.2"]
)
def test_days_that_never_were_are_no_dates(text: str) -> None:
    assert find_dates({text: 1}, "d", THIS_YEAR).fitting == 0


dates = st.dates(dt.date(1900, 1, 1), dt.date(2025, 12, 31))


@given(st.lists(dates, min_size=1, max_size=8), st.sampled_from("-/."), st.booleans(), st.booleans())
def test_the_order_is_the_one_that_the_twin_finds(
    given_days: list[dt.date], mark: str, day_first: bool, padded: bool
) -> None:
    def text(day: dt.date) -> str:
        numbers = (day.day, day.month) if day_first else (day.month, day.day)
        return mark.join([*(f"{n:02d}" if padded else str(n) for n in numbers), str(day.year)])

    texts = [text(day) for day in given_days]
    form = find_dates(dict.fromkeys(texts, 1), "d", THIS_YEAR).format
    # The twin tries both orders on every text: the one that all texts allow is right, both are open.
    possible = [
        order
        for order, pattern in ((DateOrder.DAY_FIRST, "%d{0}%m{0}%Y"), (DateOrder.MONTH_FIRST, "%m{0}%d{0}%Y"))
        if all(_is_day(each, pattern.format(mark)) for each in texts)
    ]
    over = any(max(int(part) for part in each.split(mark)[:2]) > 12 for each in texts)
    found = dict(form.orders)[f"a{mark}b{mark}Y"]
    if over and len(possible) == 1:
        assert found is possible[0]
        assert [moment.time.date() for each in texts if (moment := form.parse(each))] == given_days
    elif not over:
        assert found is (DateOrder.DAY_FIRST if mark == "." else DateOrder.OPEN)


def _is_day(text: str, pattern: str) -> bool:
    try:
        dt.datetime.strptime(text, pattern)
    except ValueError:
        return False
    return True


@given(
    st.text(max_size=60)
    | st.from_regex(r"\A[0-9]{1,4}[-/. ][A-Za-z0-9]{1,4}[-/. ][0-9]{1,4}( [0-9:]{3,8})?\Z")
)
def test_any_text_is_a_date_or_none(text: str) -> None:
    find_dates({text: 1}, "date", THIS_YEAR)
    DateFormat((("a.b.Y", DateOrder.OPEN), ("Y-m-d", DateOrder.DAY_FIRST)), THIS_YEAR).parse(text)


def test_days_of_the_week_and_clocks_within_dates_are_read() -> None:
    assert days("Fri Mar 01 10:00:00 +0000 2024", "Tue Apr  2 09:59:59 2024") == ["2024-03-01", "2024-04-02"]
    assert days("Sun, 02 Feb 2014 23:10:00 GMT", "Mar 03 2014") == ["2014-02-02", "2014-03-03"]
    assert days("Di, 31.12.1980") == ["1980-12-31"]
    assert days("20140916T000000", "20150324T101500Z", name="date") == ["2014-09-16", "2015-03-24"]
    assert days("someday 31.12.1980") == [None]


def test_months_have_names_in_seven_languages() -> None:
    assert days("3 maggio 2020", "4 março 2021", "5 mei 2019") == ["2020-05-03", "2021-03-04", "2019-05-05"]


@pytest.mark.parametrize(
    "text",
    ["05MAR2001", "05Mar01", "05/Mar/2001", "5. 3. 2001", "5.3.2001.", "05.03.2001."],
)
def test_dates_are_read_as_statistics_packages_servers_and_registers_write_them(text: str) -> None:
    found = find_dates({text: 1, "31" + text[text.index("5") + 1 :].replace("3", "1", 1): 1}, "day", 2026)
    assert found.fitting >= 1
    moment = found.format.parse(text)
    assert moment is not None
    assert (moment.time.year, moment.time.month, moment.time.day) == (2001, 3, 5)
    assert moment.precision is DatePrecision.DAY


@pytest.mark.parametrize("text", ["MAR2001x", "05MAR", "5.3.2001..", "99MAR2001", "05XYZ2001"])
def test_what_only_resembles_them_is_no_date(text: str) -> None:
    found = find_dates({text: 1}, "day", 2026)
    assert found.format.parse(text) is None


@pytest.mark.parametrize("share", [0.2, 0.5, 0.75])
@pytest.mark.parametrize("shape", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d %b %Y"])
def test_days_as_excel_counts_them_are_dates_from_1928_on_in_company(share: float, shape: str) -> None:
    born = [dt.date(1928, 1, 1) + dt.timedelta(days=97 * person) for person in range(300)]
    as_dates = round(share * len(born))
    texts = [day.strftime(shape) for day in born[:as_dates]]
    texts += [str((day - dt.date(1899, 12, 30)).days) for day in born[as_dates:]]
    assert days(*texts) == [str(day) for day in born]


def test_numbers_that_excel_has_no_usual_day_for_are_none() -> None:
    assert days("1998-12-31", "1979-01-16", "9999", "60001", "123456")[2:] == [None] * 3
