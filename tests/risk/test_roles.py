"""Roles are proposed by ordered rules: right for files that nobody has described, whatever their size."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.risk.identifiers import (
    DETECTOR_NAMES,
    Certainty,
    ColumnScan,
    find_alarms,
    go_together,
    propose_roles,
)
from tarnkappe.risk.identifiers.pairs import MANY, REPEATED
from tarnkappe.risk.identifiers.view import ColumnView, rarefied_share
from tarnkappe.table import Role, Table, read
from tarnkappe_bench.made_up_files import DEVELOPMENT, HELD_OUT, LATER_SEEN, MadeUpFile, files, made_up
from tarnkappe_bench.roles import changes_with_rows, corpus, corpus_folder, judge, judge_made_up, scores

FIELDS = list(DEVELOPMENT | LATER_SEEN | HELD_OUT)


@functools.cache
def some_files() -> dict[str, MadeUpFile]:
    """One of every field, with few rows or many; made when a test asks for them, not while tests are collected."""
    made = files(DEVELOPMENT | LATER_SEEN | HELD_OUT, seed=5)
    return {file.name: file for n, file in enumerate(made) if n % 4 in (0, 3)}


def scan(columns: Mapping[str, Any]) -> dict[str, ColumnScan]:
    return {column.column: column for column in propose_roles(Table(pa.table(dict(columns))))}


def role(header: str, cells: Any) -> Role:
    return scan({header: cells})[header].role


def read_made_up(file: MadeUpFile, folder: Path) -> Table:
    path = folder / "people.csv"
    path.write_text(file.text, encoding="utf-8")
    return read(str(path))


def test_identifiers_in_files_of_many_languages_are_found() -> None:
    told = scores(judge_made_up(some_files().values()))
    found = told["identifier"]
    assert found["found"] >= 0.97 * found["of"]
    assert found["right"] >= 0.95 * found["said"]
    assert told["sensitive"]["found"] >= 0.8 * told["sensitive"]["of"]
    assert told["acceptable"] >= 0.93 * told["columns"]


@pytest.mark.slow
def test_roles_of_the_labelled_corpus_are_found() -> None:
    if corpus_folder() is None:
        pytest.skip("the files of the corpus are not here (TARN_CORPUS)")
    told = scores([each for name, table, right, _ in corpus() for each in judge(name, table, right)])
    found, kept = told["identifier"], told["sensitive"]
    assert found["found"] >= 0.99 * found["of"]
    assert found["right"] >= 0.95 * found["said"]
    assert kept["found"] >= 0.9 * kept["of"]
    assert kept["right"] >= 0.9 * kept["said"]
    assert told["acceptable"] >= 0.96 * told["columns"]


def test_no_verdict_changes_with_the_number_of_rows() -> None:
    some = dict(itertools.islice((LATER_SEEN | HELD_OUT).items(), 1, None, 7))
    changed, columns = changes_with_rows(some)
    assert (changed, columns > 30) == (0, True)


def test_identifiers_are_found_among_many_rows(tmp_path: Path) -> None:
    columns = [column for column in HELD_OUT["claims"] if column[0] in ("CLAIMANT", "STATE_CD", "POLICY_NO")]
    table = read_made_up(made_up(columns, "claims", 100_000, 0.02, ";", 1), tmp_path)
    found = {column.column for column in propose_roles(table) if column.role is Role.IDENTIFIER}
    assert found == {"CLAIMANT", "POLICY_NO"}


@pytest.mark.parametrize("name", FIELDS[::7])
def test_what_is_proposed_passes_the_guard_and_quotes_no_cell(name: str, tmp_path: Path) -> None:
    table = read_made_up(some_files()[name], tmp_path)
    proposed = propose_roles(table)
    roles = {column.column: column.role for column in proposed}
    assert find_alarms(table.with_roles(roles), table.with_roles(roles).published) == ()
    told = json.dumps([column.to_dict() for column in proposed], ensure_ascii=False)
    for column in table.data.columns:
        for cell in set(map(str, column.drop_null().to_pylist())):
            assert len(cell) < 6 or cell.isalpha() or cell not in told


@pytest.mark.parametrize("header", ["column 1", "column 12"])
def test_names_are_found_in_a_file_without_headers(header: str) -> None:
    """What numbers a column is no word for a thing, under which names would be those of things."""
    rare = [f"{given} {family}" for given in ("Kunigunde", "Balduin", "Ottokar") for family in
            ("Zwickel", "Quast", "Knopfloch", "Wurzelsepp", "Hinterhuber", "Pfannkuch")]  # fmt: skip
    assert role(header, rare * 3) is Role.IDENTIFIER
    known = ["Anna Wurzelsepp", "Balduin Quast", "Peter Zwickel", "Ottokar Knopfloch", "Maria Pfannkuch"]
    known += ["Thomas Hinterhuber", "Kunigunde Quast", "Julia Zwickel"]
    assert role(header, known * 5) is Role.IDENTIFIER


@pytest.mark.parametrize("rows", [4, 30, 3000])
@pytest.mark.parametrize("header", ["name", "Name", "full name", "Nachname", "customer", "Имя", "氏名"])
def test_a_header_of_names_and_varied_values_are_enough(header: str, rows: int) -> None:
    """Whatever the cells look like: no list knows these, and a digit in a name hides nothing."""
    assert role(header, [f"Anna{number} Meyer" for number in range(rows)]) is Role.IDENTIFIER
    assert role(header, [f"qzx {number:04} vwk" for number in range(rows)]) is Role.IDENTIFIER


def test_names_of_things_are_no_names_of_people() -> None:
    firms = [f"{first}{last} Ltd" for first in ("Alto", "Bera", "Cedo") for last in "abcdefghij"]
    assert role("company name", firms) is Role.QUASI_IDENTIFIER
    assert role("name", ["low", "medium", "high"] * 20) is not Role.IDENTIFIER


ALONE = ("employee", "user", "badge", "customer", "Member", "Mitarbeiter", "Kunde", "nurse", "cliente")
"""Headers that speak of people and of no number: the values tell whether people are numbered or counted."""
TOGETHER = ("Kundennummer", "Mitgliedsnummer", "staff_no", "EmployeeNumber", "badge id", "Patientennr")


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Subject", [1 + n % 12 for n in range(240)]),
        ("patient no", [f"P{n % 9}" for n in range(90)]),
        ("userid", [1000 + n % 30 for n in range(300)]),
        ("id", [n % 40 for n in range(400)]),
        ("USUBJID", [f"01-70{n % 5}" for n in range(400)]),
        ("Matricule", [f"M{n % 700}" for n in range(900)]),
        *((header, [1000 + n % 12 for n in range(144)]) for header in ALONE),
        *((header, [20_011 + 37 * (n * n % 41) for n in range(300)]) for header in (*ALONE, *TOGETHER)),
        *((header, [f"{['evi', 'max', 'tom'][n % 3]}{n * n % 41}" for n in range(300)]) for header in ALONE),
        *((header, [1 + n % 30 for n in range(300)]) for header in (*ALONE, *TOGETHER)),
        ("employee", [1 + n % 8 for n in range(96)]),
    ],
)
def test_numbers_of_people_may_repeat(header: str, cells: Any) -> None:
    assert role(header, cells) is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        *(
            (header, [1 + n % 30 for n in range(300)])
            for header in ("employees", "users", "kinder", "staff total")
        ),
        *((header, [min(n % 17, n % 23, n % 29) for n in range(300)]) for header in ALONE),
        *((header, [min(n % 7, n % 5) for n in range(300)]) for header in ALONE),
        ("staff", [97 + 7 * n for n in range(60)]),
        ("site_id", [f"S{n % 80}" for n in range(400)]),
        ("number of visits", [n % 60 for n in range(300)]),
        ("NumBeds", [1000 + 37 * n for n in range(60)]),
        ("student", ["yes", "no"] * 50),
        (
            "parent education",
            ["High School", "Some College", "Bachelor Degree", "Master Degree", "No School"] * 20,
        ),
        ("customer type", ["Gold Plus", "Silver Plus", "Old Friend", "New Friend"] * 20),
        ("salary", [31_250 + 137 * n for n in range(60)]),
        ("time", list(range(5, 45))),
        ("start time", [f"{n % 24:02}:{n % 60:02}" for n in range(400)]),
        ("swing", [f"R+{n / 7:.2f}" for n in range(200)]),
    ],
)
def test_what_is_counted_or_of_groups_names_nobody(header: str, cells: Any) -> None:
    assert role(header, cells) is not Role.IDENTIFIER


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("STUDYID", ["A-1", "A-2"] * 30, Role.INSENSITIVE),
        ("AESEQ", list(range(1, 7)) * 10, Role.INSENSITIVE),
        ("AETERM", ["RASH", "NAUSEA", "PAIN"] * 20, Role.SENSITIVE),
        ("AEDECOD", ["Rash", "Nausea", "Pain"] * 20, Role.SENSITIVE),
        ("DTHFL", ["Y"] * 3 + [None] * 57, Role.SENSITIVE),
        ("RFSTDTC", ["2012-03", "2013"] * 30, Role.QUASI_IDENTIFIER),
        ("band", ["18-29", "30-44", "45-60", "> 60"] * 15, Role.QUASI_IDENTIFIER),
        ("band", ["$0 - $24,999", "$25,000 - $49,999", "$150,000+"] * 20, Role.SENSITIVE),
        ("x", ["Texas", "Ohio", "Georgia", "Virginia", "Utah"] * 12, Role.QUASI_IDENTIFIER),
        ("Herkunft", ["Österreich", "Jordanien", "Tschad", "Schweiz"] * 15, Role.QUASI_IDENTIFIER),
        ("category", ["M20", "M40", "W20", "W40"] * 15, Role.QUASI_IDENTIFIER),
        ("lvrat", [f"0.{n:016}" for n in range(10**15, 10**15 + 60)], Role.SENSITIVE),
        ("loan status", ["open", "paid", "late"] * 20, Role.SENSITIVE),
        ("diagnosis year", [2010, 2011, 2012] * 20, Role.QUASI_IDENTIFIER),
    ],
)
def test_the_first_rule_that_holds_decides(header: str, cells: Any, expected: Role) -> None:
    assert role(header, cells) is expected


def test_certainty_says_what_is_proved_and_what_is_guessed() -> None:
    said = scan({"mail": ["a@example.org", "b@example.org"], "age": [30, 31], "x": ["p", "q"]})
    assert [said[name].certainty for name in said] == [Certainty.SURE, Certainty.LIKELY, Certainty.GUESS]


def test_a_second_part_of_a_name_is_found_beside_the_first() -> None:
    invented = [f"{a}{b}" for a in ("Kro", "Vel", "Zum") for b in ("dar", "nik", "pol", "tis", "wen")]
    assert role("last", invented * 4) is not Role.IDENTIFIER
    both = scan({"first name": invented * 4, "last": invented[::-1] * 4, "last visit": ["2020-01-02"] * 60})
    assert both["last"].role is Role.IDENTIFIER
    assert both["last"].findings[-1].detector == "name"
    assert both["last visit"].role is not Role.IDENTIFIER


def test_what_goes_with_a_name_names_people_too() -> None:
    people = [f"{a}{b}{c} Quist" for a in "ABCDEF" for b in ("al", "er", "im", "op", "ux") for c in "abcdefg"]
    boats = [f"boat of {n * 7919 % 1000} oars" for n in range(210)]
    repeated = scan({"name": people * 3, "vessel?": boats * 3})
    assert repeated["vessel?"].role is Role.IDENTIFIER
    alone = scan({"name": people, "vessel?": boats})
    assert (
        alone["vessel?"].role is not Role.IDENTIFIER
    )  # where all rows differ everything goes with everything


@given(
    pairs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=120),
    same=st.booleans(),
    repeats=st.booleans(),
    blank=st.integers(0, 30),
)
def test_two_columns_go_together_as_a_plain_look_at_all_pairs_says(
    pairs: list[tuple[int, int]], same: bool, repeats: bool, blank: int
) -> None:
    rows = [(a, (a * 7) % 31 if same else b) for a, b in pairs]
    one = ["" if a == blank else f"a{a}" for a, _ in rows]
    other = [None if b == blank else f"b{b}" for _, b in rows]
    filled = [(a, b) for a, b in zip(one, other, strict=True) if a and b]
    different = set(filled)
    expected = (
        len(different) >= MANY
        and all(sum(a == x for x, _ in different) == 1 for a, _ in different)
        and all(sum(b == y for _, y in different) == 1 for _, b in different)
        and (not repeats or len(filled) >= REPEATED * len(different))
    )
    columns = [pa.chunked_array([pa.array(cells, pa.string())]) for cells in (one, other)]
    assert go_together(*columns, repeats) is expected
    counted = {
        pair: sum(pair == each for each in zip(one, other, strict=True))
        for pair in zip(one, other, strict=True)
    }
    groups = [
        pa.chunked_array([pa.array([pair[place] for pair in counted], pa.string())]) for place in (0, 1)
    ]
    assert go_together(*groups, repeats, np.array(list(counted.values()), np.int64)) is expected


@given(counts=st.lists(st.integers(1, 4), min_size=1, max_size=5), drawn=st.integers(1, 5))
def test_the_rarefied_share_is_the_mean_over_all_draws(counts: list[int], drawn: int) -> None:
    cells = [value for value, count in enumerate(counts) for _ in range(count)]
    number = min(drawn, len(cells))
    draws = [
        len({cells[place] for place in some}) for some in itertools.combinations(range(len(cells)), number)
    ]
    assert rarefied_share(np.array(counts), drawn) == pytest.approx(sum(draws) / len(draws) / number)


def test_the_rarefied_share_of_two_of_four_cells() -> None:
    assert rarefied_share(np.array([2, 1, 1]), 2) == pytest.approx(0.916667, abs=5e-7)


def test_headers_are_understood_without_accents_and_in_parts() -> None:
    def about(header: str, name: str) -> bool:
        return ColumnView(header, pa.chunked_array([["x"]])).about(name)

    assert about("PRÉNOM", "name")
    assert about("Größe", "known")
    assert about("Geburtsort", "known")
    assert about("employeeName", "name")
    assert not about("candidate", "date")
    assert not about("parent", "sensitive")  # no rent


def test_a_label_is_a_second_header() -> None:
    cells = pa.chunked_array([[f"K{n}" for n in range(60)]])
    assert ColumnView("v12", cells, label="Unique Subject Identifier").about("id")


def test_free_text_can_be_accepted_by_its_name() -> None:
    assert "free-text" in DETECTOR_NAMES
    notes = [f"the patient of room {n} slept badly and asked for tea again" for n in range(60)]
    table = Table(pa.table({"x": notes})).with_roles(insensitive=["x"])
    assert [alarm.detector for alarm in find_alarms(table, ["x"])] == ["free-text"]
    assert find_alarms(table, ["x"], {"x": ["free-text"]}) == ()


def from_file(folder: Path, text: str) -> dict[str, ColumnScan]:
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    return {column.column: column for column in propose_roles(read(str(path)))}


def test_dates_with_exceptions_are_dates_and_dates_within_texts_make_them_identifiers(tmp_path: Path) -> None:
    some = ["2020-01-02", "yesterday", "2021", "3/4/2020"] * 30
    texts = [f"seen on 3/{n % 12 + 1}/2020 by the ward" for n in range(120)]
    days = ["36892", "31.12.2001", "02.03.2005"] * 40  # Excel's numbers of days among dates
    lines = [";".join(cells) for cells in zip(some, texts, days, strict=True)]
    found = from_file(tmp_path, "\n".join(["when;remark;entry", *lines, ""]))
    assert (found["when"].role, found["entry"].role) == (Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER)
    assert found["remark"].role is Role.IDENTIFIER


def test_what_is_counted_or_measured_in_time_is_no_code() -> None:
    seconds = [1_500_000_000 + 86_413 * n for n in range(200)]
    lengths = pa.array([3_600 * (n * 37 % 500) for n in range(200)], pa.duration("s"))
    assert role("signup_epoch", seconds) is Role.QUASI_IDENTIFIER
    assert role("length of stay", lengths) is Role.QUASI_IDENTIFIER


def test_the_number_of_a_house_is_no_number_of_a_person() -> None:
    numbers = [n * 37 % 180 + 1 for n in range(200)]
    assert role("Huisnummer", numbers) is Role.QUASI_IDENTIFIER
    assert role("Klantnummer", [100_000 + 7 * n for n in range(200)]) is Role.IDENTIFIER


def test_codes_of_a_medical_dictionary_tell_what_happened_to_people() -> None:
    codes = [f"HLT_{n * 7 % 400:04d}" for n in range(600)]
    assert role("AEHLT", codes) is not Role.IDENTIFIER
    assert role("AEREF", codes) is Role.IDENTIFIER


def test_names_of_offices_and_goods_are_no_names_of_people() -> None:
    places = ["Abbeville", "Lewiston", "Jackson", "Carter", "Monroe", "Lincoln", "Madison", "Grant"]
    kinds = ["County Sheriff's Office", "Police Department", "City School"]
    offices = [f"{place} {kind}" for place in places for kind in kinds] * 4
    assert role("name", offices) is Role.QUASI_IDENTIFIER
    makers = ["Wilson Jones", "Acme", "Elite", "Novimex", "Hon"]
    goods = [f"{makers[n % 5]} binder, {n % 37} mm" for n in range(120)]
    assert role("Product Name", goods) is not Role.IDENTIFIER
    people = [f"{given} {family}" for given in ("Anna", "Ben", "Clara") for family in ("Meyer", "Smith")] * 20
    assert role("name", people) is Role.IDENTIFIER


def test_notes_are_free_text_even_if_they_repeat() -> None:
    notes = [f"not enough blood was drawn at visit {'abcdefgh'[n % 8]}" for n in range(120)]
    assert role("Comments", notes) is Role.IDENTIFIER
    assert (
        role("Comments", ["late", "early", "on time", "lost", "found", "gone", "back"] * 20)
        is not Role.IDENTIFIER
    )
