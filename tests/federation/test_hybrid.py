"""Hybrid distribution without regions: everybody has some columns of some people, and the helper joins them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError, ProtocolError
from tarnkappe.federation.contract import Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.lattice import Exhaustive, SearchProblem
from tarnkappe.loss import Height
from tarnkappe.privacy import DeltaPresence, KAnonymity
from tarnkappe.table import Role, Tuples
from tarnkappe.table.encoding import encode_column
from tests.federation.federations import HELPER, Federation, Whole, multiset, random_whole

NAMES = ("P1", "P2", "P3")


def hybrid(whole: Whole, seed: int, **options: Any) -> Federation:
    """Every column of every person goes to one party, by chance."""
    rng = np.random.default_rng(seed)
    shared = [n for n in whole.table.column_names if n != "tid"]
    owner_of_block = {
        name: rng.integers(3, size=2) for name in shared
    }  # one owner for each half of the people
    early = np.arange(whole.table.num_rows) < whole.table.num_rows // 2
    columns, tables = [], {}
    for name in shared:
        role = Role.QUASI_IDENTIFIER if name in whole.quasi_identifiers else Role.INSENSITIVE
        kind = str(whole.table.schema.field(name).type)
        owners = tuple(NAMES[i] for i in sorted(set(owner_of_block[name].tolist())))
        height = whole.rules[name].height if name in whole.rules else 0
        columns.append(SharedColumn(name, role, kind, height, owners=owners))
    for index, party in enumerate(NAMES):
        half = [{n for n in shared if owner_of_block[n][i] == index} for i in (0, 1)]
        mine = sorted(half[0] | half[1])
        if half[0] == half[1] or not (half[0] and half[1]):
            rows = np.ones(len(early), bool) if half[0] == half[1] else (early if half[0] else ~early)
            tables[party] = whole.table.select(["tid", *mine]).filter(pa.array(rows))
        else:
            tables[party] = whole.table.select(["tid", *mine])  # it also has what others have, and they agree
    contract = Contract(
        Protocol.STAR,
        Partitioning.HYBRID,
        NAMES,
        tuple(columns),
        (KAnonymity(2),),
        Height(),
        0.2,
        helper=HELPER,
        key="tid",
        **options,
    )
    return Federation(contract, tables, whole.rules)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_checklist_57_a_hybrid_distribution_equals_the_central_search(seed: int) -> None:
    whole = random_whole(seed)
    expected = whole.central((KAnonymity(2),), Height(), 0.2)
    assert expected is not None
    outcome = hybrid(whole, seed).run()["P2"].outcome
    assert (outcome.levels, multiset(outcome.release)) == expected


def test_parties_that_disagree_about_a_person_end_the_run() -> None:
    whole = random_whole(13)
    federation = hybrid(whole, 1)
    name = whole.quasi_identifiers[0]
    column = dataclasses.replace(federation.contract.column(name), owners=NAMES)
    columns = tuple(column if c.name == name else c for c in federation.contract.columns)
    values = whole.table.column(name).to_pylist()
    other = [next(v for v in values if v != values[0]), *values[1:]]
    tables = {
        party: table.drop_columns([n for n in table.column_names if n == name]).join(
            pa.table({"tid": whole.table.column("tid"), name: other if party == "P3" else values}), "tid"
        )
        for party, table in federation.tables.items()
    }
    changed = dataclasses.replace(federation.with_contract(columns=columns), tables=tables)
    with pytest.raises(ProtocolError, match=f"different values of '{name}' for one person"):
        changed.run()


def test_a_person_without_a_value_ends_the_run() -> None:
    whole = random_whole(13)
    federation = hybrid(whole, 2)
    owner = federation.contract.columns[0].owners[0]
    tables = {**federation.tables, owner: federation.tables[owner].slice(1)}
    with pytest.raises(ProtocolError, match="nobody has"):
        dataclasses.replace(federation, tables=tables).run()


def test_members_of_a_population_are_known_whoever_has_them() -> None:
    whole, model = random_whole(13, least_rows=24, most_rows=24), DeltaPresence(0.0, 0.6)
    member = np.random.default_rng(2).random(24) < 0.4
    federation = hybrid(whole, 3).with_contract(models=(model,), member="member", suppression_limit=0.3)
    by_key = dict(zip(whole.table.column("tid").to_pylist(), member.tolist(), strict=True))
    tables = {
        party: table.append_column("member", pa.array([by_key[k] for k in table.column("tid").to_pylist()]))
        for party, table in federation.tables.items()
    }
    columns = [
        whole.rules[n].attach(encode_column(n, whole.table.column(n))) for n in whole.quasi_identifiers
    ]
    tuples = Tuples({c.name: c for c in columns}, member.astype(np.int64), np.ones(24, np.int64))
    best = Exhaustive().run(SearchProblem(tuples, whole.quasi_identifiers, (model,), Height(), 0.3)).best
    assert best is not None
    outcome = dataclasses.replace(federation, tables=tables).run()["P1"].outcome
    assert tuple(outcome.levels.values()) == best.node
    assert outcome.release.num_rows == member.sum() - best.suppressed < member.sum() + 1
    with pytest.raises(ProtocolError, match="no party has the column 'member'"):
        federation.run()


def test_what_a_hybrid_distribution_needs_is_said() -> None:
    contract = hybrid(random_whole(1), 1).contract
    for protocol in (Protocol.RING, Protocol.MASKED, Protocol.MASKED_RING):
        helper = None if protocol is Protocol.RING else HELPER
        with pytest.raises(ParameterError, match="without regions needs the protocol 'star'"):
            dataclasses.replace(contract, protocol=protocol, helper=helper)
    with pytest.raises(ParameterError, match="its key cannot be private"):
        dataclasses.replace(contract, private_keys=True)
    with pytest.raises(ColumnError, match="needs owners among"):
        dataclasses.replace(contract, columns=(dataclasses.replace(contract.columns[0], owners=()),))
