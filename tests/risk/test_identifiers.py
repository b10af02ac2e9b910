"""HIPAA's 18 identifiers: all are found under misleading headers, and clean tables are passed in silence."""

from __future__ import annotations

import csv
import datetime
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.risk import IdentifierKind, check, find_identifiers
from tarnkappe.risk.identifiers import DETECTORS, safe_age, safe_birth_year, safe_postcode
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.table import Role, Table, examples, read
from tests.risk.identifiable import CELLS, MISLEADING, clean_tables, columns_of

WAYS = [(kind, way) for kind, ways in CELLS.items() for way in range(len(ways))]
ROWS = 120


def scan_one(name: str, values: Any) -> Any:
    (column,) = find_identifiers(Table(pa.table({name: values}))).columns
    return column


def kinds(column: Any) -> set[int]:
    return {int(kind) for found in column.findings for kind in found.kinds}


def test_there_is_a_detector_for_each_of_the_18_kinds() -> None:
    assert {kind for detector in DETECTORS for kind in detector.kinds} == set(IdentifierKind)
    assert len(IdentifierKind) == 18
    assert len({detector.name for detector in DETECTORS}) == len(DETECTORS)
    assert all(kind.title for kind in IdentifierKind)


@pytest.mark.parametrize("seed", [0, 1])
def test_all_18_kinds_are_found_in_a_file_with_misleading_headers(seed: int, tmp_path: Path) -> None:
    headers = [f"{MISLEADING[n % len(MISLEADING)]} {n}" for n in range(len(WAYS))]
    file = tmp_path / "people.csv"
    columns = [columns_of(kind, way, ROWS, seed) for kind, way in WAYS]
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(headers)
        writer.writerows(zip(*columns, strict=True))
    scan = find_identifiers(read(file))
    assert {int(kind) for kind in scan.kinds} == set(range(1, 19))
    assert not scan.holds
    missed = [
        (kind, way)
        for (kind, way), column in zip(WAYS, scan.columns, strict=True)
        if kind not in kinds(column)
    ]
    assert missed == []


@pytest.mark.parametrize("header", MISLEADING)
@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_no_header_hides_an_identifier(kind: int, way: int, header: str) -> None:
    """Numbers that look like ages are ages only if the header does not speak of another quantity."""
    if kind == 3 and way == 5 and header == "result":
        return
    column = scan_one(header, columns_of(kind, way, ROWS, 3))
    assert column.findings, (kind, header)
    assert kind in kinds(column) or (kind == 18 and column.findings[0].detector == "telephone")


@pytest.mark.parametrize(
    ("header", "kind", "cells"),
    [
        ("MRN", 8, lambda r: r.randrange(10**6, 10**7)),
        ("patient_id", 8, lambda r: f"{r.randrange(10**5)}A"),
        ("insurance_number", 9, lambda r: f"{r.choice('ABC')}{r.randrange(10**8, 10**9)}X"),
        ("Kontonummer", 10, lambda r: r.randrange(10**9, 10**10)),
        ("passport", 11, lambda r: f"C{r.randrange(10**7, 10**8)}"),
        ("licensePlate", 12, lambda r: f"{r.choice('BCDF')}{r.choice('XYZ')}{r.randrange(1000, 9999)}"),
        ("serial no", 13, lambda r: f"QX{r.randrange(10**6)}"),
        ("phone", 4, lambda r: r.randrange(2 * 10**9, 9 * 10**9)),
        ("fax_number", 5, lambda r: f"0721 {r.randrange(10**5, 10**6)}"),
        ("voiceprint", 16, lambda r: f"{r.randrange(10**12, 10**13):x}q"),
        ("photo", 17, lambda r: f"archive/{r.randrange(10**5)}"),
        ("surname", 1, lambda r: "".join(r.choices("bcdfg", k=3)).title() + "owitsch" + r.choice("abcdef")),
        ("county", 2, lambda r: r.choice(["Dane", "Cook", "Kings", "Lake"])),
        ("plz", 2, lambda r: r.randrange(1010, 9999)),
        ("latitude", 2, lambda r: 45 + r.random()),
        ("birth month", 3, lambda r: r.randint(1, 12)),
        ("SSN", 7, lambda r: r.randrange(10**8, 7 * 10**8)),
        ("case_code", 18, lambda r: r.randrange(100, 10**6)),
    ],
)
def test_a_header_tells_the_kind_where_the_cells_do_not(header: str, kind: int, cells: Any) -> None:
    generator = random.Random(header)
    values = [cells(generator) for _ in range(ROWS)]
    assert kind in kinds(scan_one(header, values)), header


@pytest.mark.parametrize(
    "header", ["phone", "email", "name", "ssn", "mrn", "photo", "iban", "dob", "ip", "vin"]
)
def test_a_header_alone_proves_nothing(header: str) -> None:
    assert not scan_one(header, ["low", "medium", "high", "low"] * 30).findings
    assert not scan_one(header, [0.125 * n for n in range(100)]).findings


