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
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.export import Rows, export
from tarnkappe.pseudonym.models.parcels import Parcel
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.state import Key


class ResearchDatabase:
    """Pseudonyms with data and consents."""

    def __init__(self, project: str) -> None:
        self._keys, self._project, self._linkage = KeyPair.new(), project, Key.new()
        self._people: dict[str, list[dict[str, Any]]] = {}
        self._consents: dict[str, Consent] = {}

    @property
    def public(self) -> bytes:
        """The public key that data for it are sealed with."""
        return self._keys.public

    def receive(self, parcels: Sequence[Parcel]) -> None:
        """Open and keep what the pseudonym service has forwarded; a withdrawal is not undone by it."""
        for parcel in parcels:
            content = parcel.unpack(self._keys, self._project)
            consent = Consent.from_dict(content["consent"])
            known = self._consents.get(parcel.name)
            if known is None or known.withdrawn_at is None:
                self._consents[parcel.name] = consent
            self._people.setdefault(parcel.name, []).append(content["data"])

    def withdraw(self, pseudonym: str, now: datetime) -> None:
        """Somebody withdraws consent."""
        if pseudonym not in self._consents:
            raise ParameterError("this pseudonym is not in the database")
        self._consents[pseudonym] = self._consents[pseudonym].withdrawn(now)

    def export(self, use: ConsentScope, now: datetime, *, linked_for: str | None = None) -> Rows:
        """An extract for a use; exports can be joined only for a purpose that was approved with it."""
        linkage = None if linked_for is None else (self._linkage, linked_for)
        return export(self._people, self._consents, use, now, linkage)
