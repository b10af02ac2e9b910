"""The audit log, on both databases: what an attacker who owns the database can do, with and without a key there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import AccessError, VerificationError
from tarnkappe.state import AuditLog, Head, HeadFile, Key, Seals, Signer, Store, guard
from tarnkappe.state.chain import CHAIN
from tarnkappe.state.log_tables import FRONTIER, LOG, entry_statement
from tarnkappe.state.merkle import (
    EMPTY,
    Frontier,
    consistency_proof,
    is_consistent,
    leaf_hash,
    pair_hash,
    root_of,
)

OWN = Key(bytes([7] * 32))


def guarded(store: Store, folder: Path) -> AuditLog:
    guard(store, Seals(OWN), HeadFile(folder / "log.head", "B", Signer(OWN)))
    return AuditLog(store)


def disarm(store: Store) -> None:
    """An attacker who owns the database takes away its triggers."""
    with store.writing() as connection:
        if connection.dialect.name == "sqlite":
            for action in ("update", "delete"):
                connection.execute(sa.text(f"DROP TRIGGER log_entries_no_{action}"))
        else:
            connection.execute(sa.text("DROP TRIGGER log_entries_no_change ON log_entries"))


def test_entries_come_back_in_their_order_with_their_heads(store: Store) -> None:
    log = AuditLog(store)
    written = [log.append("released", {"name": f"release {i}", "ü": [1, None]}) for i in range(3)]
    assert list(log.entries()) == written
    assert [entry.previous for entry in written[1:]] == [entry.hash for entry in written[:-1]]
    assert log.verify() == 3
    assert log.verify(written[1].hash) == 3
    assert log.head == written[-1].hash


def test_no_event_is_lost_because_of_a_number_in_it(store: Store) -> None:
    log = AuditLog(store)
    entry = log.append("x", {"half": 0.5, "many": 2**60, "all": [1.0], "no": float("nan"), "odd": "\ud800"})
    assert entry.details == {"half": "0.5", "many": str(2**60), "all": ["1.0"], "no": "nan", "odd": "?"}
    assert list(log.entries()) == [entry]
    assert log.verify() == 1


def test_the_database_refuses_accidental_changes(store: Store) -> None:
    log = AuditLog(store)
    log.append("decided", {"allowed": False})
    for statement in (sa.update(LOG).values(event="x"), sa.delete(LOG)):
        with pytest.raises(sa.exc.DBAPIError, match="not changed"), store.writing() as connection:
            connection.execute(statement)
    assert log.verify() == 1


TAMPERINGS = {
    "details": sa.update(LOG).where(LOG.c.number == 2).values(details='{"allowed": true}'),
    "no details": sa.update(LOG).where(LOG.c.number == 2).values(details="{"),
    "float": sa.update(LOG).where(LOG.c.number == 2).values(details="1.5"),
    "time": sa.update(LOG).where(LOG.c.number == 3).values(time="2001-01-01"),
    "event": sa.update(LOG).where(LOG.c.number == 1).values(event="x"),
    "root": sa.update(LOG).where(LOG.c.number == 2).values(root="0" * 64),
    "middle": sa.delete(LOG).where(LOG.c.number == 2),
    "first": sa.delete(LOG).where(LOG.c.number == 1),
    "last": sa.delete(LOG).where(LOG.c.number == 3),
    "all": sa.delete(LOG),
    "number": sa.update(LOG).where(LOG.c.number == 3).values(number=7),
    "frontier": sa.update(FRONTIER).values(size=2),
    "no frontier": sa.delete(FRONTIER),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_whoever_changes_the_log_without_recomputing_it_is_noticed(store: Store, tampering: str) -> None:
    log = AuditLog(store)
    for allowed in (True, False, True):
        log.append("decided", {"allowed": allowed})
    disarm(store)
    with store.writing() as connection:
        connection.execute(TAMPERINGS[tampering])
    with pytest.raises(VerificationError, match="tampered"):
        log.verify()


def rewritten(store: Store, keep: int, events: list[str]) -> None:
    """An attacker who has this program but no key writes a log that begins as it was and goes on as he likes."""
    with store.reading() as connection:
        rows = [dict(row._mapping) for row in connection.execute(sa.select(LOG).order_by(LOG.c.number))][
            :keep
        ]
    disarm(store)
    with store.writing() as connection:
        connection.execute(sa.delete(LOG))
        connection.execute(sa.delete(FRONTIER))
    own = AuditLog(Store(store.engine, store.place))
    for row in rows:
        own.append(row["event"], json.loads(row["details"]))
    for event in events:
        own.append(event, {})


@pytest.mark.parametrize("events", [[], ["forged"], ["forged"] * 5], ids=["cut", "rewritten", "longer"])
def test_who_recomputes_an_unguarded_log_is_noticed_by_a_kept_head_only(
    store: Store, events: list[str]
) -> None:
    log = AuditLog(store)
    log.append("one", {})
    head = log.append("two", {}).hash
    rewritten(store, 1, events)
    assert log.verify() == 1 + len(events)
    with pytest.raises(VerificationError, match="cut off, or it was rewritten"):
        log.verify(head)


@pytest.mark.parametrize("keep", range(4))
@pytest.mark.parametrize("events", [[], ["forged"], ["forged"] * 5], ids=["cut", "rewritten", "longer"])
def test_who_recomputes_a_guarded_log_is_noticed(
    store: Store, tmp_path: Path, keep: int, events: list[str]
) -> None:
    log = guarded(store, tmp_path)
    for number in range(4):
        log.append("done", {"number": number})
    rewritten(store, keep, events)
    with pytest.raises(VerificationError):
        log.verify()
    with pytest.raises(VerificationError):
        log.append("next", {})
    with pytest.raises(VerificationError):
        guarded(Store(store.engine, store.place), tmp_path).verify()


def copied(path: Path) -> Path:
    """Yesterday's database."""
    copy = path.with_suffix(".yesterday")
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    return copy


