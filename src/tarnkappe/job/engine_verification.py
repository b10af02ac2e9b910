"""Verification of a release that an engine wrote: from what it counts in the written values.

The engine groups the release anew where it lies. These groups must be those that were decided on, row by row;
and every model is asked of them in SQL, by code that had no part in the search.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from tarnkappe.engines.engine import Engine, Grouped, StagedRelease
from tarnkappe.engines.statements import unused
from tarnkappe.errors import Reason, VerificationError
from tarnkappe.job.preparation import Preparation
from tarnkappe.job.release import generalized, plain
from tarnkappe.job.result import Result
from tarnkappe.job.verification import require_promises
from tarnkappe.privacy import needed_distributions
from tarnkappe.privacy.verify import verify
from tarnkappe.table.encoding import Counts
from tarnkappe.table.grouping import group_codes, sum_by_group

DIFFERS = Reason(
    "job.what-written-differs-what-decided",
    "what was written differs from what was decided: it was not handed over",
)


def verify_written(result: Result, prepared: Preparation, engine: Engine, written: StagedRelease) -> Result:
    """Check a written release against all that was decided and promised; anything amiss is an error."""
    if written.columns != result.release.column_names:
        raise VerificationError.because(DIFFERS)
    weight = unused("rows", result.input.column_names)
    expected = _expected(result, prepared, weight)
    names = [name for name in expected.column_names if name != weight]
    found = _as_expected(written.group(names), weight, expected.schema)
    judged = list(dict.fromkeys(n for names in needed_distributions(result.problem.models) for n in names))
    with duckdb.connect(config={"temp_directory": ""}) as connection:  # nothing is spilled to disk
        connection.register("expected", expected)
        connection.register("counted_release", found)
        _require_equal(connection)
        connection.register("counted_input", _input(engine, judged, result.input.num_rows, weight))
        if prepared.population is not None:
            connection.register("everyone", _population(result, prepared, weight))
        verified = verify(
            connection,
            result.problem.models,
            result.problem.quasi_identifiers,
            release="counted_release",
            input_table="counted_input",
            population=None if prepared.population is None else "everyone",
            sensitive=result.problem.tuples.columns,
            weight=weight,
        )
    return require_promises(result, verified)


def _expected(result: Result, prepared: Preparation, weight: str) -> pa.Table:
    """The groups of rows that the release must consist of."""
    rows, classes = prepared.rows, result.state.classes
    others = [column for name, column in rows.columns.items() if name not in result.levels]
    groups = group_codes(
        [classes.ids, *(column.codes for column in others)],
        [max(classes.num_classes, 1), *(column.cardinality for column in others)],
    )
    counts = sum_by_group(groups.ids, rows.counts, groups.num_groups)
    released = result.state.kept[classes.ids[groups.representatives]] & (counts > 0)
    chosen = groups.representatives[released]
    columns = {
        name: generalized(column.take(chosen), result.levels.get(name, 0))
        for name, column in rows.columns.items()
    }
    return pa.table({**columns, weight: pa.array(counts[released])})


def _weighted(grouped: Grouped, weight: str) -> pa.Table:
    """What an engine counted, with the counts as a column."""
    columns = {name: plain(grouped.table.data.column(name)) for name in grouped.table.column_names}
    return pa.table({**columns, weight: grouped.counts})


def _as_expected(grouped: Grouped, weight: str, schema: pa.Schema) -> pa.Table:
    """What an engine counted, with the types of what is expected: text formats forget them."""
    try:
        return _weighted(grouped, weight).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        raise VerificationError.because(DIFFERS) from None


def _require_equal(connection: duckdb.DuckDBPyConnection) -> None:
    for one, other in (("expected", "counted_release"), ("counted_release", "expected")):
        if connection.execute(f"FROM {one} EXCEPT FROM {other} LIMIT 1").fetchall():
            raise VerificationError.because(DIFFERS)


def _input(engine: Engine, names: list[str], num_rows: int, weight: str) -> pa.Table:
    """What the models compare a release with: asked of the engine again, not taken from the search."""
    if not names:
        return pa.table({weight: [num_rows]})
    return _weighted(engine.group(names), weight)


def _population(result: Result, prepared: Preparation, weight: str) -> pa.Table:
    """The population, generalized as the release is."""
    assert prepared.population is not None
    theirs = np.arange(prepared.table.num_rows, prepared.rows.num_tuples)
    columns = {
        name: generalized(prepared.rows.columns[name].take(theirs), level)
        for name, level in result.levels.items()
    }
    ones: Counts = np.ones(len(theirs), np.int64)
    return pa.table({**columns, weight: pa.array(ones)})
