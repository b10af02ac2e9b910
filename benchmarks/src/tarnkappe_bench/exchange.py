"""How long the release check takes: an institution with many patients, after many earlier requests.

The patients are in an SQLite database. Every earlier request is in the store, and its package has left: the
check looks at all of them, and for the newest ones also at what they told of everybody. Times are the least
of several runs, by the clock and by the processor: on a busy machine only the second says something.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.exchange import (
    Anchor,
    AttributeCatalogue,
    DataRequest,
    Institution,
    Network,
    NetworkMember,
    Purpose,
    SitePolicy,
    Statistics,
    Surroundings,
    Wanted,
)
from tarnkappe.exchange.checking import STEPS, Case
from tarnkappe.exchange.checking.component import s9_earlier
from tarnkappe.exchange.checking.told import Told
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.logged import TOLD, registers
from tarnkappe.exchange.example import fill
from tarnkappe.exchange.staff import Staff
from tarnkappe.exchange.statistics.example import CATALOGUE, MEDICATIONS, facts, patients
from tarnkappe.state import Key, Store
from tarnkappe.state.key import MARK
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.yardstick import yardstick

LIMITS = {
    "check_seconds": 5.0,
    "package_seconds": 5.0,
    "k_optimize_package_seconds": 5.0,
    "mondrian_package_seconds": 5.0,
}
"""What `make bench-check` holds us to: S0 to S6 with S9, and S7 with S8, by every method."""
EARLIER = 1000
TELLING = 20
"""Of so many packages there is what they told of everybody; hardly more leave before others are refused."""
RUNS = 3
ASKED = ("age", "sex", "weight", "origin", "occupation", "diagnosis", "medication")
ANCHOR = Anchor("medication", ("ibuprofen",))
MAKING = "s7_s8_protect"
STATED = ("lawfully_collected", "own_competence", "correctable", "operation_covered")
METHODS = {"": "levels", "k_optimize_": "k-optimize", "mondrian_": "mondrian"}


def run(progress: Progress | None = None, *, rows: int = 100_000, earlier: int = EARLIER) -> dict[str, Any]:
    """Check a request at an institution with so many patients, after so many earlier requests."""
    table = patients(rows)
    figures: dict[str, Any] = {"yardstick_seconds": yardstick(table), "patients": rows, "earlier": earlier}
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder) / "patients.db", table)
        source = f"sqlite:///{folder}/patients.db"
        desk = _desk(Institution("B", source, "patient", table="patients"))
        _remember(desk, table, earlier, progress)
        for prefix, method in METHODS.items():
            around = _surroundings(desk.around, method)
            walks = [_walk(around) for _ in range(RUNS + 1)][1:]  # the first one compiles
            for clock, name in enumerate(("seconds", "processor_seconds")):
                package = [times[MAKING][clock] for times, _ in walks]
                check = [sum(t[clock] for s, t in times.items() if s != MAKING) for times, _ in walks]
                figures[f"{prefix}package_{name}"] = min(package)
                figures[f"{prefix}check_{name}"] = min(check)
            times, case = walks[-1]
            figures[f"{prefix}steps"] = {step: round(took[1], 4) for step, took in times.items()}
            figures[f"{prefix}selected"] = case.base.num_rows if case.base is not None else 0
            figures[f"{prefix}released"] = case.package.release.num_rows if case.package is not None else 0
            figures[f"{prefix}discernibility"] = case.metrics.get("discernibility")
    return figures


def _desk(institution: Institution) -> RequestWorkflow:
    statistics = Statistics(Store.in_memory())
    statistics.add(facts(), "example", "0" * 64)
    members = [NetworkMember("A", frozenset(Purpose)), NetworkMember("C", frozenset(Purpose))]
    around = Surroundings(
        institution, AttributeCatalogue.from_dict(CATALOGUE), SitePolicy(), Network(members), statistics
    )
    return RequestWorkflow(Store.in_memory(), Key.new(), around, Staff([]))


def _surroundings(around: Surroundings, method: str) -> Surroundings:
    thresholds = {"k": 5, "base": 50, "method": method, "seconds": 2.0}
    policy = SitePolicy.from_dict({"thresholds": thresholds, "statements": dict.fromkeys(STATED, True)})
    parts = vars(around) | {"policy": policy}
    return Surroundings(**parts)


def _request(number: int, anchor: Anchor, requester: str = "Dr. Ask") -> DataRequest:
    return DataRequest(
        str(number),
        requester,
        "A" if number % 2 else "C",
        Purpose.RESEARCH,
        "How are they?",
        anchor,
        tuple(map(Wanted, ASKED)),
    )


def _walk(around: Surroundings) -> tuple[dict[str, tuple[float, float]], Case]:
    """The time of each step, by the clock and by the processor, and what was found."""
    case, took = Case(_request(-1, ANCHOR), around, around.catalogue), {}
    for step in STEPS:
        start = time.perf_counter(), time.process_time()
        answer = step(case).answer
        took[step.__name__] = time.perf_counter() - start[0], time.process_time() - start[1]
        if answer == "refuse" and step is s9_earlier:
            break  # regions are often too fine to hide whom they select; the time was taken
        if answer == "refuse":
            raise AssertionError(f"the request of the measurement was refused at {step.__name__}")
    return took, case


def _remember(desk: RequestWorkflow, table: pa.Table, number: int, progress: Progress | None) -> None:
    """Earlier requests with packages of two thousand who take something else; the last is of everybody."""
    taken = np.array(table.column("medication").to_pylist())
    others = [name for name in MEDICATIONS if name not in ANCHOR.values]
    everybody = desk.register.marks(table.column("patient").to_pylist())
    for index in range(number):
        request = _request(index, Anchor("medication", (others[index % len(others)],)), f"Dr. {index % 50}")
        desk.receive(request)
        last = index == number - 1
        rows = np.arange(table.num_rows) if last else np.flatnonzero(taken != ANCHOR.values[0])[:2000]
        role = Role.INSENSITIVE if last else Role.QUASI_IDENTIFIER  # nobody may be told apart by the last
        release = Table(table.select(["sex"]).take(pa.array(rows)), {"sex": role})
        marks = [everybody[row] for row in rows]
        told = _told(release, marks) if index >= number - TELLING else Told.none()
        with desk.store.writing() as connection:
            _leave(desk, connection, request, release, marks, told)
        if progress:
            progress("earlier requests", index + 1, number)
    with desk.store.writing() as connection:  # what the desk would have logged of the packages as they left
        desk.log.append("packages left", registers(connection, TOLD), connection)


def _told(release: Table, marks: list[bytes]) -> Told:
    """What a package tells that selects by nothing sensitive: who is in it, by sex."""
    sexes = np.array(release.data.column("sex").to_pylist())
    labels = np.unique(sexes, return_inverse=True)[1].astype(np.int64)
    return Told(pa.array(marks, MARK), labels, np.zeros_like(labels), labels, {}, "", (), ())


def _leave(
    desk: RequestWorkflow,
    connection: sa.Connection,
    request: DataRequest,
    release: Table,
    marks: list[bytes],
    told: Told,
) -> None:
    desk.earlier.accept(connection, request.digest, release, marks, request.institution, told)
    desk.earlier.leave(connection, request.digest)
