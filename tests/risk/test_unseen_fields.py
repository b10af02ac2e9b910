"""Rules that know a column without its header: how names are written, whose names they are, words of medicine."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe.risk.identifiers import ColumnScan, propose_roles
from tarnkappe.risk.identifiers.unique_codes import _given_out
from tarnkappe.table import Role, Table
from tarnkappe_bench.made_up_files import made_up
from tarnkappe_bench.made_up_fresh import FRESH
from tarnkappe_bench.made_up_second import SECOND
from tarnkappe_bench.made_up_third import THIRD
from tarnkappe_bench.roles import judge_made_up, scores

ROWS = 300


def scan(columns: Mapping[str, Any]) -> dict[str, ColumnScan]:
    return {column.column: column for column in propose_roles(Table(pa.table(dict(columns))))}


def role(header: str, cells: Any) -> Role:
    return scan({header: cells})[header].role


def drawn(values: list[str], seed: int = 1) -> list[str]:
    return random.Random(seed).choices(values, k=ROWS)


@pytest.mark.parametrize("rows", [40, 300])
def test_identifiers_are_found_in_fields_that_no_rule_was_made_for(rows: int) -> None:
    """The set that was looked at last; 0.98 of its identifiers were found at the first look."""
    told = scores(
        judge_made_up(made_up(columns, name, rows, 0.08, ";", 3) for name, columns in THIRD.items())
    )
    found = told["identifier"]
    assert found["found"] >= 0.97 * found["of"]
    assert found["right"] >= 0.95 * found["said"]


@pytest.mark.slow
@pytest.mark.parametrize("fields", [FRESH, SECOND, THIRD])
def test_identifiers_are_found_whatever_the_rows_and_blanks(fields: Mapping[str, Any]) -> None:
    made = [
        made_up(columns, name, rows, blanks, "\t", rows)
        for name, columns in fields.items()
        for rows, blanks in ((12, 0.0), (150, 0.16), (2500, 0.08))
    ]
    found = scores(judge_made_up(made))["identifier"]
    assert found["found"] >= 0.96 * found["of"]
    assert found["right"] >= 0.95 * found["said"]


def test_initials_and_a_family_name_are_a_name_however_few_there_are() -> None:
    written = ["J. Harrigan", "M. Ostvold", "K.-L. Brennick", "T. R. Wexley", "B. Quandt"]
    assert role("seen by", drawn(written)) is Role.IDENTIFIER
    assert (
        role("seen by", drawn(["OSTVOLD, Merle", "QUANDT, Birk", "WEXLEY, Tomas", "Harrigan, Lotte"]))
        is Role.IDENTIFIER
    )
    assert (
        role("from", drawn(["Salem, Oregon", "Macon, Georgia", "Dover, Delaware", "Provo, Utah"]))
        is not Role.IDENTIFIER
    )
    assert role("place", drawn(["A. Corner", "B. Corner", "C. Corner", "D. Corner"])) is not Role.IDENTIFIER


def test_the_names_of_staff_are_known_by_those_of_clients() -> None:
    families = ["Ostvold", "Brennick", "Wexley", "Quandt", "Harrigan", "Tolmer", "Vashti", "Urland"]
    draw = random.Random(2)
    clients = [f"{draw.choice(families)} {draw.choice(families)}" for _ in range(ROWS)]
    staff = [f"{draw.choice(families[:5])}" for _ in range(ROWS)]
    mill = drawn(["Old Mill", "Brick Yard", "North Pier", "Long Barn"])
    told = scan({"client name": clients, "desk": staff, "pickup": mill})
    assert told["desk"].role is Role.IDENTIFIER
    assert "names of people in another column" in told["desk"].reason
    assert told["pickup"].role is Role.QUASI_IDENTIFIER
    assert scan({"desk": staff})["desk"].role is not Role.IDENTIFIER  # nothing else shows it


def test_a_header_for_a_person_in_chinese_speaks_of_names() -> None:
    signs = "王李张刘陈杨赵黄周吴"
    draw = random.Random(3)
    cells = [draw.choice(signs) + draw.choice(signs) + draw.choice(signs) for _ in range(ROWS)]
    assert role("签收人", cells) is Role.IDENTIFIER
    assert role("申请者", cells) is Role.IDENTIFIER


def test_the_number_of_whoever_does_something_names_him() -> None:
    draw = random.Random(4)
    cells = [f"0{draw.randrange(40) + 52_000_00:07}" for _ in range(ROWS)]
    assert role("referee_id", cells) is Role.IDENTIFIER
    long = [str(5_000_000_000 + 17 * draw.randrange(60)) for _ in range(ROWS)]
    assert role("xq", long) is Role.IDENTIFIER


def test_telephones_with_an_area_of_two_digits_are_telephones() -> None:
    draw = random.Random(5)
    cells = [
        f"({draw.randint(11, 99)}) 9{draw.randint(1000, 9999)}-{draw.randint(1000, 9999)}"
        for _ in range(ROWS)
    ]
    assert scan({"x": cells})["x"].reason.startswith("all of the values are telephone")


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["otitis media", "gastroenteritis", "dermatitis", "broken leg"], "words for diseases or drugs"),
        (["amlodipine", "atorvastatin 20 mg", "omeprazole", "bisoprolol"], "words for diseases or drugs"),
        (["mild", "moderate", "severe"], "degrees of severity"),
        (["leicht", "mittelschwer", "schwer"], "degrees of severity"),
        (["neg", "neg", "pos", "unknown"], "results of tests"),
        (["120/80", "135/85", "142/91", "118/76"], "blood pressures"),
    ],
)
def test_cells_that_show_health_are_sensitive_whatever_the_header_says(cells: list[str], why: str) -> None:
    found = scan({"x1": drawn(cells)})["x1"]
    assert found.role is Role.SENSITIVE
    assert why in found.reason


@pytest.mark.parametrize(
    "cells",
    [
        ["Rose", "Penrose", "Ambrose", "Melrose"],
        ["none", "minor", "serious"],
        ["normal", "negative"],
        ["12/25", "08/30", "03/04"],
        ["purpose", "academic", "statistics"],
    ],
)
def test_other_words_and_numbers_do_not_speak_of_health(cells: list[str]) -> None:
    assert scan({"x1": drawn(cells)})["x1"].role is not Role.SENSITIVE


def test_diagnoses_without_a_dot_are_known_under_their_header_only() -> None:
    draw = random.Random(6)
    codes = [f"{draw.choice('CEFIJKM')}{draw.randrange(10, 99)}{draw.randrange(10)}" for _ in range(ROWS)]
    assert role("dx1", codes) is Role.SENSITIVE
    assert role("member code", codes) is Role.IDENTIFIER


def test_large_round_numbers_may_be_amounts_of_money() -> None:
    draw = random.Random(7)
    found = scan({"x1": [draw.randrange(0, 90_000, 50) for _ in range(ROWS)]})["x1"]
    assert (found.role, found.certainty.value) == (Role.SENSITIVE, "guess")
    assert role("x1", [draw.randrange(0, 90_000) for _ in range(ROWS)]) is not Role.SENSITIVE
    assert role("year", [draw.randrange(1900, 2020, 10) for _ in range(ROWS)]) is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize("rows", [200, 1_000, 5_000])
def test_what_is_measured_in_many_rows_is_no_running_number(rows: int) -> None:
    """Measurements fill their range where rows are many; what was given out occurs equally often."""
    draw = np.random.default_rng(rows)
    measured = draw.integers(70, 70 + rows // 5, rows)
    _, counts = np.unique(measured, return_counts=True)
    assert not _given_out(counts)
    for repeated in (1, 3):
        assert _given_out(np.full(rows, repeated))
    assert _given_out(np.array([1] * rows + [2] * (rows // 50)))  # some people came twice
    assert role("mg", measured.tolist()) is not Role.IDENTIFIER
    assert role("row", list(range(rows))) is Role.IDENTIFIER


def test_a_currency_in_the_header_is_money_and_a_department_is_no_lung() -> None:
    draw = random.Random(8)
    amounts = [round(draw.uniform(900, 7000), 2) for _ in range(ROWS)]
    assert role("Brutto €", amounts) is Role.SENSITIVE
    assert role("Abteilung", drawn(["Lager", "Vertrieb", "Küche"])) is Role.QUASI_IDENTIFIER
    assert role("lung", drawn(["clear", "shadow", "nodule"])) is Role.SENSITIVE
