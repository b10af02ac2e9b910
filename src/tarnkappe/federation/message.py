"""Messages and who takes part: the state machines of the protocols are made of these."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from functools import cached_property

import pyarrow as pa

from tarnkappe.errors import ProtocolError, Reason
from tarnkappe.federation.arrow_wire import Tables, pack, unpack
from tarnkappe.federation.contract import Contract
from tarnkappe.federation.support import refuse_unsupported
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table.encoding import as_text


@dataclasses.dataclass(frozen=True)
class Message:
    """What one party sends to another.

    Attributes:
        contract: the digest of the contract, which names the run.
        sender: from whom.
        receiver: to whom.
        kind: what it is in the protocol.
        number: how many messages this sender has sent to this receiver before, in this run.
        body: the tables it carries.
    """

    contract: bytes
    sender: str
    receiver: str
    kind: str
    number: int
    body: bytes


@dataclasses.dataclass(frozen=True)
class TranscriptEntry:
    """A line of a transcript: a message without its content.

    Attributes:
        sender: from whom.
        receiver: to whom.
        kind: what it was in the protocol.
        size: how many bytes it had.
        shape: the rows of each table in it.
        digest: the SHA-256 of its body.
    """

    sender: str
    receiver: str
    kind: str
    size: int
    shape: tuple[tuple[str, int], ...]
    digest: str


@dataclasses.dataclass(frozen=True)
class OwnRows:
    """What a party finds of its own rows in a release that it has checked.

    Attributes:
        sent: how many it has sent.
        suppressed: how many of them are certainly not in the release.
        below: how many would be in classes smaller than promised if all other parties took out theirs.
        alone: how many would then be alone.
    """

    sent: int
    suppressed: int
    below: int
    alone: int


@dataclasses.dataclass(frozen=True, eq=False)
class RunOutcome:
    """What a run ends with.

    Attributes:
        release: the anonymized table.
        levels: the level of each quasi-identifier.
        suppressed: how many rows were suppressed.
        loss: the information lost, as who anonymized has told it; None where nobody was told.
        own: what this party finds of its own rows in it.
    """

    release: pa.Table
    levels: dict[str, int]
    suppressed: int
    loss: float | None
    own: OwnRows | None = None

    @cached_property
    def digest(self) -> str:
        """One digest for equal releases, whatever the order of their rows."""
        texts = pa.table(
            {name: as_text(self.release.column(name).combine_chunks()) for name in self.release.column_names}
        )
        order = [(name, "ascending") for name in texts.column_names]
        hashed = hashlib.sha256(json.dumps([sorted(self.levels.items()), self.suppressed]).encode())
        for name, column in zip(texts.column_names, texts.sort_by(order).columns, strict=True):
            hashed.update(json.dumps([name, column.to_pylist()]).encode())
        return hashed.hexdigest()


class Participant:
    """One party as a state machine: messages in, messages out, no clock, no network, no file.

    Subclasses name a method for each kind of message in `handlers`. Whatever does not belong to the run,
    comes twice, out of order, or from the wrong party ends the run with a `ProtocolError`.

    Args:
        name: its name in the contract.
        contract: what all have agreed on.
        chance: the source of random orders; the operating system's if not given.
    """

    def __init__(self, name: str, contract: Contract, chance: Chance | None = None) -> None:
        refuse_unsupported(contract)
        self.name = name
        self.contract = contract
        self.chance = chance or Chance()
        self.outcome: RunOutcome | None = None
        self.has_done_its_part = False
        """Whether a helper, who gets no release, has nothing more to do."""
        self.transcript: list[TranscriptEntry] = []
        """What was received."""
        self.sent: list[TranscriptEntry] = []
        self.work: dict[str, int] = {}
        """How many cells were encrypted and decrypted."""
        self.handlers: dict[str, Callable[[str, Tables], list[Message]]] = {}
        self._sent: dict[str, int] = {}
        self._received: dict[str, int] = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come of this party."""
        return self.outcome is not None or self.has_done_its_part

    def start(self) -> list[Message]:
        """The messages that this party sends of its own accord."""
        return []

    def receive(self, message: Message) -> list[Message]:
        """Take a message; returns what this party sends because of it."""
        self._check(message)
        tables = unpack(message.body, message.sender)
        self.transcript.append(_entry(message, tables))
        return self.handlers[message.kind](message.sender, tables)

    def send(self, receiver: str, kind: str, tables: Tables) -> Message:
        """A message with the next number."""
        number = self._sent.get(receiver, 0)
        self._sent[receiver] = number + 1
        message = Message(self.contract.digest, self.name, receiver, kind, number, pack(tables))
        self.sent.append(_entry(message, tables))
        return message

    def forget(self) -> None:
        """Give up all that is under way: keys, shares, what was received. Only the transcript stays."""
        kept = ("name", "contract", "outcome", "has_done_its_part", "transcript", "sent", "work")
        for attribute in [each for each in vars(self) if each not in kept]:
            delattr(self, attribute)
        self.handlers = {}
        self._sent, self._received = {}, {}

    def count(self, what: str, number: int) -> None:
        """Note how much work was done."""
        self.work[what] = self.work.get(what, 0) + number

    def refuse(self, sender: str, code: str, template: str, /, **values: object) -> ProtocolError:
        """The error that ends the run."""
        why = Reason(code, template, **values)
        return ProtocolError("federation.run-ends", "'{sender}' {why}: the run ends", sender=sender, why=why)

    def _check(self, message: Message) -> None:
        if message.contract != self.contract.digest:
            raise self.refuse(
                message.sender,
                "federation.sent-message-another-run",
                "sent a message of another run or contract",
            )
        if message.receiver != self.name or message.sender not in self.contract.everybody:
            raise self.refuse(
                message.sender,
                "federation.sent-message",
                "sent '{name}' a message that is not for it",
                name=self.name,
            )
        expected = self._received.get(message.sender, 0)
        if message.number != expected:
            raise self.refuse(
                message.sender,
                "federation.sent-message-where-message",
                "sent message {message} where message {expected} was due",
                message=message.number,
                expected=expected,
            )
        if message.kind not in self.handlers:
            raise self.refuse(
                message.sender,
                "federation.sent-not-take",
                "sent a '{kind}', which '{name}' does not take",
                kind=message.kind,
                name=self.name,
            )
        self._received[message.sender] = expected + 1


def _entry(message: Message, tables: Tables) -> TranscriptEntry:
    shape = tuple((name, table.num_rows) for name, table in tables.items())
    digest = hashlib.sha256(message.body).hexdigest()
    return TranscriptEntry(message.sender, message.receiver, message.kind, len(message.body), shape, digest)
