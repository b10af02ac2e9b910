"""Random tables as a user would hand them over."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Table
from tests.random_tables import DISEASE_LEVELS, Example, build_tuples


def table_of(example: Example) -> Table:
    """The table; only the quasi-identifiers and two sensitive columns have a role."""
    data = pa.Table.from_pylist(example.rows)
    return Table(data).with_roles(
        quasi_identifiers=example.quasi_identifiers, sensitive=["disease", "treatment", "income"]
    )


def population_of(example: Example) -> Table | None:
    if example.population is None:
        return None
    rows = [{name: row[name] for name in example.quasi_identifiers} for row in example.population]
    return Table(pa.Table.from_pylist(rows))


def hierarchies_of(example: Example) -> dict[str, Hierarchy]:
    maps: dict[str, list[dict[Any, str]]] = {**example.maps, "disease": DISEASE_LEVELS}
    return {
        name: Hierarchy.from_rows(
            [[None if v is None else str(v), *(level[v] for level in levels)] for v in levels[0]]
        )
        for name, levels in maps.items()
    }


def with_clashing_labels(example: Example) -> Example:
    """The same table with labels of level 1 that look like values: what is written on two levels may be alike."""
    maps = {
        name: [{v: label.removeprefix("1:") for v, label in level.items()} for level in levels]
        for name, levels in example.maps.items()
    }
    tuples = build_tuples(example.rows, {**maps, "disease": DISEASE_LEVELS}, example.population)
    return Example(example.rows, example.population, maps, tuples)