def test_a_database_of_yesterday_is_noticed_by_the_head_file(tmp_path: Path) -> None:
    log = guarded(Store.open(tmp_path / "log.db"), tmp_path)
    log.append("one", {})
    yesterday = copied(tmp_path / "log.db")
    log.append("two", {})
    log.store.close()
    yesterday.replace(tmp_path / "log.db")
    again = guarded(Store.open(tmp_path / "log.db"), tmp_path)
    with pytest.raises(VerificationError, match="older than the head"):
        again.verify()
    with pytest.raises(VerificationError, match="older than the head"):
        again.append("three", {})
    accepted = Store.open(tmp_path / "log.db")
    guard(accepted, Seals(OWN), HeadFile(tmp_path / "log.head", "B", Signer(OWN)), accept=True)
    AuditLog(accepted).append("three", {})
    assert AuditLog(accepted).verify() == 2


def test_entries_of_two_copies_of_a_log_do_not_mix(tmp_path: Path) -> None:
    """Both are sealed with the same key: what was sealed in one copy is not valid after the entries of the other."""
    log = guarded(Store.open(tmp_path / "log.db"), tmp_path)
    log.append("one", {})
    other = tmp_path / "other"
    other.mkdir()
    copied(tmp_path / "log.db").replace(other / "log.db")
    (other / "log.head").write_bytes((tmp_path / "log.head").read_bytes())
    twin = guarded(Store.open(other / "log.db"), other)
    log.append("refused", {})
    twin.append("allowed", {})
    log.append("last", {})
    with twin.store.reading() as connection:
        row = dict(connection.execute(sa.select(LOG).where(LOG.c.number == 2)).one()._mapping)
    disarm(log.store)
    with log.store.writing() as connection:
        connection.execute(sa.update(LOG).where(LOG.c.number == 2).values(row))
    with pytest.raises(VerificationError, match="entry 3"):
        log.verify()


def test_a_head_file_that_a_crash_left_behind_the_database_is_repaired(tmp_path: Path) -> None:
    log = guarded(Store.open(tmp_path / "log.db"), tmp_path)
    log.append("one", {})
    before = (tmp_path / "log.head").read_bytes()
    log.append("two", {})
    (tmp_path / "log.head").write_bytes(before)
    again = guarded(Store.open(tmp_path / "log.db"), tmp_path)
    assert again.verify() == 2
    again.append("three", {})
    kept = HeadFile(tmp_path / "log.head", "B", Signer(OWN)).read()
    assert kept is not None
    assert (kept.size, kept.root) == (3, again.head)


