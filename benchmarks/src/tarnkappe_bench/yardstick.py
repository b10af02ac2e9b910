"""The yardstick: one DuckDB GROUP BY over all columns, single-threaded, on the same data in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import duckdb
import pyarrow as pa

REPEATS = 20
SHORT = 0.5
"""Work is repeated for so many seconds at least, since a disturbance may last for a tenth of one."""


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The median wall time of some work, after one run that is not counted (it may compile)."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def yardstick(data: pa.Table, repeats: int = REPEATS) -> float:
    """Seconds of `SELECT count(*) ... GROUP BY` all columns, as text, on one thread."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("arrow", data)
        columns = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' for name in data.column_names)
        connection.execute(f"CREATE TABLE data AS SELECT {columns} FROM arrow")
        names = ", ".join(f'"{name}"' for name in data.column_names)
        query = f"SELECT {names}, count(*) FROM data GROUP BY {names}"
        return seconds(lambda: connection.sql(query).to_arrow_table(), repeats)


class Measured(NamedTuple):
    """How long some work took, in seconds and in yardsticks, and what came of it."""

    seconds: float
    yardsticks: float
    outcome: object


class Ruler:
    """Measures work in yardsticks that are taken right before and after it.

    A machine is not equally fast all the time; what is measured minutes apart says little about a ratio.

    Attributes:
        units: the yardsticks that were taken.
    """

    def __init__(self, data: pa.Table, repeats: int = 5) -> None:
        self._data, self._repeats = data, repeats
        self.units = [yardstick(data)]

    def measure(self, work: Callable[[], object], repeats: int) -> Measured:
        """The median wall time; what takes long is not repeated, what is short more often."""
        work()  # it may compile
        times: list[float] = []
        outcome: object = None
        before = yardstick(self._data, self._repeats)
        while (len(times) < repeats and sum(times) < 1) or sum(times) < SHORT:
            start = time.perf_counter()
            outcome = work()
            times.append(time.perf_counter() - start)
        after = yardstick(self._data, self._repeats)
        self.units += [before, after]
        middle = statistics.median(times)
        return Measured(middle, middle / ((before + after) / 2), outcome)
