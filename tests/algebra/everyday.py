"""The everyday queries of a clinic, with its tables."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from functools import cache
from typing import Any

import pyarrow as pa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.person_paths import PersonPath
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Role
from tests.conftest import ROOT

FIXTURE = tomllib.loads((ROOT / "tests/fixtures/sql/everyday.toml").read_text(encoding="utf-8"))
QUERIES: list[dict[str, Any]] = FIXTURE["queries"]
PERSONS = {
    "patients": PersonPath("pid", space="patient"),
    "visits": PersonPath("pid", space="patient", rows=5),
}
ROLES = {
    "pid": Role.IDENTIFIER,
    "name": Role.IDENTIFIER,
    **dict.fromkeys(("plz", "age", "sex", "admitted"), Role.QUASI_IDENTIFIER),
    "diagnosis": Role.SENSITIVE,
}


@cache
def tables() -> dict[str, pa.Table]:
    """The tables, with dates as dates."""
    read = {name: dict(columns) for name, columns in FIXTURE["tables"].items()}
    read["patients"]["admitted"] = [date.fromisoformat(day) for day in read["patients"]["admitted"]]
    return {name: pa.table(columns) for name, columns in read.items()}


def hierarchies() -> dict[str, Hierarchy]:
    """Hierarchies of people who know the columns; numbers of visits and wards have lists of all values."""
    patients = FIXTURE["tables"]["patients"]
    ages = [
        [str(n), f"{n // 10 * 10}-{n // 10 * 10 + 9}", f"{n // 20 * 20}-{n // 20 * 20 + 19}", "*"]
        for n in range(100)
    ]
    days = sorted(set(patients["admitted"]))
    return {
        "plz": Hierarchy.from_rows([[plz, plz[:4] + "*", "*"] for plz in sorted(set(patients["plz"]))]),
        "age": Hierarchy.from_rows(ages),
        "sex": Hierarchy.from_rows([["f", "*"], ["m", "*"]]),
        "admitted": Hierarchy.from_rows([[day, day[:7], day[:4], "*"] for day in days]),
        "ward": Hierarchy.from_rows([["A", "*"], ["B", "*"]]),
        "n": Hierarchy.from_rows([[str(n), "*"] for n in range(6)]),
    }  # fmt: skip


def catalog(backend: Backend) -> Catalog:
    """What is declared of the clinic."""
    return Catalog(backend.relations, hierarchies(), roles=ROLES, persons=PERSONS, public=frozenset({"icd"}))


def written(query: str) -> str:
    """A query of the fixture with its abbreviations spelled out."""
    query = re.sub(r"\bH\b", "G(plz, age, sex)", query)
    return re.sub(r"\bG\(([^)]*)\)", r"generalize(patients, k => 3, by => [\1])", query)
