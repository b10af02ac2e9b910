"""Optimal search on large tables: seconds and memory on 1.2 million rows, and how they grow with the rows."""

from __future__ import annotations

import dataclasses
import gc
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from tarnkappe.drawing import Drawing
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import prepare
from tarnkappe.lattice import SEARCHES
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress
from tarnkappe.table.examples import ExampleData, shaped
from tarnkappe_bench.chart import draw_curves
from tarnkappe_bench.yardstick import yardstick

LIMITS = {"seconds_2_percent": 10.0, "seconds_5_percent": 10.0, "megabytes_beyond_the_table": 1000.0}
"""What `make bench-check` holds us to."""
SHAPE = "IHIS"
CURVE = (100_000, 200_000, 400_000, 800_000, 1_600_000, 3_200_000)


def run(
    progress: Progress | None = None, *, rows: int | None = None, curve: tuple[int, ...] = CURVE
) -> dict[str, Any]:
    """5-anonymity with least entropy on a made-up table of the shape of IHIS, its encoding included."""
    example = shaped(SHAPE, rows=rows)
    unit = yardstick(example.table.data, repeats=3)
    _solve(shaped(SHAPE, rows=1000), 0.05)  # compiles
    found = {}
    for done, limit in enumerate((0.02, 0.05)):
        if progress:
            progress("large table", done, 2)
        found[limit] = _solve(example, limit)
    points, saturated = [], []
    for done, size in enumerate(curve):
        if progress:
            progress("curve", done, len(curve))
        points.append({"rows": size, **_solve(shaped(SHAPE, rows=size), 0.05)})
        saturated.append({"rows": size, **_solve(_repeated(shaped(SHAPE, rows=curve[0]), size), 0.05)})
    return {
        "rows": example.table.num_rows,
        "nodes": found[0.05]["nodes"],
        "yardstick_seconds": unit,
        "seconds_2_percent": found[0.02]["seconds"],
        "seconds_5_percent": found[0.05]["seconds"],
        "yardsticks_2_percent": found[0.02]["seconds"] / unit,
        "yardsticks_5_percent": found[0.05]["seconds"] / unit,
        "megabytes_beyond_the_table": max(each["megabytes"] for each in found.values()),
        "loss_2_percent": found[0.02]["loss"],
        "loss_5_percent": found[0.05]["loss"],
        "curve": points,
        "saturated_curve": saturated,
    }


def draw(measured: dict[str, Any]) -> Drawing:
    """The curves: rows and seconds, with ever new tuples and with tuples that come again."""
    names = {"curve": "ever new tuples", "saturated_curve": "tuples that come again"}
    return draw_curves(
        "5-anonymity with least entropy, 5 % suppression",
        {text: [(each["rows"], each["seconds"]) for each in measured[name]] for name, text in names.items()},
        ("rows", "seconds"),
    )


def _repeated(example: ExampleData, rows: int) -> ExampleData:
    """A table in which no new tuples come after a while."""
    data = example.table.data
    whole = pa.concat_tables([data] * math.ceil(rows / data.num_rows)).slice(0, rows)
    return dataclasses.replace(example, table=Table(whole, example.table.roles))


def _solve(example: ExampleData, limit: float) -> dict[str, Any]:
    names = list(example.table.column_names)
    table = example.table.with_roles(quasi_identifiers=names, sensitive=[])
    hierarchies = {name: Hierarchy.from_rows(example.hierarchies[name]) for name in names}
    models = [MODELS.create("k-anonymity", {"k": 5})]
    with _memory() as used:
        start, processor = time.perf_counter(), time.process_time()
        plans = plan_columns(table, hierarchies, {})
        problem = prepare(table, plans, models, LOSSES.create("entropy", {}), suppression_limit=limit).problem
        encoded = time.perf_counter()
        solution = SEARCHES["auto"]().run(problem)
        seconds = time.perf_counter() - start
    assert solution.best is not None
    assert solution.optimal
    return {
        "seconds": seconds,
        "processor_seconds": time.process_time() - processor,
        "encode_seconds": encoded - start,
        "megabytes": used[0] / 2**20,
        "tuples": problem.tuples.num_tuples,
        "nodes": problem.num_nodes,
        "checked": solution.checked,
        "loss": solution.best.loss,
    }


@contextmanager
def _memory() -> Iterator[list[float]]:
    """How many bytes the process takes at most beyond what it had before."""
    gc.collect()
    before, most, stopped = _resident(), [0.0], threading.Event()

    def watch() -> None:
        while not stopped.wait(0.005):
            most[0] = max(most[0], _resident() - before)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        stopped.set()
        watcher.join()


def _resident() -> float:
    """The memory of the process; not known everywhere."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
