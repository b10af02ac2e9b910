"""A party as a service: it confirms a contract, takes part in the run and keeps the release.

A run is proposed, confirmed by all, started, and ends for all: with the release, or with one error that
everybody is told. What was under way is then forgotten.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from queue import Empty
from threading import Lock, Thread
from typing import Any

from tarnkappe.errors import (
    ProtocolError,
    Reason,
    TarnkappeError,
)
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.printable import printable
from tarnkappe.federation.run import Run, RunStage
from tarnkappe.federation.telling import LONGEST_RUN, is_counted, told_at_home, told_to_others
from tarnkappe.federation.transcript import signed_transcript
from tarnkappe.federation.transport import OK, Answer, Caller, Listener, Served

Build = Callable[[Contract], Participant]
"""Makes the state machine of this party for a contract, with its own data."""

Confirm = Callable[[Contract], None]
"""Raises an error if this party does not agree to a contract."""

PAUSE = 0.05
MOST_RUNS = 200
"""So many runs are kept in mind; of more, those that have ended are forgotten first."""


class PartyService(Served):
    """Listens for proposals and takes part in runs.

    Args:
        credentials: who this party is.
        address: where it listens.
        build: makes its state machine.
        confirm: whether it agrees to a contract.
        done: told about every run that ends well.
        patience: after how many seconds in which nobody does anything a run is given up.
        received: told about every contract that arrives and who proposes it; may refuse it.
        failed: told about every contract that ends without a release, and why.
        log: told in a line what happens here.
        longest_run: after how many seconds a run is given up, whatever others say they do.
    """

    def __init__(
        self,
        credentials: Credentials,
        address: tuple[str, int],
        build: Build,
        confirm: Confirm,
        done: Callable[[Participant], None] = lambda _: None,
        patience: float = 60.0,
        received: Callable[[Contract, str], None] = lambda _, __: None,
        failed: Callable[[Contract, str], None] = lambda _, __: None,
        log: Callable[[str], None] = lambda _: None,
        longest_run: float = LONGEST_RUN,
    ) -> None:
        credentials.require_signing()
        self.name = credentials.name
        self._credentials = credentials
        self._build = build
        self._confirm = confirm
        self._done = done
        self._patience = patience
        self._received = received
        self._failed = failed
        self._log = log
        self._longest_run = longest_run
        self._arrival = Lock()
        self._runs: dict[str, Run] = {}
        self._listener = Listener(address, credentials, self._serve)

    # ------------------------------------------------------------------ calls

    def _serve(self, path: str, body: bytes, certificate: bytes, caller: str) -> Answer:
        try:
            return self._answer(path, body, certificate, caller)
        except TarnkappeError as error:
            raise ProtocolError.because(told_to_others(error, self.name)) from None

    def _answer(self, path: str, body: bytes, certificate: bytes, caller: str) -> Answer:
        if path == "/propose":
            return self._propose(body, caller)
        _, action, digest, *rest = [*path.split("/"), "", ""]
        run = self._runs.get(digest)
        if run is None or caller not in run.contract.everybody:
            raise ProtocolError(
                "federation.takes-part-no-run",
                "'{name}' takes part in no such run with '{caller}'",
                name=self.name,
                caller=caller,
            )
        if action == "message":
            return self._take(run, rest, body, certificate, caller)
        if action == "start":
            return self._start(run)
        if action == "finish":
            return self._finish(run)
        if action == "abort":
            self._fail(run, printable(body.decode(errors="replace"))[:1000])
            return OK, {}
        if action == "status":
            return OK, run.status_for(caller)
        if action == "transcript":
            return self._transcript(run)
        raise ProtocolError(
            "federation.not-know", "'{name}' does not know '{action}'", name=self.name, action=action
        )

    def _propose(self, body: bytes, caller: str) -> Answer:
        try:
            document = json.loads(body)
            addresses = {name: (str(host), int(port)) for name, (host, port) in document["addresses"].items()}
            contract = Contract.from_document(document["contract"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ProtocolError(
                "federation.proposed-something-no-contract",
                "'{caller}' proposed something that is no contract",
                caller=caller,
            ) from None
        if caller not in contract.everybody or self.name not in contract.everybody:
            raise ProtocolError(
                "federation.contract-not-name-both",
                "the contract of '{caller}' does not name both '{caller}' and '{name}'",
                caller=caller,
                name=self.name,
            )
        digest = contract.digest.hex()
        with self._arrival:
            if digest not in self._runs:
                self._make_room()
                self._say(contract, f"proposed by '{printable(caller)}'")
                try:
                    self._received(contract, caller)
                except TarnkappeError as error:
                    self._say(contract, f"refused: {told_at_home(error)}")
                    raise
                self._runs[digest] = Run(self.name, caller, contract, addresses)
            run = self._runs[digest]
        with run.lock:
            if run.proposer != caller or run.stage not in (RunStage.ASKED, RunStage.PROPOSED):
                raise ProtocolError(
                    "federation.contract-proposed-before-contract",
                    "this contract was proposed before, and a contract runs once (--new-run)",
                )
            if not run.was_asked:
                run.was_asked = True
                Thread(target=self._ask, args=(run,), daemon=True).start()
        return OK, {"digest": digest}

    def _make_room(self) -> None:
        """Forget runs that have ended where there are many; who proposes without end is refused."""
        ended = [d for d, run in self._runs.items() if run.stage in (RunStage.DONE, RunStage.FAILED)]
        for digest in ended[: max(0, len(self._runs) - MOST_RUNS + 1)]:
            del self._runs[digest]
        if len(self._runs) >= MOST_RUNS:
            raise ProtocolError(
                "federation.contracts-not-ended-try",
                "'{name}' has {most_runs} contracts that have not ended: try again later",
                name=self.name,
                most_runs=MOST_RUNS,
            )

    def _say(self, contract: Contract, what: str) -> None:
        self._log(f"{contract.digest.hex()[:16]} {what}")

    def _fail(self, run: Run, error: str) -> bool:
        """End a run here; returns whether that is news."""
        if not run.fail(error):
            return False
        self._failed(run.contract, error)
        self._say(run.contract, f"ended without a release: {error}")
        return True

    def _ask(self, run: Run) -> None:
        """Ask the people of this party, who may take their time."""
        try:
            self._confirm(run.contract)
        except Exception as error:
            self._say(run.contract, f"not agreed to: {told_at_home(error)}")
            self._fail(run, told_to_others(error, self.name))
        with run.lock:
            if run.stage is RunStage.ASKED:
                run.stage = RunStage.PROPOSED
                self._say(run.contract, "agreed to")

    def _start(self, run: Run) -> Answer:
        with run.lock:
            if run.stage is RunStage.PROPOSED:
                run.stage = RunStage.RUNNING
                Thread(target=self._take_part, args=(run,), daemon=True).start()
        return OK, {}

    def _finish(self, run: Run) -> Answer:
        if run.stage is RunStage.READY and self.name != run.contract.helper:
            run.is_comparing = True
            try:
                self._require_same_release(run)
            finally:
                run.is_comparing = False
        with run.lock:
            if run.stage not in (RunStage.READY, RunStage.DONE) or run.participant is None:
                if run.error:
                    raise ProtocolError.because(run.error)
                raise ProtocolError(
                    "federation.not-ready-release", "'{name}' is not ready to release", name=self.name
                )
            if run.stage is RunStage.READY:
                self._done(run.participant)
                self._say(run.contract, "ended: the release is kept")
            run.stage = RunStage.DONE
        return OK, {}

    def _require_same_release(self, run: Run) -> None:
        """Nobody keeps a release of which another party with data has got another version.

        Where every row is of one party, all rows that were sent are released or suppressed, and no others.
        """
        caller = Caller(self._credentials, run.addresses, self._patience)
        try:
            states = self._ask_all(run, caller)
            parties = [name for name in run.contract.parties if name != self.name]
            error = ""
            if any(states[name].get("release") != run.release for name in parties):
                error = "the parties have got different releases: none of them is kept, and the run ends"
            elif is_counted(run.contract) and run.participant is not None:
                sent = run.num_rows + sum(int(states[name].get("rows") or 0) for name in parties)
                outcome = run.participant.outcome
                if outcome is not None and sent != outcome.release.num_rows + outcome.suppressed:
                    error = Reason(
                        "federation.other-rows-released-parties",
                        "other rows were released than the parties have sent: none is kept, and the run ends",
                    )
            if error:
                self._end_for_all(run, caller, error)
                raise ProtocolError.because(error)
        finally:
            caller.close()

    def _take(self, run: Run, rest: list[str], body: bytes, certificate: bytes, caller: str) -> Answer:
        number, position, total = (int(each) for each in rest[:3])
        envelope = run.collect(caller, number, position, total, body)
        if envelope is not None:
            message = unseal(envelope, certificate, caller)
            if message.number != number:
                raise ProtocolError(
                    "federation.sent-message-under-another-number",
                    "'{caller}' sent a message under another number: the run ends",
                    caller=caller,
                )
            run.take(message)
        return OK, {"have": position + len(body)}

    def _transcript(self, run: Run) -> Answer:
        if run.stage is not RunStage.DONE or run.participant is None:
            raise ProtocolError(
                "federation.not-yet-ended-run", "'{name}' has not yet ended the run", name=self.name
            )
        return OK, signed_transcript(run.participant, self._credentials)

    # ------------------------------------------------------------------ the run

    def _take_part(self, run: Run) -> None:
        caller = Caller(self._credentials, run.addresses, self._patience, keep_open=True)
        run.deadline = time.monotonic() + self._longest_run
        self._say(run.contract, "started")
        try:
            run.participant = self._build(run.contract)
            self._post(run, caller, run.participant.start())
            while not run.participant.is_done:
                message = self._next(run, caller)
                if message is None:
                    return
                self._post(run, caller, run.participant.receive(message))
            outcome = run.participant.outcome
            digest = "" if outcome is None else outcome.digest
            with run.lock:
                run.participant.forget()
                if outcome is not None and outcome.own is not None:
                    run.num_rows = outcome.own.sent
                if run.stage is RunStage.RUNNING:
                    run.release, run.stage = digest, RunStage.READY
            self._wait_for_the_others(run, caller)
        except Exception as error:
            self._say(run.contract, told_at_home(error))
            self._end_for_all(run, caller, told_to_others(error, self.name))
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
                self._refuse_endless(run)
                if self._nobody_works(run, caller) and run.is_waiting:
                    raise ProtocolError(
                        "federation.waited-seconds-message-run",
                        "'{name}' has waited {patience:g} seconds for a message: the run ends",
                        name=self.name,
                        patience=self._patience,
                    ) from None

    def _refuse_endless(self, run: Run) -> None:
        """Who says for ever that he is at work is not waited for for ever."""
        if time.monotonic() > run.deadline:
            raise ProtocolError(
                "federation.given-run-seconds-not-done",
                "'{name}' has given the run {longest_run:g} seconds and it is not done: the run ends",
                name=self.name,
                longest_run=self._longest_run,
            )

    def _ask_all(self, run: Run, caller: Caller) -> dict[str, Any]:
        """How far the others are; who has failed or cannot be reached ends the run."""
        path = f"/status/{run.contract.digest.hex()}"
        others = [party for party in run.contract.everybody if party != self.name]
        states = {party: caller.call(party, path) for party in others}
        for status in states.values():
            if status.get("state") == RunStage.FAILED:
                raise ProtocolError.because(printable(status.get("error", "the run has ended"))[:1000])
        return states

    def _nobody_works(self, run: Run, caller: Caller) -> bool:
        """Whether all others wait for a message.

        They are asked one after the other, and work may pass from one to another meanwhile. Who waits twice
        and has taken no message in between has waited all the time, so between the two rounds all did.
        """
        before, after = self._ask_all(run, caller), self._ask_all(run, caller)
        return before == after and all(status.get("waiting") for status in after.values())

    def _wait_for_the_others(self, run: Run, caller: Caller) -> None:
        """Keep the release back until told that all have it; if nobody tells, find out whether some know."""
        deadline = time.monotonic() + self._patience
        while run.stage is RunStage.READY:
            time.sleep(PAUSE)
            if time.monotonic() < deadline:
                continue
            self._refuse_endless(run)
            states = self._ask_all(run, caller).values()
            if any(status.get("state") == RunStage.DONE for status in states):
                self._finish(run)
            elif self._nobody_works(run, caller):
                raise ProtocolError(
                    "federation.ready-but-nobody-asks",
                    "'{name}' is ready, but nobody asks for the release: the run ends",
                    name=self.name,
                )
            deadline = time.monotonic() + self._patience

    def _post(self, run: Run, caller: Caller, messages: list[Message]) -> None:
        path = f"/message/{run.contract.digest.hex()}"
        for message in messages:
            caller.upload(message.receiver, f"{path}/{message.number}", seal(message, self._credentials))

    def _end_for_all(self, run: Run, caller: Caller, error: str) -> None:
        if not self._fail(run, error):
            return
        for party in run.contract.everybody:
            if party != self.name:
                try:
                    caller.call(party, f"/abort/{run.contract.digest.hex()}", error.encode(), pauses=())
                except ProtocolError:
                    continue
