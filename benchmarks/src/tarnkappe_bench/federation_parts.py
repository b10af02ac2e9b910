"""What the parts of a federation cost: ciphers with and without their optimizations, tests of groups, the
method for two parties, and what parties lose who anonymize at home.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import rbcl

from tarnkappe.federation.ciphers import Curve192, PohligHellman1536, PrivateKey, Ristretto255
from tarnkappe.federation.ciphers.long_numbers import mpz, plain_powers
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.cost import FederationWorkload, calibrated, estimate
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.participants import participant
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.loss import Entropy, Height
from tarnkappe.privacy import KAnonymity, Model, RecursiveDiversity
from tarnkappe.table import Role, Table
from tarnkappe_bench.federation_baselines import (
    anonymize_in_turns,
    anonymize_then_concatenate,
    anonymize_then_join,
)
from tarnkappe_bench.federation_two_party import anonymize_between_two

PUBLISHED_OPERATIONS = 750
"""Commutative operations in a second and core, as published with the protocols."""

TWO_PARTY_ROWS = 60
NETWORK = 88e6
KEY = "\0person"
SENSITIVE = "occupation"
VERTICAL = (
    ("age", "race", "sex"),
    ("education", "marital-status", "native-country"),
    ("occupation", "salary-class", "workclass"),
)
"""How the columns of Adult are distributed in the published comparison."""


def ciphers(operations: int) -> dict[str, float]:
    """Operations in a second, on one core and on all."""
    group, some = Ristretto255(), max(operations // 10, 10)
    elements = group.embed(b"bench", [str(i).encode() for i in range(operations)])
    key, multiply = group.new_key(), rbcl.crypto_scalarmult_ristretto255
    one_core = rate(lambda: [multiply(key, element) for element in elements], operations)
    all_cores = rate(lambda: group.apply(key, elements), operations)
    private = PrivateKey.generate(2048)
    counters = private.public.encrypt([1] * some)
    return {
        "commutative_operations_per_second": all_cores,
        "commutative_operations_per_second_and_core": one_core,
        "commutative_operations_against_published": one_core / PUBLISHED_OPERATIONS,
        "commutative_speed_up_of_all_cores": all_cores / one_core,
        "counters_encrypted_per_second": rate(lambda: private.public.rerandomize(counters), some),
        "counters_decrypted_per_second": rate(lambda: private.decrypt(counters), some),
    }


def ablation(operations: int) -> dict[str, float]:
    """How much slower the commutative cipher is without what makes it fast, each against ristretto255."""
    some = max(operations // 20, 5)
    values = [str(i).encode() for i in range(some)]
    modular, curve, ours = PohligHellman1536(), Curve192(), Ristretto255()
    bases = [int.from_bytes(element) for element in modular.embed(b"bench", values)]
    exponent = int.from_bytes(modular.new_key()) | 1 << 1535  # as long as the modulus, as published
    prime = int(modular.prime)
    long_bases, long_exponent = [mpz(base) for base in bases], mpz(exponent)
    points, point_key = curve.embed(b"", values), curve.new_key()
    elements, element_key = ours.embed(b"", values), ours.new_key()
    variants: dict[str, Callable[[], object]] = {
        "plain_python_1536": lambda: plain_powers(bases, exponent, prime),
        "library_1536": lambda: plain_powers(long_bases, long_exponent, modular.prime),
        "p192": lambda: curve.apply(point_key, points),
        "ristretto255": lambda: ours.apply(element_key, elements),
    }
    seconds = {name: 1 / rate(work, 1) for name, work in variants.items()}
    return {
        f"ablation_{name}_against_ristretto": value / seconds["ristretto255"]
        for name, value in seconds.items()
        if name != "ristretto255"
    }


def rate(work: Callable[[], object], number: int) -> float:
    """How often in a second."""
    start = time.perf_counter()
    work()
    return float(number / (time.perf_counter() - start))


@dataclasses.dataclass(frozen=True, eq=False)
class Masked:
    """A masked run that was watched.

    Attributes:
        contract: what was run.
        busy: how many seconds each party and the helper worked.
        by_kind: how many of them messages of each kind took.
        groups: how many groups each test had.
        shares: the shape of every share that the helper got.
        released: how many different rows came back.
    """

    contract: Contract
    busy: Mapping[str, float]
    by_kind: Mapping[str, float]
    groups: Sequence[int]
    shares: Sequence[Mapping[str, int]]
    released: int


def _masked(protocol: Protocol, data: pa.Table, rules: Mapping[str, Hierarchy], bits: int) -> Masked:
    contract = Contract(
        protocol,
        Partitioning.HORIZONTAL,
        ("P1", "P2", "P3"),
        _shared(data, rules),
        (KAnonymity(5),),
        Height(),
        helper="X",
        counter_bits=bits,
        weak_ciphers=True,
    )
    cuts = np.linspace(0, data.num_rows, 4).astype(int).tolist()
    parts = [data.slice(low, high - low) for low, high in itertools.pairwise(cuts)]
    tables = dict(zip(contract.parties, parts, strict=True))
    everybody: dict[str, Participant] = {}
    waiting: list[Message] = []
    for name in contract.everybody:
        everybody[name] = participant(name, contract, Table(tables[name]) if name in tables else None, rules)
        waiting += everybody[name].start()
    busy, by_kind = dict.fromkeys(contract.everybody, 0.0), dict.fromkeys(("test", "answer"), 0.0)
    while waiting:
        message = waiting.pop(0)
        start = time.perf_counter()
        waiting += everybody[message.receiver].receive(message)
        took = time.perf_counter() - start
        busy[message.receiver] += took
        by_kind[message.kind] = by_kind.get(message.kind, 0.0) + took
    groups = [dict(e.shape)["sizes"] for e in everybody["P1"].transcript if e.kind == "test"]
    shares = [dict(e.shape) for e in everybody["X"].transcript if e.kind == "subset"]
    (released,) = [dict(e.shape)["rows"] for e in everybody["P1"].transcript if e.kind == "result"]
    return Masked(contract, busy, by_kind, groups, shares, released)


def masked_tests(data: pa.Table, rules: Mapping[str, Hierarchy], bits: int) -> dict[str, float]:
    """What a group of a test of the masked star costs, and what the cost model foretells."""
    run = _masked(Protocol.MASKED, data, rules, bits)
    measured = run.by_kind["test"] / sum(run.groups) + run.by_kind["answer"] / sum(run.groups[1:])
    speed = calibrated(run.contract, NETWORK, max(int(np.mean(run.groups)), 64))
    return {
        "masked_tests": float(len(run.groups)),
        "masked_groups_per_test": float(np.mean(run.groups)),
        "masked_seconds_per_group": measured,
        "masked_foretold_seconds_per_group": 2 / speed.operations,
        "masked_foretold_against_measured": 2 / speed.operations / measured,
    }


def masked_ring(data: pa.Table, rules: Mapping[str, Hierarchy], bits: int) -> dict[str, float]:
    """What a whole masked ring takes, the busiest party and the helper, and what the cost model foretells."""
    run = _masked(Protocol.MASKED_RING, data, rules, bits)
    measured = max(run.busy[party] for party in run.contract.parties) + run.busy["X"]
    tokens = [n for share in run.shares for name, n in share.items() if name.startswith("tokens/")]
    groups = float(np.mean(run.groups))
    work = FederationWorkload(
        len(run.shares),
        sum(share["rows"] for share in run.shares),  # made-up ones are among them, and equal ones are one
        data.num_columns,
        round(sum(tokens) / len(run.shares)),
        tests=len(run.groups),
        groups=groups,
        released=run.released,
    )
    speed = calibrated(run.contract, NETWORK, max(int(groups), 64))
    cost = estimate(Protocol.MASKED_RING, Partitioning.HORIZONTAL, work, speed)
    return {
        "masked_ring_seconds": measured,
        "masked_ring_foretold_seconds": cost.computing,
        "masked_ring_foretold_against_measured": cost.computing / measured,
    }


def two_parties(data: pa.Table, rules: Mapping[str, Hierarchy], bits: int) -> dict[str, float]:
    """The method for two parties on a few rows, and the operations that it takes a row."""
    few = data.slice(0, TWO_PARTY_ROWS)
    keyed = few.append_column(KEY, pa.array([str(i) for i in range(few.num_rows)]))
    names = few.column_names
    parts = [keyed.select([KEY, *names[: len(names) // 2]]), keyed.select([KEY, *names[len(names) // 2 :]])]
    start = time.perf_counter()
    done = anonymize_between_two(parts, KEY, rules, 5, counter_bits=bits)
    return {
        "two_party_rows": float(few.num_rows),
        "two_party_seconds": time.perf_counter() - start,
        "two_party_tests": float(done.tests),
        "two_party_operations_per_row": (done.key_operations + done.counter_operations) / few.num_rows,
    }


def quality(data: pa.Table, rules: Mapping[str, Hierarchy]) -> dict[str, float]:
    """The loss of the central release (which is that of every protocol) as a share of the loss of parties who
    anonymize at home: 5-anonymity, and (4, 3)-diversity of occupations; non-uniform entropy.

    Vertically the classes of the first party are kept as published (3 % suppressed), or refined by each party
    in turn (nothing suppressed), which loses far less.
    """
    keyed = data.append_column(KEY, pa.array([f"{i:07d}" for i in range(data.num_rows)]))
    k: tuple[Model, ...] = (KAnonymity(5),)
    diverse: tuple[Model, ...] = (RecursiveDiversity(SENSITIVE, c=4, l=3),)
    without = {name: rule for name, rule in rules.items() if name != SENSITIVE}
    shares = {}
    for label, models, known in (("k_anonymity", k, dict(rules)), ("diversity", diverse, without)):
        central = anonymize_then_concatenate([data], known, models, Entropy(), 0.03).loss
        for parties in (2, 3):
            cuts = np.linspace(0, data.num_rows, parties + 1).astype(int).tolist()
            rows = [data.slice(low, high - low) for low, high in itertools.pairwise(cuts)]
            at_home = anonymize_then_concatenate(rows, known, models, Entropy(), 0.03).loss
            shares[f"quality_{label}_horizontal_{parties}"] = central / at_home
            columns = [keyed.select([KEY, *names]) for names in _columns(parties)]
            if SENSITIVE not in known:  # who has it goes first
                columns.sort(key=lambda part: SENSITIVE not in part.column_names)
            joined = anonymize_then_join(columns, KEY, known, models, Entropy(), 0.03).loss
            shares[f"quality_{label}_vertical_{parties}"] = central / joined
    central = anonymize_then_concatenate([data], rules, k, Entropy()).loss
    for parties in (2, 3):
        columns = [keyed.select([KEY, *names]) for names in _columns(parties)]
        in_turns = anonymize_in_turns(columns, KEY, rules, k, Entropy()).loss
        shares[f"quality_k_anonymity_in_turns_{parties}"] = central / in_turns
    return shares


def _columns(parties: int) -> Sequence[Sequence[str]]:
    return (
        VERTICAL
        if parties == len(VERTICAL)
        else ((*VERTICAL[0], VERTICAL[1][0]), (*VERTICAL[1][1:], *VERTICAL[2]))
    )


def _shared(data: pa.Table, rules: Mapping[str, Hierarchy]) -> tuple[SharedColumn, ...]:
    return tuple(
        SharedColumn(n, Role.QUASI_IDENTIFIER, str(data.schema.field(n).type), rules[n].height)
        for n in data.column_names
    )


def compressed_share(bodies: Sequence[bytes]) -> Any:
    """What compression would leave of messages; ours are not compressed: lengths would tell of content."""
    packed = sum(len(pa.compress(body, codec="snappy", asbytes=True)) for body in bodies)
    return packed / sum(map(len, bodies))
