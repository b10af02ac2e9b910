"""Generalization in an engine: count the combinations, search levels, join with tables of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from tarnkappe.algebra.lowering.levels import Rungs, best_levels, level_table
from tarnkappe.algebra.lowering.rows import LoweredRows, kind
from tarnkappe.algebra.lowering.site import EngineSnapshot
from tarnkappe.algebra.world import Ladder, World
from tarnkappe.errors import HierarchyError


def generalized(
    rows: LoweredRows,
    by: list[str],
    k: int,
    world: World,
    site: EngineSnapshot,
    person: str | None = None,
    *,
    coded: bool = False,
) -> LoweredRows:
    """The rows with the columns `by` as labels of the best levels; they are text from then on.

    With a `person` column, k different people are in every class, and not only k rows. If the labels may be
    codes, they are the engine's.
    """
    cells = {f"g{n}": rows.cell(name) for n, name in enumerate(by)}
    what = "rows" if person is None else "people"
    counted, people = _counted(rows, cells, person, site)
    counts = counted.column("n").cast(pa.int64()).to_numpy().astype(np.int64)
    ladders = {name: world.ladder(name) for name in by}
    if not len(counts):
        best_levels({}, counts, k, counted=what)  # says that there are too few
    rungs = {name: _rungs(name, counted.column(f"g{n}"), ladders[name]) for n, name in enumerate(by)}
    levels = best_levels(rungs, counts, k, people, counted=what)
    return _lifted(rows, by, rungs, levels, site, coded)


def _lifted(
    rows: LoweredRows,
    by: list[str],
    rungs: Mapping[str, Rungs],
    levels: Mapping[str, int],
    site: EngineSnapshot,
    coded: bool,
) -> LoweredRows:
    table, lifted = rows.table, {}
    for n, name in enumerate(by):
        table, lifted[name] = _lift(rows, table, name, rungs[name], levels[name], n, site, coded)
    return rows.changed(table, lifted)


def combinations(rows: LoweredRows, by: list[str], site: EngineSnapshot, person: str | None) -> pa.Table:
    """What one part of the rows tells of itself, so that the levels of all parts can be chosen.

    Its combinations `g0`, `g1`, ... with the number `n` of their rows; or the person `u` of each, once, since
    somebody may have rows in two parts.
    """
    cells = {f"g{n}": rows.cell(name) for n, name in enumerate(by)}
    keys = rows.table.select(**cells)
    if person is None:
        return site.fetch(keys.group_by(list(cells)).aggregate(n=keys.count()), "counting")
    return site.fetch(rows.table.select(**cells, u=rows.cell(person)).distinct(), "counting")


def common_levels(
    told: Sequence[pa.Table], by: list[str], k: int, world: World, person: str | None
) -> dict[str, int]:
    """The levels that a generalization of all parts together has, from what each part tells of itself."""
    told = [each.cast(_as_texts(each.schema)) for each in told]
    whole = pa.concat_tables(told)
    if person is not None:
        whole = whole.group_by(whole.column_names).aggregate([])
    counts = np.ones(whole.num_rows, np.int64) if person else whole.column("n").to_numpy().astype(np.int64)
    what = "rows" if person is None else "people"
    if not len(counts):
        return best_levels({}, counts, k, counted=what)  # says that there are too few
    rungs = {name: _rungs(name, whole.column(f"g{n}"), world.ladder(name)) for n, name in enumerate(by)}
    return best_levels(rungs, counts, k, whole.column("u") if person else None, counted=what)


def lifted_to(
    rows: LoweredRows,
    by: list[str],
    told: pa.Table,
    levels: Mapping[str, int],
    world: World,
    site: EngineSnapshot,
) -> LoweredRows:
    """The rows of one part on levels that were chosen for all parts."""
    if not told.num_rows:
        return rows.changed(rows.table, {name: rows.cell(name).cast("string") for name in by})
    rungs = {name: _rungs(name, told.column(f"g{n}"), world.ladder(name)) for n, name in enumerate(by)}
    return _lifted(rows, by, rungs, levels, site, coded=False)


def _as_texts(schema: pa.Schema) -> pa.Schema:
    """Engines have other types for the same values; hierarchies know their texts."""
    return pa.schema([(name, pa.int64() if name == "n" else pa.string()) for name in schema.names])


def _counted(
    rows: LoweredRows, cells: dict[str, Any], person: str | None, site: EngineSnapshot
) -> tuple[pa.Table, pa.ChunkedArray | None]:
    """The combinations with how many rows or people have each, and the people if some have several."""
    if person is None:
        keys = rows.table.select(**cells)
        return site.fetch(keys.group_by(list(cells)).aggregate(n=keys.count()), "counting"), None
    pairs = rows.table.select(**cells, u=rows.cell(person)).distinct()
    combinations = pairs.group_by("u").aggregate(t=pairs.count())
    several = combinations.filter((combinations["t"] > 1) | combinations["u"].isnull()).limit(1)
    if not site.fetch(several.select(found=ibis.literal(1, "int64")), "counting").num_rows:
        # Everybody has one combination: numbers of people add up when classes merge.
        return site.fetch(pairs.group_by(list(cells)).aggregate(n=pairs.count()), "counting"), None
    found = site.fetch(pairs.mutate(n=ibis.literal(1, "int64")), "counting")
    return found, found.column("u")


def _rungs(name: str, column: pa.ChunkedArray, ladder: Ladder) -> Rungs:
    try:
        return Rungs.of(column, ladder)
    except HierarchyError as error:
        raise HierarchyError(
            "algebra.add-line-every-value",
            "'{name}': {error}: add a line for every value",
            name=name,
            error=error,
        ) from None


def _lift(
    rows: LoweredRows,
    table: Any,
    name: str,
    rungs: Rungs,
    level: int,
    n: int,
    site: EngineSnapshot,
    coded: bool,
) -> tuple[Any, Any]:
    """The table joined with the levels of one column, and the column's new cell."""
    cell = rows.cell(name)
    labels = rungs.labels(level)
    lifts_to = level_table(rungs, level, f"v{n}", f"s{n}")
    if coded and lifts_to.num_rows and None not in rungs.texts:
        lifts = site.upload(lifts_to.set_column(1, f"s{n}", lifts_to.column(1).dictionary_encode()))
        return table.left_join(lifts, cell == lifts[f"v{n}"]), lifts[f"s{n}"]
    missing = None
    if None in rungs.texts:
        missing = labels[rungs.texts.index(None)]
    if kind(cell) == "text" and list(rungs.texts) == labels:
        return table, cell
    lifts = site.upload(lifts_to)
    # An outer join: engines do not begin with joining the small tables, which together have many more rows.
    joined = table.left_join(lifts, cell == lifts[f"v{n}"])
    label = lifts[f"s{n}"]
    return joined, label if missing is None else ibis.cases((cell.isnull(), missing), else_=label)
