"""What is kept of an old store, and which stores are refused."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import InputError, OutputError, VerificationError
from tarnkappe.state import AuditLog, Store
from tests.exchange.test_desk import desk
from tests.state.old_stores import ALL, COMPONENTS, guarded, rows_of, unpacked


@pytest.fixture(params=sorted(COMPONENTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_old_store_is_kept_beside_and_only_its_owner_can_read_it(name: str, tmp_path: Path) -> None:
    path, component = unpacked(name, tmp_path / "old"), COMPONENTS[name][1]
    before = rows_of(path)
    for _ in range(2):
        with Store.open(path, component) as store:
            told = [e.details for e in AuditLog(store).entries() if e.event == "store migrated"]
    copy = path.with_name(f"{path.name}.v1-backup")
    assert sorted(each.name for each in path.parent.glob("*backup*")) == [copy.name]
    assert {each["backup"] for each in told} == {copy.name}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert rows_of(copy) == before
    Store.open(copy, component).close()  # and it is a store of 0.1.0 itself


def test_a_second_copy_does_not_replace_the_first(tmp_path: Path) -> None:
    path = unpacked("vault", tmp_path / "old")
    Store.open(path).close()  # the log alone
    Store.open(path, COMPONENTS["vault"][1]).close()
    names = sorted(each.name for each in path.parent.glob("*backup*"))
    assert names == ["vault.db.v1-backup", "vault.db.v1-backup-2"]
    assert "log_entries" not in rows_of(path.with_name(names[0]))
    assert "log_entries" in rows_of(path.with_name(names[1]))


def test_a_copy_that_cannot_be_made_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unpacked("budgets", tmp_path / "old")
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarnkappe.state.migrating.os.fsync", full)
    with pytest.raises(OutputError, match=r"No space left.*nothing was changed"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_new_store_is_not_copied(tmp_path: Path) -> None:
    Store.open(tmp_path / "new.db", *ALL).close()
    assert [each.name for each in tmp_path.iterdir()] == ["new.db"]


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("mode", ["create", "write", "read"])
def test_a_newer_store_is_refused_and_left_as_it_is(name: str, mode: Any, tmp_path: Path) -> None:
    component = COMPONENTS[name][1]
    path = tmp_path / "new.db"
    Store.open(path, component).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE tarnkappe_schema SET version = 99, by_version = '7.8'")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"version 99 of .* Tarnkappe 7\.8.*nothing was changed"):
        Store.open(path, component, mode=mode)
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", ["create", "write", "read"])
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE vault_members ADD COLUMN more VARCHAR",
        "ALTER TABLE vault_members RENAME COLUMN person TO who",
        "DROP TABLE vault_members",
        "CREATE TABLE vault_roots (project VARCHAR)",
        "ALTER TABLE audit_log RENAME COLUMN hash TO sum",
    ],
)
def test_a_store_that_no_version_writes_is_refused_and_left_as_it_is(
    change: str, mode: Any, tmp_path: Path
) -> None:
    path = unpacked("vault", tmp_path / "old")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"another version of Tarnkappe.*nothing was changed"):
        Store.open(path, COMPONENTS["vault"][1], mode=mode)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.glob("*backup*")] == []


def test_who_only_reads_leaves_an_old_store_as_it_is(name: str, tmp_path: Path) -> None:
    path, component = unpacked(name, tmp_path / "old"), COMPONENTS[name][1]
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"earlier version.*nothing was changed"):
        Store.open(path, component, mode="read")
    assert path.read_bytes() == before


# ---------------------------------------------------------------------- who can write to the database


def made_old_again(path: Path) -> None:
    """Whoever can write to the database lets it look like one of version 0.1.0 again."""
    with closing(sqlite3.connect(path)) as connection:
        for table in ("exchange_tellings", "exchange_ledger"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM tarnkappe_schema WHERE component = 'exchange'")
        connection.execute("DELETE FROM exchange_withdrawals")
        connection.commit()


def test_a_store_that_was_made_old_again_is_not_taken_over_again(tmp_path: Path) -> None:
    path = unpacked("exchange", tmp_path / "old")
    with guarded(path) as store:
        desk(store)
    made_old_again(path)
    before = path.read_bytes()
    with guarded(path) as store, pytest.raises(VerificationError, match="its log says that it is none"):
        desk(store)
    assert path.read_bytes() == before


def test_a_new_store_that_was_made_old_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    with guarded(path) as store:
        desk(store).withdraw_patient("P13")
    made_old_again(path)
    with guarded(path) as store, pytest.raises(VerificationError, match="its log says that it is none"):
        desk(store)


def test_a_component_that_the_log_knows_in_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = unpacked("vault", tmp_path / "old")
    Store.open(path, COMPONENTS["vault"][1]).close()
    with closing(sqlite3.connect(path)) as connection:
        for table in ("vault_roots", "vault_member_proofs"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM tarnkappe_schema WHERE component = 'vault'")
        connection.commit()
    with pytest.raises(VerificationError, match="the log says that 'vault' was brought to version 2"):
        Store.open(path, COMPONENTS["vault"][1])
