"""Where a decision is signed, how long a method goes on is counted by its work: no clock decides."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pyarrow as pa
import pytest

from tarnkappe import Hierarchy, anonymize
from tarnkappe.privacy import KAnonymity
from tarnkappe.recoding import KOptimize
from tarnkappe.recoding.deadline import Patience, by_counted_work
from tarnkappe.table import Role, Table


def people(rows: int = 300) -> Table:
    random = np.random.default_rng(5)
    columns = {name: pa.array(random.integers(0, 24, rows)) for name in ("age", "weight", "place")}
    return Table(pa.table(columns), dict.fromkeys(columns, Role.QUASI_IDENTIFIER))


def intervals(seconds: float) -> pa.Table:
    table = people()
    hierarchy = Hierarchy.from_rows([[str(n), f"{n // 6 * 6}+", "*"] for n in range(24)])
    with by_counted_work():
        return anonymize(
            table,
            privacy=[KAnonymity(5)],
            hierarchies=dict.fromkeys(table.quasi_identifiers, hierarchy),
            loss="discernibility",
            algorithm=KOptimize(seconds=seconds),
            seed=1,
        ).release.data


def test_a_clock_that_leaps_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine, or one that compiles its kernels first: an hour passes between any two looks at the clock."""
    expected = intervals(0.5)
    for name in ("monotonic", "thread_time", "process_time", "perf_counter"):
        ticks = itertools.count(1, 3600)
        monkeypatch.setattr(time, name, lambda ticks=ticks: float(next(ticks)))
    assert intervals(0.5).equals(expected)


def test_counted_work_comes_to_an_end() -> None:
    with by_counted_work():
        own = Patience(1.0)
    assert own.over == ""
    own.spend(0.6)
    assert own.over == ""
    own.spend(0.4)
    assert own.over == "out of time"


def test_without_it_the_clock_decides() -> None:
    own = Patience(0.0)
    own.spend(-5.0)
    assert own.over == "out of time"