def test_a_head_file_that_is_gone_or_forged_is_noticed(tmp_path: Path) -> None:
    guarded(Store.open(tmp_path / "log.db"), tmp_path).append("one", {})
    place = tmp_path / "log.head"
    signed = json.loads(place.read_bytes())
    place.unlink()
    with pytest.raises(VerificationError, match="gone"):
        guarded(Store.open(tmp_path / "log.db"), tmp_path)
    forged: list[Any] = [
        [],
        {},
        {"head": 1},
        {"head": {**signed["head"], "size": 0}, "signature": signed["signature"]},
    ]
    for document in [*forged, {**signed, "signature": "00"}]:
        place.write_text(json.dumps(document))
        with pytest.raises(VerificationError, match="no head"):
            guarded(Store.open(tmp_path / "log.db"), tmp_path)


def test_a_log_can_be_guarded_later(store: Store, tmp_path: Path) -> None:
    plain = AuditLog(store)
    plain.append("before", {})
    log = guarded(Store(store.engine, store.place), tmp_path)
    log.append("after", {})
    assert [entry.event for entry in log.entries()] == ["before", "log sealed", "after"]
    assert log.verify() == 3
    disarm(store)
    with store.writing() as connection:
        connection.execute(sa.update(LOG).where(LOG.c.number == 1).values(event="forged"))
    with pytest.raises(VerificationError, match="entry 1"):
        log.verify()


def old_store(path: Path, events: list[str]) -> None:
    """A store as the version before wrote it, with a chain of hashes."""
    import hashlib

    previous = "0" * 64
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE audit_log (number BIGINT NOT NULL PRIMARY KEY, time VARCHAR NOT NULL, event VARCHAR NOT NULL,"
            " details TEXT NOT NULL, previous VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL)"
        )
        for number, event in enumerate(events, start=1):
            parts = [number, "2026-01-01", event, '{"a": 0.5}', previous]
            own = hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
            connection.execute("INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?)", [*parts, own])
            previous = own


@pytest.mark.parametrize("with_key", [False, True], ids=["plain", "guarded"])
def test_a_log_of_the_version_before_goes_on_and_its_head_is_the_first_leaf(
    tmp_path: Path, with_key: bool
) -> None:
    old_store(tmp_path / "log.db", ["one", "two"])
    with sqlite3.connect(tmp_path / "log.db") as connection:
        [old_head] = connection.execute("SELECT hash FROM audit_log WHERE number = 2").fetchone()
    store = Store.open(tmp_path / "log.db")
    assert AuditLog(store).verify(old_head) == 4
    log = guarded(store, tmp_path) if with_key else AuditLog(store)
    log.append("three", {})
    carried = ["one", "two", "log carried over", "store migrated", *["log sealed"] * with_key, "three"]
    assert [entry.event for entry in log.entries()] == carried
    assert [entry.number for entry in log.entries()] == list(range(1, len(carried) + 1))
    assert list(log.entries())[2].details == {"entries": 2, "head": old_head}
    assert log.verify(old_head) == len(carried)


@pytest.mark.parametrize(
    "change",
    [
        sa.update(CHAIN).where(CHAIN.c.number == 1).values(event="x"),
        sa.delete(CHAIN).where(CHAIN.c.number == 2),
        sa.delete(CHAIN),
        sa.text("DROP TABLE audit_log"),
    ],
    ids=["changed", "cut", "emptied", "dropped"],
)
def test_a_log_of_the_version_before_cannot_be_changed_later(tmp_path: Path, change: sa.Executable) -> None:
    old_store(tmp_path / "log.db", ["one", "two"])
    store = Store.open(tmp_path / "log.db")
    log = AuditLog(store)
    log.append("three", {})
    with store.writing() as connection:
        connection.execute(change)
    with pytest.raises(VerificationError):
        log.verify()


