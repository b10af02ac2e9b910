"""What a run costs: operations of ciphers, messages and bytes, before anything is started.

The formulas count operations of ciphers and the bits that travel, for parties of equal size on equal
machines; a rate turns them into seconds. They are those of the published cost model with its misprints
corrected: times are operations divided by rates, and structure arrays have rows and columns. The hybrid
distribution and the masked ring, which it does not have, are counted in the same way.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from tarnkappe.errors import ParameterError
from tarnkappe.federation.ciphers import GROUPS, ColumnKey, PrivateKey
from tarnkappe.federation.contract import Contract, Partitioning, Protocol

CODE_BITS = 32


@dataclasses.dataclass(frozen=True)
class FederationWorkload:
    """The data of all parties together.

    Attributes:
        parties: how many have data.
        rows: how many rows there are in all.
        columns: how many columns.
        distinct: how many distinct values, added up over the columns.
        made_up: how many rows are made up.
        tests: how many levels are tested.
        groups: how many groups a test has on average.
        regions: how many groups of parties have the same people, where the distribution is hybrid.
        released: how many different rows the release has; where that is not known, all may be different.
    """

    parties: int
    rows: int
    columns: int
    distinct: int
    made_up: int = 0
    tests: int = 0
    groups: float = 0.0
    regions: int = 1
    released: int | None = None


@dataclasses.dataclass(frozen=True)
class Speed:
    """How fast machines and network are, and how long ciphertexts.

    Attributes:
        operations: operations of the cipher in a second: commutative or symmetric ones, in a masked star
            homomorphic ones.
        bandwidth: bits in a second.
        cipher_bits: the length of an encrypted cell.
        counter_bits: the length of an encrypted counter.
        shared_tests: whether all parties share the decryption of a test.
        encryptions: counters encrypted in a second, where they are told apart from other operations.
        decryptions: counters decrypted in a second, likewise.
    """

    operations: float
    bandwidth: float
    cipher_bits: int
    counter_bits: int = 0
    shared_tests: bool = False
    encryptions: float = 0.0
    decryptions: float = 0.0


@dataclasses.dataclass(frozen=True)
class Phase:
    """What one phase of a run costs.

    Attributes:
        name: which.
        operations: operations of ciphers that cannot be done at the same time.
        messages: how many messages are sent.
        bits: how many bits travel.
        computing: seconds of the cipher.
        transfer: seconds of the network.
    """

    name: str
    operations: float
    messages: int
    bits: float
    computing: float
    transfer: float

    @property
    def seconds(self) -> float:
        """Computing and transfer, one after the other."""
        return self.computing + self.transfer


@dataclasses.dataclass(frozen=True)
class ProtocolCost:
    """What a run costs, phase by phase."""

    phases: tuple[Phase, ...]

    @property
    def operations(self) -> float:
        """Operations of the cipher, one after the other."""
        return sum(phase.operations for phase in self.phases)

    @property
    def messages(self) -> int:
        """How many messages are sent."""
        return sum(phase.messages for phase in self.phases)

    @property
    def bits(self) -> float:
        """How many bits travel."""
        return sum(phase.bits for phase in self.phases)

    @property
    def computing(self) -> float:
        """Seconds of the cipher."""
        return sum(phase.computing for phase in self.phases)

    @property
    def transfer(self) -> float:
        """Seconds of the network."""
        return sum(phase.transfer for phase in self.phases)

    @property
    def seconds(self) -> float:
        """Computing and transfer, one after the other."""
        return self.computing + self.transfer


class PhaseCost(NamedTuple):
    """What a phase needs: operations on cells, messages, bits, and counters encrypted and decrypted."""

    name: str
    operations: float
    messages: int
    bits: float
    encrypted: float = 0.0
    decrypted: float = 0.0


@dataclasses.dataclass(frozen=True)
class Portion:
    """What one party has: rows, columns, distinct values and keys that people are joined by."""

    rows: float
    columns: float
    distinct: float
    keys: float

    @classmethod
    def of(cls, distribution: Partitioning, work: FederationWorkload) -> Portion:
        """The portion of each of equal parties; how many of them have the same people is what differs."""
        groups = {
            Partitioning.HORIZONTAL: work.parties,
            Partitioning.VERTICAL: 1,
            Partitioning.HYBRID: work.regions,
        }[distribution]
        rows, share = (work.rows + work.made_up) / groups, groups / work.parties
        keys = 0 if distribution is Partitioning.HORIZONTAL else rows
        return cls(rows, share * work.columns, share * work.distinct, keys)

    def bits(self, cell: int) -> float:
        """How many bits it takes with its keys, without counters."""
        coded = self.columns * self.rows + self.keys
        return coded * CODE_BITS + (self.distinct + self.keys) * cell


def estimate(
    protocol: Protocol, distribution: Partitioning, work: FederationWorkload, speed: Speed
) -> ProtocolCost:
    """The cost of a run."""
    if protocol is Protocol.OBLIVIOUS:
        raise ParameterError(
            "federation.oblivious-run-no-operations",
            "an oblivious run has no operations of ciphers to count: there is no estimate of it",
        )
    formula = {
        Protocol.RING: _ring,
        Protocol.STAR: _star,
        Protocol.MASKED: _masked,
        Protocol.MASKED_RING: _masked_ring,
    }[protocol]
    if not protocol.is_masked:
        work = dataclasses.replace(work, made_up=0)
    needs = formula(Portion.of(distribution, work), work, speed)
    return ProtocolCost(tuple(_phase(need, speed) for need in needs))


def _phase(need: PhaseCost, speed: Speed) -> Phase:
    operations = need.operations + need.encrypted + need.decrypted
    computing = operations / speed.operations
    if speed.encryptions and speed.decryptions:
        computing = need.operations / speed.operations
        computing += need.encrypted / speed.encryptions + need.decrypted / speed.decryptions
    return Phase(need.name, operations, need.messages, need.bits, computing, need.bits / speed.bandwidth)


SAMPLE = 64
"""So many operations are timed to calibrate the model, unless another number is given."""


def calibrated(contract: Contract, bandwidth: float, sample: int = SAMPLE) -> Speed:
    """How fast this machine is with the ciphers of a contract, and how long their ciphertexts are.

    So many operations are timed at once; a test has as many as there are groups, and many use all cores.
    """
    values = [secrets.token_bytes(8) for _ in range(sample)]
    if contract.protocol in (Protocol.RING, Protocol.MASKED_RING):
        group = GROUPS[contract.group]()
        key, elements = group.new_key(), group.embed(b"", values)
        cells = Speed(_rate(lambda: group.apply(key, elements), sample), bandwidth, 8 * group.size)
    else:
        cipher = ColumnKey(ColumnKey.new(), "", max(column.width for column in contract.columns))
        cells = Speed(_rate(lambda: cipher.encrypt(values), sample), bandwidth, 8 * cipher.size)
    if not contract.protocol.is_masked:
        return cells
    encrypting, decrypting, counter_bits = _counter_speed(contract.counter_bits, sample)
    mean = 2 / (1 / encrypting + 1 / decrypting)
    return dataclasses.replace(
        cells,
        operations=cells.operations if contract.protocol is Protocol.MASKED_RING else mean,
        counter_bits=counter_bits,
        shared_tests=contract.shared_tests,
        encryptions=encrypting,
        decryptions=decrypting,
    )


def _counter_speed(bits: int, sample: int) -> tuple[float, float, int]:
    """Counters encrypted and decrypted in a second, and the length of one."""
    private = PrivateKey.generate(bits)
    public = private.public
    counters = public.encrypt([1] * sample)  # also makes the table, which is not counted
    encrypting, decrypting = (
        _rate(lambda: public.to_bytes(public.rerandomize(counters)), sample),
        _rate(lambda: private.decrypt(counters), sample),
    )
    return encrypting, decrypting, 8 * public.size


def _rate(work: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    work()
    return number / (time.perf_counter() - start)


def _ring(part: Portion, work: FederationWorkload, speed: Speed) -> list[PhaseCost]:
    n, d = work.parties, work.distinct
    around, merged, back = n * (n - 1), n * (n - 1) / 2, n - 1
    partial = part.columns * part.rows * CODE_BITS + part.distinct * speed.cipher_bits
    whole = _whole(work, speed)
    return [
        PhaseCost(
            "encryption", n * (part.keys + part.distinct), around, around * part.bits(speed.cipher_bits)
        ),
        PhaseCost("integration", 0, back, merged * partial),
        PhaseCost("decryption", n * d, back, back * whole),
        PhaseCost("decoding", 0, back, back * whole),
    ]


def _star(part: Portion, work: FederationWorkload, speed: Speed) -> list[PhaseCost]:
    n = work.parties
    return [
        PhaseCost("encryption", part.keys + part.distinct, n, n * part.bits(speed.cipher_bits)),
        PhaseCost("decryption", work.distinct, 1, _whole(work, speed)),
    ]


def _masked(part: Portion, work: FederationWorkload, speed: Speed) -> list[PhaseCost]:
    """Operations on counters alone; the cells' symmetric ones, and their keys, are left out as published."""
    n, rows = work.parties, work.rows + work.made_up
    subset = part.bits(speed.cipher_bits) - part.keys * speed.cipher_bits + part.rows * speed.counter_bits
    return [
        PhaseCost("encryption", 0, n, n * subset, encrypted=part.rows),
        _tests(work, speed),
        PhaseCost(
            "decryption", 0, 1, _whole(work, speed) + rows * speed.counter_bits, decrypted=_released(work)
        ),
    ]


