"""How long a check takes: every measure and attack on Adult and on a million rows, and a long history."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.risk import MEASURES, Background, Target, check
from tarnkappe.risk.history import ReleaseHistory
from tarnkappe.state import Key, Store
from tarnkappe.table import Table, examples
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.adult import read_adult, reference_folder
from tarnkappe_bench.yardstick import yardstick

LIMITS = {
    "adult_seconds": 10.0,
    "million_rows_seconds": 60.0,
    "history_store_seconds": 10.0,
    "history_files_seconds": 10.0,
}
"""What `make bench-check` holds us to."""
RELEASES = 20


def run(progress: Progress | None = None, *, rows: int = 1_000_000, people: int = 50_000) -> dict[str, Any]:
    """Check Adult, a table of so many rows, and a release of so many people after 20 others."""
    adult = read_adult(reference_folder()).table
    known = [name for name in adult.column_names if name != "occupation"]
    large = examples.shaped("ADULT", rows=rows).table
    zips = pa.array(np.random.default_rng(1).zipf(1.3, large.num_rows) % 8000)
    wide = Table(large.data.append_column("zip", zips))
    figures: dict[str, Any] = {"yardstick_seconds": yardstick(adult.data), "rows": rows, "people": people}
    everybody, earlier, newest = _town(people)
    recorded = ReleaseHistory(Store.in_memory(), Key.new(), "town")
    for index, (some, released) in enumerate(earlier):
        there = Table(everybody.data.take(some), everybody.roles)
        recorded.record(f"release {index}", Target.of(released, Background(people=there)))
    files = {f"release {index}": released for index, (_, released) in enumerate(earlier)}
    work: dict[str, Callable[[], object]] = {
        "adult_seconds": lambda: _check(adult, known, 0.05),
        "million_rows_seconds": lambda: _check(wide, [*large.quasi_identifiers, "zip"], 0.01),
        "history_store_seconds": lambda: recorded.check(
            Target.of(newest, Background(people=everybody)), k=5, diversity=2
        ),
        "history_files_seconds": lambda: check(
            newest, background=Background(people=everybody, earlier=files)
        ),
    }
    _check(Table(large.data.slice(0, 1000)), large.quasi_identifiers, 0.5)  # compiles
    for done, (name, each) in enumerate(work.items()):
        if progress:
            progress("checks", done, len(work))
        start = time.perf_counter()
        each()
        figures[name] = time.perf_counter() - start
    return figures


def _check(table: Table, known: list[str] | tuple[str, ...], sampling_fraction: float) -> object:
    return check(
        table,
        quasi_identifiers=list(known),
        sensitive=["occupation"],
        measures=[kind() for kind in MEASURES],
        sampling_fraction=sampling_fraction,
        safe_harbor=True,
    )


def _town(number: int) -> tuple[Table, list[tuple[pa.Array, Table]], Table]:
    """People, 20 releases of most of them (who, and what was released), and a new one of all of them."""
    random = np.random.default_rng(1)
    ages, zips = random.integers(18, 90, number), random.integers(10_000, 12_000, number)
    diseases = random.integers(0, 30, number)
    people = pa.table({"id": np.arange(number), "age": ages.astype(str), "zip": zips.astype(str)})

    def released(width: int, stars: int, some: np.ndarray[Any, np.dtype[np.int64]]) -> Table:
        shown = random.permutation(some)
        low = ages[shown] // width * width
        cells = {
            "age": [f"{age}-{age + width - 1}" for age in low.tolist()],
            "zip": [f"{zip_}"[: 5 - stars] + "*" * stars for zip_ in zips[shown].tolist()],
            "disease": diseases[shown].astype(str),
        }
        return Table(pa.table(cells)).with_roles(quasi_identifiers=["age", "zip"], sensitive=["disease"])

    earlier = []
    for index in range(RELEASES):
        some = np.sort(random.permutation(number)[: number - number // 50 * (index % 2)])
        widths = ((5, 10, 20)[index % 3], (2, 3, 1)[index // 3 % 3])
        earlier.append((pa.array(some), released(*widths, some)))
    return Table(people).with_roles(identifiers=["id"]), earlier, released(10, 2, np.arange(number))
