"""The one protected release of each table: made once, kept as a file, verified whenever it is read."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from tarnkappe.algebra.nodes import Generalization, Projection, Relation
from tarnkappe.algebra.session import QuerySession
from tarnkappe.algebra.sql.query import ParsedQuery
from tarnkappe.algebra.verification import smallest_class
from tarnkappe.errors import VerificationError
from tarnkappe.policy.policy_file import AccessPolicy, ProtectedForm
from tarnkappe.state.audit import AuditLog

MADE = "policy release"
"""The event of the log that tells the digest of a release."""


class StoredReleases:
    """The releases in a folder.

    Args:
        policy: what they show.
        raw: a session over the raw tables, in which people are declared.
        folder: where they are kept.
        log: knows the digest of each.
    """

    def __init__(self, policy: AccessPolicy, raw: QuerySession, folder: Path, log: AuditLog) -> None:
        self._policy, self._raw, self._folder, self._log = policy, raw, folder, log
        self._read: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        """The release of a table.

        Raises:
            VerificationError: it is not as it was made, or does not keep its promise.
        """
        if name not in self._read:
            form = self._policy.tables[name].form
            assert form is not None
            path = self._folder / f"{name}-{self._digest(name, form)}.parquet"
            if not path.exists():
                self._make(name, form, path)
            self._read[name] = self._verified(name, form, path)
        return self._read[name]

    def _make(self, name: str, form: ProtectedForm, path: Path) -> None:
        relation = Relation(name, self._raw.catalog.relations[name])
        by = self._policy.generalized(name)
        plan = Projection(Generalization(relation, by, form.k), form.columns)
        result = self._raw.run(ParsedQuery(plan, form.columns))
        if not result.verified or not all(kept.people for kept in result.verified):
            raise VerificationError(
                "policy.release-not-verified-hide",
                "the release of '{name}' is not verified to hide people; it is not made",
                name=name,
            )
        new = path.with_suffix(f".{secrets.token_hex(8)}.new")
        pyarrow.parquet.write_table(result.table, new)
        digest = hashlib.sha256(new.read_bytes()).hexdigest()
        self._log.append(MADE, {"table": name, "file": path.name, "sha256": digest, "k": form.k})
        new.replace(path)

    def _verified(self, name: str, form: ProtectedForm, path: Path) -> pa.Table:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        made = (entry.details for entry in self._log.entries() if entry.event == MADE)
        if not any(each.get("file") == path.name and each.get("sha256") == digest for each in made):
            raise VerificationError(
                "policy.stored-release-not-log",
                "the stored release of '{name}' is not the one that the log tells of",
                name=name,
            )
        table = pyarrow.parquet.read_table(pa.BufferReader(content))
        smallest = smallest_class(table, self._policy.generalized(name))
        if smallest is not None and smallest < form.k:
            raise VerificationError(
                "policy.stored-release-not-keep",
                "the stored release of '{name}' does not keep its promise",
                name=name,
            )
        return table

    def _digest(self, name: str, form: ProtectedForm) -> str:
        roles = sorted(self._policy.tables[name].roles.items())
        said = repr((name, form, sorted(self._policy.hierarchies), roles))
        return hashlib.sha256(said.encode()).hexdigest()[:16]
