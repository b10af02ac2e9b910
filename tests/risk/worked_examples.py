"""The worked examples of the literature, as data files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.table import Table
from tests.conftest import FIXTURES

CONCEPTS = FIXTURES / "concepts"
RELEASE_CHECK = FIXTURES / "release-check"

CONCEPT_COLUMNS = ("Geburtstag", "Geschlecht", "PLZ")
RELEASE_COLUMNS = ("PLZ", "Alter", "Nationalitaet")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def table(path: Path) -> Table:
    found = rows(path)
    return Table(pa.table({name: [row[name] for row in found] for name in found[0]}))


def expected(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def hierarchy(name: str) -> Hierarchy:
    return read_hierarchy(CONCEPTS / f"{name}.csv")
