"""What a federation costs: ciphers, and whole runs against the central run over the same data.

All parties run in one process and one after the other. What a run would take on machines of their own is
the time of the busiest party and that of the helper; the network is left out, its bytes are told.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.participants import participant
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job import anonymize
from tarnkappe.loss import Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role, Table, examples
from tarnkappe.table.encoding import Progress
from tarnkappe_bench.adult import read_adult, reference_folder
from tarnkappe_bench.federation_parts import (
    ablation,
    ciphers,
    compressed_share,
    masked_ring,
    masked_tests,
    quality,
    two_parties,
)

LIMITS = {"adult_star_extra_seconds": 1.0, "ihis_star_ratio": 1.5}
"""What `make bench-check` holds us to."""

SOME_COLUMNS = ("sex", "age", "race", "marital-status")
"""The columns of which groups are tested: few, so that it does not take long."""

PARTIES = ("P1", "P2", "P3")
HELPER = "X"
K = 5


def run(
    progress: Progress | None = None,
    *,
    rows: int = 1_193_504,
    operations: int = 2000,
    tested_rows: int = 3000,
    compared_rows: int = 30_162,
    counter_bits: int = 2048,
) -> dict[str, Any]:
    """Measure ciphers, Adult by star and ring, tests of groups, and a table in the shape of IHIS by star."""
    adult = read_adult(reference_folder())
    steps = 6

    def tell(done: int) -> None:
        if progress:
            progress("federation", done, steps)

    tell(0)
    figures: dict[str, Any] = {**ciphers(operations), **ablation(operations)}
    tell(1)
    plain = _plain(adult.table.data)
    some = plain.select(list(SOME_COLUMNS)).slice(0, tested_rows)
    figures |= masked_tests(some, adult.hierarchies, counter_bits)
    figures |= masked_ring(some, adult.hierarchies, counter_bits)
    figures |= two_parties(some, adult.hierarchies, counter_bits)
    tell(2)
    figures |= quality(plain.slice(0, compared_rows), adult.hierarchies)
    tell(3)
    central = _central(plain, adult.hierarchies)
    figures["adult_central_seconds"] = central
    for name in (Protocol.STAR, Protocol.RING):
        measured = _federated(name, plain, adult.hierarchies)
        figures |= {f"adult_{name}_{key}": value for key, value in measured.items()}
    figures["adult_star_extra_seconds"] = max(figures["adult_star_seconds"] - central, 0.0)
    tell(4)
    shape = examples.shaped("IHIS", rows=rows)
    rules = {name: Hierarchy.from_rows(lines) for name, lines in shape.hierarchies.items()}
    large = _plain(shape.table.data)
    figures["ihis_rows"] = rows
    figures["ihis_central_seconds"] = _central(large, rules)
    tell(5)
    measured = _federated(Protocol.STAR, large, rules)
    figures |= {f"ihis_star_{key}": value for key, value in measured.items()}
    figures["ihis_star_ratio"] = figures["ihis_star_seconds"] / figures["ihis_central_seconds"]
    return figures


def _plain(data: pa.Table) -> pa.Table:
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in data.schema.types]
    return data.cast(pa.schema(zip(data.column_names, kinds, strict=True)))


def _central(data: pa.Table, rules: Mapping[str, Hierarchy]) -> float:
    """Seconds of the same release in one house: encoding, search, release and verification."""
    table = Table(data).with_roles(quasi_identifiers=data.column_names)
    start = time.perf_counter()
    anonymize(table, privacy=[KAnonymity(K)], hierarchies=rules, loss=Height())
    return time.perf_counter() - start


def _federated(protocol: Protocol, data: pa.Table, rules: Mapping[str, Hierarchy]) -> dict[str, float]:
    columns = tuple(
        SharedColumn(n, Role.QUASI_IDENTIFIER, str(data.schema.field(n).type), rules[n].height)
        for n in data.column_names
    )
    contract = Contract(
        protocol,
        Partitioning.HORIZONTAL,
        PARTIES,
        columns,
        (KAnonymity(K),),
        Height(),
        helper=None if protocol is Protocol.RING else HELPER,
    )
    cuts = np.linspace(0, data.num_rows, len(PARTIES) + 1).astype(int)
    busy = dict.fromkeys(contract.everybody, 0.0)
    everybody: dict[str, Participant] = {}
    waiting: list[Message] = []
    bodies: list[bytes] = []
    for index, name in enumerate(contract.everybody):
        table = None
        if name != HELPER:
            table = Table(data.slice(cuts[index], cuts[index + 1] - cuts[index]))
        start = time.perf_counter()
        everybody[name] = participant(name, contract, table, rules)
        waiting += everybody[name].start()
        busy[name] += time.perf_counter() - start
    while waiting:
        message = waiting.pop(0)
        bodies.append(message.body)
        start = time.perf_counter()
        waiting += everybody[message.receiver].receive(message)
        busy[message.receiver] += time.perf_counter() - start
    side_by_side = max(busy[name] for name in PARTIES) + busy.get(HELPER, 0.0)
    return {
        "seconds": side_by_side,
        "one_after_the_other_seconds": sum(busy.values()),
        "bytes": float(sum(map(len, bodies))),
        "share_if_compressed": compressed_share(bodies),
    }
