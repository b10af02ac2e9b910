"""The audit log: what was decided and when, in the order in which it happened.

The entries are the leaves of a Merkle tree (`merkle.py`). Every entry is kept with the root of the tree up
to it, which stands for all entries so far; so one cannot be changed, put in or taken out of the middle
without changing all roots after it.

What that is worth depends on what the log is guarded by:

- **Nothing** (a plain store): accidents are noticed, and whatever contradicts a `head` that somebody kept
  elsewhere. Who can write to the database and knows this program can rewrite the log as a whole, or cut its
  end, and nobody notices who has not kept a head. The triggers are a fence against accidents: whoever owns
  the database can take them away.
- **Seals and a head file** (`guard`): every entry and the frontier of the tree are sealed with a key. Who
  can write to the database, and has neither the key nor the head file, cannot add or change an entry, nor
  cut the end, nor put an older database back, unnoticed.

Stores of earlier versions have a chain of hashes instead, in a table of its own. It stays as it is, can
still be verified, and its last hash is in the first leaf of the tree.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import ParameterError, VerificationError
from tarnkappe.state.audit_reading import _behind, _details, _require, _require_not_before, _said
from tarnkappe.state.chain import BEGINNING, TAMPERED, chain_entries, last_of_chain, verified_chain
from tarnkappe.state.log_tables import (
    FRONTIER,
    LOG,
    entry_statement,
    frontier_statement,
    sealed_entry,
    without_floats,
)
from tarnkappe.state.merkle import Frontier, consistency_proof, leaf_hash
from tarnkappe.state.statement import Seals, Statement
from tarnkappe.state.store import Store

CARRIED_OVER, SEALED = "log carried over", "log sealed"
"""The first entry after those of an earlier version; the first one that is sealed, if there are others
before."""
AT_ITS_END = "at its end, which is not as it was left"


@dataclasses.dataclass(frozen=True)
class AuditEntry:
    """One entry of the log.

    Attributes:
        previous: stands for all entries before it.
        hash: stands for all entries up to it; whoever keeps it elsewhere can tell later whether they are
            still there.
    """

    number: int
    time: str
    event: str
    details: Mapping[str, Any]
    previous: str
    hash: str


@dataclasses.dataclass(frozen=True, eq=False)
class VerifiedEntries:
    """What was found when a log was verified last; entries that still stand there so are not verified anew.

    Every entry is read each time and compared, so one that was changed since is noticed as ever.
    """

    seals: Seals | None
    chain: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    tree: Frontier
    roots: Sequence[str]
    entries: Sequence[AuditEntry]
    sealed: bool

    def begins(
        self, seals: Seals | None, chain: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Whether a log begins with exactly these entries, and is guarded by the same key."""
        return seals is self.seals and chain == self.chain and rows[: len(self.rows)] == self.rows