@pytest.mark.parametrize("name", list(clean_tables(1)))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clean_tables_are_passed_in_silence(name: str, seed: int, tmp_path: Path) -> None:
    table = Table(clean_tables(400, seed)[name])
    scan = find_identifiers(table)
    assert [(c.column, c.reason) for c in scan.columns if c.findings] == []
    assert scan.holds
    assert scan.kinds == frozenset()


@pytest.mark.parametrize("name", ["ADULT", "IHIS"])
def test_evaluation_tables_are_passed_in_silence(name: str) -> None:
    table = examples.shaped(name, rows=3000).table
    columns = [c for c in table.column_names if c not in ("quarter", "month")]
    data = table.data.select(columns)
    scan = find_identifiers(Table(data))
    assert [(c.column, c.reason) for c in scan.columns if c.findings] == []


def test_adult_has_ages_over_89_and_nothing_else(adult: Path) -> None:
    scan = find_identifiers(read(adult / "adult.csv"))
    assert {c.column for c in scan.columns if c.findings} == {"age"}
    (found,) = next(c for c in scan.columns if c.column == "age").findings
    assert found.cells == 35


def test_a_hospital_is_given_the_roles_that_its_makers_gave_it() -> None:
    table = examples.hospital(rows=1500, seed=4).table
    scan = find_identifiers(table)
    for name in (
        "name",
        "insurance_number",
        "age",
        "sex",
        "postcode",
        "occupation",
        "admission_date",
        "diagnosis",
    ):
        assert scan.roles[name] is table.roles[name], name
    assert set(scan.kinds) == {
        IdentifierKind.NAME,
        IdentifierKind.PLACE,
        IdentifierKind.DATE,
        IdentifierKind.HEALTH_PLAN,
    }
    assert table.with_roles(scan.roles).identifiers


HIDDEN = {
    1: "was brought in by Mr. Kowalski",
    2: "lives at 12 Maple Street",
    3: "seen on 03/04/2019, stable",
    4: "call (555) 123-4567 at night",
    6: "write to anna@example.org",
    7: "the number is 078-05-1120",
    8: "see MRN: 4481920 for more",
    9: "insurance no. 44192837 lapsed",
    10: "paid from DE89 3704 0044 0532 0130 00",
    11: "holds license number 448291",
    12: "drives WVWZZZ1JZXW386752 to work",
    13: "pump serial no 4481920",
    14: "see www.example.org/p/7",
    15: "logged in from 192.168.17.4",
    16: "recording at voice_17.wav",
    17: "picture in face_3.jpg",
}


@pytest.mark.parametrize(("kind", "text"), HIDDEN.items())
def test_one_identifier_in_one_cell_of_free_text_is_found(kind: int, text: str) -> None:
    plain = ["stable, no change", "slept well and ate", "refused the meal", "no pain reported today"]
    cells = [plain[n % 4] for n in range(500)]
    assert not scan_one("remarks", cells).findings
    cells[321] = f"Patient {text}"
    column = scan_one("remarks", cells)
    assert kind in kinds(column)
    assert [found.cells for found in column.findings if kind in map(int, found.kinds)] == [1]
    assert column.role is Role.IDENTIFIER


def test_reasons_and_reports_quote_no_cell() -> None:
    """The attacker reads the report: nothing of a cell may be in it."""
    table = pa.table({f"column {k} {w}": columns_of(k, w, ROWS, 9) for k, w in WAYS})
    table = table.append_column(
        "remarks", [[f"a {HIDDEN[n % 16 + 1]}" if n % 16 + 1 in HIDDEN else "b" for n in range(ROWS)]]
    )
    told = json.dumps(find_identifiers(Table(table)).to_dict())
    for column in table.columns:
        for cell in column.to_pylist():
            if len(str(cell)) > 4:
                assert str(cell) not in told


@pytest.mark.parametrize("header", ["age", "colour"])
def test_ages_over_89_are_found_by_header_and_by_their_spread(header: str) -> None:
    generator = random.Random(2)
    young = [generator.randint(1, 89) for _ in range(600)]
    assert not scan_one(header, young).findings
    column = scan_one(header, [*young, 90, 97])
    assert (kinds(column), column.findings[0].cells) == ({3}, 2)


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        (["80-89", "90+"], False),
        (["[80, 90[", ">=90"], False),
        (["70-79", "90-94"], True),
        (["95+", "20-29"], True),
        (["[85, 95["], True),
    ],
)
def test_age_groups_may_not_tell_ages_over_89_apart(groups: list[str], found: bool) -> None:
    assert bool(scan_one("age", groups * 5).findings) is found


