"""What other institutions can ask of this one: take a request, tell where it stands, give the answer.

Who calls is who its certificate says. An institution can only send requests of its own and see answers to
them. Nothing is decided here: that is done at the desk, by people.
"""

from __future__ import annotations

import base64
import json
from threading import Thread

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.exchange.desk import Desk
from tarnkappe.exchange.request import Request
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.transport import OK, Answer, Listener

LARGEST_REQUEST = 2**20


class ExchangeService:
    """The desk of an institution, for others to reach.

    Args:
        desk: the desk.
        credentials: who this institution is.
        address: where it listens; port 0 takes any that is free.
    """

    def __init__(self, desk: Desk, credentials: Credentials, address: tuple[str, int]) -> None:
        self._desk = desk
        self._listener = Listener(address, credentials, self._serve)

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self._listener.server_address[:2]
        return str(host), int(port)

    def serve_forever(self) -> None:
        """Answer calls until `close`."""
        self._listener.serve_forever(poll_interval=0.05)

    def start(self) -> None:
        """Answer calls in the background."""
        Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering."""
        self._listener.shutdown()
        self._listener.server_close()

    def _serve(self, path: str, body: bytes, certificate: bytes, caller: str) -> Answer:
        del certificate  # the handshake has checked it; who called is what it says
        if self._desk.around.network.find(caller) is None:
            self._desk.log.append(
                "refused", {"why": "a caller that is no member of the network, or no longer"}
            )
            raise AccessError("this institution is not a member of the network")
        _, action, digest = [*path.split("/"), "", ""][:3]
        if action == "request":
            return self._receive(body, caller)
        if action == "state":
            self._require_own(digest, caller)
            return OK, {"state": str(self._desk.state(digest))}
        if action == "answer":
            answer = self._desk.answer(digest, caller)
            package = None if answer.package is None else base64.b64encode(answer.package).decode()
            return OK, {"content": dict(answer.content), "signature": answer.signature, "package": package}
        if action == "confirm":
            return OK, {"state": str(self._desk.confirm(digest, caller))}
        if action == "withdraw":
            self._desk.withdraw_request(digest, caller)
            return OK, {}
        raise ParameterError("this is nothing that can be asked here")

    def _receive(self, body: bytes, caller: str) -> Answer:
        if len(body) > LARGEST_REQUEST:
            raise ParameterError("the request is too long")
        try:
            content = json.loads(body)
        except ValueError:
            raise ParameterError("this is no request") from None
        request = Request.from_dict(content)
        if request.institution != caller:
            self._desk.log.append("refused", {"why": "a request in another institution's name", "by": caller})
            raise AccessError("the request is in another institution's name")
        return OK, {"state": str(self._desk.receive(request)), "digest": request.digest}

    def _require_own(self, digest: str, caller: str) -> None:
        if self._desk.request(digest).institution != caller:
            raise AccessError("this request is another institution's")