class AuditLog:
    """The log of a store.

    >>> log = AuditLog(Store.in_memory())
    >>> log.append("released", {"name": "March", "rows": 120}).number
    1
    >>> [entry.event for entry in log.entries()], log.verify()
    (['released'], 1)
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def append(
        self, event: str, details: Mapping[str, Any], connection: sa.Connection | None = None
    ) -> AuditEntry:
        """Add an entry; it is durable when this returns.

        Args:
            event: what happened.
            details: plain data about it; never put cells of a table here. Numbers with a point become texts.
            connection: the transaction of `Store.writing` that the entry belongs to, so that both are
                written or neither.

        Raises:
            VerificationError: if the end of the log is not as it was left.
        """
        if connection is None:
            with self.store.writing() as opened:
                return self.append(event, details, opened)
        tree, last, sealed = self._current_end(connection)
        if tree.size == 0 and last.number:
            told = {"entries": last.number, "head": last.hash}
            last = self._add(connection, tree, last, CARRIED_OVER, told)
        elif self.store.seals is not None and tree.size and not sealed:
            last = self._add(connection, tree, last, SEALED, {"entries": last.number, "head": last.hash})
        return self._add(connection, tree, last, event, details)

    def _current_end(self, connection: sa.Connection) -> tuple[Frontier, AuditEntry, bool]:
        """The same, if the database is not older than the head file; for a transaction that writes."""
        tree, last, sealed = self._end(connection)
        if self.store.heads is not None:
            _require_not_before(self.store.heads.read(), tree, sealed)
        return tree, last, sealed

    def _end(self, connection: sa.Connection) -> tuple[Frontier, AuditEntry, bool]:
        """The frontier and the last entry, if they are those that were left, and whether they are sealed."""
        row = connection.execute(sa.select(FRONTIER)).first()
        newest = connection.execute(sa.select(LOG).order_by(LOG.c.number.desc()).limit(1)).first()
        seals = self.store.seals
        sealed = seals is not None and row is not None and seals.is_own(row.seal)
        try:
            roots = [] if row is None else [bytes.fromhex(each) for each in row.roots.split()]
            tree = Frontier(0 if row is None else row.size, roots)
        except (ValueError, AttributeError, TypeError):
            raise VerificationError(
                "state.tampered-at-its-end",
                "{tampered} {at_its_end}",
                tampered=TAMPERED,
                at_its_end=AT_ITS_END,
            ) from None
        if seals is not None and row is not None and sealed:
            _require(seals, frontier_statement(tree), row.seal, AT_ITS_END)
        if (BEGINNING if newest is None else newest.root) != (tree.root.hex() if tree.size else BEGINNING):
            raise VerificationError(
                "state.tampered-at-its-end",
                "{tampered} {at_its_end}",
                tampered=TAMPERED,
                at_its_end=AT_ITS_END,
            )
        if newest is None:
            last = last_of_chain(connection)
            number, old = (0, BEGINNING) if last is None else last
            return tree, AuditEntry(number, "", "", {}, "", old), sealed
        return tree, AuditEntry(newest.number, newest.time, newest.event, {}, "", newest.root), sealed

    def _add(
        self,
        connection: sa.Connection,
        tree: Frontier,
        last: AuditEntry,
        event: str,
        details: Mapping[str, Any],
    ) -> AuditEntry:
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        number, plain = last.number + 1, without_floats(details)
        entry = entry_statement(number, time, event, plain)
        tree.add(entry.bytes)
        root, seals = tree.root.hex(), self.store.seals
        connection.execute(
            sa.insert(LOG).values(
                number=number,
                time=time,
                event=event,
                details=json.dumps(plain, ensure_ascii=False),
                root=root,
                seal=None if seals is None else seals.seal(sealed_entry(entry, root)),
            )
        )
        values = {
            "id": 1,
            "size": tree.size,
            "roots": " ".join(each.hex() for each in tree.roots),
            "seal": None if seals is None else seals.seal(frontier_statement(tree)),
        }
        if not connection.execute(sa.update(FRONTIER).values(values)).rowcount:
            connection.execute(sa.insert(FRONTIER).values(values))
        self.store.log_grew(tree.size, root)
        return AuditEntry(number, time, event, plain, last.hash, root)

    def is_empty(self, connection: sa.Connection) -> bool:
        """Whether nothing was ever logged."""
        return self._end(connection)[1].number == 0

    def has_tree(self, connection: sa.Connection) -> bool:
        """Whether anything was logged since version 0.1.0."""
        return self._end(connection)[0].size > 0

    def entries(self, connection: sa.Connection | None = None) -> Iterator[AuditEntry]:
        """All entries, the oldest first; as a transaction sees them, if one is given."""
        (chain, rows, _), previous = self._read(connection), BEGINNING
        for row in chain:
            yield AuditEntry(**{**row, "details": _details(row)})
            previous = row["hash"]
        for row in rows:
            yield AuditEntry(row["number"], row["time"], row["event"], _details(row), previous, row["root"])
            previous = row["root"]

    def newest(self, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The last entries, or the last before a number, the newest first; no more than these are read."""
        past = sa.true() if before is None else LOG.c.number < before
        asked = sa.select(LOG).where(past).order_by(LOG.c.number.desc()).limit(limit)
        with self.store.reading() as connection:
            rows = [dict(row) for row in connection.execute(asked).mappings()]
        return [AuditEntry(r["number"], r["time"], r["event"], _details(r), "", r["root"]) for r in rows]

    @property
    def head(self) -> str:
        """Stands for the whole log; kept elsewhere, it shows later whether all of it is still there."""
        chain, rows, _ = self._read()
        if rows:
            return str(rows[-1]["root"])
        return str(chain[-1]["hash"]) if chain else BEGINNING

    def signed_head(self) -> dict[str, Any]:
        """The head as plain data with the institution's signature, for others to keep."""
        assert self.store.heads is not None, "a log without a head file has nobody to sign for it"
        return self.store.heads.signed(*self.end)

    @property
    def end(self) -> tuple[int, str]:
        """The number of leaves of the tree and its root."""
        with self.store.reading() as connection:
            tree, _, _ = self._end(connection)
        return tree.size, tree.root.hex()

    @property
    def is_sealed(self) -> bool:
        """Whether entries are sealed already."""
        with self.store.reading() as connection:
            return self._end(connection)[2]

    def begin_sealing(self) -> None:
        """Vouch for the entries that are not sealed by one that is; nothing if there are none."""
        with self.store.reading() as connection:
            _, last, sealed = self._end(connection)
        if last.number == 0 or sealed:
            return
        with self.store.writing() as connection:
            tree, last, sealed = self._current_end(connection)
            if not sealed:
                event = SEALED if tree.size else CARRIED_OVER
                self._add(connection, tree, last, event, {"entries": last.number, "head": last.hash})

    def consistency(self, size: int, later: int) -> list[str]:
        """The proof that the log of the later size begins with all entries of the earlier one."""
        if size in (0, later):
            return []
        leaves = self._leaves()
        if not 0 <= size <= later <= len(leaves):
            raise VerificationError("state.log-fewer-entries", "the log has fewer entries than that")
        return [each.hex() for each in consistency_proof(leaves[:later], size)]

    def root_at(self, size: int) -> str | None:
        """The root of the tree over the first entries; None if there are fewer."""
        if size == 0:
            return Frontier().root.hex()
        ordered = sa.select(LOG.c.root).order_by(LOG.c.number).limit(1).offset(size - 1)
        with self.store.reading() as connection:
            return connection.execute(ordered).scalar()

    def _leaves(self) -> list[bytes]:
        return [leaf_hash(_statement(row).bytes) for row in self._read()[1]]

    def verify(self, head: str | None = None) -> int:
        """Check every entry, and the head file if there is one; returns how many entries there are.

        Args:
            head: a head that was kept elsewhere; the log must still contain it.

        Raises:
            VerificationError: if the log was tampered with; says at which entry.
        """
        entries = self.verified()
        if head is not None and head not in {BEGINNING, *(entry.hash for entry in entries)}:
            raise VerificationError(
                "state.audit-log-lacks-entries",
                "the audit log lacks entries that it had: its end was cut off, or it was rewritten",
            )
        return len(entries)

    def verified(self, connection: sa.Connection | None = None) -> list[AuditEntry]:
        """All entries, after they were checked; as a transaction sees them, if one is given.

        Raises:
            VerificationError: if the log was tampered with; says at which entry.
        """
        # Read first: what is added while the entries are read may be in the file and not among them.
        kept = None if self.store.heads is None else self.store.heads.read()
        chain, rows, frontier = self._read(connection)
        seals = self.store.seals
        read = self.store.verified_log
        if read is None or not read.begins(seals, chain, rows):
            read = VerifiedEntries(
                seals, chain, (), Frontier(), (Frontier().root.hex(),), self._chain(chain), False
            )
        found, tree, sealed = list(read.entries), Frontier(read.tree.size, read.tree.roots), read.sealed
        roots, previous = list(read.roots), found[-1].hash if found else BEGINNING
        for place, row in enumerate(rows[tree.size :], start=len(chain) + tree.size + 1):
            entry = _statement(row)
            tree.add(entry.bytes)
            roots.append(tree.root.hex())
            told = {"entries": place - 1, "head": previous}
            wrong = row["number"] != place or row["root"] != roots[-1]
            wrong |= bool(chain) and tree.size == 1 and _said(row, CARRIED_OVER) != told
            if seals is not None and (sealed or seals.is_own(row["seal"])):
                # Entries that are not sealed with this key are vouched for by the first one that is.
                wrong |= not sealed and tree.size > 1 and _said(row, SEALED) != told
                sealed = True
                _require(seals, sealed_entry(entry, roots[-1]), row["seal"], f"at entry {place}")
            if wrong:
                raise VerificationError(
                    "state.tampered-place-entry",
                    "{tampered} at entry {place}",
                    tampered=TAMPERED,
                    place=place,
                )
            found.append(
                AuditEntry(row["number"], row["time"], row["event"], _details(row), previous, roots[-1])
            )
            previous = roots[-1]
        self._verify_frontier(frontier, tree, sealed)
        if seals is not None and rows and not sealed:
            raise VerificationError(
                "state.no-entry-written", "{tampered}: no entry was written here", tampered=TAMPERED
            )
        if kept is not None and (kept.size > tree.size or (kept.size and not sealed)):
            raise VerificationError.because(_behind(kept, tree.size))
        if kept is not None and roots[kept.size] != kept.root:
            raise VerificationError(
                "state.not-head-file-knows",
                "{tampered}: it is not the one that the head file knows",
                tampered=TAMPERED,
            )
        self.store.verified_log = VerifiedEntries(seals, chain, rows, tree, roots, found, sealed)
        return list(found)

    @staticmethod
    def _chain(chain: Sequence[dict[str, Any]]) -> list[AuditEntry]:
        return [AuditEntry(**{**row, "details": _details(row)}) for row in verified_chain(chain)]

    def _verify_frontier(self, row: Mapping[str, Any] | None, tree: Frontier, sealed: bool) -> None:
        said = (0, "") if row is None else (row["size"], row["roots"])
        if said != (tree.size, " ".join(each.hex() for each in tree.roots)):
            raise VerificationError(
                "state.tampered-at-its-end",
                "{tampered} {at_its_end}",
                tampered=TAMPERED,
                at_its_end=AT_ITS_END,
            )
        if sealed and self.store.seals is not None:
            seal = None if row is None else row["seal"]
            _require(self.store.seals, frontier_statement(tree), seal, AT_ITS_END)

    def _read(
        self, connection: sa.Connection | None = None
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any] | None]:
        if connection is None:
            with self.store.reading() as opened:
                return self._read(opened)
        chain = chain_entries(connection)
        rows = [dict(row._mapping) for row in connection.execute(sa.select(LOG).order_by(LOG.c.number))]
        frontier = connection.execute(sa.select(FRONTIER)).first()
        return chain, rows, None if frontier is None else dict(frontier._mapping)


def _statement(row: Mapping[str, Any]) -> Statement:
    try:
        return entry_statement(row["number"], row["time"], row["event"], _details(row))
    except (ValueError, TypeError, ParameterError):
        raise VerificationError(
            "state.tampered-number-entry",
            "{tampered} at entry {number}",
            tampered=TAMPERED,
            number=row["number"],
        ) from None
