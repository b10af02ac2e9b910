"""Institutions witness each other's logs: whoever rewrites or cuts a log contradicts what others keep of it.

At every contact both show the signed head of their log, with the proof that it continues the one that the
other keeps (`state/merkle.py`). Who is shown one verifies it, keeps it, and co-signs it. A head that does not
continue the kept one is a contradiction: both are kept as evidence, it is logged, and nothing is exchanged
with that institution until a person has accepted its log as it is.

The idea is that of the witnesses of transparency logs (RFC 9162; C2SP tlog-witness). A head tells how many
entries a log has, so how busy a house is, and nothing else. What an institution never logged, nobody can
witness.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, InputError, ParameterError, VerificationError
from tarnkappe.exchange.network import Network
from tarnkappe.exchange.peer.witness_tables import CONTRADICTIONS, COSIGNED, HEADS, WITNESSES
from tarnkappe.exchange.staff import Duty, Staff
from tarnkappe.state import AuditLog, Head, Signer, Statement, Store, require_signature
from tarnkappe.state.merkle import EMPTY, is_consistent

CONTACT = 600.0
"""So many seconds after it has shown its head an institution may ask for other things."""
CONTRADICTED, ACCEPTED = "log contradicts itself", "log accepted"
"""What is logged: another institution's log does; a person has accepted it as it is."""

Document = Mapping[str, Any]


