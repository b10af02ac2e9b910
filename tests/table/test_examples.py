"""The example data are seeded and fast, and the hospital's patients are what they promise to be."""

from __future__ import annotations

import datetime
import json
import time
from collections import Counter
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.table import Role
from tarnkappe.table.examples import (
    SHAPE_NAMES,
    ExampleData,
    hospital,
    hospital_batches,
    shaped,
    shaped_batches,
)
from tests.table.example_checks import check_hierarchy, fingerprint, rows_of, texts


@pytest.mark.parametrize("make", [hospital, *(lambda r, s, n=name: shaped(n, r, s) for name in SHAPE_NAMES)])
def test_the_seed_decides_the_data(make) -> None:
    assert fingerprint(make(300, 5)) == fingerprint(make(300, 5))
    assert fingerprint(make(300, 5)) != fingerprint(make(300, 6))


def test_the_data_are_the_same_on_every_platform() -> None:
    found = {
        "hospital": fingerprint(hospital(500, 1)),
        **{n: fingerprint(shaped(n, 500, 1)) for n in SHAPE_NAMES},
    }
    assert found == {
        "hospital": "d1a5fb1bdbea6c92",
        "ADULT": "870c6e8e7ade551f",
        "CUP": "058dd414281c4e40",
        "FARS": "2b185b065a648e9a",
        "ATUS": "7e8f3cd8f30cb695",
        "IHIS": "f195989e5c1dbf0f",
    }


def test_hierarchies_belong_to_the_caller() -> None:
    for make in (lambda: hospital(5), lambda: shaped("ADULT", 5)):
        make().hierarchies["age"][0][1] = "changed"
        assert make().hierarchies["age"][0][1] != "changed"


