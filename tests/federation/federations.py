"""Federations for tests: the worked example, random tables cut into shares, and the central solution."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.masked import MaskedHelper, MaskedParty
from tarnkappe.federation.masked_ring import MaskedRingParty
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.ring import RingParty
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.federation.star import StarHelper, StarParty
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import Exhaustive, Search, SearchProblem
from tarnkappe.loss import Entropy, Height, Loss
from tarnkappe.privacy import KAnonymity, Model, protect
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Role, Table, Tuples
from tarnkappe.table.encoding import encode_column
from tests.conftest import FIXTURES

EXAMPLE: dict[str, Any] = json.loads((FIXTURES / "federation" / "example.json").read_text(encoding="utf-8"))
SMALL_KEY = 128
PURE = [Partitioning.HORIZONTAL, Partitioning.VERTICAL]
HELPER = "X"


def age_rule(text: str | None) -> list[str]:
    age = int(text or 0)
    return ["≤19" if age <= 19 else "20-60" if age <= 60 else "≥61", "*"]


def zip_rule(text: str | None) -> list[str]:
    digits = text or ""
    return [*(digits[: 5 - n] + "*" * n for n in range(1, 5)), "*"]


def sex_rule(_: str | None) -> list[str]:
    return ["*"]


RULES = {"sex": sex_rule, "age": age_rule, "zip": zip_rule}
HEIGHTS = {"sex": 1, "age": 2, "zip": 5}
KINDS = {"sex": "string", "age": "int64", "zip": "string"}


@dataclasses.dataclass(frozen=True, eq=False)
class Federation:
    """Who has what: tables by party, hierarchies by column, and the contract."""

    contract: Contract
    tables: Mapping[str, pa.Table | None]
    rules: Mapping[str, Any]

    def participants(self, **options: Any) -> list[Participant]:
        contract = self.contract
        if contract.protocol is Protocol.RING:
            return [
                RingParty(n, contract, None if t is None else Table(t), self.rules, **options)
                for n, t in self.tables.items()
            ]
        kind, helper = {
            Protocol.STAR: (StarParty, StarHelper),
            Protocol.MASKED: (MaskedParty, MaskedHelper),
            Protocol.MASKED_RING: (MaskedRingParty, MaskedHelper),
        }[contract.protocol]
        parties = [kind(n, contract, Table(t), self.rules, **options) for n, t in self.tables.items()]
        return [*parties, helper(HELPER, contract)]

    def run(self, watch: Callable[[Message], None] | None = None, seed: int | None = 1) -> Mapping[str, Any]:
        return run_in_memory(self.participants(), watch=watch, seed=seed)

    def with_contract(self, **changes: Any) -> Federation:
        return dataclasses.replace(self, contract=dataclasses.replace(self.contract, **changes))


def example(
    protocol: Protocol, distribution: Partitioning, model: Model | None = None, **options: Any
) -> Federation:
    """The worked example of the specification: three parties, eight people."""
    vertical = distribution is Partitioning.VERTICAL
    owners = {"sex": "P3", "age": "P2", "zip": "P1"} if vertical else {}
    columns = tuple(
        SharedColumn(n, Role.QUASI_IDENTIFIER, KINDS[n], HEIGHTS[n], owner=owners.get(n)) for n in HEIGHTS
    )
    contract = Contract(
        protocol,
        distribution,
        ("P1", "P2", "P3"),
        columns,
        (model or KAnonymity(EXAMPLE["k"]),),
        options.pop("loss", Height()),
        helper=None if protocol is Protocol.RING else HELPER,
        key="tid" if vertical else None,
        counter_bits=SMALL_KEY,
        weak_ciphers=True,
        **options,
    )
    if vertical:
        tables = {
            party: pa.table(
                {"tid": list(next(iter(data.values()))), **{n: list(v.values()) for n, v in data.items()}}
            )
            for party, data in EXAMPLE["vertical"].items()
        }
    else:
        tables = {
            party: pa.table(dict(zip(("sex", "age", "zip"), map(list, zip(*rows, strict=True)), strict=True)))
            for party, rows in EXAMPLE["horizontal"].items()
        }
    return Federation(contract, tables, RULES)


def multiset(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows of a table, whatever their order."""
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


