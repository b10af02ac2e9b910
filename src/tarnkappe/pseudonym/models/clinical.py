"""Model 5: a central clinical database, for physicians who treat the same patients over years.

The database knows patients by PID only, and nobody but it and the PID service knows a PID: it is a pseudonym
itself. A physician who treats a patient asks the PID service by name and gets a token, good for some
minutes, with which the database shows him the record. Samples go by a further pseudonym (LabID). Research
never sees the database but gets exports under ad hoc pseudonyms.

| party | sees | never sees |
|---|---|---|
| physician | his patients' names, tokens, records | PIDs |
| PID service | identities, PIDs | records |
| database | PIDs, tokens, records | identities |
| laboratory | LabIDs, results | identities, PIDs |
| research | ad hoc pseudonyms, extracts | identities, PIDs, LabIDs |

The attackers: each party; somebody with an old token; somebody who is no physician of the network, or who
has overheard one asking and asks the same again.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.export import Rows, export
from tarnkappe.pseudonym.models.parcels import Data
from tarnkappe.pseudonym.models.stored import StoredRecords
from tarnkappe.pseudonym.one_way import OneWay
from tarnkappe.pseudonym.sealing import KeyPair
from tarnkappe.pseudonym.vault import Registrar
from tarnkappe.state import Key, Store

TOKEN_LIFE = timedelta(minutes=10)


class ClinicalDatabase:
    """Records by PID, opened by tokens.

    Args:
        now: tells the time.
        store: where it is kept; in memory if not said.
        key: the key of the database, without which nobody reads the store; a new one if not said.
    """

    def __init__(
        self,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        store: Store | None = None,
        key: Key | None = None,
    ) -> None:
        self._now, self._key = now, key or Key.new()
        self._samples = OneWay(self._key, "samples")
        self._kept = StoredRecords(store or Store.in_memory(), self._key, "clinical database")

    def admit(self, token: str, pid: str) -> None:
        """From the PID service: who has this token may see this patient, for some minutes."""
        now = self._now()
        self._kept.reach(self._kept.mark(token, "token"), self._kept.mark(pid), now + TOKEN_LIFE, now=now)

    def record(self, token: str) -> list[dict[str, Any]]:
        """The record of a patient."""
        return self._kept.of(self._patient(token))

    def add(self, token: str, data: Data) -> None:
        """Add to the record."""
        self._kept.add(self._patient(token), data)

    def consent(self, token: str, consent: Consent) -> None:
        """What the patient has agreed to, or no longer agrees to."""
        self._kept.consent(self._patient(token), consent)

    def lab_id(self, token: str) -> str:
        """The name that samples of the patient go by."""
        patient = self._patient(token)
        [name] = self._samples.pseudonyms([(patient,)])
        self._kept.reach(self._kept.mark(name, "sample"), patient, now=self._now())
        return name

    def add_result(self, lab_id: str, data: Data) -> None:
        """From the laboratory: a result for a sample."""
        patient = self._kept.reached(self._kept.mark(lab_id, "sample"), self._now())
        if patient is None:
            raise ParameterError("pseudonym.no-sample-labid", "there is no sample with this LabID")
        self._kept.add(patient, data)

    def export(self, use: ConsentScope, *, linked_for: str | None = None) -> Rows:
        """An extract for research; exports can be joined only for a purpose that was approved with it."""
        linkage = None if linked_for is None else (self._key, linked_for)
        return export(self._kept.everybody(), self._kept.consents(), use, self._now(), linkage)

    def _patient(self, token: str) -> str:
        patient = self._kept.reached(self._kept.mark(token, "token"), self._now())
        if patient is None:
            raise AccessError(
                "pseudonym.token-unknown-expired-ask",
                "this token is unknown or has expired: ask the PID service for another one",
            )
        return patient


class AccessService:
    """The PID service of the network: it knows who patients are, and which physicians belong to it."""

    def __init__(self, registrar: Registrar, database: ClinicalDatabase) -> None:
        self._registrar, self._database, self._keys = registrar, database, KeyPair.new()
        self._physicians: dict[str, bytes] = {}
        self._challenges: set[bytes] = set()

    @property
    def public(self) -> bytes:
        """The public key that physicians know it by."""
        return self._keys.public

    def enrol(self, physician: str, public: bytes) -> None:
        """Take a physician into the network."""
        self._physicians[physician] = public

    def challenge(self) -> bytes:
        """Something new that has to be in the next proof, so that an old one is worth nothing."""
        fresh = secrets.token_bytes(16)
        self._challenges.add(fresh)
        return fresh

    def token(self, physician: str, patient: Identity, challenge: bytes, proof: bytes) -> str:
        """A token for a patient, for a physician who proves that it is he; a challenge is good for once."""
        is_fresh = challenge in self._challenges
        self._challenges.discard(challenge)
        public = self._physicians.get(physician)
        if public is None or not hmac.compare_digest(proof, _proof(self._keys, public, patient, challenge)):
            raise AccessError(
                "pseudonym.no-physician-network-key",
                "this is no physician of the network, or the key is another one",
            )
        if not is_fresh:
            raise AccessError(
                "pseudonym.asked-before-ask-new", "this was asked before: ask for a new challenge"
            )
        [pid] = self._registrar.pseudonyms([patient])
        token = secrets.token_urlsafe(24)
        self._database.admit(token, pid)
        return token


class TreatingPhysician:
    """A physician of the network, with a key of his own."""

    def __init__(self, name: str) -> None:
        self.name, self._keys = name, KeyPair.new()

    @property
    def public(self) -> bytes:
        """The public key that he enrols with."""
        return self._keys.public

    def ask(self, service: AccessService, patient: Identity) -> str:
        """Get a token for a patient."""
        challenge = service.challenge()
        proof = _proof(self._keys, service.public, patient, challenge)
        return service.token(self.name, patient, challenge, proof)


def _proof(own: KeyPair, other: bytes, patient: Identity, challenge: bytes) -> bytes:
    """What only the two of them can make."""
    asked = json.dumps(["token", patient, challenge.hex()]).encode()
    return hmac.digest(own.agree(other), asked, "sha256")