def test_descriptions_can_be_written_as_json() -> None:
    for example in (hospital(5), *(shaped(name, 5) for name in SHAPE_NAMES)):
        assert json.loads(json.dumps(example.description)) == example.description
        assert example.description["rows"] == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shaped("adult"), "unknown example shape 'adult': did you mean ADULT"),
        (lambda: shaped("census"), "known are ADULT, CUP"),
        (lambda: shaped("ADULT", rows=-1), "at least one row: rows is -1"),
        (lambda: shaped("ADULT", seed=-1), "seed is -1"),
        (lambda: hospital(seed=-1), "seed is -1"),
        (lambda: shaped_batches("ADULT", 10, batch_rows=0), "batch_rows is 0"),
        (lambda: hospital_batches(10, batch_rows=0), "batch_rows is 0"),
    ],
)
def test_impossible_wishes_are_refused(call, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


def test_large_tables_are_made_fast() -> None:
    """Measured: half a second for a million rows of IHIS's shape, one and a half for patients."""
    started = time.process_time()
    rows = sum(batch.num_rows for batch in shaped_batches("IHIS", 1_000_000))
    rows += sum(batch.num_rows for batch in hospital_batches(500_000))
    assert rows == 1_500_000
    assert time.process_time() - started < 20


@cache
def patients() -> ExampleData:
    return hospital(rows=30_000)


def check_digit(number: str) -> int:
    digits = f"{ord(number[0]) - ord('A') + 1:02}{number[1:-1]}"
    return sum(sum(map(int, str(int(digit) * (1 + i % 2)))) for i, digit in enumerate(digits)) % 10


def completed_years(birth: datetime.date, day: datetime.date) -> int:
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def check_patients(example: ExampleData) -> None:
    rows = rows_of(example)
    numbers = [str(row["insurance_number"]) for row in rows]
    assert len(set(numbers)) == len(numbers)
    for number in numbers:
        assert len(number) == 11
        assert number[0].isalpha()
        assert int(number[-1]) == check_digit(number)
    for row in rows:
        assert row["age"] == completed_years(row["birth_date"], row["admission_date"])
        assert datetime.date(2021, 1, 1) <= row["admission_date"] <= datetime.date(2023, 12, 31)
        assert 1 <= row["length_of_stay"] <= 180
        chapter = row["diagnosis"][0]
        if row["sex"] == "male":
            assert chapter != "O"
            assert row["diagnosis"] not in ("C54", "C56", "D25", "N81", "N83", "N92")
        else:
            assert row["diagnosis"] not in ("C61", "C62", "N40", "N47")
        if chapter == "P":
            assert row["age"] == 0
        if row["age"] < 16:
            assert row["occupation"] in ("child", "pupil", None)
        assert len(str(row["name"]).split()) == 2
    for column, hierarchy in hierarchies_of_patients().items():
        assert texts(example, column) <= hierarchy


@cache
def hierarchies_of_patients() -> dict[str, set[str]]:
    return {column: {row[0] for row in rows} for column, rows in patients().hierarchies.items()}


def test_roles_of_the_hospital() -> None:
    table = patients().table
    assert table.identifiers == ("name", "insurance_number")
    assert table.quasi_identifiers == (
        "birth_date",
        "age",
        "sex",
        "postcode",
        "occupation",
        "admission_date",
    )
    assert table.sensitive == ("diagnosis",)
    assert table.columns_with(Role.INSENSITIVE) == ("length_of_stay",)


def test_patients_keep_their_promises() -> None:
    check_patients(patients())


def test_hierarchies_of_the_hospital_are_total_and_monotone_with_one_root() -> None:
    example = patients()
    assert set(example.hierarchies) == {*example.table.quasi_identifiers, *example.table.sensitive}
    for column, rows in example.hierarchies.items():
        check_hierarchy(rows)
        assert texts(example, column) <= {row[0] for row in rows}
    levels = {column: len(rows[0]) for column, rows in example.hierarchies.items()}
    assert levels == {
        "birth_date": 5,
        "age": 5,
        "sex": 2,
        "postcode": 6,
        "occupation": 4,
        "admission_date": 5,
        "diagnosis": 4,
    }


@pytest.mark.parametrize(
    ("column", "row"),
    [
        ("birth_date", ["1964-02-29", "1964-02", "1964", "1960-1969", "*"]),
        ("admission_date", ["2022-08-15", "2022-08", "2022 Q3", "2022", "*"]),
        ("age", ["37", "age 35-39", "age 30-39", "age 20-39", "*"]),
        ("postcode", ["62104", "6210*", "621**", "62***", "6****", "*"]),
        ("postcode", ["", "unknown", "unknown", "unknown", "unknown", "*"]),
        ("occupation", ["nurse", "health", "care and teaching", "*"]),
        ("occupation", ["retired", "pensioner", "not in work", "*"]),
        ("occupation", ["", "unknown", "unknown", "*"]),
        ("diagnosis", ["J10", "J09-J18 influenza and pneumonia", "J00-J99 respiration", "*"]),
    ],
)
def test_hierarchies_of_the_hospital_read_like_this(column: str, row: list[str]) -> None:
    assert row in patients().hierarchies[column]


def test_some_occupations_and_postcodes_are_missing() -> None:
    data = patients().table.data
    missing = {name: data.column(name).null_count / data.num_rows for name in data.column_names}
    assert 0.01 < missing.pop("occupation") < 0.03
    assert 0.005 < missing.pop("postcode") < 0.02
    assert not any(missing.values())


def test_diagnoses_depend_on_age() -> None:
    by_age: dict[str, Counter[str]] = {"young": Counter(), "old": Counter()}
    for row in rows_of(patients()):
        if row["age"] < 30 or row["age"] >= 70:
            by_age["young" if row["age"] < 30 else "old"][str(row["diagnosis"])] += 1
    young, old = by_age["young"], by_age["old"]
    assert old["F03"] > 50
    assert young["F03"] == 0
    circulation = {
        age: sum(n for code, n in c.items() if code[0] == "I") / c.total() for age, c in by_age.items()
    }
    assert circulation["old"] > 10 * circulation["young"]
    leg = ("S82", "S83")
    assert sum(young[code] for code in leg) / young.total() > 3 * sum(old[code] for code in leg) / old.total()
    distance = sum(abs(young[code] / young.total() - old[code] / old.total()) for code in young | old) / 2
    assert distance > 0.5


def test_influenza_comes_in_winter() -> None:
    months = Counter(row["admission_date"].month for row in rows_of(patients()) if row["diagnosis"] == "J10")
    assert months.total() > 100
    assert months[1] + months[2] + months[3] > 0.6 * months.total()


def test_stays_depend_on_the_diagnosis_and_age() -> None:
    rows = rows_of(patients())

    def median(chosen: list[dict[str, object]]) -> float:
        return float(np.median([row["length_of_stay"] for row in chosen]))

    assert median([r for r in rows if r["diagnosis"] == "S72"]) > 3 * median(
        [r for r in rows if r["diagnosis"] == "S06"]
    )
    assert median([r for r in rows if r["age"] > 70]) > median([r for r in rows if r["age"] < 30])


def test_occupations_depend_on_age_sex_and_place() -> None:
    rows = rows_of(patients())
    old = [row for row in rows if row["age"] >= 75]
    assert sum(row["occupation"] == "retired" for row in old) > 0.9 * len(old)
    nurses = Counter(row["sex"] for row in rows if row["occupation"] == "nurse")
    assert nurses["female"] > 2 * nurses["male"]
    farmers = Counter(str(row["postcode"])[:2] for row in rows if row["occupation"] == "farmer")
    everybody = Counter(str(row["postcode"])[:2] for row in rows)
    assert farmers["00"] / everybody["00"] > farmers["62"] / everybody["62"]


def test_names_depend_on_sex_and_birth_year() -> None:
    rows = rows_of(patients())
    first = {
        sex: {str(row["name"]).split()[0] for row in rows if row["sex"] == sex} for sex in ("female", "male")
    }
    assert not first["female"] & first["male"]
    early = Counter(str(row["name"]).split()[0] for row in rows if row["birth_date"].year < 1940)
    late = Counter(str(row["name"]).split()[0] for row in rows if row["birth_date"].year >= 2000)
    assert early["Gertrud"] > 20
    assert late["Gertrud"] == 0


def test_patients_live_in_towns_of_unequal_size() -> None:
    counts = Counter(row["postcode"] for row in rows_of(patients()))
    assert len(counts) > 150
    ordered = sorted(counts.values(), reverse=True)
    assert sum(ordered[:20]) > 0.4 * sum(ordered)


@settings(max_examples=50)  # a hospital brings the hierarchy of 40,000 birth dates
@given(rows=st.integers(0, 200), seed=st.integers(0, 2**40))
def test_small_hospitals_keep_their_promises(rows: int, seed: int) -> None:
    if rows < 1:
        with pytest.raises(ParameterError, match="at least one row"):
            hospital(rows, seed)
        return
    example = hospital(rows, seed)
    assert example.table.num_rows == rows
    check_patients(example)


@settings(max_examples=30)
@given(rows=st.integers(1, 200), batch_rows=st.integers(1, 250))
def test_batches_of_patients_are_the_table_in_pieces(rows: int, batch_rows: int) -> None:
    batches = list(hospital_batches(rows, 1, batch_rows))
    assert all(batch.num_rows <= batch_rows for batch in batches)
    assert pa.Table.from_batches(batches).equals(hospital(rows, 1).table.data.combine_chunks())
