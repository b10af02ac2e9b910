"""Quasi-identifiers and linking with a register, on the worked example and against slow twins."""

from __future__ import annotations

import itertools
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.risk import RegisterLink, find_quasi_identifiers, link
from tarnkappe.table import Table, read
from tests.conftest import FIXTURES

CONCEPTS = FIXTURES / "concepts"
KNOWN = ["Geburtstag", "Geschlecht", "PLZ"]


def test_the_residents_register_reveals_who_has_diabetes() -> None:
    ward, register = read(CONCEPTS / "f-h2.csv"), read(CONCEPTS / "register.csv")
    links = link(ward, register, KNOWN)
    names, diseases = register.data.column("Name").to_pylist(), ward.data.column("Krankheit").to_pylist()
    learned = {names[found.person]: diseases[found.row] for found in links}
    assert len(learned) == 7  # everybody is re-identified, not only the one of the example
    assert learned["Traube Kai"] == "Diabetes"


def test_with_the_misprinted_postcode_nobody_matches() -> None:
    ward = read(CONCEPTS / "f-h2.csv")
    misprint = Table(pa.table({"Geburtstag": ["31.12.81"], "Geschlecht": ["M"], "PLZ": ["76133"]}))
    assert link(ward, misprint, KNOWN) == []


def test_birthday_and_postcode_single_people_out_in_the_worked_example() -> None:
    ward = read(CONCEPTS / "f-h2.csv")
    assert find_quasi_identifiers(ward, KNOWN) == [("Geburtstag",), ("PLZ",)]
    assert find_quasi_identifiers(ward, KNOWN, k=3) == [("Geburtstag",), ("Geschlecht",), ("PLZ",)]


def test_the_share_of_unique_people_is_the_published_one() -> None:
    assert round(216 / 248, 3) == 0.871


rows = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12)


def table_of(data: list[tuple[int, ...]]) -> Table:
    return Table(
        pa.table({name: list(column) for name, column in zip("abc", zip(*data, strict=True), strict=True)})
    )


@given(rows, st.integers(2, 4))
def test_quasi_identifiers_are_the_minimal_sets_with_a_rare_combination(
    data: list[tuple[int, ...]], k: int
) -> None:
    rare = [
        set(columns)
        for size in (1, 2, 3)
        for columns in itertools.combinations(range(3), size)
        if min(Counter(tuple(row[c] for c in columns) for row in data).values()) < k
    ]
    minimal = [s for s in rare if not any(other < s for other in rare)]
    found = find_quasi_identifiers(table_of(data), k=k)
    assert [{"abc".index(name) for name in columns} for columns in found] == minimal


@given(rows, rows)
def test_a_row_is_linked_if_exactly_one_person_agrees(
    data: list[tuple[int, ...]], people: list[tuple[int, ...]]
) -> None:
    expected = [RegisterLink(i, people.index(row)) for i, row in enumerate(data) if people.count(row) == 1]
    assert link(table_of(data), table_of(people), "abc") == expected


def test_what_is_refused() -> None:
    table = table_of([(0, 0, 0)])
    with pytest.raises(ParameterError, match="at least 2"):
        find_quasi_identifiers(table, k=1)
    with pytest.raises(ColumnError, match="name the columns"):
        link(table, table, [])
    with pytest.raises(ColumnError, match="no column 'x'"):
        link(table, table, ["x"])