EXPECTED = Counter({tuple(row[:3]): row[3] for row in EXAMPLE["expected_multiset"]})


# ------------------------------------------------------------------ random tables and the central solution


DISEASES = ("flu", "cold", "ulcer", "gastritis")
DISEASE_RULES = Hierarchy.from_rows(
    [["flu", "lung", "*"], ["cold", "lung", "*"], ["ulcer", "stomach", "*"], ["gastritis", "stomach", "*"]]
)


@dataclasses.dataclass(frozen=True, eq=False)
class Whole:
    """A whole table with its hierarchies, as a trusted third party would have it."""

    table: pa.Table
    rules: Mapping[str, Hierarchy]
    quasi_identifiers: tuple[str, ...]

    def problem(self, models: Sequence[Model], loss: Loss, limit: float) -> SearchProblem:
        tuples = self._rows().distinct()
        return SearchProblem(tuples, self.quasi_identifiers, tuple(models), loss, limit)

    def _rows(self) -> Tuples:
        columns = [
            encode_column(name, self.table.column(name)) for name in self.table.column_names if name != "tid"
        ]
        return Tuples.of_rows([self.rules[c.name].attach(c) if c.name in self.rules else c for c in columns])

    def central(
        self, models: Sequence[Model], loss: Loss, limit: float, search: Search | None = None
    ) -> tuple[dict[str, int], Counter[tuple[Any, ...]]] | None:
        """The levels and the released rows of a central search, the slow way, or None if nothing satisfies."""
        solution = (search or Exhaustive()).run(self.problem(models, loss, limit))
        if solution.best is None:
            return None
        levels = dict(zip(self.quasi_identifiers, solution.best.node, strict=True))
        rows = self._rows()
        classes = rows.classes(
            self.quasi_identifiers, solution.best.node, [n for m in models for n in m.distributions]
        )
        kept = protect(classes, models).kept[classes.ids]
        shown = []
        for row, good in zip(self.table.drop_columns(["tid"]).to_pylist(), kept, strict=True):
            if good:
                shown.append(
                    tuple(
                        self.rules[n].label(str(v), levels[n]) if levels.get(n) else v for n, v in row.items()
                    )
                )
        return levels, Counter(shown)


def random_whole(seed: int, *, least_rows: int = 6, most_rows: int = 30) -> Whole:
    rng = np.random.default_rng(seed)
    names = tuple("abc"[: int(rng.integers(1, 4))])
    num_rows = int(rng.integers(least_rows, most_rows + 1))
    data: dict[str, Any] = {"tid": [f"person {i}" for i in range(num_rows)]}
    rules: dict[str, Hierarchy] = {"disease": DISEASE_RULES}
    for name in names:
        values = [f"{name}{i}" for i in range(int(rng.integers(1, 6)))]
        middle = {v: f"{name}:{int(rng.integers(0, 3))}" for v in values}
        lines = [[v, middle[v], "*"] for v in values] if rng.random() < 0.7 else [[v, "*"] for v in values]
        rules[name] = Hierarchy.from_rows(lines)
        data[name] = [values[min(int(rng.geometric(0.45)) - 1, len(values) - 1)] for _ in range(num_rows)]
    data["disease"] = [DISEASES[int(rng.integers(len(DISEASES)))] for _ in range(num_rows)]
    data["visits"] = rng.integers(0, 3, num_rows)
    return Whole(pa.table(data), rules, names)