def _masked_ring(part: Portion, work: FederationWorkload, speed: Speed) -> list[PhaseCost]:
    """Every party puts a layer on the shares of all and makes their counters anew; its own it also encrypts.

    The result comes back as in the masked star, and goes around to be decrypted and decoded as in a ring.
    """
    n, rows = work.parties, work.rows + work.made_up
    subset = part.bits(speed.cipher_bits) + part.rows * speed.counter_bits
    back, whole = n - 1, _whole(work, speed)
    layers, result = n * (part.keys + part.distinct), n * whole + rows * speed.counter_bits
    return [
        PhaseCost("encryption", layers, n * n, n * n * subset, encrypted=(n + 1) * part.rows),
        _tests(work, speed),
        PhaseCost("decryption", n * work.distinct, n, result, decrypted=_released(work)),
        PhaseCost("decoding", 0, back, back * whole),
    ]


def _tests(work: FederationWorkload, speed: Speed) -> PhaseCost:
    """The helper makes every counter anew, and the holder of the key decrypts it."""
    counters = work.tests * work.groups
    each = counters / (work.parties if speed.shared_tests else 1)
    return PhaseCost("tests", 0, work.tests, counters * speed.counter_bits, encrypted=each, decrypted=each)


def _released(work: FederationWorkload) -> float:
    return work.rows + work.made_up if work.released is None else work.released


def _whole(work: FederationWorkload, speed: Speed) -> float:
    """The bits of all rows under all layers."""
    rows = work.rows + work.made_up
    return work.columns * rows * CODE_BITS + work.distinct * speed.cipher_bits