class Witnesses:
    """What an institution knows of the logs of others, and what others know of its own.

    Args:
        store: where it is kept, with the own log, which must be guarded.
        network: the other institutions, with their public keys.
        signer: signs for the own institution.
        institution: its name.
        ask: whose heads are asked for; everybody's if not said.
    """

    def __init__(
        self,
        store: Store,
        network: Network,
        signer: Signer,
        institution: str,
        ask: Collection[str] | None = None,
    ) -> None:
        store.ensure(WITNESSES)
        self._store, self._network, self._signer, self._own = store, network, signer, institution
        self._ask, self._log = ask, AuditLog(store)
        self._heard: dict[str, float] = {}
        self._lock = Lock()

    def asks(self, institution: str) -> bool:
        """Whether this institution's head is asked for."""
        return self._ask is None or institution in self._ask

    def held(self, institution: str) -> dict[str, Any] | None:
        """What is kept of another's log, co-signed, for that institution to compare."""
        with self._store.reading() as connection:
            kept = self._kept(connection, institution)
        return None if kept is None else self._cosigned(kept)

    def shown(self, witness: str, held: Document | None) -> dict[str, Any]:
        """The own head, with the proof that it continues what another keeps of it.

        If it does not, there is no proof: that the other notices is what it is for.
        """
        head = self._log.signed_head()
        size, is_own = self._size_of(witness, held)
        proof = self._log.consistency(size, head["head"]["size"]) if is_own else []
        return {"head": head, "proof": proof, "since": size}

    def _size_of(self, witness: str, held: Document | None) -> tuple[int, bool]:
        """How many entries another has seen, and whether they are those of the own log."""
        if held is None:
            return 0, True
        seen = self._require_cosigned(witness, held)
        if self._log.root_at(seen["size"]) == seen["root"]:
            return seen["size"], True
        with self._store.writing() as connection:
            self._contradict(connection, self._own, dict(held), self._log.signed_head())
        return seen["size"], False

    def require_own(self, witness: str, held: Document | None) -> None:
        """Refuse to go on if another has witnessed something else than the own log.

        Raises:
            VerificationError: if the own log was rewritten or cut, or the other has signed what is not true.
        """
        if not self._size_of(witness, held)[1]:
            raise VerificationError(
                "exchange.witnessed-another-log-institution",
                "'{witness}' has witnessed another log of this institution than the one that is here: an "
                "older database was put back, the log was rewritten, or the other is wrong",
                witness=witness,
            )

    def take(self, institution: str, document: Document) -> dict[str, Any] | None:
        """Take the head that another shows, if it continues what is kept of its log; the co-signature.

        Args:
            institution: who shows it, by its certificate.
            document: the head, its signature, the proof, and the size from which on the proof goes; what
                `shown` makes there.

        Returns:
            None if meanwhile more is known of that log: then a newer proof is needed.

        Raises:
            AccessError: if it is no head of that institution, or its log contradicts itself.
        """
        head, proof, since = self._read(institution, document)
        with self._store.writing() as connection:
            kept = self._kept(connection, institution)
            size, root = (0, EMPTY) if kept is None else (kept.size, bytes.fromhex(kept.root))
            forked = kept is not None and head.size == size and bytes.fromhex(head.root) != root
            if since != size and not forked:
                return None
            good = not forked and is_consistent(size, root, head.size, bytes.fromhex(head.root), proof)
            if good and (kept is None or head.size > size):
                values = {"institution": institution, "head": json.dumps(dict(document["head"]))}
                self._write(connection, HEADS, values)
            elif not good:
                signed = {} if kept is None else self._row(connection, HEADS, institution)
                known = json.loads(signed["head"]) if signed else {}
                self._contradict(connection, institution, known, dict(document["head"]))
        self.require_trusted(institution)
        with self._lock:
            self._heard[institution] = time.monotonic()
        return self._cosigned(head)

    def keep(self, witness: str, document: Document) -> None:
        """Keep that another has seen the own log up to some entry, with its signature."""
        seen = self._require_cosigned(witness, document)
        self.require_own(witness, document)
        with self._store.writing() as connection:
            kept = self._row(connection, COSIGNED, witness)
            if kept is None or kept["size"] < seen["size"]:
                values = {"witness": witness, "size": seen["size"], "document": json.dumps(dict(document))}
                self._write(connection, COSIGNED, values)

    def require_trusted(self, institution: str) -> None:
        """Refuse to exchange anything with an institution whose log contradicts itself."""
        with self._store.reading() as connection:
            open_ones = [each for each in self.contradictions(connection) if each["accepted_by"] is None]
        if any(each["institution"] == institution for each in open_ones):
            raise AccessError(
                "exchange.log-contradicts-itself-nothing-exchanged",
                "the log of '{institution}' contradicts itself: nothing is exchanged with it until somebody"
                " accepts it as it is (tarn exchange audit --accept-log-of '{institution}')",
                institution=institution,
            )

    def require_heard(self, institution: str) -> None:
        """Refuse whoever has not shown the head of its log at this contact."""
        self.require_trusted(institution)
        if not self.asks(institution):
            return
        with self._lock:
            heard = self._heard.get(institution)
        if heard is None or time.monotonic() - heard > CONTACT:
            raise AccessError("exchange.show-head-log-first", "show the head of your log first")

    def to_accept(self, institution: str, person: str) -> Statement:
        """What somebody signs who accepts the log of an institution as it is."""
        return Statement("accepted log", {"institution": institution, "person": person})

    def accept(self, institution: str, person: str, signature: str, staff: Staff) -> int:
        """A person accepts the log of an institution as it is; how many contradictions that settles.

        The evidence stays. What the institution has shown last is what it has to continue from now on.
        """
        known = staff.require(person, frozenset({Duty.AUDITOR}))
        require_signature(known.public_key, self.to_accept(institution, person), signature)
        with self._store.writing() as connection:
            found = [
                each
                for each in self.contradictions(connection)
                if each["institution"] == institution and each["accepted_by"] is None
            ]
            if not found:
                raise ParameterError(
                    "exchange.log-not-contradict-itself",
                    "the log of '{institution}' does not contradict itself",
                    institution=institution,
                )
            for each in found:
                self._write(connection, CONTRADICTIONS, {**each, "accepted_by": person})
            if institution != self._own:
                newest = {"institution": institution, "head": found[-1]["shown"]}
                self._write(connection, HEADS, newest)
            told = {"institution": institution, "by": person, "signature": signature}
            self._log.append(ACCEPTED, told, connection)
        return len(found)

    def contradictions(self, connection: sa.Connection | None = None) -> list[dict[str, Any]]:
        """The evidence that was ever kept, the oldest first."""
        if connection is None:
            with self._store.reading() as opened:
                return self.contradictions(opened)
        rows = connection.execute(sa.select(CONTRADICTIONS).order_by(CONTRADICTIONS.c.time)).all()
        return [self._opened(CONTRADICTIONS, row) for row in rows]

    def seen(self) -> dict[str, Document]:
        """Which heads of the own log others have signed, by their names."""
        with self._store.reading() as connection:
            rows = connection.execute(sa.select(COSIGNED).order_by(COSIGNED.c.witness)).all()
            found = {row.witness: json.loads(self._opened(COSIGNED, row)["document"]) for row in rows}
        return {name: self._require_cosigned(name, document) for name, document in found.items()}

    def _read(self, institution: str, document: Document) -> tuple[Head, list[bytes], int]:
        head = Head.from_signed(document.get("head") or {}, self._public(institution))
        try:
            proof = [bytes.fromhex(each) for each in document["proof"]]
            since, root = document["since"], bytes.fromhex(head.root)
            good = type(since) is int and since >= 0 and len(root) == 32 and len(proof) <= 128
        except (KeyError, TypeError, ValueError):
            good = False
        if not good or head.institution != institution:
            raise AccessError("exchange.no-head-log-shows", "this is no head of a log of who shows it")
        return head, proof, since

    def _cosigned(self, head: Head) -> dict[str, Any]:
        content = {
            "institution": head.institution,
            "size": head.size,
            "root": head.root,
            "witness": self._own,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        return {"content": content, "signature": self._signer.sign(_witnessed(content))}

    def _require_cosigned(self, witness: str, document: Document) -> dict[str, Any]:
        """What another says to have seen of the own log, if it has signed that."""
        try:
            content = dict(document["content"])
            good = (content["institution"], content["witness"]) == (self._own, witness)
            good &= type(content["size"]) is int and content["size"] >= 0 and isinstance(content["time"], str)
            statement = _witnessed(content)
        except (KeyError, TypeError, ValueError, ParameterError):
            good = False
        if not good:
            raise InputError(
                "exchange.sent-something-no-co",
                "'{witness}' sent something that is no co-signature",
                witness=witness,
            )
        require_signature(self._public(witness), statement, document.get("signature"))
        return content

    def _public(self, institution: str) -> str:
        member = self._network.find(institution)
        if member is None:
            raise AccessError(
                "exchange.witnesses-no-member-network",
                "'{institution}' is no member of the network",
                institution=institution,
            )
        return member.public_key

    def _kept(self, connection: sa.Connection, institution: str) -> Head | None:
        row = self._row(connection, HEADS, institution)
        return None if row is None else Head(**json.loads(row["head"])["head"])

    def _contradict(self, connection: sa.Connection, institution: str, known: Document, shown: Any) -> None:
        """Keep the evidence, unless some about the same log is kept that nobody has looked at yet."""
        witness = known.get("content", {}).get("witness")
        for each in self.contradictions(connection):
            same = json.loads(each["known"]).get("content", {}).get("witness") == witness
            if each["institution"] == institution and same and each["accepted_by"] is None:
                return
        values = {
            "institution": institution,
            "known": json.dumps(known),
            "shown": json.dumps(shown),
            "time": datetime.now(UTC).isoformat(timespec="microseconds"),
            "accepted_by": None,
        }
        number = Statement("contradiction", values).digest
        self._write(connection, CONTRADICTIONS, {"id": number, **values})
        self._log.append(CONTRADICTED, {"institution": institution, "evidence": number}, connection)

    def _row(self, connection: sa.Connection, table: sa.Table, key: str) -> dict[str, Any] | None:
        [own] = table.primary_key.columns
        row = connection.execute(sa.select(table).where(own == key)).first()
        return None if row is None else self._opened(table, row)

    def _opened(self, table: sa.Table, row: sa.Row[Any]) -> dict[str, Any]:
        values = dict(row._mapping)
        seal, seals = values.pop("seal"), self._store.seals
        assert seals is not None, "witnesses are kept where the log is sealed"
        try:
            seals.require(_sealed(table, values), seal)
        except VerificationError:
            raise VerificationError(
                "exchange.what-kept-logs-institutions",
                "what is kept of the logs of institutions was changed in the database, not by this program",
            ) from None
        return values

    def _write(self, connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
        [own] = table.primary_key.columns
        seals = self._store.seals
        assert seals is not None, "witnesses are kept where the log is sealed"
        connection.execute(sa.delete(table).where(own == values[own.name]))
        connection.execute(sa.insert(table).values(**values, seal=seals.seal(_sealed(table, values))))


def _witnessed(content: Mapping[str, Any]) -> Statement:
    return Statement("witnessed head", content)


def _sealed(table: sa.Table, values: Mapping[str, Any]) -> Statement:
    return Statement("row", {"table": table.name, "values": dict(values)})
