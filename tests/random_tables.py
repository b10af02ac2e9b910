"""Small random tables with hierarchies, for comparing fast code with slow and obviously correct code."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tarnkappe.table import Column, Levels, Tuples
from tarnkappe.table.encoding import encode_column

Row = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Example:
    """A table as plain rows and as tuples; `maps` tell the label of each value of each quasi-identifier."""

    rows: list[Row]
    population: list[Row] | None
    maps: dict[str, list[dict[Any, str]]]
    tuples: Tuples

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return tuple(self.maps)

    @property
    def heights(self) -> tuple[int, ...]:
        return tuple(len(levels) for levels in self.maps.values())

    def nodes(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(height + 1) for height in self.heights))

    def generalized(self, levels: tuple[int, ...], rows: list[Row] | None = None) -> list[Row]:
        """The rows with the quasi-identifiers generalized, the slow way."""
        chosen = dict(zip(self.maps, levels, strict=True))
        return [
            {
                name: self.maps[name][chosen[name] - 1][value] if chosen.get(name) else value
                for name, value in row.items()
            }
            for row in (self.rows if rows is None else rows)
        ]

    def members(self, levels: tuple[int, ...]) -> dict[tuple[str, ...], list[Row]]:
        """The released rows of each class, the slow way."""
        return group(self.generalized(levels), self.quasi_identifiers)

    def population_members(self, levels: tuple[int, ...]) -> dict[tuple[str, ...], list[Row]]:
        rows = self.rows if self.population is None else self.population
        return group(self.generalized(levels, rows), self.quasi_identifiers)

    def release(self, levels: tuple[int, ...], rows: list[Row] | None = None) -> pa.Table:
        """The generalized rows as Arrow data, quasi-identifiers as text."""
        generalized = self.generalized(levels, rows)
        names = list(generalized[0]) if generalized else list(self.rows[0])
        return pa.table(
            {
                name: [None if r[name] is None else str(r[name]) for r in generalized]
                if name in self.maps
                else [r[name] for r in generalized]
                for name in names
            }
        )


def group(rows: list[Row], names: tuple[str, ...]) -> dict[tuple[str, ...], list[Row]]:
    classes: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        classes.setdefault(tuple(str(row[name]) for name in names), []).append(row)
    return classes


def build_levels(column: Column, maps: list[dict[Any, str]]) -> Levels:
    """Encode label maps by hand, without the code under test in `hierarchy`."""
    values = column.values.to_pylist()
    codes, labels, leaves = (
        [np.arange(len(values), dtype=np.int32)],
        [column.labels],
        [np.ones(len(values), np.int64)],
    )
    for level in maps:
        names = sorted({level[v] for v in values})
        codes.append(np.array([names.index(level[v]) for v in values], dtype=np.int32))
        labels.append(tuple(names))
        leaves.append(np.array([sum(level[v] == name for v in level) for name in names], dtype=np.int64))
    return Levels(tuple(codes), tuple(labels), tuple(leaves))


def build_tuples(
    rows: list[Row], maps: dict[str, list[dict[Any, str]]], population: list[Row] | None = None
) -> Tuples:
    """Encode rows; with a population, its rows that the table lacks have a count of 0."""
    everyone = rows if population is None else population
    columns = []
    for name in everyone[0]:
        column = encode_column(name, pa.chunked_array([[row[name] for row in everyone]]))
        columns.append(column.with_levels(build_levels(column, maps[name])) if name in maps else column)
    whole = Tuples.of_rows(columns)
    if population is None:
        return whole.distinct()
    remaining = list(rows)
    counts = np.zeros(len(population), dtype=np.int64)
    for index, row in enumerate(population):
        if row in remaining:
            remaining.remove(row)
            counts[index] = 1
    assert not remaining, "the population must contain the table"
    return Tuples(whole.columns, counts, np.ones(len(population), dtype=np.int64)).distinct()


DISEASES = ["flu", "cold", "ulcer", "gastritis"]
DISEASE_LEVELS = [
    {"flu": "lung", "cold": "lung", "ulcer": "stomach", "gastritis": "stomach", None: "unknown"},
    dict.fromkeys([*DISEASES, None], "*"),
]


@st.composite
def hierarchies(draw: st.DrawFn, values: list[Any]) -> list[dict[Any, str]]:
    """A random monotone hierarchy over some values, with one root."""
    height = draw(st.integers(1, 2))
    maps: list[dict[Any, str]] = []
    current = {value: f"0:{value}" for value in values}
    for level in range(1, height):
        labels = sorted(set(current.values()))
        merged = {label: f"{level}:{draw(st.integers(0, max(1, len(labels) // 2)))}" for label in labels}
        current = {value: merged[label] for value, label in current.items()}
        maps.append(current)
    maps.append(dict.fromkeys(values, "*"))
    return maps


@st.composite
def examples(
    draw: st.DrawFn,
    *,
    min_rows: int = 1,
    max_rows: int = 14,
    max_columns: int = 3,
    with_population: bool = False,
    with_missing: bool = True,
) -> Example:
    """A random table: quasi-identifiers a, b, c; sensitive disease, treatment and income."""
    names = ["a", "b", "c"][: draw(st.integers(1, max_columns))]
    domains = {name: list(range(draw(st.integers(1, 4)))) for name in names}
    maps = {name: draw(hierarchies(domains[name])) for name in names}
    diseases: list[Any] = [*DISEASES, None] if with_missing else list(DISEASES)
    row = st.fixed_dictionaries(
        {
            **{name: st.sampled_from(domains[name]) for name in names},
            "disease": st.sampled_from(diseases[: draw(st.integers(2, len(diseases)))]),
            "treatment": st.sampled_from(["A", "B"]),
            "income": st.integers(0, 5).map(lambda n: n * 100),
        }
    )
    rows = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    population = None
    if with_population:
        others = draw(st.lists(row, max_size=max_rows))
        population = draw(st.permutations([*rows, *others]))
    tuples = build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}, population)
    return Example(rows, population, maps, tuples)
