"""Identifying somebody again: who got a package asks, a physician here forwards it to the vault.

Who got a package with pseudonyms may find that somebody in it must be told something. He names pseudonyms and
a reason, never a person, and never learns one: a physician of this institution, who is a requester of the
vault, passes it on, an approver of the vault agrees, and the physician, nobody else, is shown who it is. Here
is only kept that it was asked, by which pseudonyms, and what became of it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError, VerificationError
from tarnkappe.exchange.desk.packages import pseudonyms_of
from tarnkappe.exchange.desk.records import RequestRecords
from tarnkappe.exchange.desk.states import RequestState
from tarnkappe.exchange.desk.tables import REIDENTIFICATIONS
from tarnkappe.exchange.staff import Duty, Staff
from tarnkappe.pseudonym import ReidentificationReason, Requester
from tarnkappe.state import Key, Statement

ASKED = "re-identification asked"
MOST = 100
"""So many pseudonyms may be named at once: more would be an attempt to undo the package."""


class ReidentificationState(StrEnum):
    """What became of it."""

    ASKED = "asked"
    FORWARDED = "forwarded"
    """The vault has it; whether somebody is identified is decided there."""
    REFUSED = "refused"


@dataclasses.dataclass(frozen=True)
class Ask:
    """A wish that somebody be identified again.

    Attributes:
        request: the digest of the request whose package the pseudonyms are from.
        pseudonyms: who is meant.
        reason: why.
        person: who asks, at the institution that got the package.
    """

    request: str
    pseudonyms: tuple[str, ...]
    reason: ReidentificationReason
    person: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "pseudonyms", tuple(dict.fromkeys(self.pseudonyms)))
        if not 0 < len(self.pseudonyms) <= MOST:
            raise ParameterError("exchange.name-1-pseudonyms", "name 1 to {most} pseudonyms", most=MOST)

    @property
    def digest(self) -> str:
        """Stands for the whole content; asking the same again changes nothing."""
        return Statement("identifying again", self.to_dict()).digest

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**dataclasses.asdict(self), "pseudonyms": list(self.pseudonyms), "reason": str(self.reason)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ask:
        """From plain data, as another institution sends it."""
        try:
            names: Sequence[str] = [str(name) for name in data["pseudonyms"]]
            return cls(
                str(data["request"]),
                tuple(names),
                ReidentificationReason.parse(data["reason"]),
                str(data["person"]),
            )
        except (KeyError, TypeError):
            raise ParameterError(
                "exchange.asks-nobody-identified-again",
                "this asks for nobody to be identified again: a part is missing",
            ) from None


class Reidentifications:
    """The wishes of other institutions that somebody be identified again.

    Args:
        records: the requests that packages were made for.
        key: the institution's key, the first stage of the way back.
        staff: who may pass them on.
    """

    def __init__(self, records: RequestRecords, key: Key, staff: Staff) -> None:
        self._records, self._key, self._staff = records, key, staff

    def ask(self, wish: Ask, institution: str) -> ReidentificationState:
        """Take a wish in, from who got the package only; the same one is taken once."""
        request = self._records.require_own(wish.request, institution)
        if not request.reidentification or self._records.state(wish.request) not in (
            RequestState.SENT,
            RequestState.DELIVERED,
        ):
            raise self._records.refused(
                wish.request,
                "exchange.nobody-request-can-identified",
                "nobody of this request can be identified again",
            )
        try:
            self._in_vault(wish)
        except (AccessError, ParameterError):
            raise self._records.refused(
                wish.request, "exchange.pseudonym-not-package", "a pseudonym is not from this package"
            ) from None
        with self._records.store.writing() as connection:
            known = self._row(connection, wish.digest)
            if known is None:
                connection.execute(
                    sa.insert(REIDENTIFICATIONS).values(
                        id=wish.digest,
                        content=json.dumps(wish.to_dict()),
                        state=ReidentificationState.ASKED.value,
                    )
                )
                self._log(ASKED, wish, {"institution": institution}, connection)
                return ReidentificationState.ASKED
            return ReidentificationState(known.state)

    def forward(self, number: str, physician: str, requester: Requester) -> int:
        """Pass a wish on to the vault, as a physician who is a requester there; the number that it has there.

        Two people of the vault decide about it with `tarn reidentify`.
        """
        self._require_physician(physician)
        wish = self._open(number)
        in_vault = requester.request(self._in_vault(wish), wish.reason)
        self._note(wish, ReidentificationState.FORWARDED, {"by": physician, "vault_request": in_vault})
        return in_vault

    def refuse(self, number: str, physician: str) -> None:
        """Refuse a wish for good."""
        self._require_physician(physician)
        self._note(self._open(number), ReidentificationState.REFUSED, {"by": physician})

    def progress(self, number: str, institution: str) -> ReidentificationState:
        """What became of a wish, for who has it."""
        with self._records.store.reading() as connection:
            row = self._row(connection, number)
        if row is None:
            raise AccessError("exchange.nobody-asked", "nobody asked for that")
        self._records.require_own(json.loads(row.content)["request"], institution)
        return ReidentificationState(row.state)

    def all(self) -> list[tuple[Ask, ReidentificationState]]:
        """All wishes with what became of them."""
        with self._records.store.reading() as connection:
            rows = connection.execute(sa.select(REIDENTIFICATIONS).order_by(REIDENTIFICATIONS.c.id)).all()
        return [(Ask.from_dict(json.loads(row.content)), ReidentificationState(row.state)) for row in rows]

    def _open(self, number: str) -> Ask:
        with self._records.store.reading() as connection:
            row = self._row(connection, number)
        if row is None or row.state != ReidentificationState.ASKED:
            raise AccessError("exchange.no-open-wish", "there is no such open wish")
        wish = Ask.from_dict(json.loads(row.content))
        known = [entry.event for entry in self._records.log.verified() if entry.details.get("wish") == number]
        if wish.digest != number or known != [ASKED]:
            raise VerificationError(
                "exchange.wish-put-database-changed",
                "this wish was put into the database, or changed there: it must be asked again",
            )
        return wish

    def _require_physician(self, person: str) -> None:
        self._staff.require(person, frozenset({Duty.PHYSICIAN}))

    def _in_vault(self, wish: Ask) -> list[str]:
        """The pseudonyms of the vault, the first of the two stages back."""
        method = pseudonyms_of(self._key, wish.request)
        return [str(method.identity(name)[0]) for name in wish.pseudonyms]

    def _note(self, wish: Ask, state: ReidentificationState, details: Mapping[str, Any]) -> None:
        with self._records.store.writing() as connection:
            mine = REIDENTIFICATIONS.c.id == wish.digest
            connection.execute(sa.update(REIDENTIFICATIONS).where(mine).values(state=state.value))
            self._log(f"re-identification {state}", wish, details, connection)

    def _log(self, event: str, wish: Ask, details: Mapping[str, Any], connection: sa.Connection) -> None:
        told = {
            "request": wish.request,
            "wish": wish.digest,
            "pseudonyms": len(wish.pseudonyms),
            "reason": str(wish.reason),
        }
        self._records.log.append(event, {**told, **details}, connection)

    def _row(self, connection: sa.Connection, number: str) -> sa.Row[Any] | None:
        return connection.execute(
            sa.select(REIDENTIFICATIONS).where(REIDENTIFICATIONS.c.id == number)
        ).first()
