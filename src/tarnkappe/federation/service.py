"""A party as a service: it confirms a contract, takes part in the run and keeps the release.

A run is proposed, confirmed by all, started, and ends for all: with the release, or with one error that
everybody is told. What was under way is then forgotten.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any

from tarnkappe.errors import ProtocolError, TarnkappeError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.transport import OK, Answer, Caller, Listener
from tarnkappe.table.encoding import Progress

Build = Callable[[Contract], Participant]
"""Makes the state machine of this party for a contract, with its own data."""

Confirm = Callable[[Contract], None]
"""Raises an error if this party does not agree to a contract."""

PROPOSED, RUNNING, READY, DONE, FAILED = "proposed", "running", "ready", "done", "failed"
"""A party that is ready keeps its release back until all are."""


class Run:
    """One run at one party."""

    def __init__(self, contract: Contract, addresses: Mapping[str, tuple[str, int]]) -> None:
        self.contract = contract
        self.addresses = addresses
        self.state = PROPOSED
        self.error = ""
        self.inbox: Queue[Message | None] = Queue()
        self.participant: Participant | None = None
        self.accepted: dict[tuple[str, int], bytes] = {}
        self.lock = Lock()


class PartyService:
    """Listens for proposals and takes part in runs.

    Args:
        credentials: who this party is.
        address: where it listens.
        build: makes its state machine.
        confirm: whether it agrees to a contract.
        done: told about every run that ends well.
        patience: after how many seconds without a message a run is given up.
    """

    def __init__(
        self,
        credentials: Credentials,
        address: tuple[str, int],
        build: Build,
        confirm: Confirm,
        done: Callable[[Participant], None] = lambda _: None,
        patience: float = 60.0,
    ) -> None:
        self.name = credentials.name
        self._credentials = credentials
        self._build = build
        self._confirm = confirm
        self._done = done
        self._patience = patience
        self._runs: dict[str, Run] = {}
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

    # ------------------------------------------------------------------ calls

    def _serve(self, path: str, body: bytes, certificate: bytes, caller: str) -> Answer:
        if path == "/propose":
            return self._propose(body, caller)
        _, action, digest = [*path.split("/"), "", ""][:3]
        run = self._runs.get(digest)
        if run is None or caller not in run.contract.everybody:
            raise ProtocolError(f"'{self.name}' takes part in no such run with '{caller}'")
        if action == "start":
            return self._start(run)
        if action == "finish":
            return self._finish(run)
        if action == "message":
            return self._take(run, unseal(body, certificate, caller))
        if action == "abort":
            self._fail(run, body.decode(errors="replace")[:1000])
            return OK, {}
        if action == "status":
            return OK, {"state": run.state, "error": run.error}
        raise ProtocolError(f"'{self.name}' does not know '{action}'")

    def _propose(self, body: bytes, caller: str) -> Answer:
        try:
            document = json.loads(body)
            addresses = {name: (str(host), int(port)) for name, (host, port) in document["addresses"].items()}
            contract = Contract.from_document(document["contract"])
        except (ValueError, KeyError, TypeError):
            raise ProtocolError(f"'{caller}' proposed something that is no contract") from None
        if caller not in contract.everybody or self.name not in contract.everybody:
            raise ProtocolError(f"the contract of '{caller}' does not name both '{caller}' and '{self.name}'")
        self._confirm(contract)
        digest = contract.digest.hex()
        if digest in self._runs:
            raise ProtocolError("this contract was proposed before: every run needs its own name")
        self._runs[digest] = Run(contract, addresses)
        return OK, {"digest": digest}

    def _start(self, run: Run) -> Answer:
        with run.lock:
            if run.state == PROPOSED:
                run.state = RUNNING
                Thread(target=self._take_part, args=(run,), daemon=True).start()
        return OK, {}

    def _finish(self, run: Run) -> Answer:
        with run.lock:
            if run.state not in (READY, DONE) or run.participant is None:
                raise ProtocolError(run.error or f"'{self.name}' is not ready to release")
            if run.state == READY:
                self._done(run.participant)
            run.state = DONE
        return OK, {}

    def _take(self, run: Run, message: Message) -> Answer:
        """Put a message in line; who sends it again because our answer was lost is told the same."""
        digest = hashlib.sha256(message.kind.encode() + b"\0" + message.body).digest()
        with run.lock:
            if run.state not in (PROPOSED, RUNNING):
                raise ProtocolError(run.error or f"the run is over for '{self.name}'")
            known = run.accepted.setdefault((message.sender, message.number), digest)
            if known is digest:
                run.inbox.put(message)
            if known == digest:
                return OK, {}
        self._fail(run, f"'{message.sender}' sent two different messages {message.number}: the run ends")
        raise ProtocolError(run.error)

    # ------------------------------------------------------------------ the run

    def _take_part(self, run: Run) -> None:
        caller = Caller(self._credentials, run.addresses, self._patience)
        try:
            run.participant = self._build(run.contract)
            self._post(run, caller, run.participant.start())
            while not run.participant.is_done:
                message = self._next(run)
                if message is None:
                    return
                self._post(run, caller, run.participant.receive(message))
            run.participant.forget()
            with run.lock:
                run.state = READY if run.state == RUNNING else run.state
        except TarnkappeError as error:
            self._end_for_all(run, caller, str(error))
        except Exception as error:
            self._end_for_all(
                run, caller, f"'{self.name}' failed with a {type(error).__name__}: the run ends"
            )

    def _next(self, run: Run) -> Message | None:
        try:
            return run.inbox.get(timeout=self._patience)
        except Empty:
            raise ProtocolError(
                f"'{self.name}' has waited {self._patience:g} seconds for a message: the run ends"
            ) from None

    def _post(self, run: Run, caller: Caller, messages: list[Message]) -> None:
        path = f"/message/{run.contract.digest.hex()}"
        for message in messages:
            caller.call(message.receiver, path, seal(message, self._credentials))

    def _end_for_all(self, run: Run, caller: Caller, error: str) -> None:
        if not self._fail(run, error):
            return
        for party in run.contract.everybody:
            if party != self.name:
                try:
                    caller.call(party, f"/abort/{run.contract.digest.hex()}", error.encode(), pauses=())
                except ProtocolError:
                    continue

    def _fail(self, run: Run, error: str) -> bool:
        """Note the end of a run; returns whether it is news."""
        with run.lock:
            if run.state in (DONE, FAILED):
                return False
            run.state, run.error = FAILED, error
        if run.participant is not None:
            run.participant.forget()
            run.participant.outcome = None
        run.inbox.put(None)
        return True


def federate(
    contract: Contract,
    addresses: Mapping[str, tuple[str, int]],
    credentials: Credentials,
    *,
    patience: float = 60.0,
    pause: float = 0.1,
    progress: Progress | None = None,
) -> None:
    """Propose a contract to all, start the run when all have confirmed it, and wait for its end.

    Any error of any party ends the run for all and is raised here.
    """
    caller = Caller(credentials, addresses, patience)
    digest = contract.digest.hex()
    proposal = json.dumps({"contract": contract.as_document(), "addresses": addresses}).encode()
    for party in contract.everybody:
        if caller.call(party, "/propose", proposal)["digest"] != digest:
            raise ProtocolError(f"'{party}' confirmed another contract: nothing was started")
    try:
        for party in contract.everybody:
            caller.call(party, f"/start/{digest}")
        waiting = list(contract.everybody)
        while waiting:
            if progress:
                done = len(contract.everybody) - len(waiting)
                progress("parties are ready", done, len(contract.everybody))
            time.sleep(pause)
            states: dict[str, Any] = {p: caller.call(p, f"/status/{digest}") for p in waiting}
            for party, status in states.items():
                if status["state"] == FAILED:
                    raise ProtocolError(status["error"])
                if status["state"] == READY:
                    waiting.remove(party)
        for party in contract.everybody:
            caller.call(party, f"/finish/{digest}")
    except ProtocolError as error:
        for party in contract.everybody:
            try:
                caller.call(party, f"/abort/{digest}", str(error).encode(), pauses=())
            except ProtocolError:
                continue
        raise
