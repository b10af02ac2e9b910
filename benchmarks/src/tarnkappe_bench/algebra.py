"""Anonymization inside queries: what rewriting saves, what lowering costs, what partitions do.

The donors are made up and written to Parquet files; DuckDB reads them where they are. Every speed-up is the
plan as written against the plan that was chosen, in the same run on the same files, without the shuffling of
rows that both would have.
"""

from __future__ import annotations

import importlib.util
import math
import tempfile
from pathlib import Path
from typing import Any

from tarnkappe.algebra.lowering import connect
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.algebra_by_hand import measure_overhead
from tarnkappe_bench.algebra_data import catalog, write_donors
from tarnkappe_bench.algebra_partitions import measure_levels, measure_spark
from tarnkappe_bench.algebra_queries import measure_queries

ROWS = 20_000_000
SPARK_ROWS = 4_000_000
LIMITS = {"lowering_overhead": 0.05, "slowest_against_written": 1.1}
"""What `make bench-check` holds us to."""


def run(
    progress: Progress | None = None, *, rows: int = ROWS, spark_rows: int | None = None
) -> dict[str, Any]:
    """Measure everything on so many donors; Spark on fewer of them, or with 0 not at all."""
    with tempfile.TemporaryDirectory(prefix="tarnkappe-bench-") as name:
        folder = Path(name)
        _tell(progress, "making donors", 0)
        files = write_donors(folder, rows)
        donors = catalog()
        with connect(files) as backend:
            queries = measure_queries(backend, donors, progress)
            _tell(progress, "against statements by hand", 0)
            overhead = measure_overhead(backend, donors, files["spender"], rows)
        _tell(progress, "levels of partitions", 0)
        levels = measure_levels(files["spender"])
        spark = _spark(folder, min(rows, SPARK_ROWS) if spark_rows is None else spark_rows, progress)
    return {
        "rows": rows,
        "queries": queries,
        "speed_ups": {each["query"]: each["speed_up"] for each in queries},
        "speed_up_geometric_mean": math.exp(sum(math.log(e["speed_up"]) for e in queries) / len(queries)),
        "faster": sum(each["speed_up"] > 1 for each in queries),
        "slowest_against_written": max(1 / each["speed_up"] for each in queries),
        "rewrite_seconds_most": max(each["rewrite_seconds"] for each in queries),
        "what_each_rule_saves": _savings(queries),
        "overhead": overhead,
        "lowering_overhead": max(each["ratio"] for each in overhead) - 1,
        "spark": spark,
        "partitions_and_levels": levels,
    }


def _savings(queries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every step of every query, by rule: the seconds that it saved, and the share of the time before it."""
    steps = [{"query": query["query"], **step} for query in queries for step in query["steps"]]
    return sorted(steps, key=lambda step: (step["rule"], -step["share_saved"]))


def _spark(folder: Path, rows: int, progress: Progress | None) -> dict[str, Any]:
    if not rows:
        return {}
    if importlib.util.find_spec("pyspark") is None:
        return {"failed": ["PySpark is not installed"]}
    _tell(progress, "partitions on Spark", 0)
    (folder / "spark").mkdir()
    return {"rows": rows, **measure_spark(write_donors(folder / "spark", rows))}


def _tell(progress: Progress | None, what: str, done: int) -> None:
    if progress:
        progress(what, done, 1)