def federate(
    whole: Whole,
    protocol: Protocol,
    distribution: Partitioning,
    models: Sequence[Model],
    loss: Loss,
    limit: float = 0.0,
    *,
    parties: int = 3,
    seed: int = 0,
    **options: Any,
) -> Federation:
    """A whole table cut into shares: rows or columns are dealt to the parties at random."""
    rng = np.random.default_rng(seed)
    names = tuple(f"P{i + 1}" for i in range(parties))
    vertical = distribution is Partitioning.VERTICAL
    shared = [name for name in whole.table.column_names if name != "tid"]
    owner = {name: names[int(rng.integers(parties))] if vertical else None for name in shared}
    columns = tuple(
        SharedColumn(
            name,
            role_of(name, whole.quasi_identifiers),
            str(whole.table.schema.field(name).type),
            whole.rules[name].height if name in whole.rules else 0,
            owner=owner[name],
        )
        for name in shared
    )
    tables = {}
    if vertical:
        for party in names:
            mine = whole.table.select(["tid", *(n for n in shared if owner[n] == party)])
            tables[party] = mine.take(rng.permutation(mine.num_rows))
    else:
        dealt = rng.integers(parties, size=whole.table.num_rows)
        for i, party in enumerate(names):
            tables[party] = whole.table.drop_columns(["tid"]).take(np.flatnonzero(dealt == i))
    contract = Contract(
        protocol,
        distribution,
        names,
        columns,
        tuple(models),
        loss,
        limit,
        helper=None if protocol is Protocol.RING else HELPER,
        key="tid" if vertical else None,
        counter_bits=SMALL_KEY,
        weak_ciphers=True,
        **options,
    )
    return Federation(contract, tables, whole.rules)


def in_regions(
    whole: Whole,
    protocol: Protocol,
    sizes: Sequence[int],
    seed: int,
    models: Sequence[Model] = (KAnonymity(2),),
    loss: Loss | None = None,
    **options: Any,
) -> Federation:
    """Every person lives in one region, and the parties of a region have different columns of its people."""
    rng = np.random.default_rng(seed)
    shared = [n for n in whole.table.column_names if n != "tid"]
    home = rng.integers(len(sizes), size=whole.table.num_rows)
    regions = tuple(
        tuple(f"{chr(65 + place)}{i + 1}" for i in range(size)) for place, size in enumerate(sizes)
    )
    owners: dict[str, list[str]] = {name: [] for name in shared}
    tables = {}
    for place, region in enumerate(regions):
        people = whole.table.filter(pa.array(home == place))
        chosen = {name: region[int(rng.integers(len(region)))] for name in shared}
        for name, owner in chosen.items():
            owners[name].append(owner)
        for party in region:
            own = people.select(["tid", *(n for n in shared if chosen[n] == party)])
            tables[party] = own.take(rng.permutation(own.num_rows))
    first, *others = regions
    parties = (first[0], *(party for region in others for party in region), *first[1:])
    columns = tuple(
        SharedColumn(
            name,
            role_of(name, whole.quasi_identifiers),
            str(whole.table.schema.field(name).type),
            whole.rules[name].height if name in whole.rules else 0,
            owners=tuple(owners[name]),
        )
        for name in shared
    )
    contract = Contract(
        protocol,
        Partitioning.HYBRID,
        parties,
        columns,
        tuple(models),
        loss or Entropy(),
        options.pop("limit", 0.2),
        helper=None if protocol is Protocol.RING else HELPER,
        key="tid",
        regions=regions,
        counter_bits=SMALL_KEY,
        weak_ciphers=True,
        **options,
    )
    return Federation(contract, {party: tables[party] for party in parties}, whole.rules)


def role_of(name: str, quasi_identifiers: Sequence[str]) -> Role:
    if name in quasi_identifiers:
        return Role.QUASI_IDENTIFIER
    return Role.SENSITIVE if name == "disease" else Role.INSENSITIVE


def seeded(seed: int) -> Chance:
    return Chance(seed)
