"""A Parquet file larger than the memory that DuckDB may use: seconds, and the peak of memory.

`python -m benchmarks.engines 50000000` measures fifty million rows. The file and the release take about 10
bytes a row, and what DuckDB spills while it runs about 150; everything is removed at the end.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet

from tarnkappe.job import Job
from tarnkappe.job import run as run_job
from tarnkappe.table.examples import shaped
from tarnkappe.table.examples.shapes import shaped_batches

LIMITS = {"gigabytes_beyond_duckdb": 2.0}
"""What `make bench-check` holds us to."""

SHAPE, MEMORY_LIMIT, GIGABYTES = "IHIS", "2GB", 2.0


def run(rows: int = 5_000_000, suppression_limit: float = 0.02) -> dict[str, Any]:
    """Anonymize a file of so many rows in a process of its own, and measure that process."""
    with tempfile.TemporaryDirectory(prefix="tarnkappe-engines-") as name:
        folder = Path(name)
        made = _write_rows(folder / "rows.parquet", rows)
        unit = _yardstick(folder)
        measured = json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.engines", "--job", folder, str(suppression_limit)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    peak = measured.pop("peak_gigabytes")
    return {
        "rows": rows,
        "memory_limit": MEMORY_LIMIT,
        "suppression_limit": suppression_limit,
        "file_megabytes": made,
        "yardstick_seconds": unit,
        "yardsticks": measured["total_seconds"] / unit,
        "peak_gigabytes": peak,
        "gigabytes_beyond_duckdb": peak - GIGABYTES,
        **measured,
    }


def _write_rows(path: Path, rows: int) -> float:
    writer = None
    for batch in shaped_batches(SHAPE, rows):
        writer = writer or pyarrow.parquet.ParquetWriter(path, batch.schema, compression="zstd")
        writer.write_batch(batch)
    assert writer is not None
    writer.close()
    return path.stat().st_size / 1e6


def _yardstick(folder: Path) -> float:
    """Seconds that DuckDB takes for counting the distinct rows, with the same memory."""
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "temp_directory": str(folder / "spill")}
    start = time.perf_counter()
    with duckdb.connect(config=config) as connection:
        rows = f"SELECT DISTINCT * FROM '{folder / 'rows.parquet'}'"
        connection.execute(f"SELECT count(*) FROM ({rows})").fetchall()
    return time.perf_counter() - start


def _job(folder: Path, suppression_limit: float) -> Job:
    columns = {}
    for name, lines in shaped(SHAPE, rows=1).hierarchies.items():
        (folder / f"{name}.csv").write_text(
            "".join(";".join(line) + "\n" for line in lines), encoding="utf-8"
        )
        columns[name] = {"role": "quasi-identifier", "hierarchy": f"{name}.csv"}
    content = {
        "input": {"path": "rows.parquet", "engine": "duckdb", "memory_limit": MEMORY_LIMIT},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "search": {"suppression_limit": suppression_limit},
        "output": {"path": "release.parquet"},
    }
    return Job.from_dict(content, folder)


def _measure(folder: Path, suppression_limit: float) -> dict[str, Any]:
    """What one run takes, measured from inside its own process."""
    start, before = time.perf_counter(), time.process_time()
    result = run_job(_job(folder, suppression_limit))
    return {
        "total_seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - before,
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "tuples": result.problem.tuples.num_tuples,
        **{key: value for key, value in result.to_dict().items() if key in KEPT},
    }


KEPT = ("levels", "loss", "suppressed", "released_rows", "classes", "nodes", "checked", "optimal", "seconds")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(_measure(Path(sys.argv[2]), float(sys.argv[3]))))
    else:
        print(json.dumps(run(*map(int, sys.argv[1:2])), indent=2))
