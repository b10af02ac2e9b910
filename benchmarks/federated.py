"""Runs of a federation in one process, one party after the other, each with a stopwatch of its own.

What a run would take on machines of their own is the time of the busiest party and that of the helper; the
network is left out, its bytes are told.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.problems import COLUMNS, adult
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.cost import FederationWorkload, calibrated, estimate
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.participants import participant
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.loss import Entropy
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role, Table, Tuples
from tarnkappe.table.encoding import encode_column

RING, STAR, MASKED = Protocol.RING, Protocol.STAR, Protocol.MASKED
HORIZONTAL, VERTICAL = Partitioning.HORIZONTAL, Partitioning.VERTICAL
LETTER = {RING: "A", STAR: "B", MASKED: "C"}
"""How the literature calls the protocols."""
K = 5
HELPER, KEY = "X", "person"
BANDWIDTH = 88e6
"""Bits in a second of the network of the literature."""
OWNERS = {
    2: (
        ("age", "race", "sex", "education"),
        ("marital-status", "native-country", "occupation", "salary-class", "workclass"),
    ),
    3: (
        ("age", "race", "sex"),
        ("education", "marital-status", "native-country"),
        ("occupation", "salary-class", "workclass"),
    ),
}
"""Who has which columns of Adult: for three parties as published, for two our choice."""


def adult_rows(rows: int | None) -> pa.Table:
    """Adult as plain text and numbers, in the order of its columns, the rows in a fixed random order.

    The file is sorted in no way that would make equal parts alike or unlike, but a made-up table may be.
    """
    data = adult().table.data.select(list(COLUMNS))
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in data.schema.types]
    plain = data.cast(pa.schema(zip(data.column_names, kinds, strict=True)))
    order = np.random.default_rng(4).permutation(plain.num_rows)[: rows or plain.num_rows]
    return plain.take(pa.array(order))


def rules() -> Mapping[str, Hierarchy]:
    """The hierarchies of Adult."""
    return adult().hierarchies


def horizontal(data: pa.Table, parties: int) -> list[pa.Table]:
    """Rows evenly to the parties; the last one takes what is left."""
    size = data.num_rows // parties
    ends = [*(size * place for place in range(parties)), data.num_rows]
    return [data.slice(start, end - start) for start, end in itertools.pairwise(ends)]


def vertical(data: pa.Table, parties: int) -> list[pa.Table]:
    """Columns to the parties, each with a key that names the people."""
    keyed = data.append_column(KEY, pa.array([f"{row:06}" for row in range(data.num_rows)]))
    return [keyed.select([KEY, *names]) for names in OWNERS[parties]]


def central(data: pa.Table, k: int) -> dict[str, Any]:
    """The levels that one house with all the data would choose, and how long that takes."""
    start = time.perf_counter()
    columns = [rules()[name].attach(encode_column(name, data.column(name))) for name in data.column_names]
    problem = SearchProblem(
        Tuples.of_rows(columns).distinct(), tuple(data.column_names), (KAnonymity(k),), Entropy()
    )
    solution = AutoSearch().run(problem)
    assert solution.best is not None
    return {
        "seconds": time.perf_counter() - start,
        "levels": dict(zip(problem.quasi_identifiers, solution.best.node, strict=True)),
        "loss": solution.best.loss,
        "tests": solution.checked,
    }


def agreed(
    protocol: Protocol, distribution: Partitioning, data: pa.Table, parties: int, k: int, **options: Any
) -> Contract:
    """The contract of a run."""
    names = tuple(f"P{place}" for place in range(1, parties + 1))
    owner = {column: names[place] for place, some in enumerate(OWNERS[parties]) for column in some}
    is_vertical = distribution is Partitioning.VERTICAL
    columns = tuple(
        SharedColumn(
            column,
            Role.QUASI_IDENTIFIER,
            str(data.schema.field(column).type),
            rules()[column].height,
            owner=owner[column] if is_vertical else None,
        )
        for column in data.column_names
    )
    return Contract(
        protocol,
        distribution,
        names,
        columns,
        (KAnonymity(k),),
        Entropy(),
        helper=None if protocol is Protocol.RING else HELPER,
        key=KEY if is_vertical else None,
        **options,
    )


def run(contract: Contract, parts: Sequence[pa.Table]) -> dict[str, Any]:
    """Run a contract; what it took, what travelled and what came of it."""
    tables = dict(zip(contract.parties, parts, strict=True))
    busy = dict.fromkeys(contract.everybody, 0.0)
    everybody: dict[str, Participant] = {}
    waiting: list[Message] = []
    sent: dict[str, list[int]] = {}
    for name in contract.everybody:
        start = time.perf_counter()
        table = Table(tables[name]) if name in tables else None
        everybody[name] = participant(name, contract, table, rules())
        waiting += everybody[name].start()
        busy[name] += time.perf_counter() - start
    while waiting:
        message = waiting.pop(0)
        sent.setdefault(message.kind, []).append(len(message.body))
        start = time.perf_counter()
        waiting += everybody[message.receiver].receive(message)
        busy[message.receiver] += time.perf_counter() - start
    outcome = everybody[contract.parties[-1]].outcome
    assert outcome is not None
    return {
        "seconds": max(busy[name] for name in contract.parties) + busy.get(HELPER, 0.0),
        "one_after_the_other_seconds": sum(busy.values()),
        "bytes": sum(map(sum, sent.values())),
        "messages": sum(map(len, sent.values())),
        "tests": len(sent.get("test", ())),
        "groups_a_test": _groups(contract, sent.get("test", [])),
        "levels": dict(outcome.levels),
        "rows": outcome.release.num_rows,
    }


def _groups(contract: Contract, tests: Sequence[int]) -> float:
    """About how many encrypted counters a test sends, by the bytes of the messages."""
    return sum(tests) / len(tests) / (2 * contract.counter_bits / 8) if tests else 0.0


def foretold(contract: Contract, data: pa.Table, tests: int, groups: float) -> dict[str, float]:
    """What the cost model says of a run on this machine, whose ciphers are timed first.

    Tests and groups depend on the data and are taken from a run, as in the literature.
    """
    distinct = sum(len(data.column(name).unique()) for name in data.column_names)
    made_up = round(contract.made_up_share * data.num_rows) if contract.protocol.is_masked else 0
    work = FederationWorkload(
        len(contract.parties), data.num_rows, data.num_columns, distinct, made_up, tests, groups
    )
    cost = estimate(contract.protocol, contract.distribution, work, calibrated(contract, BANDWIDTH))
    return {"computing": cost.computing, "bytes": cost.bits / 8, "operations": cost.operations}
