"""What lowering costs: a query through Tarnkappe against the same statements written by hand.

Both run on the same connection, draw the same keyed randomness and must return the same rows. The time of the
processor is compared, which does not depend on what else the machine is doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import Backend
from tarnkappe.algebra.lowering.keyed import Randomness, threshold
from tarnkappe.algebra.lowering.levels import Rungs, best_levels
from tarnkappe.algebra.noise import Static
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.algebra.world import World

KEY = bytes(range(32))
RUNS = 5
P = Fraction(3, 10)
K = 50

NOISE = (
    "SELECT * FROM randomize((SELECT blutgruppe, plz, rh FROM spender), "
    "probability => {blutgruppe: 0.3, rh: 0.3})"
)
SLICES = "SELECT * FROM slice((SELECT plz, rh FROM spender), groups => [[plz], [rh]])"
LEVELS = f"SELECT * FROM generalize((SELECT alter, plz, rh FROM spender), k => {K}, by => [alter, plz])"


def measure_overhead(backend: Backend, catalog: Catalog, donors: Path, rows: int) -> list[dict[str, Any]]:
    """One entry an operator: the ratio of the processor's time to that of the statements written by hand."""
    connection = backend.connection  # type: ignore[attr-defined]
    by_hand: dict[str, tuple[str, Callable[[], pa.Table]]] = {
        "randomize": (NOISE, lambda: connection.sql(_noise(catalog, donors)).to_arrow_table()),
        "slice": (SLICES, lambda: connection.sql(_slices(donors, rows, catalog.bucket)).to_arrow_table()),
        "generalize": (LEVELS, lambda: _generalized(connection, catalog, donors)),
    }
    return [_compared(name, *sides, backend, catalog) for name, sides in by_hand.items()]


def _compared(
    name: str, text: str, hand: Callable[[], pa.Table], backend: Backend, catalog: Catalog
) -> dict[str, Any]:
    query = read_sql(text, catalog.relations)

    def ours() -> pa.Table:
        return backend.execute(query, catalog, key=KEY, shuffle=False)

    answers = [ours(), hand()]  # not counted
    times: list[list[float]] = [[], []]
    for _ in range(RUNS):
        for side, work in enumerate((ours, hand)):
            start = time.process_time()
            work()
            times[side].append(time.process_time() - start)
    seconds = [min(side) for side in times]
    names = sorted(answers[0].column_names)
    rows = [_sorted(answer.select(names)) for answer in answers]
    return {
        "operator": name,
        "processor_seconds": seconds[0],
        "processor_seconds_by_hand": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "seconds_more": seconds[0] - seconds[1],
        "same_rows": rows[0].equals(rows[1].cast(rows[0].schema)),
    }


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()


def _noise(catalog: Catalog, donors: Path) -> str:
    secrets = {column: Randomness(KEY).secret((), column) for column in ("blutgruppe", "rh")}
    return f"""
        SELECT {_draw(catalog, "blutgruppe", "h1")} AS blutgruppe, plz, {_draw(catalog, "rh", "h2")} AS rh
        FROM (
            SELECT blutgruppe, plz, rh,
                   sha256('{secrets["blutgruppe"]}' || file_row_number::VARCHAR) AS h1,
                   sha256('{secrets["rh"]}' || file_row_number::VARCHAR) AS h2
            FROM read_parquet('{donors}', file_row_number = true)
        )
    """


def _draw(catalog: Catalog, column: str, drawn: str) -> str:
    noise = catalog.noise[column]
    assert isinstance(noise, Static)
    cases, total = "", Fraction(0)
    for value, chance in noise.probabilities.items():
        total += P * chance
        cases += f"WHEN {drawn} < '{threshold(total)}' THEN '{value}' "
    return f"CASE {cases}ELSE {column} END"


def _slices(donors: Path, rows: int, bucket: int) -> str:
    """The rows keep their places; the second set of columns is numbered anew within each bucket."""
    secret = Randomness(KEY).secret((), repr(("rh",)))
    number = f"least(i // {bucket}, {rows // bucket - 1})"
    return f"""
        WITH source AS (
            SELECT plz, rh, file_row_number AS i FROM read_parquet('{donors}', file_row_number = true)
        ), moved AS (
            SELECT rh, {number} * {bucket} - 1 + row_number() OVER (
                PARTITION BY {number} ORDER BY sha256('{secret}' || i::VARCHAR)
            ) AS place FROM source
        )
        SELECT source.plz, moved.rh FROM source JOIN moved ON source.i = moved.place
    """


def _generalized(connection: duckdb.DuckDBPyConnection, catalog: Catalog, donors: Path) -> pa.Table:
    """Count, choose the levels by the same search, and look the labels up."""
    source = f"read_parquet('{donors}')"
    counted = connection.sql(
        f"SELECT alter, plz, count(*) AS n FROM {source} GROUP BY alter, plz"
    ).to_arrow_table()
    world = World({}, catalog.hierarchies)
    rungs = {column: Rungs.of(counted.column(column), world.ladder(column)) for column in ("alter", "plz")}
    levels = best_levels(rungs, counted.column("n").to_numpy(), K)
    for column, rung in rungs.items():
        labels = {"value": rung.values, "label": pa.array(rung.labels(levels[column]), pa.string())}
        connection.register("labels", pa.table(labels))
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {column}_labels AS FROM labels")
        connection.unregister("labels")
    return connection.sql(f"""
        SELECT a.label AS alter, p.label AS plz, rh
        FROM {source} AS s
        LEFT JOIN alter_labels AS a ON s.alter = a.value LEFT JOIN plz_labels AS p ON s.plz = p.value
    """).to_arrow_table()
