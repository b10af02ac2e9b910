"""Identifying somebody again: one person asks, another agrees, and for some hours the first may look."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.pseudonym.code import decode, encode
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.sealing import POINT_BYTES, KeyPair, open_agreed, seal
from tarnkappe.pseudonym.vault.registrar import UNVOUCHED, identity_place
from tarnkappe.pseudonym.vault.tables import (
    IDENTITIES,
    PSEUDONYMS,
    REQUESTS,
    ReidentificationReason,
    VaultRole,
)
from tarnkappe.pseudonym.vault.trust import TAMPERED, require_member
from tarnkappe.pseudonym.vault.vault import Vault, VaultMember
from tarnkappe.pseudonym.vault.voucher import VOUCHER_KEY_BYTES, is_vouched, vouch_identity, vouch_merge
from tarnkappe.state import Key

HOURS = 72.0
"""How long a request can be approved, and looked at, if nothing else is said."""


Name = tuple[str, str | None, bytes | None]
"""A pseudonym, the one that stands for it now, and the voucher for that."""


@dataclasses.dataclass(frozen=True)
class ReidentificationRequest:
    """A request to be shown who is behind pseudonyms."""

    number: int
    pseudonyms: tuple[str, ...]
    reason: ReidentificationReason
    requester: str
    expires: datetime
    approver: str | None
    state: str


class Requester:
    """A requester of a vault, at work."""

    def __init__(self, vault: Vault, person: str, key: Key) -> None:
        self._vault, self._person, self._own = vault, person, KeyPair.of(key)
        self._half = KeyPair(vault.share(person, key, VaultRole.REQUESTER).secret)

    def request(self, pseudonyms: Sequence[str], reason: ReidentificationReason, hours: float = HOURS) -> int:
        """Ask who is behind pseudonyms; the number of the request, which an approver must agree to."""
        if not pseudonyms:
            raise ParameterError("pseudonym.name-least-pseudonym", "name at least one pseudonym")
        if not 0 < hours <= 24 * 365:
            raise ParameterError(
                "pseudonym.request-valid-more-0",
                "a request is valid for more than 0 hours and at most a year",
            )
        asked = list(dict.fromkeys(encode([decode(pseudonym)])[0] for pseudonym in pseudonyms))
        with self._vault.store.writing() as connection:
            for place, pseudonym in enumerate(asked, start=1):
                if not _all_names(connection, self._vault.project, pseudonym):
                    raise ParameterError(
                        "pseudonym.pseudonym-request-not-vault",
                        "pseudonym {place} of the request is not in this vault",
                        place=place,
                    )
            number = connection.execute(
                sa.insert(REQUESTS)
                .values(
                    project=self._vault.project,
                    pseudonyms=json.dumps(asked),
                    reason=reason,
                    requester=self._person,
                    expires=(self._vault.now() + timedelta(hours=hours)).isoformat(),
                )
                .returning(REQUESTS.c.number)
            ).scalar_one()
            told = {"request": number, "pseudonyms": asked, "reason": reason}
            self._vault.log("re-identification requested", self._person, told, connection)
        return int(number)

    def show(self, number: int) -> dict[str, list[Identity]]:
        """Who is behind the pseudonyms of a request that was approved, in all spellings."""
        with self._vault.store.writing() as connection:
            found, row = _request(connection, self._vault, number)
            refused = _why_not(found, "approved") or (
                f"request {number} is another person's" if found.requester != self._person else ""
            )
            if not refused:  # the log knows of it before anybody sees anything
                told = {"request": number, "pseudonyms": found.pseudonyms, "reason": found.reason}
                self._vault.log("re-identification shown", self._person, told, connection)
                public = self._vault.record(connection).public
        if refused:
            self._vault.refuse(self._person, refused, "show")
        content = self._own.unseal(row.opened, _approval_place(self._vault.project, number))
        return {
            pseudonym: [self._identity(public, *part) for part in parts]
            for pseudonym, parts in json.loads(content).items()
        }

    def _identity(self, public: bytes, name: str, sealed: str, half: str) -> Identity:
        agreed = self._half.agree(bytes.fromhex(half))
        place = identity_place(self._vault.project, name)
        return tuple(json.loads(open_agreed(agreed, public, bytes.fromhex(sealed), place)))


class Approver:
    """An approver of a vault, at work."""

    def __init__(self, vault: Vault, person: str, key: Key) -> None:
        self._vault, self._person = vault, person
        share = vault.share(person, key, VaultRole.APPROVER)
        self._root = share.root
        self._vouchers = share.secret[:VOUCHER_KEY_BYTES]
        self._half = KeyPair(share.secret[VOUCHER_KEY_BYTES:])

    def approve(self, number: int) -> ReidentificationRequest:
        """Agree to a request: what it asks for, and nothing else, can be read by who has asked."""
        return self._decide(number, agreed=True)

    def refuse(self, number: int) -> ReidentificationRequest:
        """Refuse a request, for good."""
        return self._decide(number, agreed=False)

    def _decide(self, number: int, *, agreed: bool) -> ReidentificationRequest:
        with self._vault.store.writing() as connection:
            found, _ = _request(connection, self._vault, number)
            asking = self._vault.members(connection).get(found.requester)
            refused = _why_not(found, "open") or (
                f"'{found.requester}' is no longer a requester"
                if asking is None or asking.role is not VaultRole.REQUESTER
                else self._not_taken_in(connection, asking)
            )
            halves = self._halves(connection, found) if agreed and not refused else {}
            if halves is None:
                refused = UNVOUCHED
            if not refused and asking is not None:
                told = {"request": number, "pseudonyms": found.pseudonyms, "requester": found.requester}
                event = "approved" if agreed else "refused"
                self._vault.log(f"re-identification {event}", self._person, told, connection)
                values: dict[str, Any] = {"approver": self._person, "refused": not agreed}
                if agreed:
                    content = json.dumps(halves).encode()
                    place = _approval_place(self._vault.project, number)
                    values["opened"] = seal(asking.public, content, place)
                connection.execute(sa.update(REQUESTS).where(REQUESTS.c.number == number).values(values))
        if refused:
            self._vault.refuse(self._person, refused, "approve")
        return request(self._vault, number)

    def _not_taken_in(self, connection: sa.Connection, asking: VaultMember) -> str:
        """Why what is opened must not be sealed for this key; empty if the requesters have signed it."""
        try:
            require_member(connection, self._root, asking.person, asking.role, asking.public)
        except AccessError:
            return TAMPERED
        return ""

    def _halves(
        self, connection: sa.Connection, found: ReidentificationRequest
    ) -> Mapping[str, list[list[str]]] | None:
        """By pseudonym: each sealed identity, and the point that the approvers' half makes for it alone.

        None if a registrar has not vouched for all of it.
        """
        project = self._vault.project
        halves: dict[str, list[list[str]]] = {}
        for pseudonym in found.pseudonyms:
            names = _all_names(connection, project, pseudonym)
            rows = connection.execute(
                sa.select(IDENTITIES)
                .where(IDENTITIES.c.project == project, IDENTITIES.c.pseudonym.in_(list(names)))
                .order_by(IDENTITIES.c.mark)
            ).all()
            for row in rows:
                expected = vouch_identity(self._vouchers, project, row.pseudonym, row.sealed)
                if not is_vouched(expected, row.voucher):
                    return None
            for name, into, voucher in names.values():
                if into and not is_vouched(vouch_merge(self._vouchers, project, name, into), voucher):
                    return None
            halves[pseudonym] = [
                [row.pseudonym, row.sealed.hex(), self._half.agree(row.sealed[:POINT_BYTES]).hex()]
                for row in rows
            ]
        return halves


def requests(vault: Vault) -> list[ReidentificationRequest]:
    """All requests of a vault, the oldest first."""
    with vault.store.writing() as connection:
        _forget_expired(connection, vault)
        rows = connection.execute(
            sa.select(REQUESTS).where(REQUESTS.c.project == vault.project).order_by(REQUESTS.c.number)
        )
        return [_read(row, vault.now()) for row in rows]


def request(vault: Vault, number: int) -> ReidentificationRequest:
    """One request of a vault."""
    with vault.store.writing() as connection:
        return _request(connection, vault, number)[0]


def _request(
    connection: sa.Connection, vault: Vault, number: int
) -> tuple[ReidentificationRequest, sa.Row[Any]]:
    _forget_expired(connection, vault)
    row = connection.execute(
        sa.select(REQUESTS).where(REQUESTS.c.project == vault.project, REQUESTS.c.number == number)
    ).first()
    if row is None:
        raise ParameterError(
            "pseudonym.vault-no-request",
            "vault '{project}': there is no request {number}",
            project=vault.project,
            number=number,
        )
    return _read(row, vault.now()), row


def _read(row: sa.Row[Any], now: datetime) -> ReidentificationRequest:
    expires = datetime.fromisoformat(row.expires)
    if row.refused:
        state = "refused"
    elif now >= expires or (row.approver is not None and row.opened is None):
        state = "expired"
    else:
        state = "open" if row.approver is None else "approved"
    names = tuple(json.loads(row.pseudonyms))
    return ReidentificationRequest(
        row.number, names, ReidentificationReason(row.reason), row.requester, expires, row.approver, state
    )


def _why_not(found: ReidentificationRequest, needed: str) -> str:
    """Why a request is not in the state that it must be in; empty if it is."""
    if found.state == needed:
        return ""
    if found.state == "open":
        return f"request {found.number} was not approved: a second person has to agree"
    return f"request {found.number} is {found.state} already"


def _forget_expired(connection: sa.Connection, vault: Vault) -> None:
    """What was opened for somebody is not kept longer than it may be looked at."""
    over = REQUESTS.c.expires <= vault.now().isoformat()
    connection.execute(
        sa.update(REQUESTS)
        .where(REQUESTS.c.project == vault.project, over, REQUESTS.c.opened.is_not(None))
        .values(opened=None)
    )


def _all_names(connection: sa.Connection, project: str, pseudonym: str) -> dict[str, Name]:
    """All pseudonyms that the person behind one has had; none if it is not in the vault."""
    ours = PSEUDONYMS.c.project == project
    row = connection.execute(sa.select(PSEUDONYMS).where(ours, PSEUDONYMS.c.pseudonym == pseudonym)).first()
    if row is None:
        return {}
    current = row.replaced_by or row.pseudonym
    same = (PSEUDONYMS.c.pseudonym == current) | (PSEUDONYMS.c.replaced_by == current)
    rows = connection.execute(sa.select(PSEUDONYMS).where(ours, same))
    return {row.pseudonym: (row.pseudonym, row.replaced_by, row.voucher) for row in rows}


def _approval_place(project: str, number: int) -> bytes:
    return json.dumps(["vault approval", project, number]).encode()
