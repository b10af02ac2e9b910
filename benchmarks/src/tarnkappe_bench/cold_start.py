"""How long `tarn anonymize` takes from the shell: the first run ever, which compiles, and one after it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tarnkappe.hierarchy import write_hierarchy
from tarnkappe.table import write
from tarnkappe_bench.adult import Adult

TARN = "from tarnkappe.cli import main; main()"
REPEATS = 5


def cold_start(adult: Adult) -> dict[str, float]:
    """Seconds in all, and of the processor, which other work on the machine disturbs less."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_job(adult, folder)
        first = _start(folder)
        later = [_start(folder) for _ in range(REPEATS)]
    return {
        "first_run_seconds": first[0],
        "first_run_processor_seconds": first[1],
        "cold_start_seconds": min(wall for wall, _ in later),
        "cold_start_processor_seconds": min(processor for _, processor in later),
    }


def _start(folder: Path) -> tuple[float, float]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", TARN, "anonymize", "job.toml"]
    before, start = _processor_seconds(), time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start, _processor_seconds() - before


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write_job(adult: Adult, folder: Path) -> None:
    write(adult.table, folder / "adult.csv")
    lines = ["[input]", 'path = "adult.csv"']
    for column, hierarchy in adult.hierarchies.items():
        write_hierarchy(hierarchy, folder / f"{column}.csv")
        lines += [f'[columns."{column}"]', 'role = "quasi-identifier"', f'hierarchy = "{column}.csv"']
    lines += ["[[privacy]]", 'model = "k-anonymity"', "k = 5", "[search]", "suppression_limit = 0.05"]
    lines += ["[output]", 'path = "release.csv"', 'report = "report.html"']
    (folder / "job.toml").write_text("\n".join(lines), encoding="utf-8")
