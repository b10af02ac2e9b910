"""Plain readers of tables and hierarchies, and the reference data set Adult as tuples.

Nothing here uses the code under test in `hierarchy` or the table readers.
"""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pyarrow as pa

from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column
from tests.random_tables import build_levels

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
"""The columns of Adult in the order of the reference levels."""

WITHOUT_OCCUPATION = tuple(name for name in COLUMNS if name != "occupation")
"""The quasi-identifiers where occupation is sensitive."""


def read_rows(path: Path) -> list[dict[str, str]]:
    """A `;`-separated table with a header, every value as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


def read_maps(path: Path) -> list[dict[str, str]]:
    """A hierarchy in the form of ARX (one line a value, level 0 first) as one map a level."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter=";"))
    return [{line[0]: line[level] for line in lines} for level in range(1, len(lines[0]))]


def read_tuples(table: Path, hierarchies: Mapping[str, Path]) -> Tuples:
    """A table as distinct tuples, with hierarchies for some of its columns."""
    rows = read_rows(table)
    columns = []
    for name in rows[0]:
        column = encode_column(name, pa.chunked_array([[row[name] for row in rows]]))
        if name in hierarchies:
            column = column.with_levels(build_levels(column, read_maps(hierarchies[name])))
        columns.append(column)
    return Tuples.of_rows(columns).distinct()


@cache
def adult_tuples(folder: Path) -> Tuples:
    """Adult as distinct tuples of all nine columns, each with its hierarchy."""
    return read_tuples(
        folder / "adult.csv", {name: folder / f"adult_hierarchy_{name}.csv" for name in COLUMNS}
    )


def in_order(tuples: Tuples, names: tuple[str, ...]) -> tuple[Tuples, tuple[str, ...]]:
    """The same tuples with numbered columns, which makes the last tie-break that of the published figures.

    Equally general nodes are told apart by the levels of the columns in alphabetical order; the figures were
    made with the columns in the given order.
    """
    renamed = {name: f"{number}-{name}" for number, name in enumerate(names)}
    columns = {
        renamed.get(name, name): dataclasses.replace(column, name=renamed.get(name, name))
        for name, column in tuples.columns.items()
    }
    return Tuples(columns, tuples.counts, tuples.population), tuple(renamed.values())
