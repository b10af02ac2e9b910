"""Whoever only looks at a store makes and changes nothing, and waits for nobody."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from tarnkappe.cli import main
from tarnkappe.errors import InputError
from tarnkappe.gate.history_store import GATE, HistoryStore
from tarnkappe.gate.monitor import QueryMonitor
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery
from tarnkappe.service.gates import Gates
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.state import AuditLog, Budgets, Store
from tests.cli.test_gate import PEOPLE, POLICY
from tests.state.old_stores import COMPONENTS, rows_of, unpacked

LOOKS = 100
SPARE = 4
"""Descriptors that libraries may open once, at the first look."""


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GatePolicy:
    """A gate that has answered once, and is closed."""
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "gate.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return GatePolicy.load(tmp_path / "gate.toml")


def answer(keeper: QueryMonitor) -> None:
    keeper.answer("ann", GateQuery(("age", "town", "illness"), '"age" BETWEEN ? AND ?', (20, 49)))


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def look(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["gate", *words, "--policy", "gate.toml", "--json"])
    assert ended.value.code == 0


OWNER = Account("olga", frozenset(ServiceRole), "0" * 32)
WAYS: dict[str, Callable[[], object]] = {
    "status": lambda: look("status"),
    "audit": lambda: look("audit"),
    "page": lambda: Gates({"g": Path("gate.toml")}).status("g", OWNER),
    "log": lambda: Gates({"g": Path("gate.toml")}).log("g", OWNER),
}


@pytest.mark.parametrize("way", WAYS)
def test_looks_leave_the_folder_of_a_gate_as_it_is_and_no_descriptor(
    gate: GatePolicy, tmp_path: Path, way: str
) -> None:
    keeper = QueryMonitor.open(gate)
    answer(keeper)
    keeper.close()
    before, opened = files(tmp_path), descriptors()
    for _ in range(LOOKS if way in ("page", "log") else 10):
        WAYS[way]()
    assert files(tmp_path) == before
    assert descriptors() <= opened + SPARE


def test_a_hundred_looks_at_the_status(gate: GatePolicy, tmp_path: Path) -> None:
    keeper = QueryMonitor.open(gate)
    answer(keeper)
    keeper.close()
    before, opened = files(tmp_path), descriptors()
    for _ in range(LOOKS):
        looking = QueryMonitor.to_look(gate)
        assert looking.status()["histories"][0]["answers"] == 1
        looking.close()
    assert files(tmp_path) == before
    assert descriptors() <= opened + SPARE


@pytest.mark.parametrize("way", WAYS)
def test_looks_do_not_wait_for_a_gate_that_writes(gate: GatePolicy, tmp_path: Path, way: str) -> None:
    keeper = QueryMonitor.open(gate)
    answer(keeper)
    before = Path(gate.store).read_bytes()
    with keeper.store.writing() as connection:
        AuditLog(keeper.store).append("written", {}, connection)
        start = time.monotonic()
        WAYS[way]()
        assert time.monotonic() - start < 25, "busy_timeout is 30 seconds"
        assert Path(gate.store).read_bytes() == before
    keeper.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_gate_that_was_never_opened_is_looked_at_and_nothing_is_made(
    gate: GatePolicy, tmp_path: Path, way: str
) -> None:
    before = files(tmp_path)
    WAYS[way]()
    assert files(tmp_path) == before


# ---------------------------------------------------------------------- the store itself


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_place_without_a_store_is_refused_and_stays_so(tmp_path: Path, mode: str) -> None:
    with pytest.raises(InputError, match="there is no store"):
        Store.open(tmp_path / "folder" / "state.db", mode=mode)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    with pytest.raises(InputError, match="holds nothing of 'audit'"):
        Store.open(tmp_path / "empty.db", mode=mode)  # type: ignore[arg-type]
    assert (tmp_path / "empty.db").read_bytes() == b""


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_component_that_is_not_there_is_not_made(place: str | Path, mode: str) -> None:
    Store.open(place, GATE).close()
    before = rows_of(place)
    with Store.open(place, GATE, mode=mode) as store:  # type: ignore[arg-type]
        assert HistoryStore(store).histories() == []
        with pytest.raises(InputError, match="holds nothing of 'budgets'"):
            Budgets(store)
    assert rows_of(place) == before


def test_nothing_can_be_written_to_what_was_opened_to_be_read(place: str | Path) -> None:
    with Store.open(place) as store:
        AuditLog(store).append("first", {})
    with Store.open(place, mode="read") as store:
        assert [entry.event for entry in AuditLog(store).entries()] == ["first"]
        with pytest.raises(InputError, match="read only"):
            AuditLog(store).append("second", {})
        with store.reading() as connection, pytest.raises(SQLAlchemyError):  # the database itself refuses
            connection.execute(sa.text("CREATE TABLE more (a INTEGER)"))


def test_a_name_with_signs_of_an_address_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20d é.db"
    with Store.open(path) as store:
        AuditLog(store).append("first", {})
    with Store.open(path, mode="read") as store:
        assert AuditLog(store).verify() == 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_store_whose_writer_was_killed_needs_recovery_which_its_owner_does(tmp_path: Path) -> None:
    """The journal of a transaction that was half written: a reader may not roll it back, a writer does."""
    path = tmp_path / "state.db"
    with Store.open(path) as store:
        AuditLog(store).append("kept", {})
        whole = path.read_bytes()
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE half (content BLOB)")
        for _ in range(100):
            connection.execute("INSERT INTO half VALUES (randomblob(4000))")
        os._exit(0)
    os.waitpid(child, 0)
    journal = path.with_name("state.db-journal")
    assert journal.exists()
    assert path.read_bytes() != whole
    before = path.read_bytes(), journal.read_bytes()
    with pytest.raises(InputError, match=r"needs recovery.*nothing was changed"):
        Store.open(path, mode="read")
    assert (path.read_bytes(), journal.read_bytes()) == before
    with Store.open(path) as store:
        assert AuditLog(store).verify() == 1
    with Store.open(path, mode="read") as store:
        assert AuditLog(store).verify() == 1


def test_an_opening_that_finds_this_version_waits_for_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        Store.open(path).close()
        assert time.monotonic() - start < 25, "busy_timeout is 30 seconds"
        writer.execute("ROLLBACK")


# ---------------------------------------------------------------------- tarn store


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["store", *words])
    assert ended.value.code == code
    found = capsys.readouterr()
    return found.out + found.err


def test_status_shows_versions_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = unpacked("service", tmp_path / "old")
    before = files(tmp_path)
    text = told(capsys, "status", str(path))
    assert "audit       1 of 2" in text
    assert "earlier" in text
    assert files(tmp_path) == before
    assert "there is no store" in told(capsys, "status", str(tmp_path / "none.db"), code=2)


def test_tidy_drops_what_is_empty_and_unused_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = unpacked("exchange", tmp_path / "old")
    before = path.read_bytes()
    assert "start what writes to it first" in told(capsys, "tidy", str(path), code=2)
    assert path.read_bytes() == before
    Store.open(path, COMPONENTS["exchange"][1]).close()
    kept = rows_of(path)
    assert "dropped vault_members" in told(capsys, "tidy", str(path))
    assert {name: rows for name, rows in kept.items() if rows}.items() <= rows_of(path).items()
    left = {name for name in rows_of(path) if name.startswith(("vault", "gate", "service", "releases"))}
    assert left == set()
    assert len(list(path.parent.glob("*backup"))) == 1
    assert "removed" in told(capsys, "tidy", str(path), "--backups")
    assert list(path.parent.glob("*backup")) == []
    assert "nothing to tidy" in told(capsys, "tidy", str(path))
    Store.open(path, COMPONENTS["vault"][1]).close()  # what was dropped can be made again
