"""The exchange of the house: requests at the desks of the sites that the settings name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarnkappe.errors import AccessError, NotFoundError, ParameterError
from tarnkappe.exchange.desk import RequestWorkflow
from tarnkappe.exchange.desk.decisions import decision_statement
from tarnkappe.exchange.desk.preview import preview
from tarnkappe.exchange.preview_text import preview_text
from tarnkappe.exchange.site import ExchangeSite
from tarnkappe.service.people import Account, Right
from tarnkappe.state import Key, Signer


class ExchangeSites:
    """The desks of the sites; a person is known to a desk by her name there, and by her key."""

    def __init__(self, sites: Mapping[str, Path]) -> None:
        self._sites = sites

    def names(self, who: Account) -> list[str]:
        """Which sites there are."""
        _may_see(who)
        return sorted(self._sites)

    def requests(self, site: str, who: Account) -> list[dict[str, Any]]:
        """All requests at a desk."""
        _may_see(who)
        with self._desk(site) as desk:
            desk.expire()
            return [
                {**made.to_dict(), "digest": made.digest, "state": str(state)}
                for made, state in desk.requests()
            ]

    def request(self, site: str, digest: str, who: Account) -> dict[str, Any]:
        """One request, with the recommendation if it was checked, and for who reviews what would leave.

        Rows of the package are shown to people with a duty only, and not to who just reads logs.
        """
        _may_see(who)
        with self._desk(site) as desk:
            whole = _whole(digest, desk)
            state = str(desk.state(whole))
            told = {**desk.request(whole).to_dict(), "digest": whole, "state": state}
            told |= {"recommendation": None, "preview": None}
            if state == "received":
                return told
            told["recommendation"] = desk.recommendation(whole)
            if who.may(Right.REVIEW) or who.may(Right.DECIDE):
                told["preview"] = preview(desk, whole).to_dict()
            return told

    def preview_text(self, site: str, digest: str, who: Account, language: str) -> str:
        """What would leave and whom it could expose, in sentences."""
        who.require(Right.DECIDE if who.may(Right.DECIDE) else Right.REVIEW)
        with self._desk(site) as desk:
            whole = _whole(digest, desk)
            asked = desk.request(whole).to_dict()
            return preview_text(preview(desk, whole), desk.recommendation(whole), asked, language)

    def to_decide(
        self, site: str, digest: str, who: Account, *, accepts: bool, reason: str
    ) -> dict[str, Any]:
        """What somebody has to sign to decide."""
        who.require(Right.DECIDE)
        who.require_own_name()
        with self._desk(site) as desk:
            return desk.to_decide(_whole(digest, desk), who.name, accepts=accepts, reason=reason)

    def decide(self, site: str, content: Mapping[str, Any], signature: str, who: Account) -> str:
        """Take the signed decision of somebody, and nobody else's; the state that follows."""
        who.require(Right.DECIDE)
        who.require_own_name()
        if content.get("person") != who.name:
            raise AccessError("service.decision-signed-decides", "a decision is signed by who decides")
        with self._desk(site) as desk:
            return str(desk.decide(content, signature))

    def decide_with_key(
        self, site: str, digest: str, who: Account, *, accepts: bool, reason: str, key: str
    ) -> str:
        """Decide with a key that is used now and kept nowhere: 64 hexadecimal digits."""
        try:
            signer = Signer(Key(bytes.fromhex(key.strip())))
        except ValueError:
            raise ParameterError(
                "service.no-key-64-hexadecimal", "this is no key of 64 hexadecimal digits"
            ) from None
        content = self.to_decide(site, digest, who, accepts=accepts, reason=reason)
        return self.decide(site, content, signer.sign(decision_statement(content)), who)

    def log(self, site: str, who: Account) -> dict[str, Any]:
        """The audit log of a desk; it was verified now."""
        who.require(Right.READ_LOG)
        with self._site(site) as own:
            log = own.log()
            entries = log.verified()
            return {
                "number": len(entries),
                "head": entries[-1].hash if entries else log.head,
                "entries": [dataclasses.asdict(entry) for entry in entries],
            }

    def _site(self, name: str) -> ExchangeSite:
        if name not in self._sites:
            raise NotFoundError(
                "service.no-site-name-settings",
                "there is no site of this name: the settings of the service list them",
            )
        return ExchangeSite.load(self._sites[name])

    @contextmanager
    def _desk(self, name: str) -> Iterator[RequestWorkflow]:
        with self._site(name) as own:
            yield own.desk()


def _may_see(who: Account) -> None:
    who.require(Right.READ_LOG if who.may(Right.READ_LOG) else Right.REVIEW)


def _whole(begin: str, desk: RequestWorkflow) -> str:
    found = [made.digest for made, _ in desk.requests() if made.digest.startswith(begin) or made.id == begin]
    if len(found) != 1:
        if found:
            raise NotFoundError("service.more-request-begins", "more than one request begins so")
        raise NotFoundError("service.no-request-begins", "no request begins so")
    return found[0]
