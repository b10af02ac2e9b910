"""Hierarchies understand texts of dates and numbers as their file spells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy import DatesBuilder, Intervals, propose
from tarnkappe.table import Column, encode, read


def column(folder: Path, lines: list[str], name: str = "x", **stated: str) -> Column:
    (folder / "a.csv").write_text("\n".join([f"{name};other", *(f"{line};a" for line in lines)]) + "\n")
    return encode(read(folder / "a.csv", delimiter=";", **stated), [name])[name]


def rows(built: object) -> list[tuple[str | None, ...]]:
    return [tuple(row) for row in built.rows()]  # type: ignore[attr-defined]


def test_german_dates_lose_the_day_first_and_the_year_last(tmp_path: Path) -> None:
    days = ["31.12.1980", "30.12.1980", "01.02.1980", "01.02.1981", "15.07.1987", "01.02.1955", "15.07.1999"]
    proposal = propose(column(tmp_path, days, "Geburtsdatum"))
    assert str(proposal.builder) == '{builder = "dates", levels = ["month", "year", "five-years", "decade"]}'
    assert ("31.12.1980", "1980-12", "1980", "1980-1984", "1980-1989", "*") in rows(proposal.hierarchy)


def test_american_dates_are_read_with_the_month_first(tmp_path: Path) -> None:
    built = DatesBuilder(("month", "year")).build_column(column(tmp_path, ["1/23/1955", "3/4/1960"]))
    assert ("3/4/1960", "1960-03", "1960", "*") in rows(built)


def test_an_open_order_has_no_level_below_the_year(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "d,x\n03/04/2001,a\n04/04/2001,a\n05/06/2002,b\n05/06/2007,b\n05/06/2015,b\n"
    )
    dates = encode(read(tmp_path / "a.csv"), ["d"])["d"]
    proposal = propose(dates)
    assert rows(proposal.hierarchy)[0] == ("03/04/2001", "2001", "2000-2004", "2000-2009", "*")
    with pytest.raises(HierarchyError, match=r"does not tell day and month apart.*--dates"):
        DatesBuilder(("month", "year")).build_column(dates)


def test_times_have_hours_and_minutes(tmp_path: Path) -> None:
    built = DatesBuilder(("minute", "hour", "day")).build_column(
        column(tmp_path, ["28.02.2019 23:29:03", "1.3.2019 04:05"])
    )
    assert ("28.02.2019 23:29:03", "2019-02-28 23:29", "2019-02-28 23h", "2019-02-28", "*") in rows(built)


def test_a_coarse_date_stays_as_it_is_up_to_its_precision(tmp_path: Path) -> None:
    built = DatesBuilder(("month", "year")).build_column(
        column(tmp_path, ["1986", "2010-04", "2010-04-30", "1986-01-02"])
    )
    assert ("1986", "1986", "1986", "*") in rows(built)
    assert ("2010-04", "2010-04", "2010", "*") in rows(built)


def test_decimal_commas_and_currencies_are_numbers(tmp_path: Path) -> None:
    built = Intervals(width=500).build_column(column(tmp_path, ["1.113,71", "99,50", "€ 5,20"], decimal=","))
    assert ("1.113,71", "[1000, 1500)", "*") in rows(built)
    sizes = column(tmp_path, [f"1,{n}" for n in range(50, 99)])
    assert sizes.numbers is not None
    assert sizes.numbers.tolist() == sorted(sizes.numbers.tolist())
    assert str(propose(sizes).builder).startswith('{builder = "intervals", width = ')


def test_values_are_in_the_order_of_what_they_stand_for(tmp_path: Path) -> None:
    assert column(tmp_path, ["10,5", "9,5", "1.000,0"]).labels == ("9,5", "10,5", "1.000,0")
    assert column(tmp_path, ["01.02.2020", "31.12.2019"]).labels == ("31.12.2019", "01.02.2020")
