"""What a run costs: operations of ciphers, messages and bytes, before anything is started.

The formulas count operations of ciphers and the bits that travel, for parties of equal size on equal
machines; a rate turns them into seconds. They are those of the published cost model with its misprints
corrected: times are operations divided by rates, and structure arrays have rows and columns.
"""

from __future__ import annotations

import dataclasses
import secrets
import time
from collections.abc import Callable

from tarnkappe.errors import ParameterError
from tarnkappe.federation.ciphers import GROUPS, ColumnKey, PrivateKey
from tarnkappe.federation.contract import Contract, Distribution, Protocol

CODE_BITS = 32


@dataclasses.dataclass(frozen=True)
class Workload:
    """The data of all parties together.

    Attributes:
        parties: how many have data.
        rows: how many rows there are in all.
        columns: how many columns.
        distinct: how many distinct values, added up over the columns.
        made_up: how many rows are made up.
        tests: how many levels are tested.
        groups: how many groups a test has on average.
    """

    parties: int
    rows: int
    columns: int
    distinct: int
    made_up: int = 0
    tests: int = 0
    groups: float = 0.0


@dataclasses.dataclass(frozen=True)
class Speed:
    """How fast machines and network are, and how long ciphertexts.

    Attributes:
        operations: operations of the cipher in a second: commutative, symmetric or homomorphic ones.
        bandwidth: bits in a second.
        cipher_bits: the length of an encrypted cell.
        counter_bits: the length of an encrypted counter.
        shared_tests: whether all parties share the decryption of a test.
    """

    operations: float
    bandwidth: float
    cipher_bits: int
    counter_bits: int = 0
    shared_tests: bool = False


@dataclasses.dataclass(frozen=True)
class Phase:
    """What one phase of a run costs.

    Attributes:
        name: which.
        operations: operations of the cipher that cannot be done at the same time.
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
class Cost:
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


Need = tuple[str, float, int, float]
"""A phase by its name, operations, messages and bits."""


def estimate(protocol: Protocol, distribution: Distribution, work: Workload, speed: Speed) -> Cost:
    """The cost of a run."""
    if protocol is Protocol.MASKED_RING:
        raise ParameterError("a masked ring has two ciphers of different speed: its cost is not modelled")
    formula = {Protocol.RING: _ring, Protocol.STAR: _star, Protocol.MASKED: _masked}[protocol]
    needs = formula(distribution is Distribution.VERTICAL, work, speed)
    return Cost(
        tuple(
            Phase(name, operations, messages, bits, operations / speed.operations, bits / speed.bandwidth)
            for name, operations, messages, bits in needs
        )
    )


SAMPLE = 64
"""So many operations are timed to calibrate the model, unless another number is given."""


def calibrated(contract: Contract, bandwidth: float, sample: int = SAMPLE) -> Speed:
    """How fast this machine is with the ciphers of a contract, and how long their ciphertexts are.

    So many operations are timed at once; a test has as many as there are groups, and many use all cores.
    """
    width = max(column.width for column in contract.columns)
    if contract.protocol is Protocol.RING:
        group = GROUPS[contract.group]()
        key, elements = group.new_key(), group.embed(b"", [secrets.token_bytes(8) for _ in range(sample)])
        return Speed(_rate(lambda: group.apply(key, elements), sample), bandwidth, 8 * group.size)
    cipher = ColumnKey(ColumnKey.new(), "", width)
    if contract.protocol is Protocol.STAR:
        cells = [secrets.token_bytes(8) for _ in range(sample)]
        return Speed(_rate(lambda: cipher.encrypt(cells), sample), bandwidth, 8 * cipher.size)
    private = PrivateKey.generate(contract.counter_bits)
    public = private.public
    counters = public.encrypt([1] * sample)  # also makes the table, which is not counted
    encrypting, decrypting = (
        _rate(lambda: public.to_bytes(public.rerandomize(counters)), sample),
        _rate(lambda: private.decrypt(counters), sample),
    )
    mean = 2 / (1 / encrypting + 1 / decrypting)
    return Speed(mean, bandwidth, 8 * cipher.size, 8 * public.size, contract.shared_tests)


def _rate(work: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    work()
    return number / (time.perf_counter() - start)


def _ring(vertical: bool, work: Workload, speed: Speed) -> list[Need]:
    n, r, c, d, cell = work.parties, work.rows, work.columns, work.distinct, speed.cipher_bits
    encrypted = n * (r + d / n) if vertical else n * d
    around, merged, back = n * (n - 1), n * (n - 1) / 2, n - 1
    whole = c * r * CODE_BITS + d * cell
    if vertical:
        subset = (c / n + 1) * r * CODE_BITS + (d / n + r) * cell
        partial = c / n * r * CODE_BITS + d / n * cell
    else:
        subset = partial = r / n * c * CODE_BITS + d * cell
    return [
        ("encryption", encrypted, around, around * subset),
        ("integration", 0, back, merged * partial),
        ("decryption", n * d, back, back * whole),
        ("decoding", 0, back, back * whole),
    ]


def _star(vertical: bool, work: Workload, speed: Speed) -> list[Need]:
    n, r, c, d, cell = work.parties, work.rows, work.columns, work.distinct, speed.cipher_bits
    encrypted = r + d / n if vertical else d
    if vertical:
        subset = (c / n + 1) * r * CODE_BITS + (d / n + r) * cell
    else:
        subset = r / n * c * CODE_BITS + d * cell
    return [("encryption", encrypted, n, n * subset), ("decryption", d, 1, c * r * CODE_BITS + d * cell)]


def _masked(vertical: bool, work: Workload, speed: Speed) -> list[Need]:
    n, c, d, cell = work.parties, work.columns, work.distinct, speed.cipher_bits
    rows = work.rows + work.made_up
    encrypted = rows if vertical else rows / n
    tested = 2 * work.tests * work.groups / (n if speed.shared_tests else 1)
    if vertical:
        subset = (c / n + 1) * rows * CODE_BITS + d / n * cell + rows * speed.counter_bits
    else:
        subset = c * rows / n * CODE_BITS + d * cell + rows / n * speed.counter_bits
    result = c * rows * CODE_BITS + d * cell + rows * speed.counter_bits
    return [
        ("encryption", encrypted, n, n * subset),
        ("tests", tested, work.tests, work.tests * work.groups * speed.counter_bits),
        ("decryption", rows, 1, result),
    ]
