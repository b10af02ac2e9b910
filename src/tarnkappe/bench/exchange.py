"""How long the release check takes: an institution with many patients, after many earlier packages."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.bench.yardstick import yardstick
from tarnkappe.exchange import (
    Anchor,
    Catalogue,
    Institution,
    Member,
    Network,
    Policy,
    Purpose,
    Request,
    Statistics,
    Surroundings,
    Wanted,
)
from tarnkappe.exchange.checking import STEPS, Case
from tarnkappe.exchange.desk import PatientRegister
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.statistics.example import CATALOGUE, facts, patients
from tarnkappe.state import Key, Store
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress

LIMITS = {"check_seconds": 1.0, "package_seconds": 5.0, "k_optimize_package_seconds": 5.0}
"""What `make bench-check` holds us to: S0 to S6 with S9, and S7 with S8, by either method."""
EARLIER = 1000
ASKED = ("age", "sex", "weight", "origin", "occupation", "diagnosis", "medication")
MAKING = "s7_s8_protect"
STATED = ("lawfully_collected", "own_competence", "correctable", "operation_covered")


def run(progress: Progress | None = None, *, rows: int = 100_000, earlier: int = EARLIER) -> dict[str, Any]:
    """Check a request at an institution with so many patients, after so many earlier packages."""
    table = patients(rows)
    statistics = Statistics(Store.in_memory())
    statistics.add(facts(), "example", "0" * 64)
    store = Store.in_memory()
    register = PatientRegister(store, Key.new())
    history = EarlierReleases(store, register, "B")
    _remember(history, register, table, store, earlier, progress)
    figures: dict[str, Any] = {"yardstick_seconds": yardstick(table), "patients": rows, "earlier": earlier}
    for method, prefix in (("levels", ""), ("k-optimize", "k_optimize_")):
        policy = Policy.from_dict(
            {
                "thresholds": {"k": 5, "base": 50, "method": method, "seconds": 2.0},
                "statements": dict.fromkeys(STATED, True),
            }
        )
        around = Surroundings(
            Institution("B", table, "patient"),
            Catalogue.from_dict(CATALOGUE),
            policy,
            Network([Member("A", frozenset(Purpose))]),
            statistics,
            register,
            history,
        )
        _walk(around)  # compiles
        seconds, walked = _walk(around)
        figures[f"{prefix}package_seconds"] = seconds.pop(MAKING, 0.0)
        figures[f"{prefix}check_seconds"] = sum(seconds.values())
        figures[f"{prefix}steps"] = {name: round(took, 4) for name, took in seconds.items()}
        figures[f"{prefix}selected"] = walked.base.num_rows if walked.base is not None else 0
    return figures


def _walk(around: Surroundings) -> tuple[dict[str, float], Case]:
    request = Request(
        "1",
        "Dr. Ask",
        "A",
        Purpose.RESEARCH,
        "How are they?",
        Anchor("medication", ("ibuprofen",)),
        tuple(map(Wanted, ASKED)),
    )
    case, seconds = Case(request, around, around.catalogue), {}
    for step in STEPS:
        start = time.perf_counter()
        answer = step(case).answer
        seconds[step.__name__] = time.perf_counter() - start
        if answer == "refuse":
            break
    return seconds, case


def _remember(
    history: EarlierReleases,
    register: PatientRegister,
    table: pa.Table,
    store: Store,
    number: int,
    progress: Progress | None,
) -> None:
    """Earlier packages of two thousand who take something else, by sex; the last is of everybody."""
    others = np.flatnonzero(np.array(table.column("medication").to_pylist()) != "ibuprofen")[:2000]
    for index in range(number):
        rows = np.arange(table.num_rows) if index == number - 1 else others
        some = table.take(pa.array(rows))
        release = Table(some.select(["sex"]), {"sex": Role.QUASI_IDENTIFIER})
        with store.writing() as connection:
            history.remember(connection, release, register.marks(some.column("patient").to_pylist()))
        if progress:
            progress("earlier packages", index + 1, number)
