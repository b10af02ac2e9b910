"""A network in memory that loses, repeats, holds back, mixes up, cuts and changes what it carries."""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Mapping, Sequence

from tarnkappe.errors import TarnkappeError
from tarnkappe.federation.certificates import Credentials
from tarnkappe.federation.envelope import seal, unseal
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.run import Run, RunStage

FAULTS = ("dropped", "duplicated", "delayed", "reordered", "truncated", "bit-flipped")

Parcel = tuple[str, str, bytes]
"""From whom, to whom, and the sealed message."""


class Network:
    """Carries signed messages, of which one meets with a fault; then every party has a release or none has.

    Args:
        participants: everybody in the contract.
        credentials: who signs how.
        fault: what happens to one message.
        index: to which.
    """

    def __init__(
        self,
        participants: Sequence[Participant],
        credentials: Mapping[str, Credentials],
        fault: str = "",
        index: int = -1,
    ) -> None:
        self._credentials = credentials
        self._fault = fault
        self._index = index
        self.carried = 0
        self.error = ""
        self._line: deque[Parcel] = deque()
        self._held: list[Parcel] = []
        self.runs: dict[str, Run] = {}
        self._participants = participants
        for participant in participants:
            run = self.runs[participant.name] = Run(participant.name, "P1", participant.contract, {})
            run.participant, run.stage = participant, RunStage.RUNNING

    def run(self) -> None:
        """Carry messages until there are none, then end the run as services do."""
        try:
            for participant in self._participants:
                self._post(participant.start())
            while self._line or self._held:
                self._deliver(self._line.popleft() if self._line else self._held.pop())
            if not all(participant.is_done for participant in self._participants):
                self.error = "somebody waits for a message that does not come"
        except TarnkappeError as error:
            self.error = str(error)
        if self.error:
            for run in self.runs.values():
                run.fail(self.error)

    def _post(self, messages: list[Message]) -> None:
        for message in messages:
            parcel = (message.sender, message.receiver, seal(message, self._credentials[message.sender]))
            self._line.extend(self._meet(parcel))
            self.carried += 1

    def _meet(self, parcel: Parcel) -> list[Parcel]:
        sender, receiver, envelope = parcel
        if self._fault == "reordered" and self.carried == self._index + 1 and self._held:
            return [parcel, self._held.pop()]
        if self.carried != self._index:
            return [parcel]
        if self._fault == "dropped":
            return []
        if self._fault == "duplicated":
            return [parcel, parcel]
        if self._fault in ("delayed", "reordered"):
            self._held.append(parcel)
            return []
        place = (self._index * 7919) % len(envelope)
        if self._fault == "truncated":
            return [(sender, receiver, envelope[:place])]
        flipped = bytes([envelope[place] ^ 1 << self._index % 8])
        return [(sender, receiver, envelope[:place] + flipped + envelope[place + 1 :])]

    def _deliver(self, parcel: Parcel) -> None:
        sender, receiver, envelope = parcel
        pem = self._credentials[sender].certificate.read_text(encoding="ascii")
        run = self.runs[receiver]
        run.take(unseal(envelope, ssl.PEM_cert_to_DER_cert(pem), sender))
        while not run._inbox.empty():
            message = run._inbox.get_nowait()
            assert message is not None
            assert run.participant is not None
            self._post(run.participant.receive(message))
