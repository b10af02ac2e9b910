"""The desk of an institution for who can write to its database; and one that believes what stands there."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.errors import AccessError, TarnkappeError
from tarnkappe.exchange.desk import RequestWorkflow, whole
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.earlier import EarlierReleases
from tarnkappe.exchange.desk.logged import Logged
from tarnkappe.exchange.desk.packages import Package, opened
from tarnkappe.exchange.desk.records import read_request
from tarnkappe.exchange.desk.states import RequestState
from tarnkappe.exchange.desk.tables import ANSWERS, DECISIONS
from tarnkappe.exchange.keys import InstitutionKeys
from tarnkappe.exchange.staff import Duty, Staff, StaffMember
from tarnkappe.state import HeadFile, Key, Signer, Store, guard
from tarnkappe.table import Role, Table
from tests.attackers.exchange.writer import House, Scene
from tests.exchange.scenes import patients, request, surroundings

KEYS = {name: Key(bytes([number]) * 32) for number, name in enumerate(["Ann", "Cleo", "Stew"], 1)}
DUTIES = {"Ann": Duty.PHYSICIAN, "Cleo": Duty.SECOND_REVIEWER, "Stew": Duty.STEWARD}
STAFF = Staff(
    [StaffMember(name, frozenset({DUTIES[name]}), Signer(key).public) for name, key in KEYS.items()]
)
OWN = InstitutionKeys(Key(bytes([50] * 32)), Key(bytes([51] * 32)), Key(bytes([52] * 32)))
STATES = ("checked", "half agreed", "accepted", "taken back")


def desk(folder: Path, *, sealed: bool = True) -> RequestWorkflow:
    """A desk on the files in a folder."""
    store = Store.open(folder / "desk.db")
    if sealed:
        guard(store, OWN.seals, HeadFile(folder / "desk.head", "B", Signer(OWN.sign)))
    return RequestWorkflow(store, OWN, surroundings(), STAFF)


def decide(at: RequestWorkflow, digest: str, person: str) -> str | None:
    """Somebody looks at a request and signs what she is shown; the digest of the package."""
    try:
        at.recommendation(digest)
        content = at.to_decide(digest, person, accepts=True, reason="It serves the patients.")
        at.decide(content, Signer(KEYS[person]).sign(decision_statement(content)))
    except TarnkappeError:
        return None
    return str(content["package"])


def play(folder: Path, *, sealed: bool = True) -> tuple[str, str, dict[str, dict[str, str]]]:
    """Let everything happen once, and keep a copy of the files in every state; who signed what by then."""
    at = desk(folder / "desk", sealed=sealed)
    other, wanted = request(id="before"), request()
    at.withdraw_patient("P13")
    at.receive(other)
    at.check(other.digest, "Stew")
    for person in ("Ann", "Cleo"):
        assert decide(at, other.digest, person)
    at.answer(other.digest, "A")
    at.confirm(other.digest, "A")
    at.receive(wanted)
    at.check(wanted.digest, "Stew")
    signed: dict[str, dict[str, str]] = {"checked": {}}
    shutil.copytree(folder / "desk", folder / "checked")
    for state, person in (("half agreed", "Ann"), ("accepted", "Cleo")):
        said = decide(at, wanted.digest, person)
        assert said is not None
        signed[state] = {**list(signed.values())[-1], person: said}
        shutil.copytree(folder / "desk", folder / state)
    signed["taken back"] = signed["accepted"]
    at.withdraw_patient("P01")
    shutil.copytree(folder / "desk", folder / "taken back")
    at.store.close()
    return wanted.digest, other.digest, signed


@contextmanager
def house(folder: Path, *, sealed: bool = True) -> Iterator[House]:
    """Scenes from copies of one history."""
    (folder / "desk").mkdir()
    wanted, other, signed = play(folder, sealed=sealed)
    before = {state: STATES[max(place - 1, 0)] for place, state in enumerate(STATES)}
    number = 0

    @contextmanager
    def scene(state: str) -> Iterator[Scene]:
        nonlocal number
        number += 1
        own = folder / f"scene {number}"
        shutil.copytree(folder / state, own)
        opened_desks: list[RequestWorkflow] = []

        def fresh() -> RequestWorkflow:
            opened_desks.append(desk(own, sealed=sealed))
            return opened_desks[-1]

        def tried(action: Any) -> Any:
            try:
                return action(fresh())
            except TarnkappeError:
                return None

        yield Scene(
            database=own / "desk.db",
            yesterday=folder / before[state] / "desk.db",
            request=wanted,
            other=other,
            raw=raw(folder / state / "desk.db", wanted),
            signed=signed[state],
            may_leave=state != "taken back",
            decide=lambda person: tried(lambda at: decide(at, wanted, person)),
            fetch=lambda: tried(lambda at: at.answer(wanted, "A").package),
            check=lambda: tried(lambda at: at.check(wanted, "Stew")) is not None,
            audit=lambda: tried(lambda at: at.audit() == []) is not True,
        )
        for each in opened_desks:
            each.store.close()

    yield House(scene)


def raw(database: Path, digest: str) -> bytes:
    """The original rows of as many people as are in the package, with their names."""
    engine = sa.create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        query = "SELECT package, content FROM exchange_recommendations WHERE digest = :digest"
        package, content = connection.execute(sa.text(query), {"digest": digest}).one()
    engine.dispose()
    rows = opened(package).num_rows if package else 12
    names = [*json.loads(content)["roles"], "name"]
    data = patients().select(names).slice(0, rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data)
    return bytes(sink.getvalue())


@contextmanager
def credulous(folder: Path) -> Iterator[House]:
    """The same desk, if it believed its database, as earlier versions did."""
    with contextlib.ExitStack() as stack:
        for owner, name, instead in (
            (whole.WholeReader, "read", _believed),
            (whole.WholeReader, "require_answer", _answer),
            (whole.WholeReader, "require_requests", lambda *_: None),
            (Logged, "read", classmethod(lambda cls, log, _: cls(log.entries()))),
            (Logged, "require_register", lambda *_: None),
            (EarlierReleases, "objection_within", lambda *_: ""),
            (RequestWorkflow, "audit", _only_the_log),
        ):
            stack.enter_context(mock.patch.object(owner, name, instead))
        stack.enter_context(mock.patch("tarnkappe.exchange.desk.desk.guard"))
        yield stack.enter_context(house(folder, sealed=False))


def _believed(reader: Any, connection: sa.Connection, digest: str, logged: Any = None) -> whole.Whole:
    row = reader._records.row(connection, digest)
    found = whole.Whole(row, read_request(row), RequestState(row.state), logged or Logged([]))
    if not row.checks or found.state is RequestState.RECEIVED:
        return found
    last = reader._records.last_check(connection, digest)
    content = json.loads(last.content)
    package = None
    if last.package is not None:
        roles = {name: Role.parse(role) for name, role in content["roles"].items()}
        package = Package(
            last.package, content["roles"], Table(opened(last.package).select(list(roles)), roles)
        )
    marks = reader._records.marks(connection, digest, last.number)
    check = whole.Checked(last, "", "2000-01-01T00:00:00+00:00", content, package, marks)
    mine = sa.and_(DECISIONS.c.digest == digest, DECISIONS.c.number == last.number)
    decisions = [
        whole.Decision({"public_key": "", **json.loads(each.content)}, each.signature)
        for each in connection.execute(sa.select(DECISIONS).where(mine))
    ]
    return whole.Whole(row, found.request, found.state, found.logged, check, decisions)


def _answer(reader: Any, connection: sa.Connection, found: whole.Whole) -> Any:
    row = connection.execute(sa.select(ANSWERS).where(ANSWERS.c.digest == found.row.digest)).first()
    if row is None:
        raise AccessError("test.no-answer", "there is no answer yet")
    return row


def _only_the_log(at: RequestWorkflow) -> list[str]:
    at.log.verify()
    return []
