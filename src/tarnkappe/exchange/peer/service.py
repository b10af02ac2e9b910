"""What other institutions can ask of this one: take a request, tell where it stands, give the answer.

Who calls is who its certificate says. An institution can only send requests of its own and see answers to
them. Nothing is decided here: that is done at the desk, by people.
"""

from __future__ import annotations

import base64
import json
import math
import ssl
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.exchange.desk import Ask, RequestWorkflow
from tarnkappe.exchange.desk.figures import Figures
from tarnkappe.exchange.peer.contact import answer_contact
from tarnkappe.exchange.peer.witnesses import Witnesses
from tarnkappe.exchange.request import DataRequest
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.transport import OK, Answer, Listener, Served

LARGEST_REQUEST = 2**20
PAUSE = 1.0
"""So many seconds lie at least between two entries about certificates that were refused: who shows a thousand
forged ones must not fill the log."""


class ExchangeService(Served):
    """The desk of an institution, for others to reach.

    Args:
        desk: the desk.
        credentials: who this institution is.
        address: where it listens; port 0 takes any that is free.
        figures: the statistics that it shares.
        witnesses: what is known of the others' logs; without it nobody is asked for a head.
    """

    def __init__(
        self,
        desk: RequestWorkflow,
        credentials: Credentials,
        address: tuple[str, int],
        figures: Figures | None = None,
        witnesses: Witnesses | None = None,
    ) -> None:
        self._desk, self._figures, self._witnesses = desk, figures, witnesses
        self._listener = _Listener(address, credentials, self._serve, desk)
        self._answers: Mapping[str, Callable[[str, str, bytes], Mapping[str, Any]]] = {
            "request": self._receive,
            "state": self._state,
            "answer": self._answer,
            "part": self._part,
            "confirm": lambda digest, caller, _: {"state": str(self._desk.confirm(digest, caller))},
            "withdraw": self._withdraw,
            "reidentify": self._reidentify,
            "reidentified": self._reidentified,
            "statistics": self._statistics,
            "log": self._show,
        }

    def _serve(self, path: str, body: bytes, certificate: bytes, caller: str) -> Answer:
        del certificate  # the handshake has checked it; who called is what it says
        if self._desk.around.network.find(caller) is None:
            self._desk.log.append(
                "refused", {"why": "a caller that is no member of the network, or no longer"}
            )
            raise AccessError(
                "exchange.institution-not-member-network", "this institution is not a member of the network"
            )
        _, action, what = [*path.split("/", 2), "", ""][:3]
        if action not in self._answers:
            raise ParameterError("exchange.nothing-can-asked", "this is nothing that can be asked here")
        if self._witnesses is not None and action != "log":
            self._witnesses.require_heard(caller)
        return OK, self._answers[action](what, caller, body)

    def _receive(self, _: str, caller: str, body: bytes) -> Mapping[str, Any]:
        request = DataRequest.from_message(_read(body))
        if request.institution != caller:
            self._desk.log.append("refused", {"why": "a request in another institution's name", "by": caller})
            raise AccessError(
                "exchange.request-another-institution-name", "the request is in another institution's name"
            )
        return {"state": str(self._desk.receive(request)), "digest": request.digest}

    def _state(self, digest: str, caller: str, _: bytes) -> Mapping[str, Any]:
        self._desk.records.require_own(digest, caller)
        self._desk.expire()
        return {"state": str(self._desk.state(digest))}

    def _answer(self, digest: str, caller: str, _: bytes) -> Mapping[str, Any]:
        answer = self._desk.answer(digest, caller)
        size = None if answer.package is None else len(answer.package)
        return {"content": dict(answer.content), "signature": answer.signature, "size": size}

    def _part(self, what: str, caller: str, __: bytes) -> Mapping[str, Any]:
        digest, _, begin = what.partition("/")
        if not (begin.isascii() and begin.isdecimal() and len(begin) < 16):
            raise ParameterError("exchange.say-byte", "say from which byte on")
        part = self._desk.delivery.part(digest, caller, int(begin))
        return {"part": base64.b64encode(part).decode()}

    def _withdraw(self, digest: str, caller: str, _: bytes) -> Mapping[str, Any]:
        self._desk.withdraw_request(digest, caller)
        return {}

    def _reidentify(self, _: str, caller: str, body: bytes) -> Mapping[str, Any]:
        wish = Ask.from_dict(_read(body))
        return {"state": str(self._desk.reidentifications.ask(wish, caller)), "digest": wish.digest}

    def _reidentified(self, number: str, caller: str, _: bytes) -> Mapping[str, Any]:
        return {"state": str(self._desk.reidentifications.progress(number, caller))}

    def _show(self, action: str, caller: str, body: bytes) -> Mapping[str, Any]:
        if self._witnesses is None:
            raise AccessError(
                "exchange.institution-shows-no-head", "this institution shows no head of its log"
            )
        return answer_contact(self._witnesses, action, caller, _read(body))

    def _statistics(self, _: str, __: str, ___: bytes) -> Mapping[str, Any]:
        if self._figures is None:
            raise AccessError(
                "exchange.institution-shares-no-statistics", "this institution shares no statistics"
            )
        return self._figures.own()


class _Listener(Listener):
    """Listens with the list of revoked certificates as it is now, and logs certificates that it refuses."""

    def __init__(
        self,
        address: tuple[str, int],
        credentials: Credentials,
        serve: Callable[[str, bytes, bytes, str], Answer],
        desk: RequestWorkflow,
    ) -> None:
        super().__init__(address, credentials, serve)
        self._credentials, self._desk = credentials, desk
        self._list_time, self._lock = self._listed(), Lock()
        self._logged, self._left_out = -math.inf, 0

    def context(self) -> ssl.SSLContext:
        now = self._listed()
        if now != self._list_time:
            self._context, self._list_time = self._credentials.server_context(), now
        return self._context

    def handshake_failed(self, error: ssl.SSLError) -> None:
        why = getattr(error, "verify_message", "") or error.reason or "no handshake"
        with self._lock:
            if time.monotonic() - self._logged < PAUSE:
                self._left_out += 1
                return
            self._logged, left_out, self._left_out = time.monotonic(), self._left_out, 0
        told = {"why": f"a certificate that is not valid: {why.lower()}", "not_logged_before": left_out}
        self._desk.log.append("refused", told)

    def _listed(self) -> int:
        path = self._credentials.revoked
        return 0 if path is None else path.stat().st_mtime_ns


def _read(body: bytes) -> Any:
    if len(body) > LARGEST_REQUEST:
        raise ParameterError("exchange.request-too-long", "the request is too long")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise ParameterError("exchange.service-no-request", "this is no request") from None
    if not isinstance(content, dict):
        raise ParameterError("exchange.service-no-request", "this is no request")
    return content
