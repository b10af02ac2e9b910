from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from tarnkappe.hierarchy import DatesBuilder, Frequent, Intervals, Masking, RootOnly, propose
from tarnkappe.table.encoding import encode_column

TOWNS = [f"town {chr(65 + i)}" for i in range(20)]
ICD = ["A00.1", "A01", "B20.9", "C50", "E11.9", "F32.1", "I10", "J18.9", "K35", "M54.5"]


ZIPS = ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004", "80331"]
DAYS = [dt.date(1950 + n, 1, 1) for n in range(40)]
MONTHS = [f"2024-0{n}-01" for n in range(1, 9)]
MOMENTS = [dt.datetime(2010 + n, 1, 1) for n in range(8)]


@pytest.mark.parametrize(
    ("name", "values", "builder", "reason"),
    [
        ("age", list(range(17, 91)), Intervals(width=(5, 10, 20)), "74 different numbers from 17 to 90"),
        ("age", [str(n) for n in range(17, 91)], Intervals(width=(5, 10, 20)), "rounded widths"),
        ("share", [n / 100 for n in range(101)], Intervals(width=(0.1, 0.2)), "from 0 to 1"),
        ("grade", list(range(1, 11)), Intervals(width=(2,)), "10 different numbers"),
        ("flag", [0, 1, 0, 1], RootOnly(), "only 2 different values"),
        ("income", [*range(50), 10**6], Intervals(quantiles=(8, 4, 2)), "98% of the rows lie in one"),
        ("year", ["1990", "1985", "1972", "1961", "2001"], Intervals(width=(5, 10, 20)), "numbers"),
        ("zip", ZIPS, Masking(), "codes of 5 characters"),
        ("PLZ", [1030, 1010, 1011, 1110, 1150, 1140, 1012], Masking(), "codes of 4 characters"),
        ("icd", ICD, Masking(), "codes of up to 5 characters"),
        ("serial", [f"{n:012d}" for n in range(9)], Masking(step=2), "codes of 12 characters"),
        ("birth", DAYS, DatesBuilder(), "dates from 1950 to 1989"),
        ("seen", MONTHS, DatesBuilder(("month", "quarter", "year")), "dates from 2024 to 2024"),
        ("seen", MOMENTS, DatesBuilder(("month", "year")), "dates from 2010 to 2017"),
        ("sex", ["m", "f", "m"], RootOnly(), "only 2 different values"),
        ("one", ["m"], RootOnly(), "only 1 different value"),
        ("town", TOWNS * 3, Frequent(keep=(10, 5)), "no visible structure"),
        ("name", TOWNS, RootOnly(), "looks like an identifier"),
        ("empty", [None, None], RootOnly(), "all values are missing"),
    ],
)
def test_the_proposal_fits_the_values_and_says_why(name, values, builder, reason) -> None:
    proposal = propose(encode_column(name, pa.chunked_array([pa.array(values)])))
    assert proposal.builder == builder
    assert reason in proposal.reason


def test_the_proposal_for_postcodes_is_the_hierarchy_of_the_worked_example() -> None:
    hierarchy = propose(encode_column("zip", pa.chunked_array([pa.array(ZIPS)]))).hierarchy
    assert [hierarchy.label("82667", level) for level in range(1, 6)] == [
        "8266*", "826**", "82***", "8****", "*****",
    ]  # fmt: skip


def test_text_that_only_begins_like_a_date_is_no_date() -> None:
    values = ["2024-01-01", "2024-13-01"] * 10
    assert propose(encode_column("x", pa.chunked_array([values]))).builder.name == "root"
