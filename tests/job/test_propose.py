"""What a proposal counts: persons where a column numbers them, rows where none does."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import NoSolutionError
from tarnkappe.table import Role

LETTERS = ("evi", "max", "tom")


def least_people(result: Any, table: pa.Table, person: str) -> int:
    """How many different persons the rows that look alike are of, in the group with the fewest."""
    groups = defaultdict(set)
    release = result.release.data
    known = [name for name in result.input.quasi_identifiers if name in release.column_names]
    owners = table.column(person).to_pylist()
    for source, row in zip(result.source_rows, release.select(known).to_pylist(), strict=True):
        groups[tuple(row.values())].add(owners[source])
    return min(map(len, groups.values()))


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("employee", [1000 + n % 12 for n in range(144)]),
        ("Mitarbeiter", [1 + n % 20 for n in range(200)]),
        ("badge", [20_011 + 37 * (n * n % 41) for n in range(300)]),
        ("Kundennummer", [20_011 + 37 * (n * n % 41) for n in range(300)]),
        ("user", [f"{LETTERS[n % 3]}{n * n % 41}" for n in range(150)]),
    ],
)
def test_where_a_column_numbers_people_k_counts_them(header: str, cells: list[Any]) -> None:
    numbers = random.Random(5)
    ages: dict[Any, int] = {}
    rows = [ages.setdefault(cell, numbers.randrange(20, 65)) for cell in cells]
    months = [1 + n // 12 % 12 for n in range(len(cells))]
    table = pa.table({header: cells, "age": rows, "month": months})
    proposal = tarnkappe.propose(table)
    assert next(each for each in proposal.columns if each.name == header).role is Role.IDENTIFIER
    assert any(f"'{header}'" in note and "not rows" in note for note in proposal.notes)
    result = proposal.anonymize(seconds=5, seed=1)
    assert header not in result.release.column_names
    assert least_people(result, table, header) >= 5


NAMES = ["Balduin Quast", "Kunigunde Rabe", "Egon Woll", "Ottokar Zwickel"]


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("category", ["abc"[n % 3] if n != 78 else "b (ask ottokar.zwick@corp.example)" for n in range(200)]),
        (
            "diagnosis",
            [["Flu", "Gout", "Cold"][n % 3] if n != 7 else "call 0171 2345678" for n in range(200)],
        ),
        ("doctor", ["Dr. Balduin Quast"] * 200),
        ("mailto", ["b.quast@x.example"] * 200),
        ("NAME", random.Random(7).choices(NAMES, k=200)),
        ("account", ["DE02120300000000202051"] * 200),
        ("e-mail", [f"person{n // 2}@x.example" if n < 40 else None for n in range(200)]),
    ],
)
@pytest.mark.parametrize("k", [3, 5, 11])
def test_what_tells_nobody_apart_is_left_out_and_rows_are_counted(
    header: str, cells: list[Any], k: int
) -> None:
    table = pa.table({"age": [20 + n * n % 37 for n in range(200)], header: cells})
    proposal = tarnkappe.propose(table, k=k)
    assert [model.name for model in proposal.privacy] == ["k-anonymity"]
    assert any("no column tells persons apart" in note for note in proposal.notes)
    result = proposal.anonymize(seconds=5, seed=1)
    assert result.release.column_names == ("age",)
    assert len(set(result.release.data.column("age").to_pylist())) > 3


def test_who_is_numbered_wins_over_orders_and_over_whoever_serves() -> None:
    """There are more orders than customers, and k orders may all be of one of them."""
    table = pa.table(
        {
            "order_id": [f"A{10_000 + 7 * (n // 2)}" for n in range(400)],
            "customer": [1 + n // 2 % 40 for n in range(400)],
            "doctor": [f"Dr. {'ABCDEFGHIJKLMNOPQRST'[n % 20]}. Quast{'ao'[n % 2]}" for n in range(400)],
            "age": [20 + n // 2 % 40 for n in range(400)],
        }
    )
    proposal = tarnkappe.propose(table)
    assert any("'customer'" in note and "not rows" in note for note in proposal.notes)
    assert least_people(proposal.anonymize(seconds=5, seed=1), table, "customer") >= 5


def test_too_few_numbered_people_are_refused() -> None:
    table = pa.table({"patient": [1 + n % 8 for n in range(96)], "age": [20 + n % 8 for n in range(96)]})
    with pytest.raises(NoSolutionError, match="the largest possible k is 8"):
        tarnkappe.propose(table, k=9)


@pytest.mark.parametrize("header", ["patient no", "user_id", "Teilnehmer-Nr"])
def test_rows_of_a_few_patients_are_not_taken_for_patients(header: str) -> None:
    table = pa.table({header: [1 + n % 3 for n in range(60)], "age": [20 + n // 3 for n in range(60)]})
    with pytest.raises(NoSolutionError, match="the largest possible k is 3"):
        tarnkappe.propose(table)


def test_rows_that_have_a_name_of_their_own_are_people() -> None:
    names = [f"{first}{end} Quast" for first in ("Bald", "Kun", "Eg", "Ott") for end in "aeiouy"]
    table = pa.table({"name": names, "doctor": ["Dr. Egon Woll"] * 24, "age": list(range(20, 44))})
    assert not any("persons" in note or "rows" in note for note in tarnkappe.propose(table).notes)


def test_the_number_of_a_manager_is_not_that_of_a_person_with_one_of_her_own() -> None:
    cells = {
        "EmpID": [f"E{10_000 + 7 * n}" for n in range(240)],
        "ManagerID": [f"M{100 + n % 20}" for n in range(240)],
        "age": [20 + n % 40 for n in range(240)],
    }
    proposal = tarnkappe.propose(pa.table(cells))
    assert proposal.table.identifiers == ("EmpID", "ManagerID")
    assert [model.name for model in proposal.privacy] == ["k-anonymity"]
    assert not any("rows" in note for note in proposal.notes)
    visits = tarnkappe.propose(
        pa.table({**cells, "EmpID": [cell for cell in cells["EmpID"][:60] for _ in "abcd"]})
    )
    assert any("'EmpID'" in note for note in visits.notes)


def test_rows_without_most_numbers_are_counted_and_it_is_told() -> None:
    numbers = [str(1 + n % 30) if n % 4 == 0 else None for n in range(240)]
    table = pa.table(
        {
            "order_id": [f"A{10_000 + 7 * n}" for n in range(240)],
            "customer": numbers,
            "age": [20 + n % 40 for n in range(240)],
        }
    )
    assert any("no column tells persons apart" in note for note in tarnkappe.propose(table).notes)


@pytest.mark.parametrize("blanks", [3, 90])
@pytest.mark.parametrize("blank", [None, "", "  "])
def test_rows_without_a_number_are_nobody_known(blanks: int, blank: str | None) -> None:
    """They may all be of one person, so that they never help a group to have k of them."""
    cells = [str(1 + n % 30) if n >= blanks else blank for n in range(240)]
    table = pa.table({"customer": cells, "age": [20 + n // 6 for n in range(240)]})
    proposal = tarnkappe.propose(table)
    assert any("'customer'" in note and "not rows" in note for note in proposal.notes)
    assert any("cells of 'customer' are blank" in note for note in proposal.notes)
    assert proposal.k == 5
    result = proposal.anonymize(seconds=5, seed=1)
    groups = defaultdict(set)
    for source, age in zip(result.source_rows, result.release.data.column("age").to_pylist(), strict=True):
        groups[age].add(cells[source])
    assert min(len(people - {blank}) for people in groups.values()) >= 5
    assert len(groups) > 3
