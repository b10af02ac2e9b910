"""What a protected query costs beside DuckDB alone, and what a command costs before it begins.

Alone means: somebody who knows the best levels already counts the classes, once, and joins the labels. He
neither searches nor shuffles nor verifies. Both sides run in turn in one process, and the least processor
time of each counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lowering import connect
from tarnkappe.algebra.session import QuerySession
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import write
from tarnkappe.table.encoding import Progress

ROWS = 5_000_000
RUNS = 5
BY = ("plz", "age", "sex")
CELLS = {
    "plz": "printf('%05d', 10000 + 37 * (hash(i, 1) % 2000)::INTEGER)",
    "age": "20 + (hash(i, 2) % 70)::INTEGER",
    "sex": "CASE WHEN hash(i, 3) % 2 = 0 THEN 'f' ELSE 'm' END",
    "diagnosis": "'D' || (hash(i, 4) % 50)::VARCHAR",
}
GENERALIZED = "SELECT plz, age, sex, diagnosis FROM generalize(people, k => 5, by => [plz, age, sex])"
PLAIN = "SELECT plz, age, sex, diagnosis FROM people"
ALONE = "import duckdb, pyarrow, sqlglot, typer, rich"
LIMITS = {"in_memory": 2.5, "to_a_file": 1.5, "without_an_operator": 1.2, "start_seconds": 0.7}


def measure_price(progress: Progress | None = None, *, rows: int = ROWS) -> dict[str, Any]:
    """The ratios to DuckDB alone, the seconds behind them, and the processor time of a small command."""
    with tempfile.TemporaryDirectory(prefix="tarnkappe-bench-") as name:
        folder = Path(name)
        if progress:
            progress("making people", 0, 1)
        people = folder / "people.parquet"
        cells = ", ".join(f'{cell} AS "{column}"' for column, cell in CELLS.items())
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT {cells} FROM range({rows}) AS t(i)) TO '{people}'")
        return {"rows": rows, **_ratios(people, folder, progress), **_starts(folder)}


def hierarchies() -> dict[str, Hierarchy]:
    """Postal codes lose digits, ages become periods, sexes one label."""
    codes = [f"{10000 + 37 * n:05d}" for n in range(2000)]
    return {
        "plz": Hierarchy.from_rows([[c, *(c[:n] + "*" * (5 - n) for n in (4, 3, 2, 1)), "*"] for c in codes]),
        "age": Hierarchy.from_rows(
            [
                [str(a), *(f"{a // w * w}-{a // w * w + w - 1}" for w in (5, 10, 20)), "*"]
                for a in range(20, 90)
            ]
        ),
        "sex": Hierarchy.from_rows([["f", "*"], ["m", "*"]]),
    }


def _ratios(people: Path, folder: Path, progress: Progress | None) -> dict[str, Any]:
    ladders, out, plain = hierarchies(), folder / "ours.parquet", folder / "alone.parquet"
    with connect({"people": people}) as backend, duckdb.connect() as alone:
        alone.execute("SET enable_progress_bar = false")
        answer = QuerySession(backend, Catalog(backend.relations, ladders)).sql(GENERALIZED)
        joined = _by_hand(alone, people, ladders, answer.table)
        count = f"SELECT {', '.join(BY)}, count(*) AS n FROM '{people}' GROUP BY ALL"
        theirs: dict[str, Callable[[], Any]] = {
            "count": lambda: alone.sql(count).to_arrow_table(),
            "join": lambda: alone.sql(joined).to_arrow_table(),
            "join_to_a_file": lambda: alone.execute(f"COPY ({joined}) TO '{plain}'"),
            "plain": lambda: alone.sql(f"SELECT * FROM '{people}'").to_arrow_table(),
        }
        ours: dict[str, Callable[[], Any]] = {
            "generalize": lambda: QuerySession(backend, Catalog(backend.relations, ladders)).sql(GENERALIZED),
            "write": lambda: write(answer.coded, out, replace=True),
            "select": lambda: QuerySession(backend, Catalog(backend.relations, ladders)).sql(PLAIN),
        }
        seconds: dict[str, float] = {}
        for run in range(RUNS):
            if progress:
                progress("in turn with DuckDB alone", run, RUNS)
            for name, work in {**ours, **theirs}.items():
                start = time.process_time()
                work()
                took = time.process_time() - start
                seconds[name] = min(took, seconds.get(name, took))
        same = _counted(alone, f"'{out}'") == _counted(alone, f"'{plain}'")
    return {
        "in_memory": seconds["generalize"] / (seconds["count"] + seconds["join"]),
        "to_a_file": (seconds["generalize"] + seconds["write"])
        / (seconds["count"] + seconds["join_to_a_file"]),
        "without_an_operator": seconds["select"] / seconds["plain"],
        "same_rows": same,
        "processor_seconds": seconds,
    }


def _by_hand(
    alone: duckdb.DuckDBPyConnection, people: Path, ladders: dict[str, Hierarchy], answer: Any
) -> str:
    """The join that gives the same labels, for the levels that the answer has."""
    cells, joins = [], []
    for column in BY:
        shown = set(answer.column(column).unique().to_pylist())
        ladder = ladders[column]
        level = next(
            n for n in range(ladder.height + 1) if shown <= {ladder.label(v, n) for v in ladder.values}
        )
        if not level:
            cells.append(f"CAST(s.{column} AS VARCHAR) AS {column}")
            continue
        alone.execute(f"CREATE TABLE {column}_labels (value VARCHAR, label VARCHAR)")
        alone.executemany(
            f"INSERT INTO {column}_labels VALUES (?, ?)", [(v, ladder.label(v, level)) for v in ladder.values]
        )
        if column == "age":
            alone.execute("ALTER TABLE age_labels ALTER value TYPE INTEGER")
        cells.append(f"{column}_labels.label AS {column}")
        joins.append(f"LEFT JOIN {column}_labels ON s.{column} = {column}_labels.value")
    return f"SELECT {', '.join(cells)}, s.diagnosis FROM '{people}' AS s {' '.join(joins)}"


def _counted(alone: duckdb.DuckDBPyConnection, place: str) -> list[Any]:
    return alone.sql(
        f"SELECT plz, age, sex, diagnosis, count(*) FROM {place} GROUP BY ALL ORDER BY ALL"
    ).fetchall()


def _starts(folder: Path) -> dict[str, float]:
    """The processor time of a command on four rows, and of the libraries without which it cannot be."""
    (folder / "few.csv").write_text("plz,age\n18055,31\n18055,32\n18057,33\n18057,34\n", encoding="utf-8")
    tarn = [sys.executable, "-c", "from tarnkappe.cli import main; main()", "sql", "--data", "few=few.csv"]
    commands = {
        "start_seconds": [*tarn, "SELECT plz FROM few"],
        "start_seconds_with_a_search": [*tarn, "SELECT plz FROM generalize(few, k => 2, by => [plz])"],
        "start_seconds_of_libraries": [sys.executable, "-c", ALONE],
    }
    return {
        name: min(_processor_seconds(words, folder) for _ in range(RUNS)) for name, words in commands.items()
    }


def _processor_seconds(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=dict(os.environ), check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