def test_years_of_birth_may_not_show_ages_over_89() -> None:
    this_year = datetime.datetime.now(datetime.UTC).year
    assert not scan_one("birth_year", [this_year - 89, this_year - 20] * 10).findings
    assert kinds(scan_one("birth_year", [this_year - 90, this_year - 20] * 10)) == {3}
    assert kinds(scan_one("colour", [this_year - n for n in range(20, 101)] * 2)) == {3}


def test_the_rule_for_postcodes_ages_and_years() -> None:
    """The worked examples of the rule: more than 20,000 people, ages up to 89, and no year that shows 90."""
    assert safe_postcode("53715", {"537": 20_001}) == "537"
    assert safe_postcode("53715", {"537": 20_000}) == "000"
    assert safe_postcode("53715", {}) == "000"
    assert (safe_postcode("03601"), safe_postcode("53715")) == ("000", "537")
    assert (safe_age(89), safe_age(90), safe_age(104)) == ("89", "90+", "90+")
    assert (safe_birth_year(1936, 2025), safe_birth_year(1935, 2025)) == (1936, None)


def test_three_digits_of_a_zip_code_may_stay_where_many_people_live() -> None:
    masked = ["537**", "606**", "000**"] * 10
    assert not scan_one("zip", masked).findings
    assert kinds(scan_one("zip", [*masked, "036**"])) == {2}
    assert kinds(scan_one("zip", ["5371*", "6061*"] * 10)) == {2}
    table = Table(pa.table({"zip": masked}))
    assert find_identifiers(table, postcode_areas={"537": 20_001, "606": 90_000}).holds
    assert not find_identifiers(table, postcode_areas={"537": 20_000, "606": 90_000}).holds
    assert not scan_one("zip", ["537", "606", "000"] * 10).findings


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("x", [7] * 20, Role.INSENSITIVE),
        ("x", [None] * 20, Role.INSENSITIVE),
        ("DTHFL", ["Y"] * 6 + [""] * 600, Role.SENSITIVE),
        ("x", ["Y"] * 6 + [None] * 600, Role.SENSITIVE),
        ("death date", ["2020"] * 6 + [None] * 600, Role.QUASI_IDENTIFIER),
        ("geschlecht", ["m", "w", "d"] * 9, Role.QUASI_IDENTIFIER),
        ("code", ["I10.0", "E11.9", "J45"] * 9, Role.SENSITIVE),
        ("salary", [">50K", "<=50K"] * 9, Role.SENSITIVE),
        ("nationality", ["AT", "DE"] * 9, Role.QUASI_IDENTIFIER),
        ("x", ["red", "blue"] * 9, Role.QUASI_IDENTIFIER),
        ("x", [f"the {w} one was {v} again" for w in "abcde" for v in "fghij"], Role.IDENTIFIER),
        ("x", [[1], [2]], Role.IDENTIFIER),
        ("x", [b"\xff\xd8\xff\xe0", b"\x00"], Role.IDENTIFIER),
    ],
)
def test_every_column_is_given_a_role_and_a_reason(name: str, values: list[Any], role: Role) -> None:
    column = scan_one(name, values)
    assert (column.role, bool(column.reason)) == (role, True)


def test_types_of_all_kinds_can_be_looked_at() -> None:
    table = pa.table(
        {
            "dictionary": pa.array(["a@example.org", "b@example.org"]).dictionary_encode(),
            "large": pa.array(["a@example.org", None], pa.large_string()),
            "time": pa.array([datetime.datetime(2020, 1, 2, 3), None]),
            "truth": [True, False],
            "decimal": pa.array([1, 2], pa.decimal128(5, 2)),
            "null": pa.nulls(2),
        }
    )
    scan = {column.column: kinds(column) for column in find_identifiers(Table(table)).columns}
    assert scan == {
        "dictionary": {6},
        "large": {6},
        "time": {3},
        "truth": set(),
        "decimal": set(),
        "null": set(),
    }
    assert find_identifiers(Table(table.slice(0, 0))).holds


def test_a_check_with_safe_harbor_fails_if_identifiers_are_found() -> None:
    table = Table(pa.table({"age": [30, 30], "contact": ["a@example.org", "b@example.org"]}))
    assert check(table, quasi_identifiers=["age"]).safe_harbor is None
    report = check(table, quasi_identifiers=["age"], safe_harbor=True)
    assert not report.holds
    assert report.to_dict()["safe_harbor"]["columns"]["contact"]["findings"][0]["kinds"] == [6]
    clean = check(Table(table.data.select(["age"])), quasi_identifiers=["age"], safe_harbor=True)
    assert clean.holds


def test_headers_are_read_word_by_word() -> None:
    def says(name: str, word: str) -> bool:
        return ColumnView(name, pa.chunked_array([[1]])).says((word,))

    assert all(says(name, "ip") for name in ("IP", "ip_address", "Client-IP", "clientIp 2"))
    assert not any(says(name, "ip") for name in ("tip", "zip", "recipient"))
    assert says("PatientPhoneNumber", "patient phone")
