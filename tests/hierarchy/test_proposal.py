from __future__ import annotations

import datetime as dt
import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.hierarchy import (
    CodeSystem,
    DatesBuilder,
    Frequent,
    Hierarchy,
    Intervals,
    Masking,
    Ordered,
    Ranges,
    RootOnly,
    propose,
)
from tarnkappe.table import encode, read
from tarnkappe.table.encoding import encode_column

TOWNS = [f"town {chr(65 + i)}" for i in range(20)]
ICD = ["A00.1", "A01", "B20.9", "C50", "E11.9", "F32.1", "I10", "J18.9", "K35", "M54.5"]


ZIPS = ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004", "80331"]
DAYS = [dt.date(1950 + n, 1, 1) for n in range(40)]
MONTHS = [f"2024-0{n}-01" for n in range(1, 9)]
SHIFTS = ["Never", "Rarely", "Sometimes", "Often", "Always"]
CODES = [f"{a}{b}{c}" for a in "AB" for b in "XY" for c in "345"] * 3
FEET = "5'10\"-5'11\""
INCOMES = Intervals(cuts=((0, 2, 5, 10, 20, 50, 100, 200, 500, 10**3, 2000, 5000, 10**4, 20000, 50000, 10**5,
                           200000, 500000, 10**6), (0, 10, 100, 10**3, 10**4, 10**5, 10**6)))  # fmt: skip
TIMES = [
    "2019-02-28 23:29:03", "2019-02-28 23:31:00", "2019-02-28 11:00:00", "2019-02-03 01:00:00",
    "2019-01-03 01:00:00", "2019-09-03 01:00:00", "2021-09-03 01:00:00",
]  # fmt: skip
MOMENTS = [dt.datetime(2010 + n, 1, 1) for n in range(8)]


@pytest.mark.parametrize(
    ("name", "values", "builder", "reason"),
    [
        ("age", list(range(17, 91)), Intervals(width=(5, 10, 20), top=90), "which are ages"),
        ("size", [str(n) for n in range(17, 91)], Intervals(width=(5, 10, 20)), "rounded widths"),
        ("share", [n / 100 for n in range(101)], Intervals(width=(0.1, 0.2)), "from 0 to 1"),
        ("grade", list(range(1, 11)), Intervals(width=(2,)), "10 different numbers"),
        ("flag", [0, 1, 0, 1], RootOnly(), "only 2 different values"),
        ("income", [*range(1, 51), 10**6], INCOMES, "most of them small"),
        ("year", ["1990", "1991", "1996", "1985", "1972", "1961", "2001"], Intervals(width=(5, 10)), "years"),
        ("zip", ZIPS, CodeSystem("postcodes"), "postcodes"),
        ("PLZ", [1030, 1010, 1011, 1110, 1150, 1140, 1012], CodeSystem("postcodes"), "postcodes"),
        ("icd", ICD, CodeSystem("icd-10"), "ICD-10"),
        ("serial", CODES, Masking(), "codes of 3 characters"),
        ("serial", [f"{n:012d}" for n in range(9)], RootOnly(), "looks like an identifier"),
        ("birth", DAYS, DatesBuilder(("five-years", "decade")), "dates from 1950 to 1989"),
        ("seen", MONTHS, DatesBuilder(("quarter",)), "dates from 2024 to 2024"),
        ("seen", MOMENTS, DatesBuilder(("five-years",)), "dates from 2010 to 2017"),
        ("sex", ["m", "f", "m"], RootOnly(), "only 2 different values"),
        ("one", ["m"], RootOnly(), "only 1 different value"),
        ("town", TOWNS * 3, Frequent(keep=18), "no visible structure"),
        (
            "serving",
            SHIFTS,
            Ordered(size=(2, 2), order=("Never", "Rarely", "Sometimes", "Often", "Always")),
            "scale",
        ),
        ("group", ["18-29", "30-44", "45-60", "> 60"], Ranges(), "ranges"),
        ("country", ["DE", "FR", "IT", "US"], CodeSystem("countries"), "countries"),
        ("state", ["Texas", "Ohio", "Utah", "Iowa"], CodeSystem("us-states"), "states of the USA"),
        ("Land", ["Bayern", "Hessen", "Berlin"], CodeSystem("german-states"), "Germany"),
        ("height", ["5'10\"", "5'9\"", "6'2\""], CodeSystem("feet-inches"), "feet and inches"),
        ("name", TOWNS, RootOnly(), "looks like an identifier"),
        ("empty", [None, None], RootOnly(), "all values are missing"),
    ],
)
def test_the_proposal_fits_the_values_and_says_why(name, values, builder, reason) -> None:
    proposal = propose(encode_column(name, pa.chunked_array([pa.array(values)])))
    assert proposal.builder == builder
    assert reason in proposal.reason


def levels_of(name: str, values: list[str], value: str) -> list[str]:
    """What a value becomes on each level above 0 of the proposed hierarchy."""
    hierarchy = propose(encode_column(name, pa.chunked_array([pa.array(values)]))).hierarchy
    return [hierarchy.label(value, level) for level in range(1, hierarchy.height + 1)]


