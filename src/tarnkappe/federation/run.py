"""One run at one party: where it stands, what has arrived, and that nothing of it stays behind."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping
from enum import StrEnum
from queue import Empty, Queue
from threading import Lock

from tarnkappe.errors import ProtocolError, Reason
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.transport import LARGEST


class RunStage(StrEnum):
    """Where a run stands at a party."""

    ASKED = "asked"
    """Proposed, and the people of this party have not yet said what they think of it."""
    PROPOSED = "proposed"
    """Agreed to, not started."""
    RUNNING = "running"
    """Messages are exchanged."""
    READY = "ready"
    """The release is there, and kept back until all parties have it."""
    DONE = "done"
    """The release is kept."""
    FAILED = "failed"
    """It ended without a release."""


@dataclasses.dataclass
class _Arriving:
    """The pieces of a message that have come so far."""

    number: int
    total: int
    body: bytearray


class Run:
    """What a party knows of one run. Calls and the run itself come in different threads.

    Args:
        party: whose view it is.
        proposer: who proposed it.
        contract: what all have agreed on.
        addresses: where everybody is.
    """

    def __init__(
        self, party: str, proposer: str, contract: Contract, addresses: Mapping[str, tuple[str, int]]
    ) -> None:
        self.party = party
        self.proposer = proposer
        self.contract = contract
        self.addresses = addresses
        self.stage = RunStage.ASKED
        self.was_asked = False
        self.error = ""
        self.release = ""
        """The digest of the release that this party has, by which parties see that all have the same one."""
        self.num_rows = 0
        """How many rows this party has sent, by which parties see that none is missing and none was added."""
        self.is_comparing = False
        """Whether it was told to keep its release, and asks the others first whether they have the same."""
        self.deadline = math.inf
        self.participant: Participant | None = None
        self.lock = Lock()
        self._inbox: Queue[Message | None] = Queue()
        self._accepted: dict[tuple[str, int], bytes] = {}
        self._arriving: dict[str, _Arriving] = {}
        self._is_idle = False
        self._taken = 0

    @property
    def is_waiting(self) -> bool:
        """Whether only a message from somebody else can bring this party further."""
        if self.is_comparing:
            return False
        return self.stage is not RunStage.RUNNING or (self._is_idle and self._inbox.empty())

    def collect(self, sender: str, number: int, position: int, total: int, piece: bytes) -> bytes | None:
        """Take a piece of a message; returns the message when it is complete.

        A piece that has come before is taken for granted: its sender did not get our answer.
        """
        if not 0 <= position <= position + len(piece) <= total <= LARGEST:
            raise ProtocolError(
                "federation.sent-piece-none-run",
                "'{sender}' sent a piece that is none: the run ends",
                sender=sender,
            )
        with self.lock:
            is_known = (sender, number) in self._accepted
            self._refuse_if_over(is_known)
            if position and is_known:
                return None
            arriving = self._arriving.get(sender)
            if position == 0:
                arriving = self._arriving[sender] = _Arriving(number, total, bytearray())
            if arriving is None or (arriving.number, arriving.total) != (number, total):
                raise ProtocolError(
                    "federation.sent-piece-message-without-beginning",
                    "'{sender}' sent a piece of a message without its beginning",
                    sender=sender,
                )
            if position == len(arriving.body):
                arriving.body += piece
            elif position + len(piece) != len(arriving.body):
                raise ProtocolError(
                    "federation.left-out-piece-message",
                    "'{sender}' left out a piece of a message",
                    sender=sender,
                )
            if len(arriving.body) < total:
                return None
            del self._arriving[sender]
            return bytes(arriving.body)

    def take(self, message: Message) -> None:
        """Put a message in line; who sends it again because our answer was lost is told the same."""
        digest = hashlib.sha256(message.kind.encode() + b"\0" + message.body).digest()
        with self.lock:
            known = self._accepted.get((message.sender, message.number))
            self._refuse_if_over(known is not None)
            if known is None:
                self._accepted[message.sender, message.number] = digest
                self._inbox.put(message)
            if known in (None, digest):
                return
        self.fail(
            Reason(
                "federation.sent-two-different-messages",
                "'{sender}' sent two different messages {message}: the run ends",
                sender=message.sender,
                message=message.number,
            )
        )
        raise ProtocolError.because(self.error)

    def _refuse_if_over(self, is_known: bool) -> None:
        """A party that is ready takes nothing new, but who did not get its answer may ask again."""
        open_to_new = self.stage in (RunStage.PROPOSED, RunStage.RUNNING)
        if self.stage is RunStage.FAILED or not (open_to_new or is_known):
            if self.error:
                raise ProtocolError.because(self.error)
            raise ProtocolError("federation.run-over", "the run is over for '{party}'", party=self.party)

    def next(self, patience: float) -> Message | None:
        """The next message, or None if the run is over; `Empty` is raised if none comes in time.

        Who then asks the others what they do is still waiting: two that ask each other must not take each
        other for busy.
        """
        self._is_idle = True
        message = self._inbox.get(timeout=patience)
        self._taken += 1
        self._is_idle = False
        return message

    def status_for(self, caller: str) -> dict[str, object]:
        """How far this party is, for others who wonder why nothing comes.

        A helper, which gets no release, gets no digest of it either: it could try guesses on it.
        """
        return {
            "state": self.stage,
            "error": self.error,
            "waiting": self.is_waiting,
            "taken": self._taken,
            "release": "" if caller == self.contract.helper else self.release,
            "rows": 0 if caller == self.contract.helper else self.num_rows,
        }

    def fail(self, error: str) -> bool:
        """End the run without a release and forget all that was under way; returns whether that is news."""
        with self.lock:
            if self.stage in (RunStage.DONE, RunStage.FAILED):
                return False
            self.stage, self.error = RunStage.FAILED, error
            self.forget()
        self._inbox.put(None)
        return True

    def forget(self) -> None:
        """Give up what has arrived, and what the participant knows beside its transcript."""
        self._arriving.clear()
        while True:
            try:
                self._inbox.get_nowait()
            except Empty:
                break
        if self.participant is not None:
            self.participant.forget()
            if self.stage is RunStage.FAILED:
                self.participant.outcome = None
