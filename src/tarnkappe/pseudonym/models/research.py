"""Model 4: a research database, which keeps pseudonymous data for uses that are not known yet.

Data come as in model 3. They are kept under pseudonyms, without identities and PIDs; what leaves is an
export, for which the graded consent of every person is looked at anew. Consent that was withdrawn comes in
through the pseudonym service and holds for every export from then on.

The attacker is a researcher who puts two exports together, and the database itself, which would like to
know who people are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.export import Rows, export
from tarnkappe.pseudonym.models.parcels import Parcel
from tarnkappe.pseudonym.models.stored import StoredRecords
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.state import Key, Store


class ResearchDatabase:
    """Pseudonyms with data and consents.

    Args:
        project: what it is for.
        store: where it is kept; in memory if not said.
        key: the key of the database, without which nobody reads the store; a new one if not said.
    """

    def __init__(self, project: str, store: Store | None = None, key: Key | None = None) -> None:
        own = key or Key.new()
        self._keys, self._project, self._linkage = KeyPair.of(own), project, own
        self._kept = StoredRecords(store or Store.in_memory(), own, f"research {project}")

    @property
    def public(self) -> bytes:
        """The public key that data for it are sealed with."""
        return self._keys.public

    def receive(self, parcels: Sequence[Parcel]) -> None:
        """Open and keep what the pseudonym service has forwarded; a withdrawal is not undone by it."""
        consents = self._kept.consents()
        for parcel in parcels:
            content, name = parcel.unpack(self._keys, self._project), self._kept.mark(parcel.name)
            if name not in consents or consents[name].withdrawn_at is None:
                consents[name] = Consent.from_dict(content["consent"])
                self._kept.consent(name, consents[name])
            self._kept.add(name, content["data"])

    def withdraw(self, pseudonym: str, now: datetime) -> None:
        """Somebody withdraws consent."""
        name, consents = self._kept.mark(pseudonym), self._kept.consents()
        if name not in consents:
            raise ParameterError("pseudonym.pseudonym-not-database", "this pseudonym is not in the database")
        self._kept.consent(name, consents[name].withdrawn(now))

    def export(self, use: ConsentScope, now: datetime, *, linked_for: str | None = None) -> Rows:
        """An extract for a use; exports can be joined only for a purpose that was approved with it."""
        linkage = None if linked_for is None else (self._linkage, linked_for)
        return export(self._kept.everybody(), self._kept.consents(), use, now, linkage)