def test_roots_are_those_of_the_fixture() -> None:
    tree, roots = Frontier(), []
    for number in range(1, 6):
        tree.add(b'{"n":%d}' % number)
        roots.append(tree.root.hex())
    assert [root[:8] for root in roots[:4]] == ["fb5d93e6", "74ef9a53", "745dce0c", "3103f0bd"]
    assert roots[4] == "308ae0aeb159c6193800dc01947b73aeb5e67ff907a9c8dc607b4fc14fc45370"


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 9162, 2.1.1, word for word."""
    if len(leaves) < 2:
        return leaves[0] if leaves else EMPTY
    half = max(power for power in (1 << bit for bit in range(20)) if power < len(leaves))
    return pair_hash(naive_root(leaves[:half]), naive_root(leaves[half:]))


def test_proofs_hold_for_all_sizes_and_for_no_other_log() -> None:
    leaves = [leaf_hash(str(number).encode()) for number in range(64)]
    others = [leaf_hash(b"x"), *leaves[1:]]
    for later in range(65):
        root = root_of(leaves[:later])
        assert root == naive_root(leaves[:later])
        for size in range(later + 1):
            proof = consistency_proof(leaves[:later], size)
            assert is_consistent(size, root_of(leaves[:size]), later, root, proof)
            if 0 < size < later:
                assert not is_consistent(size, root_of(others[:size]), later, root, proof)
                assert not is_consistent(size, root_of(leaves[:size]), later, root_of(others[:later]), proof)
                assert not is_consistent(size, root_of(leaves[:size]), later, root, proof[1:])
                assert not is_consistent(size, root_of(leaves[:size]), later, root, [*proof, proof[-1]])


@given(st.integers(1, 40), st.data())
def test_a_proof_with_any_hash_changed_proves_nothing(later: int, data: st.DataObject) -> None:
    leaves = [leaf_hash(str(number).encode()) for number in range(later)]
    size = data.draw(st.integers(1, later))
    proof = consistency_proof(leaves, size)
    if proof:
        place = data.draw(st.integers(0, len(proof) - 1))
        proof[place] = data.draw(
            st.binary(min_size=32, max_size=32).filter(lambda each: each != proof[place])
        )
        assert not is_consistent(size, root_of(leaves[:size]), later, root_of(leaves), proof)


def test_a_log_proves_that_it_only_grew(store: Store, tmp_path: Path) -> None:
    log = guarded(store, tmp_path)
    public, heads = Signer(OWN).public, []
    for number in range(9):
        log.append("done", {"number": number})
        heads.append(Head.from_signed(log.signed_head(), public))
    for one in heads:
        for later in heads[one.size - 1 :]:
            proof = [bytes.fromhex(each) for each in log.consistency(one.size, later.size)]
            roots = bytes.fromhex(one.root), bytes.fromhex(later.root)
            assert is_consistent(one.size, roots[0], later.size, roots[1], proof)
    with pytest.raises(AccessError, match="forged"):
        Head.from_signed(log.signed_head(), Signer(Key(bytes(32))).public)


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("change", [{"event": "c"}, {"details": "{}"}, {"seal": None}, {"root": "0" * 64}])
def test_what_was_verified_before_is_still_compared(sealed: bool, change: dict[str, object]) -> None:
    """Entries are verified once; one that was changed since is noticed as ever."""
    store = Store.in_memory()
    if sealed:
        guard(store, Seals(OWN))
    log = AuditLog(store)
    for number in range(5):
        log.append("a", {"n": number})
    before = log.verified()
    with patch("tarnkappe.state.audit.entry_statement", side_effect=entry_statement) as read:
        assert log.verified() == before
        assert not read.called
        log.append("b", {})
        read.reset_mock()
        assert log.verified()[:-1] == before
        assert read.call_count == 1
    disarm(store)
    with store.writing() as connection:
        connection.execute(sa.update(LOG).where(LOG.c.number == 2).values(change))
    if change == {"seal": None} and not sealed:
        assert log.verify() == 6  # there was none
        return
    with pytest.raises(VerificationError, match="entry 2"):
        log.verified()


def test_adding_an_entry_does_not_read_the_log_again(store: Store) -> None:
    """As many statements after a thousand entries as after ten."""
    log, counts = AuditLog(store), []
    seen: list[str] = []
    sa.event.listen(store.engine, "before_cursor_execute", lambda *args: seen.append(args[2]))
    with store.writing() as connection:
        for number in range(1000):
            before = len(seen)
            log.append("done", {"number": number}, connection)
            counts.append(len(seen) - before)
    assert counts[10] == counts[-1]
    assert len(Frontier(1000, [b""] * 6).roots) == 6
