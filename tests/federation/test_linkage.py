"""Private linkage: the run is over the people that all know, and nobody learns of anybody else."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.federation.contract import CIPHERED, Partitioning, Protocol
from tarnkappe.federation.leakage import LeakageReport, roles_of
from tarnkappe.federation.message import Message, Participant
from tarnkappe.federation.participants import participant
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.loss import Entropy, Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Table
from tests.federation.federations import (
    EXPECTED,
    RULES,
    Federation,
    Whole,
    example,
    federate,
    in_regions,
    multiset,
    random_whole,
)


def linked(federation: Federation) -> list[Participant]:
    contract = dataclasses.replace(federation.contract, link=True)
    return [
        participant(
            n, contract, Table(federation.tables[n]) if n in federation.tables else None, federation.rules
        )
        for n in contract.everybody
    ]


@pytest.mark.parametrize("protocol", CIPHERED)
@given(seed=st.integers(0, 10**6), parties=st.integers(2, 4), data=st.data())
@settings(max_examples=6)
def test_checklist_57_the_release_is_that_of_the_common_people(
    protocol: Protocol, seed: int, parties: int, data: st.DataObject
) -> None:
    parties = max(parties, 3) if protocol is Protocol.RING else parties
    whole = random_whole(seed, least_rows=12)
    federation = federate(
        whole, protocol, Partitioning.VERTICAL, (KAnonymity(2),), Height(), 0.2, parties=parties, seed=seed
    )
    everyone = whole.table.column("tid").to_pylist()
    tables, common = {}, set(everyone)
    for party, table in federation.tables.items():
        away = set(data.draw(st.lists(st.sampled_from(everyone), max_size=2)))
        tables[party] = table.filter(pa.array([key not in away for key in table.column("tid").to_pylist()]))
        common -= away
    rest = Whole(
        whole.table.filter(pa.array([key in common for key in everyone])),
        whole.rules,
        whole.quasi_identifiers,
    )
    expected = rest.central((KAnonymity(2),), Height(), 0.2)
    assert expected is not None
    everybody = run_in_memory(linked(dataclasses.replace(federation, tables=tables)), seed=seed)
    outcome = everybody["P1"].outcome
    assert outcome is not None
    assert (outcome.levels, multiset(outcome.release)) == expected


@pytest.mark.parametrize("protocol", CIPHERED)
def test_nobody_learns_of_people_that_are_not_common(protocol: Protocol) -> None:
    federation = example(protocol, Partitioning.VERTICAL)
    secret = federation.tables["P2"].append_column("x", pa.array([1] * 8)).drop_columns(["x"])
    tables = {
        **federation.tables,
        "P2": secret.set_column(0, "tid", pa.array([*"1234567", "only P2 knows me"])),
    }
    seen: list[Message] = []
    participants = linked(dataclasses.replace(federation, tables=tables))
    hashed = participants[1]._hashes[-1]
    everybody = run_in_memory(participants, watch=seen.append)
    assert everybody["P1"].outcome is not None
    assert everybody["P1"].outcome.release.num_rows == 7
    assert not [m for m in seen if b"only P2 knows me" in m.body or hashed in m.body]
    contract = everybody["P1"].contract
    for name, party in everybody.items():
        assert {entry.kind for entry in party.transcript} == set(roles_of(contract)[name])
    LeakageReport.of(contract, {name: party.transcript for name, party in everybody.items()})


def test_parties_without_common_people_are_told() -> None:
    federation = example(Protocol.STAR, Partitioning.VERTICAL)
    tables = {
        **federation.tables,
        "P2": federation.tables["P2"].set_column(0, "tid", pa.array([*"abcdefgh"])),
    }
    with pytest.raises(ColumnError, match="nobody is known to all"):
        run_in_memory(linked(dataclasses.replace(federation, tables=tables)))


def test_horizontal_data_cannot_be_linked() -> None:
    with pytest.raises(ParameterError, match="vertical data or regions only"):
        dataclasses.replace(example(Protocol.STAR, Partitioning.HORIZONTAL).contract, link=True)


@pytest.mark.parametrize("link", [False, True])
def test_rows_that_say_the_same_of_a_person_are_one_row(link: bool) -> None:
    federation = example(Protocol.STAR, Partitioning.VERTICAL, link=link)
    twice = federation.tables["P2"].take([0, 3, 1, 2, 3, 4, 5, 6, 7, 0])
    tables = {name: Table(table) for name, table in {**federation.tables, "P2": twice}.items()}
    contract = federation.contract
    everybody = run_in_memory([participant(n, contract, tables.get(n), RULES) for n in contract.everybody])
    assert everybody["P3"].outcome is not None
    assert multiset(everybody["P3"].outcome.release) == EXPECTED


@pytest.mark.parametrize("protocol", CIPHERED)
def test_people_are_linked_within_their_regions(protocol: Protocol) -> None:
    whole = random_whole(13, least_rows=24)
    federation = in_regions(whole, protocol, (2, 1, 3), 5)
    away = {party: federation.tables[party].column("tid").to_pylist()[:1] for party in ("A1", "C3")}
    tables = {
        party: table.filter(pa.array([k not in away.get(party, []) for k in table.column("tid").to_pylist()]))
        for party, table in federation.tables.items()
    }
    gone = {key for keys in away.values() for key in keys}
    known = pa.array([key not in gone for key in whole.table.column("tid").to_pylist()])
    rest = Whole(whole.table.filter(known), whole.rules, whole.quasi_identifiers)
    everybody = run_in_memory(linked(dataclasses.replace(federation, tables=tables)), seed=2)
    expected = rest.central((KAnonymity(2),), Entropy(), 0.2)
    outcome = everybody["B1"].outcome
    assert outcome is not None
    assert (outcome.levels, multiset(outcome.release)) == expected
    contract = everybody["B1"].contract
    for name, party in everybody.items():
        assert {entry.kind for entry in party.transcript} == set(roles_of(contract)[name])