@pytest.mark.parametrize(
    ("name", "values", "steps"),
    [
        ("zip", ZIPS, ["826**", "82***", "*"]),
        (
            "zip",
            ["12345-6789", "12345-1111", "12345", "12399", "12999", "99123"],
            ["12345", "123**", "1****", "*"],
        ),
        ("PLZ", ["1030", "1010", "1011", "1210", "2150"], ["10**", "1***", "*"]),
        ("postcode", ["SW1A 1AA", "SW1A 2AA", "SW2 1AA", "E1 6AN"], ["SW1A", "SW", "*"]),
        ("postal code", ["K1A 0B1", "K1A 0B2", "K2B 1A1", "M5V 2T6"], ["K1A", "K", "*"]),
        ("postcode", ["1234 AB", "1234 CD", "1299 AA", "3011 AB"], ["1234", "12", "*"]),
        ("icd", ["J45.0", "J45.1", "J46", "J00", "A00"], ["J45", "J40-J47", "chapter X (J00-J99)", "*"]),
        ("time", ["23:29", "22:01", "08:15", "08:45", "13:00"], ["23h", "18h-23h", "*"]),
        ("kod pocztowy", ["00-950", "00-001", "31-042", "30-002"], ["00-***", "0*-***", "*"]),
        ("isco", ["2512", "2513", "2521", "2111", "5223"], ["251", "25", "2", "*"]),
        ("country", ["Germany", "France", "Poland", "Japan"], ["Western Europe", "Europe", "*"]),
        ("Land", ["Deutschland", "Frankreich", "Polen", "Japan"], ["Western Europe", "Europe", "*"]),
        ("state", ["NY", "NJ", "ME", "TX"], ["Middle Atlantic", "Northeast", "*"]),
        (
            "height",
            ["5'10\"", "5'11\"", "5'8\"", "5'2\"", "6'2\""],
            [FEET, "5'8\"-5'11\"", "5'0\"-5'11\"", "*"],
        ),
        ("group", ["18-29", "30-44", "45-60", "> 60"], ["18-44", "*"]),
        (
            "income",
            ["$0 - $24,999", "$25,000 - $49,999", "$50,000 - $99,999", "$100,000 - $149,999", "$150,000+"],
            ["$0 - $49,999", "*"],
        ),
        ("answer", SHIFTS, ["Never to Rarely", "Never to Often", "*"]),
        ("rank", ["1_Poor", "2_Fair", "3_Good"], ["1_Poor to 2_Fair", "*"]),
        ("when", TIMES, ["2019-02-28 23h", "2019-02-28", "2019-02", "2019-Q1", "2019", "*"]),
    ],
)
def test_the_first_value_climbs_the_steps_that_its_kind_has(name, values, steps) -> None:
    assert levels_of(name, values, values[0]) == steps


@pytest.mark.parametrize(
    "values",
    [
        ["18-29", "20-44", "45-60"],  # they overlap
        ["Never", "Rarely", "Perhaps"],  # no scale has them all
        ["Germany", "France", "Atlantis"],  # too much is unknown
    ],
)
def test_values_that_only_resemble_a_system_are_plain_categories(values: list[str]) -> None:
    assert propose(encode_column("x", pa.chunked_array([values]))).builder == RootOnly()


def test_open_dates_are_known_by_their_years_only(tmp_path) -> None:
    path = tmp_path / "open.csv"
    path.write_text(
        "day,n\n" + "".join(f"0{1 + n % 9}/0{1 + n % 7}/{1990 + n % 30},{n}\n" for n in range(60))
    )
    column = encode(read(path), ["day"])["day"]
    assert propose(column).builder == DatesBuilder(("year", "five-years", "decade"))


def test_labels_of_dates_sort_in_time() -> None:
    hierarchy = propose(encode_column("when", pa.chunked_array([pa.array(TIMES)]))).hierarchy
    for level in range(1, hierarchy.height):
        labels = [hierarchy.label(text, level) for text in sorted(TIMES)]
        assert labels == sorted(labels)


def shrinks(hierarchy: Hierarchy) -> bool:
    """Whether every level tells fewer values apart than the one below."""
    numbers = [len(hierarchy.values), *map(len, hierarchy.names)]
    return all(fewer < more or more == 1 for more, fewer in itertools.pairwise(numbers))


@given(st.lists(st.dates(dt.date(1930, 1, 1), dt.date(2030, 1, 1)), min_size=2, max_size=40))
def test_no_level_of_dates_equals_the_one_below(days: list[dt.date]) -> None:
    assert shrinks(propose(encode_column("day", pa.chunked_array([pa.array(days)]))).hierarchy)


@given(st.lists(st.one_of(st.integers(0, 10**6), st.integers(0, 20)), min_size=6, max_size=60, unique=True))
def test_proposed_intervals_never_end_at_a_value_that_is_not_round(numbers: list[int]) -> None:
    """Interval ends that were values of rows would tell these rows."""
    builder = propose(encode_column("n", pa.chunked_array([pa.array(numbers)]))).builder
    assert isinstance(builder, Intervals | RootOnly)
    assert shrinks(builder.build(pa.array(numbers)))
    if isinstance(builder, Intervals):
        assert builder.quantiles is None
        ends = [
            end for level in builder.cuts or () for end in (level if isinstance(level, tuple) else [level])
        ]
        assert all(str(end).rstrip("0") in ("", "1", "2", "5") for end in ends)


def test_text_that_only_begins_like_a_date_is_no_date() -> None:
    values = ["2024-01-01", "2024-13-01"] * 10
    assert propose(encode_column("x", pa.chunked_array([values]))).builder.name == "root"
