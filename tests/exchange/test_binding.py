"""What is signed is what leaves, whoever can write to the database."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tarnkappe.cli import main
from tarnkappe.errors import JobError, TarnkappeError, VerificationError
from tarnkappe.exchange import Anchor, DataRequest, Purpose, Wanted
from tarnkappe.exchange.desk import RequestState, RequestWorkflow
from tarnkappe.exchange.example import make
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.exchange.staff import Duty, Staff, StaffMember


def asked(number: str = "r1", **changes: Any) -> DataRequest:
    values: dict[str, Any] = {
        "id": number,
        "requester": "Dr. Ask",
        "institution": "A",
        "purpose": Purpose.RESEARCH,
        "question": "Whom does it help?",
        "anchor": Anchor("medication", ("ibuprofen",)),
        "wanted": (Wanted("sex"), Wanted("diagnosis")),
    }
    return DataRequest(**{**values, **changes})


class House:
    """An institution in a folder, and somebody who can write to its database."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.database = folder, folder / "B.db"

    @property
    def desk(self) -> RequestWorkflow:
        return ExchangeSite.load(self.folder / "B.toml").desk()

    def decide(self, digest: str, person: str) -> int:
        """Somebody decides with the command; its exit code."""
        words = ["decide", digest, "--site", str(self.folder / "B.toml"), "--as", person, "--accept"]
        key = str(self.folder / "keys" / f"{person}.key")
        with pytest.raises(SystemExit) as ended:
            main(["exchange", *words, "--key", key, "--reason", "It helps."])
        return int(ended.value.code or 0)

    def audit(self) -> int:
        with pytest.raises(SystemExit) as ended:
            main(["exchange", "audit", "--site", str(self.folder / "B.toml")])
        return int(ended.value.code or 0)

    def write(self, *statements: str, values: tuple[Any, ...] = ()) -> None:
        with closing(sqlite3.connect(self.database)) as connection:
            triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            for (name,) in connection.execute(triggers).fetchall():
                connection.execute(f'DROP TRIGGER "{name}"')
            for statement in statements:
                connection.execute(statement, values if "?" in statement else ())
            connection.commit()

    def read(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One history, with a copy of everything after each of its steps."""
    folder = tmp_path_factory.mktemp("scenes")
    make(folder / "now", 600)
    house, sent = House(folder / "now"), asked()
    house.desk.register.withdraw("P0000001")
    house.desk.receive(sent)
    shutil.copytree(folder / "now", folder / "received")
    house.desk.check(sent.digest, "Stew")
    shutil.copytree(folder / "now", folder / "checked")
    for person, state in (("Ann", "half agreed"), ("Cleo", "accepted")):
        assert house.decide(sent.digest, person) == 0
        shutil.copytree(folder / "now", folder / state)
    return folder


@pytest.fixture
def at(scenes: Path, tmp_path: Path) -> Iterator[Any]:
    def copy(state: str) -> House:
        shutil.copytree(scenes / state, tmp_path / "house")
        return House(tmp_path / "house")

    return copy


DIGEST = asked().digest


def raw_package(house: House) -> bytes:
    """Who is behind the package, with everything about them."""
    with closing(sqlite3.connect(house.folder / "B-patients.db")) as connection:
        found = connection.execute("SELECT patient, sex, diagnosis FROM patients LIMIT 60").fetchall()
    columns = dict(zip(("patient", "sex", "diagnosis"), zip(*found, strict=True), strict=True))
    table, sink = pa.table({name: list(values) for name, values in columns.items()}), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def require_nothing_leaves(house: House) -> None:
    with pytest.raises(TarnkappeError):
        house.desk.answer(DIGEST, "A")
    assert house.audit() != 0


@pytest.mark.parametrize("with_its_log", [False, True], ids=["the row", "the row and its log entry"])
def test_a_package_that_was_swapped_is_neither_shown_nor_signed_nor_sent(at: Any, with_its_log: bool) -> None:
    import hashlib

    house = at("checked")
    package = raw_package(house)
    digest = hashlib.sha256(package).hexdigest()
    change = "UPDATE exchange_recommendations SET package = ?, package_digest = ?"
    house.write(change, values=(package, digest))
    if with_its_log:  # with the seal of another entry
        house.write("UPDATE log_entries SET seal = (SELECT seal FROM log_entries WHERE number = 1)")
    with pytest.raises(VerificationError):
        house.desk.recommendation(DIGEST)
    assert [house.decide(DIGEST, person) for person in ("Ann", "Cleo")] == [1, 1]
    require_nothing_leaves(house)


def test_the_error_says_what_to_do_about_a_swapped_package(at: Any) -> None:
    house = at("checked")
    house.write("UPDATE exchange_recommendations SET package = x'00'")
    with pytest.raises(VerificationError, match="changed after it was made: check it again"):
        house.desk.recommendation(DIGEST)


def test_a_package_with_one_more_column_is_refused(at: Any) -> None:
    house = at("accepted")
    house.write("UPDATE exchange_answers SET package = ?", values=(raw_package(house),))
    require_nothing_leaves(house)


def test_a_decision_without_a_signature_does_not_count(at: Any) -> None:
    house = at("checked")
    house.write(
        "INSERT INTO exchange_decisions SELECT digest, number, 'Ann', 1, '{}', '00' FROM exchange_recommendations",
        "UPDATE exchange_requests SET state = 'half agreed'",
    )
    house.decide(DIGEST, "Cleo")
    require_nothing_leaves(house)


def test_a_state_that_was_set_in_the_database_is_not_believed(at: Any) -> None:
    for state in RequestState:
        house = at("half agreed")
        if state is not RequestState.HALF_AGREED:
            house.write(f"UPDATE exchange_requests SET state = '{state}'")
            require_nothing_leaves(house)
        shutil.rmtree(house.folder)


def test_who_has_left_the_staff_before_a_package_leaves_has_not_agreed(at: Any) -> None:
    house = at("accepted")
    staff = house.folder / "staff.toml"
    text = staff.read_text(encoding="utf-8")
    gone = text.replace("[people.Cleo]", "[people.Cleo]\nuntil = 2020-01-01")
    assert gone != text
    staff.write_text(gone, encoding="utf-8")
    with pytest.raises(VerificationError, match="staff file"):
        house.desk.answer(DIGEST, "A")
    staff.write_text(text, encoding="utf-8")
    assert house.desk.answer(DIGEST, "A").package


def test_one_key_under_two_names_is_no_staff() -> None:
    one, other = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737", "0" * 64
    ann = StaffMember("Ann", frozenset({Duty.PHYSICIAN}), one)
    for person in (
        StaffMember("Cleo", frozenset({Duty.SECOND_REVIEWER}), one),
        StaffMember("Cleo", frozenset({Duty.SECOND_REVIEWER}), one.upper()),
        StaffMember("Cleo", frozenset({Duty.SECOND_REVIEWER}), other),
        StaffMember("Cleo", frozenset({Duty.SECOND_REVIEWER}), ""),
        StaffMember("ANN", frozenset({Duty.SECOND_REVIEWER}), one.replace("d", "e")),
        StaffMember("\uff21nn", frozenset({Duty.SECOND_REVIEWER}), one.replace("d", "e")),
    ):
        with pytest.raises(JobError):
            Staff([ann, person])


def test_a_withdrawal_that_was_deleted_is_noticed(at: Any) -> None:
    house = at("received")
    house.write("DELETE FROM exchange_withdrawals")
    with pytest.raises(VerificationError, match="withdrawals"):
        house.desk.check(DIGEST, "Stew")
    with pytest.raises(VerificationError, match="withdrawals"):
        house.desk.register.has_withdrawn(["P0000001"])
    assert house.audit() == 1


def test_a_database_of_yesterday_lets_nothing_out(at: Any, scenes: Path) -> None:
    house = at("accepted")
    house.desk.register.withdraw("P0000002")
    shutil.copy(scenes / "accepted" / "B.db", house.database)
    require_nothing_leaves(house)


def test_what_honest_people_do_is_not_hindered(at: Any) -> None:
    house = at("accepted")
    assert house.audit() == 0
    answer = house.desk.answer(DIGEST, "A")
    assert answer.package is not None
    assert "sex" in pa.ipc.open_file(answer.package).schema.names
    assert house.desk.confirm(DIGEST, "A") is RequestState.DELIVERED
    assert house.audit() == 0


TABLES = {
    "exchange_requests": ("digest", "institution", "id", "content", "state", "deadline", "checks"),
    "exchange_recommendations": ("number", "content", "package", "package_digest"),
    "exchange_decisions": ("number", "person", "accepts", "content", "signature"),
    "exchange_answers": ("digest", "content", "signature", "package"),
    "exchange_people": ("row", "mark"),
    "exchange_releases": ("digest", "recipient", "purpose", "columns", "time"),
    "exchange_release_log": ("mark", "digest"),
    "exchange_ledger": ("digest", "institution", "recipient", "told"),
    "exchange_cohorts": ("institution", "part", "content"),
    "exchange_withdrawals": ("mark", "time"),
    "log_entries": ("number", "time", "event", "details", "root", "seal"),
    "log_frontier": ("size", "roots", "seal"),
}


@pytest.mark.parametrize(
    ("table", "column"), [(table, column) for table, columns in TABLES.items() for column in columns]
)
def test_the_audit_finds_whatever_is_changed_in_the_database(at: Any, table: str, column: str) -> None:
    house = at("accepted")
    [(rowid, value)] = house.read(f'SELECT rowid, "{column}" FROM {table} ORDER BY rowid DESC LIMIT 1')
    if isinstance(value, bytes):
        value = bytes([value[0] ^ 1]) + value[1:]
    elif isinstance(value, int):
        value = 1 - value if column == "accepts" else value + 1
    else:
        value = value[:-1] + ("0" if value[-1] != "0" else "1")
    house.write(f'UPDATE {table} SET "{column}" = ? WHERE rowid = {rowid}', values=(value,))
    assert house.audit() != 0


@pytest.mark.parametrize("table", TABLES)
def test_the_audit_finds_whatever_is_deleted_in_the_database(at: Any, table: str) -> None:
    house = at("accepted")
    house.write(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
    assert house.audit() != 0


def test_the_audit_finds_trails_that_nobody_left(at: Any) -> None:
    """Packages from cohorts leave no trails: who puts some in has invented a package."""
    house = at("accepted")
    assert house.read("SELECT * FROM exchange_pending") == []
    invented = (DIGEST, "B", "A", b"trails")
    house.write("INSERT INTO exchange_pending VALUES (?, ?, ?, ?)", values=invented)
    assert house.audit() != 0


def test_a_time_that_a_member_sends_is_not_believed(at: Any) -> None:
    house = at("received")
    for number, time in enumerate(
        ("2020-01-01T00:00:00", "2020-01-01T00:00:00+00:00", "2999-01-01T00:00:00")
    ):
        sent = dataclasses.replace(asked(f"t{number}"), received=datetime.fromisoformat(time))
        house.desk.receive(sent)
        kept = house.desk.request(sent.digest).received
        assert abs(kept - datetime.now(UTC)) < timedelta(minutes=10)
    house.desk.check(DIGEST, "Stew")


def test_a_request_that_cannot_be_read_does_not_stop_the_others(at: Any) -> None:
    """Whatever an earlier version has let in."""
    house = at("received")
    naive = asked("naive").to_dict() | {"received": "2026-01-01T00:00:00"}
    for number, content in enumerate(("{", "[]", "null", json.dumps(naive), '{"id": 7}')):
        house.write(
            "INSERT INTO exchange_requests VALUES (?, 'A', ?, ?, 'received', '2999', 0)",
            values=(f"{number:064}", f"old {number}", content),
        )
    assert len(house.desk.requests()) == 2
    house.desk.check(DIGEST, "Stew")
    assert house.desk.state(DIGEST) is RequestState.CHECKED
