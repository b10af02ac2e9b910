"""The problems of the literature: Adult with its eleven criteria, and tables of the shape of its other data.

Equally general nodes are told apart by the names of their columns at last; here these are numbered in
the order of the literature, so that searches visit nodes in its order and need as many tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import pyarrow as pa

from benchmarks.alone import alone
from tarnkappe.errors import ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import prepare
from tarnkappe.lattice import (
    OLA,
    AutoSearch,
    BreadthFirst,
    FlashTwoPhase,
    Incognito,
    Search,
    SearchProblem,
    Solution,
)
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS, Model
from tarnkappe.table import Table
from tarnkappe.table.examples import shaped
from tarnkappe_bench.adult import Adult, read_adult, read_reference, reference_folder

COLUMNS = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
    "salary-class",
)  # fmt: skip
"""The columns of Adult in the order of the literature."""
SENSITIVE = "occupation"

CRITERIA: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "k": (("k-anonymity", {"k": 5}),),
    "l": (("recursive-diversity", {"column": SENSITIVE, "c": 3.0, "l": 4}),),
    "t": (("hierarchical-closeness", {"column": SENSITIVE, "t": 0.2}),),
    "d": (("delta-presence", {"minimum": 0.0, "maximum": 0.2}),),
}
"""k = 5, recursive (3,4)-diversity, 0.2-closeness with hierarchical distance, (0, 0.2)-presence."""
ELEVEN = ("k", "l", "t", "d", "kl", "kt", "kd", "dl", "dt", "kdl", "kdt")
"""The combinations of the literature, by the letters of their parts."""


@cache
def adult() -> Adult:
    """The reference data, or made-up ones of the same shape where they are absent."""
    return read_adult(reference_folder())


def source() -> str:
    """Which of the two it is."""
    return "Adult" if read_reference(reference_folder()) else "a made-up table of the shape of Adult"


def models_of(letters: str) -> tuple[Model, ...]:
    """The models of a criterion, by its letters."""
    return tuple(MODELS.create(name, dict(given)) for each in letters for name, given in CRITERIA[each])


def adult_problem(
    models: Sequence[Model],
    loss: str,
    limit: float,
    *,
    sensitive: bool = True,
    rows: int | None = None,
    columns: Sequence[str] = COLUMNS,
) -> SearchProblem:
    """A problem on Adult: with `sensitive` of eight quasi-identifiers, else of nine."""
    return _problem(adult(), columns, SENSITIVE if sensitive else None, models, loss, limit, rows)


def shaped_problem(
    name: str, models: Sequence[Model], loss: str, limit: float, rows: int | None
) -> SearchProblem:
    """A problem on a made-up table of the shape of one of the literature's, all columns quasi-identifiers."""
    example = shaped(name, rows=rows)
    hierarchies = {column: Hierarchy.from_rows(lines) for column, lines in example.hierarchies.items()}
    data = Adult(Table(example.table.data), Table(example.table.data.slice(0, 0)), hierarchies)
    return _problem(data, tuple(example.table.column_names), None, models, loss, limit, None)


def _problem(
    data: Adult,
    columns: Sequence[str],
    sensitive: str | None,
    models: Sequence[Model],
    loss: str,
    limit: float,
    rows: int | None,
) -> SearchProblem:
    about_presence = any(model.name == "delta-presence" for model in models)
    renamed = {name: name if name == sensitive else f"{place}-{name}" for place, name in enumerate(columns)}

    def numbered(table: Table, most: int | None = None) -> Table:
        some = table.data.select(list(columns)).slice(0, most)
        named: pa.Table = some.rename_columns(list(renamed.values()))
        known = [name for name in named.column_names if name != sensitive]
        return Table(named).with_roles(
            quasi_identifiers=known, sensitive=[] if sensitive is None else [sensitive]
        )

    table = numbered(data.subset if about_presence else data.table, rows)
    hierarchies = {renamed[name]: data.hierarchies[name] for name in columns}
    return prepare(
        table,
        plan_columns(table, hierarchies, {}),
        list(models),
        LOSSES.create(loss, {}),
        suppression_limit=limit,
        population=numbered(data.table) if about_presence else None,
    ).problem


def run_search(search: Search, problem: SearchProblem, *, repeats: int = 1) -> dict[str, Any]:
    """What a search needs for a problem: seconds, memory, tests; or why it refuses."""

    def work() -> Solution | str:
        try:
            return search.run(problem)
        except ParameterError as refused:
            return str(refused)

    done = alone(work, repeats=repeats)
    found = done.outcome
    if isinstance(found, str):
        return {"search": search.name, "refused": found}
    return {
        "search": search.name,
        "seconds": done.seconds,
        "megabytes": done.megabytes,
        "nodes": found.nodes,
        "checked": found.checked,
        "rolled_up": found.rolled_up,
        "from_snapshots": found.counters.from_snapshots,
        "groups": found.counters.groups,
        "loss": found.best.loss if found.best else None,
        "levels": list(found.best.node) if found.best else None,
        "optimal": found.optimal,
        "stopped": found.stopped,
    }


@cache
def warm_up() -> None:
    """Compile what searches use, so that no measurement pays for it."""
    for letters, loss in (("k", "entropy"), ("kl", "precision"), ("kt", "entropy"), ("kd", "precision")):
        problem = adult_problem(models_of(letters), loss, 0.05, rows=2000)
        for search in (AutoSearch(), FlashTwoPhase(), OLA(), Incognito(), BreadthFirst()):
            with suppress(ParameterError):  # not every search takes every problem
                search.run(problem)
