"""A contact with another institution: both show the heads of their logs, then anything else is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import AccessError, ProtocolError
from tarnkappe.exchange.peer.witnesses import CONTACT, Witnesses
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.transport import PAUSES, Caller

ATTEMPTS = 3
"""Another process of this institution may show a newer head in between; then it is shown again."""


class WitnessedCaller(Caller):
    """Calls other institutions, after both have shown what their logs are.

    Args:
        credentials: who calls.
        addresses: host and port of each institution.
        patience: how many seconds an answer may take.
        witnesses: what is known of the others' logs.
    """

    def __init__(
        self,
        credentials: Credentials,
        addresses: Mapping[str, tuple[str, int]],
        patience: float,
        witnesses: Witnesses,
    ) -> None:
        super().__init__(credentials, addresses, patience)
        self._witnesses = witnesses
        self._met: dict[str, float] = {}

    def call(self, party: str, path: str, body: bytes = b"", *, pauses: tuple[float, ...] = PAUSES) -> Any:
        """The answer of a party; refused if the log of one of the two contradicts itself."""
        # The parts of a package are one contact, unless they take long.
        goes_on = path.startswith("/part/") and time.monotonic() - self._met.get(party, 0.0) < CONTACT / 2
        if self._witnesses.asks(party) and not goes_on:
            self._meet(party, pauses)
        return super().call(party, path, body, pauses=pauses)

    def _meet(self, party: str, pauses: tuple[float, ...]) -> None:
        own = self._witnesses
        own.require_trusted(party)
        for _ in range(ATTEMPTS):
            kept = own.held(party)
            theirs = self._ask(party, "/log/head", {"held": kept}, pauses)
            if theirs.get("since") != (0 if kept is None else kept["content"]["size"]):
                raise ProtocolError(
                    "exchange.log-not-shown-to-continue",
                    "'{party}' does not show that its log continues the one that it has shown before: "
                    "nothing is exchanged with it; ask there why",
                    party=party,
                )
            cosigned = own.take(party, theirs)
            held = theirs.get("held")
            said = {**own.shown(party, held), "cosigned": cosigned}
            answer = self._ask(party, "/log/witness", said, pauses)
            own.require_own(party, held)
            if cosigned is not None and answer.get("cosigned") is not None:
                own.keep(party, answer["cosigned"])
                self._met[party] = time.monotonic()
                return
        raise ProtocolError(
            "exchange.log-own-grows-faster",
            "the log of '{party}' or the own one grows faster than it can be shown",
            party=party,
        )

    def _ask(self, party: str, path: str, said: Mapping[str, Any], pauses: tuple[float, ...]) -> Any:
        return super().call(party, path, json.dumps(said).encode(), pauses=pauses)


def answer_contact(witnesses: Witnesses, action: str, caller: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the institution that is called answers while heads are shown."""
    if action == "head":
        return {**witnesses.shown(caller, said.get("held")), "held": witnesses.held(caller)}
    if action != "witness":
        raise AccessError("exchange.nothing-can-asked-log", "this is nothing that can be asked of a log")
    cosigned = witnesses.take(caller, said)
    if cosigned is not None and said.get("cosigned") is not None:
        witnesses.keep(caller, said["cosigned"])
    return {"cosigned": cosigned}
