"""The store, on both databases, with writers at the same time and crashes."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from tarnkappe.errors import InputError
from tarnkappe.state import AuditLog, Store
from tarnkappe.state.log_tables import LOG


def test_writers_take_turns(place: str | Path) -> None:
    Store.open(place).close()

    def write(number: int) -> None:
        own = Store.open(place)
        for _ in range(5):
            AuditLog(own).append("written", {"by": number})
        own.close()

    threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = Store.open(place)
    assert AuditLog(store).verify() == 20
    store.close()


def test_a_failure_inside_a_transaction_leaves_nothing(store: Store) -> None:
    log = AuditLog(store)

    def fail() -> None:
        with store.writing() as connection:
            log.append("half", {}, connection)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert log.verify() == 0


def _append_and_die(path: Path, after_commit: bool) -> None:
    store = Store.open(path)
    log = AuditLog(store)
    log.append("whole", {})
    if after_commit:
        os._exit(9)
    with store.writing() as connection:
        log.append("half", {}, connection)
        os._exit(9)


@pytest.mark.parametrize("after_commit", [True, False])
def test_a_crash_loses_no_entry_and_leaves_no_half_one(tmp_path: Path, after_commit: bool) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=_append_and_die, args=(tmp_path / "state.db", after_commit)
    )
    process.start()
    process.join()
    assert process.exitcode == 9
    store = Store.open(tmp_path / "state.db")
    assert [entry.event for entry in AuditLog(store).entries()] == ["whole"]
    store.close()


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    Store.open(tmp_path / "folder" / "state.db").close()
    assert stat.S_IMODE((tmp_path / "folder" / "state.db").stat().st_mode) == 0o600


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, and long enough to be read as one" * 9)
    with pytest.raises(InputError, match=r"text\.db"):
        Store.open(tmp_path / "text.db")
    with pytest.raises(InputError, match="cannot be opened") as refused:
        Store.open("postgresql://ann:secret@127.0.0.1:1/clinic")
    assert "secret" not in str(refused.value)


def test_a_store_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "old.state"
    Store.open(place).close()
    with sa.create_engine(f"sqlite:///{place}").begin() as old:
        old.execute(sa.text(f"ALTER TABLE {LOG.name} RENAME COLUMN event TO what"))
    before = place.read_bytes()
    with pytest.raises(
        InputError, match=r"another version of Tarnkappe.*lacks event and has what.*new store"
    ):
        Store.open(place)
    assert place.read_bytes() == before


def test_who_reads_does_not_wait_for_who_writes(tmp_path: Path) -> None:
    """A page of the service must not stand still because a job writes how far it is."""
    store = Store.open(tmp_path / "state.db")
    with store.writing() as writer:
        AuditLog(store).append("written", {}, writer)
        start = time.monotonic()
        with store.reading() as reader:
            assert reader.execute(sa.text("SELECT count(*) FROM log_entries")).scalar() == 0
        assert time.monotonic() - start < 5, "busy_timeout is 30 seconds"
    with store.reading() as reader:
        assert reader.execute(sa.text("SELECT count(*) FROM log_entries")).scalar() == 1
    store.close()
