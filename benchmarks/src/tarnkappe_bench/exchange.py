"""How long the release check takes: an institution with many patients, after many earlier requests.

The patients are in a database, SQLite if nothing else is said, and so is what the desk keeps. Every
earlier request is in the store, and its package has left: the check looks at all of them, and for the newest
ones also at what they told of everybody. Times are the least of several runs, by the clock and by the
processor: on a busy machine only the second says something.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
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
from tarnkappe.exchange.checking.from_cohorts import REPLACED, table_told
from tarnkappe.exchange.checking.told import Told
from tarnkappe.exchange.cohorts.joint import ToldTables
from tarnkappe.exchange.cohorts.packages import grouped_rows
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.logged import TOLD, registers
from tarnkappe.exchange.staff import Duty, Staff, StaffMember
from tarnkappe.exchange.statistics.example import CATALOGUE, MEDICATIONS, facts, patients
from tarnkappe.state import Key, Signer, Store
from tarnkappe.state.key import MARK
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.yardstick import yardstick

LIMITS = {
    "check_seconds": 5.0,
    "package_seconds": 5.0,
    "cohorts_check_seconds": 1.0,
    "cohorts_package_seconds": 5.0,
    "k_optimize_package_seconds": 5.0,
    "mondrian_package_seconds": 5.0,
}
"""What `make bench-check` holds us to: S0 to S6 with S9, and S7 with S8, by every method."""
EARLIER = 1000
TELLING = 20
"""Of so many packages there is what they told of everybody; hardly more leave before others are refused."""
FREQUENT = 100
"""So many people have a value that earlier requests selected."""
RUNS = 3
ASKED = ("age", "sex", "weight", "origin", "occupation", "diagnosis", "medication")
ANCHOR = Anchor("medication", ("ibuprofen",))
MAKING = "s7_s8_protect"
STATED = ("lawfully_collected", "own_competence", "correctable", "operation_covered")
METHODS = {"": "levels", "k_optimize_": "k-optimize", "mondrian_": "mondrian", "cohorts_": "cohorts"}
"""What figures of a method begin with. Packages from cohorts and others are not mixed: each has its desk."""


def run(
    progress: Progress | None = None,
    *,
    rows: int = 100_000,
    earlier: int = EARLIER,
    places: Callable[[str], str] | None = None,
    methods: Sequence[str] = tuple(METHODS.values()),
) -> dict[str, Any]:
    """Check a request at an institution with so many patients, after so many earlier requests.

    Args:
        progress: is told how far it is.
        rows: how many patients there are.
        earlier: how many packages have left.
        places: where databases are, by their names; SQLite in a folder if not said.
        methods: how packages are made.
    """
    table = patients(rows)
    figures: dict[str, Any] = {"yardstick_seconds": yardstick(table), "patients": rows, "earlier": earlier}
    with tempfile.TemporaryDirectory() as folder:
        place = places or (lambda name: f"sqlite:///{folder}/{name}.db")
        fill(place("patients"), table)
        desks: dict[bool, RequestWorkflow] = {}
        for prefix, method in METHODS.items():
            if method not in methods:
                continue
            from_cohorts = method == "cohorts"
            if from_cohorts not in desks:
                institution = Institution("B", place("patients"), "patient", table="patients")
                store = Store.open(place("cohorts" if from_cohorts else "desk"))
                desk = desks[from_cohorts] = _desk(institution, store)
                if from_cohorts:
                    figures |= _remember_cohorts(desk, earlier, progress)
                else:
                    _remember(desk, table, earlier, progress)
            around = _surroundings(desks[from_cohorts].around, method)
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
            if from_cohorts:
                figures |= _whole_check(desks[True])
        for desk in desks.values():
            desk.store.close()
    return figures


def fill(address: str, people: pa.Table) -> None:
    """Write patients into a database, in a table of this name."""
    engine = sa.create_engine(address.replace("postgresql:", "postgresql+psycopg:", 1))
    kinds = {"age": sa.Integer, "weight": sa.Integer}
    columns = [sa.Column(name, kinds.get(name, sa.String)) for name in people.column_names]
    made = sa.Table("patients", sa.MetaData(), *columns)
    with engine.begin() as connection:
        made.create(connection)
        connection.execute(sa.insert(made), people.to_pylist())
    engine.dispose()


def _desk(institution: Institution, store: Store) -> RequestWorkflow:
    statistics = Statistics(Store.in_memory())
    statistics.add(facts(), "example", "0" * 64)
    members = [NetworkMember("A", frozenset(Purpose)), NetworkMember("C", frozenset(Purpose))]
    around = Surroundings(
        institution, AttributeCatalogue.from_dict(CATALOGUE), SitePolicy(), Network(members), statistics
    )
    steward = StaffMember("Stew", frozenset({Duty.STEWARD}), Signer(Key.new()).public)
    return RequestWorkflow(store, Key.new(), around, Staff([steward]))


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
    other = REPLACED if case.limits.method == "cohorts" else {}
    for step in STEPS:
        start = time.perf_counter(), time.process_time()
        answer = other.get(step.__name__, step)(case).answer
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
        _take_in(desk, request)
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


def _take_in(desk: RequestWorkflow, request: DataRequest) -> None:
    """A request that is closed: the log has what happened to it."""
    desk.receive(request)
    desk.withdraw_request(request.digest, request.institution)


def _remember_cohorts(desk: RequestWorkflow, number: int, progress: Progress | None) -> dict[str, float]:
    """Earlier requests for one value after the other, alone and with a sensitive column; what making their
    groups took.
    """
    took: dict[str, list[float]] = {"new": [], "known": []}
    told: list[ToldTables] = []
    count = desk.around.institution.count
    others = [name for name in MEDICATIONS if name not in ANCHOR.values]
    others = [name for name in others if count(Anchor("medication", (name,))) >= FREQUENT]
    for index in range(number):
        value, shown = others[index % len(others)], index // len(others) % 2
        request = _request(index, Anchor("medication", (value,)), f"Dr. {index % 50}")
        _take_in(desk, request)
        if index < len(others):
            start = time.process_time()
            desk.cohorts.prepare(request)
            took["new" if index else "known"].append(time.process_time() - start)
            plan = desk.cohorts.plan()
            assert plan is not None
            groups = plan.groups["medication", value]
            for names in ([], [n for n in groups.shown["research"] if n == "diagnosis"]):
                rows = grouped_rows(plan, ("medication", value), "research", 5)
                told.append(ToldTables((table_told(plan, rows, names),)))
        left = told[2 * (index % len(others)) + shown]
        with desk.store.writing() as connection:
            desk.earlier.accept(connection, request.digest, _NOBODY, [], request.institution, left)
        if progress:
            progress("earlier requests", index + 1, number)
    with desk.store.writing() as connection:  # what the desk would have logged of the packages as they left
        desk.log.append("packages left", registers(connection, TOLD), connection)
    desk.cohorts.prepare(_request(-1, ANCHOR))
    return {
        "cohorts_once_processor_seconds": took["known"][0],
        "cohorts_new_groups_processor_seconds": max(took["new"], default=0.0),
    }


_NOBODY = Table(pa.table({"sex": pa.array([], pa.string())}), {"sex": Role.QUASI_IDENTIFIER})


def _whole_check(desk: RequestWorkflow) -> dict[str, float]:
    """The check as a steward starts it: with everything that is read, verified, packed and kept for it."""
    times = []
    for number in range(RUNS + 1):
        request = _request(-2 - number, ANCHOR)
        desk.receive(request)
        start = time.perf_counter(), time.process_time()
        found = desk.check(request.digest, "Stew")
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        assert found.package is not None, found.steps[-1].reply
    return {
        "cohorts_whole_check_seconds": min(each for each, _ in times[1:]),
        "cohorts_whole_check_processor_seconds": min(each for _, each in times[1:]),
    }


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
