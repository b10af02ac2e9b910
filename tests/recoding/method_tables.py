"""Random tables for publishing methods: numbers, dates and labels, missing values, hierarchies of any shape."""

from __future__ import annotations

import dataclasses
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import Preparation, prepare
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.table import Table
from tests.random_tables import DISEASE_LEVELS, DISEASES

Row = dict[str, Any]
Levels = list[dict[Any, str]]
KINDS: dict[str, pa.DataType] = {
    "age": pa.int64(),
    "town": pa.string(),
    "weight": pa.float64(),
    "work": pa.string(),
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A table with a hierarchy for every quasi-identifier."""

    rows: list[Row]
    levels: dict[str, Levels]
    population: list[Row] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.levels)

    def table(self, *, backwards: bool = False) -> Table:
        names = [*self.names, "disease", "treatment", "income"]
        fields = {name: KINDS.get(name) for name in (reversed(names) if backwards else names)}
        data = {name: pa.array([row[name] for row in self.rows], kind) for name, kind in fields.items()}
        return Table(pa.table(data)).with_roles(
            quasi_identifiers=self.names, sensitive=["disease", "treatment", "income"]
        )

    def everyone(self) -> Table | None:
        if self.population is None:
            return None
        return Table(
            pa.table({n: pa.array([row[n] for row in self.population], KINDS[n]) for n in self.names})
        )

    def hierarchies(self) -> dict[str, Hierarchy]:
        levels = {**self.levels, "disease": DISEASE_LEVELS}
        return {
            name: Hierarchy.from_rows(
                [[None if v is None else as_text(v), *(level[v] for level in own)] for v in own[0]]
            )
            for name, own in levels.items()
        }

    def prepared(self, models: list[Model], *, limit: float = 0.0, loss: str = "loss") -> Preparation:
        return prepare(
            self.table(),
            plan_columns(self.table(), self.hierarchies(), {}),
            models,
            LOSSES.create(loss, {}),
            suppression_limit=limit,
            population=self.everyone(),
        )


def as_text(value: Any) -> str:
    """A value as the project shows it: 1.0 is 1."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def k_anonymity(k: int) -> Model:
    return MODELS.create("k-anonymity", {"k": k})


@st.composite
def levels_of(draw: st.DrawFn, values: list[Any]) -> Levels:
    """A random hierarchy: on each level some labels of the one below become one; the root is '*'."""
    maps: Levels = []
    current = {value: f"={as_text(value)}" for value in values}
    for level in range(1, draw(st.integers(1, 3))):
        labels = sorted(set(current.values()))
        merged = {label: f"{level}:{draw(st.integers(0, max(1, len(labels) // 2)))}" for label in labels}
        current = {value: merged[label] for value, label in current.items()}
        maps.append(current)
    return [*maps, dict.fromkeys(values, "*")]


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    min_rows: int = 1,
    max_rows: int = 24,
    max_columns: int = 4,
    missing: bool = True,
    with_population: bool = False,
) -> Case:
    """Up to four quasi-identifiers; values that do not occur are in the hierarchies too."""
    names = list(KINDS)[: draw(st.integers(1, max_columns))]
    domains: dict[str, list[Any]] = {
        "age": list(range(draw(st.integers(1, 12)))),
        "town": ["Aachen", "Bern, West", "Calw", "Dachau", "Ems"][: draw(st.integers(1, 5))],
        "weight": [0.5, 1.0, 7.25, -3.0],
        "work": ["cook", "clerk", "nurse"][: draw(st.integers(1, 3))],
    }
    for name in names:
        if missing and draw(st.booleans()):
            domains[name] = [*domains[name], None]
    levels = {name: draw(levels_of(domains[name])) for name in names}
    row = st.fixed_dictionaries(
        {
            **{name: st.sampled_from(domains[name]) for name in names},
            "disease": st.sampled_from(DISEASES),
            "treatment": st.sampled_from(["A", "B"]),
            "income": st.integers(0, 5).map(lambda n: n * 100),
        }
    )
    rows = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    if not with_population:
        return Case(rows, levels)
    others = draw(st.lists(row, max_size=max_rows))
    return Case(rows, levels, draw(st.permutations([*rows, *others])))
