"""Model 3: data for one use, and a way back in two stages for special occasions.

A list of who is who at one central service would be worth stealing, so there is none: the PID service knows
who has which PID of the project, but no pseudonyms and no data; the pseudonym service has the key between
PIDs and pseudonyms, but no list and no data. The way back leads through both, needs four eyes at the PID
service, and ends at the treating physician.

| party | sees | never sees |
|---|---|---|
| source | its own patients, their PIDs | pseudonyms |
| PID service | identities, PIDs | pseudonyms, data |
| pseudonym service | PIDs, pseudonyms, the key | identities, data |
| user | pseudonyms, data | identities, PIDs |
| physician | whom he is told about | PIDs |

Each party is an attacker. Another project has other PIDs, so two projects cannot be joined. A way back
needs consent: a source delivers only who has given it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from tarnkappe.errors import AccessError
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.models.consent import Consent, ConsentScope
from tarnkappe.pseudonym.models.parcels import Data, Parcel, renamed
from tarnkappe.pseudonym.reversible import Reversible
from tarnkappe.pseudonym.sealing import KeyPair, seal
from tarnkappe.pseudonym.vault import Approver, Registrar, ReidentificationReason, Requester
from tarnkappe.state import Key

Patient = tuple[Identity, Data, Consent]


class PidService:
    """Gives people the PIDs of a project; its list is a vault, which nobody reads alone."""

    def __init__(self, registrar: Registrar) -> None:
        self._registrar = registrar

    def pids(self, people: Sequence[Identity]) -> list[str]:
        """The PID of each person: always the same one, never that of somebody else."""
        return self._registrar.pseudonyms(people)


class PseudonymService:
    """Turns PIDs into pseudonyms and back; it has a key and no list."""

    def __init__(self, key: Key, project: str) -> None:
        self._method = Reversible(key, project)

    def forward(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        """What goes to the user: pseudonyms in the place of PIDs, in a random order."""
        return renamed(parcels, self._method.pseudonyms([(parcel.name,) for parcel in parcels]))

    def pid(self, pseudonym: str) -> str:
        """The first stage back."""
        pid = self._method.identity(pseudonym)[0]
        if pid is None:
            raise AccessError("pseudonym.pseudonym-stands-nobody", "this pseudonym stands for nobody")
        return pid


class ConsentingSource:
    """A hospital that delivers the data of those who agree."""

    def __init__(self, patients: Sequence[Patient]) -> None:
        self._patients = list(patients)

    def deliver(
        self, pid_service: PidService, user: bytes, project: str, scope: ConsentScope, now: datetime
    ) -> list[Parcel]:
        """Ask for PIDs, and pack the data; the consent travels with them, for who keeps them longer."""
        agreed = [patient for patient in self._patients if patient[2].covers(scope, now)]
        pids = pid_service.pids([who for who, _, _ in agreed])
        return [
            Parcel.pack(pid, {"data": dict(data), "consent": consent.to_dict()}, user, project)
            for pid, (_, data, consent) in zip(pids, agreed, strict=True)
        ]


class Physician:
    """The treating physician, who alone is told who somebody is."""

    def __init__(self) -> None:
        self._keys = KeyPair.new()

    @property
    def public(self) -> bytes:
        """The public key that an answer to him is sealed with."""
        return self._keys.public

    def read(self, answer: bytes) -> list[Identity]:
        """Who it is, in all spellings."""
        return [tuple(person) for person in json.loads(self._keys.unseal(answer, ANSWER))]


ANSWER = b"identity for the treating physician"


def identify_again(
    pseudonym: str,
    service: PseudonymService,
    requester: Requester,
    approver: Approver,
    physician: bytes,
    reason: ReidentificationReason,
) -> bytes:
    """The way back: from the pseudonym to the PID, and with four eyes to the person.

    The answer is sealed for the treating physician: who has asked for it, as the user, cannot read it.
    """
    pid = service.pid(pseudonym)
    number = requester.request([pid], reason)
    approver.approve(number)
    people = requester.show(number)[pid]
    return seal(physician, json.dumps(people).encode(), ANSWER)
