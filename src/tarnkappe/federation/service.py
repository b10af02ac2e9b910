"""A party as a service: it confirms a contract, takes part in the run and keeps the release.

A run is proposed, confirmed by all, started, and ends for all: with the release, or with one error that
everybody is told. What was under way is then forgotten.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from queue import Empty
from threading import Thread
from typing import Any

from tarnkappe.errors import ProtocolError, TarnkappeError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.run import Run, Stage
from tarnkappe.federation.transcript import signed_transcript
from tarnkappe.federation.transport import OK, Answer, Caller, Listener

Build = Callable[[Contract], Participant]
"""Makes the state machine of this party for a contract, with its own data."""

Confirm = Callable[[Contract], None]
"""Raises an error if this party does not agree to a contract."""

PAUSE = 0.05


class PartyService:
    """Listens for proposals and takes part in runs.

    Args:
        credentials: who this party is.
        address: where it listens.
        build: makes its state machine.
        confirm: whether it agrees to a contract.
        done: told about every run that ends well.
        patience: after how many seconds in which nobody does anything a run is given up.
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
        self._listener.serve_forever(poll_interval=PAUSE)

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
        _, action, digest, *rest = [*path.split("/"), "", ""]
        run = self._runs.get(digest)
        if run is None or caller not in run.contract.everybody:
            raise ProtocolError(f"'{self.name}' takes part in no such run with '{caller}'")
        if action == "message":
            return self._take(run, rest, body, certificate, caller)
        if action == "start":
            return self._start(run)
        if action == "finish":
            return self._finish(run)
        if action == "abort":
            run.fail(body.decode(errors="replace")[:1000])
            return OK, {}
        if action == "status":
            return OK, run.status
        if action == "transcript":
            return self._transcript(run)
        raise ProtocolError(f"'{self.name}' does not know '{action}'")

    def _propose(self, body: bytes, caller: str) -> Answer:
        try:
            document = json.loads(body)
            addresses = {name: (str(host), int(port)) for name, (host, port) in document["addresses"].items()}
            contract = Contract.from_document(document["contract"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ProtocolError(f"'{caller}' proposed something that is no contract") from None
        if caller not in contract.everybody or self.name not in contract.everybody:
            raise ProtocolError(f"the contract of '{caller}' does not name both '{caller}' and '{self.name}'")
        digest = contract.digest.hex()
        run = self._runs.setdefault(digest, Run(self.name, caller, contract, addresses))
        with run.lock:
            if run.proposer != caller or run.stage not in (Stage.ASKED, Stage.PROPOSED):
                raise ProtocolError("this contract was proposed before: every run needs its own name")
            if not run.was_asked:
                run.was_asked = True
                Thread(target=self._ask, args=(run,), daemon=True).start()
        return OK, {"digest": digest}

    def _ask(self, run: Run) -> None:
        """Ask the people of this party, who may take their time."""
        try:
            self._confirm(run.contract)
        except TarnkappeError as error:
            run.fail(str(error))
        except Exception as error:
            run.fail(f"'{self.name}' failed with a {type(error).__name__}: the run ends")
        with run.lock:
            if run.stage is Stage.ASKED:
                run.stage = Stage.PROPOSED

    def _start(self, run: Run) -> Answer:
        with run.lock:
            if run.stage is Stage.PROPOSED:
                run.stage = Stage.RUNNING
                Thread(target=self._take_part, args=(run,), daemon=True).start()
        return OK, {}

    def _finish(self, run: Run) -> Answer:
        with run.lock:
            if run.stage not in (Stage.READY, Stage.DONE) or run.participant is None:
                raise ProtocolError(run.error or f"'{self.name}' is not ready to release")
            if run.stage is Stage.READY:
                self._done(run.participant)
            run.stage = Stage.DONE
        return OK, {}

    def _take(self, run: Run, rest: list[str], body: bytes, certificate: bytes, caller: str) -> Answer:
        number, position, total = (int(each) for each in rest[:3])
        envelope = run.collect(caller, number, position, total, body)
        if envelope is not None:
            message = unseal(envelope, certificate, caller)
            if message.number != number:
                raise ProtocolError(f"'{caller}' sent a message under another number: the run ends")
            run.take(message)
        return OK, {"have": position + len(body)}

    def _transcript(self, run: Run) -> Answer:
        if run.stage is not Stage.DONE or run.participant is None:
            raise ProtocolError(f"'{self.name}' has not yet ended the run")
        return OK, signed_transcript(run.participant, self._credentials)

    # ------------------------------------------------------------------ the run

    def _take_part(self, run: Run) -> None:
        caller = Caller(self._credentials, run.addresses, self._patience, keep_open=True)
        try:
            run.participant = self._build(run.contract)
            self._post(run, caller, run.participant.start())
            while not run.participant.is_done:
                message = self._next(run, caller)
                if message is None:
                    return
                self._post(run, caller, run.participant.receive(message))
            with run.lock:
                run.participant.forget()
                if run.stage is Stage.RUNNING:
                    run.stage = Stage.READY
            self._wait_for_the_others(run, caller)
        except TarnkappeError as error:
            self._end_for_all(run, caller, str(error))
        except Exception as error:
            self._end_for_all(
                run, caller, f"'{self.name}' failed with a {type(error).__name__}: the run ends"
            )
        finally:
            caller.close()
            with run.lock:
                run.forget()

    def _next(self, run: Run, caller: Caller) -> Message | None:
        """The next message. While somebody else is at work, even for long, it is waited for."""
        while True:
            try:
                return run.next(self._patience)
            except Empty:
                if self._nobody_works(run, caller) and run.is_waiting:
                    raise ProtocolError(
                        f"'{self.name}' has waited {self._patience:g} seconds for a message: the run ends"
                    ) from None

    def _ask_all(self, run: Run, caller: Caller) -> dict[str, Any]:
        """How far the others are; who has failed or cannot be reached ends the run."""
        path = f"/status/{run.contract.digest.hex()}"
        others = [party for party in run.contract.everybody if party != self.name]
        states = {party: caller.call(party, path) for party in others}
        for status in states.values():
            if status["state"] == Stage.FAILED:
                raise ProtocolError(status["error"])
        return states

    def _nobody_works(self, run: Run, caller: Caller) -> bool:
        """Whether all others wait for a message.

        They are asked one after the other, and work may pass from one to another meanwhile. Who waits twice
        and has taken no message in between has waited all the time, so between the two rounds all did.
        """
        before, after = self._ask_all(run, caller), self._ask_all(run, caller)
        return before == after and all(status["waiting"] for status in after.values())

    def _wait_for_the_others(self, run: Run, caller: Caller) -> None:
        """Keep the release back until told that all have it; if nobody tells, find out whether some know."""
        deadline = time.monotonic() + self._patience
        while run.stage is Stage.READY:
            time.sleep(PAUSE)
            if time.monotonic() < deadline:
                continue
            states = self._ask_all(run, caller).values()
            if any(status["state"] == Stage.DONE for status in states):
                self._finish(run)
            elif self._nobody_works(run, caller):
                raise ProtocolError(f"'{self.name}' is ready, but nobody asks for the release: the run ends")
            deadline = time.monotonic() + self._patience

    def _post(self, run: Run, caller: Caller, messages: list[Message]) -> None:
        path = f"/message/{run.contract.digest.hex()}"
        for message in messages:
            caller.upload(message.receiver, f"{path}/{message.number}", seal(message, self._credentials))

    def _end_for_all(self, run: Run, caller: Caller, error: str) -> None:
        if not run.fail(error):
            return
        for party in run.contract.everybody:
            if party != self.name:
                try:
                    caller.call(party, f"/abort/{run.contract.digest.hex()}", error.encode(), pauses=())
                except ProtocolError:
                    continue
