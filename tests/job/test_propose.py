"""What a proposal counts: persons where a column numbers them, rows where none does."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
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
