"""Regions: data that are distributed horizontally and vertically at once.

The attacker is the party that anonymizes in a ring: its own rows, in full encryption and alone, would tell it
which ciphertext is which value, also in the rows of other regions.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError, ProtocolError
from tarnkappe.federation import contract_checks
from tarnkappe.federation.arrow_wire import pack, tokens_of, unpack
from tarnkappe.federation.contract import CIPHERED, Contract, Partitioning, Protocol, SharedColumn
from tarnkappe.federation.leakage import LeakageReport, foretell, roles_of
from tarnkappe.federation.message import Message
from tarnkappe.federation.party_share import canonical
from tarnkappe.federation.runner import run_in_memory
from tarnkappe.loss import Entropy, Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Role
from tests.federation.federations import HELPER, Federation, in_regions, multiset, random_whole
from tests.federation.site_files import serve, tarn, wait_for, write_sites
from tests.federation.test_faults import deliver

SIZES = [(2, 2, 2), (1, 2, 1), (3, 1, 2), (2, 1, 1, 1)]
LARGE = {"least_rows": 15, "most_rows": 30}


@pytest.mark.parametrize("protocol", CIPHERED)
@given(seed=st.integers(0, 10**6), sizes=st.sampled_from(SIZES), limit=st.sampled_from([0.0, 0.2]))
@settings(max_examples=5)
def test_checklist_57_regions_equal_the_central_search(
    protocol: Protocol, seed: int, sizes: Sequence[int], limit: float
) -> None:
    compare(protocol, seed, sizes, limit)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", CIPHERED)
@given(
    seed=st.integers(0, 10**6), sizes=st.sampled_from([*SIZES, (2, 2), (1, 1, 1)]), limit=st.floats(0, 0.5)
)
@settings(max_examples=150)
def test_hundreds_of_regions_equal_the_central_search(
    protocol: Protocol, seed: int, sizes: Sequence[int], limit: float
) -> None:
    compare(protocol, seed, sizes if protocol is not Protocol.RING or len(sizes) > 2 else (1, 1, 2), limit)


def compare(protocol: Protocol, seed: int, sizes: Sequence[int], limit: float) -> None:
    whole, loss = random_whole(seed, **LARGE), Entropy() if seed % 2 else Height()
    expected = whole.central((KAnonymity(2),), loss, limit)
    assert expected is not None
    everybody = in_regions(whole, protocol, sizes, seed, loss=loss, limit=limit).run(seed=seed)
    for party in everybody.values():
        if party.name != HELPER:
            assert (party.outcome.levels, multiset(party.outcome.release)) == expected


@pytest.mark.parametrize("protocol", CIPHERED)
def test_everybody_in_regions_receives_what_was_foretold(protocol: Protocol) -> None:
    federation = in_regions(random_whole(13, **LARGE), protocol, (2, 2, 2), 1)
    everybody = federation.run()
    contract = federation.contract
    LeakageReport.of(contract, {name: party.transcript for name, party in everybody.items()})
    for name, party in everybody.items():
        assert {entry.kind for entry in party.transcript} == set(roles_of(contract)[name])
    sent = "partial" if protocol is Protocol.RING else "subset"
    told = [line for lines in foretell(contract).values() for line in lines if line.startswith(f"{sent}: ")]
    assert told
    assert all("rows of one person are joined by an encrypted key" in line for line in told)
    assert all("region" in line for line in told if protocol is Protocol.RING)


def test_the_master_of_a_ring_never_sees_its_own_region_alone() -> None:
    federation = in_regions(random_whole(13, **LARGE), Protocol.RING, (2, 2, 1), 1)
    sent: list[Message] = []
    everybody = federation.run(sent.append)
    contract, people = federation.contract, {p: t.num_rows for p, t in federation.tables.items()}
    (partial,) = [e for e in everybody[contract.master].transcript if e.kind == "partial"]
    own, second, last = contract.regions[0], contract.regions[2], contract.regions[1]
    shape = dict(partial.shape)
    assert shape["rows"] == people[own[0]] + people[second[0]] > people[own[0]]
    assert shape["unfinished/rows"] == people[last[0]]
    assert not [name for name in shape if name.endswith("keys")], "not even encrypted keys reach the master"


def recognized_by_frequency(regions: int) -> int:
    """How many ciphertexts the master recognizes by how often its own values occur in whole rows."""
    values = [f"v{i}" for i in range(6)]
    own = [2 * i + 1 for i in range(6)]
    names = "ABC"[:regions]
    tables = {}
    for place, name in enumerate(names):
        column = [v for v, n in zip(values, own if place == 0 else own[::-1], strict=True) for _ in range(n)]
        tables[name] = pa.table({"tid": [f"{name}{i}" for i in range(len(column))], "a": column})
    contract = Contract(
        Protocol.RING,
        Partitioning.HYBRID,
        tuple(names),
        (SharedColumn("a", Role.QUASI_IDENTIFIER, height=1, owners=tuple(names)),),
        (KAnonymity(2),),
        Height(),
        key="tid",
        regions=tuple((name,) for name in names),
    )
    participants = Federation(contract, tables, {"a": lambda _: ["*"]}).participants()
    group = participants[0]._layers._group
    true = group.embed(contract.digest + b"a", [canonical(value) for value in values])
    for participant in participants:  # the test, unlike any party, knows all keys
        true = group.apply(participant._layers._keys["a"], true)
    seen: list[Message] = []
    run_in_memory(participants, watch=seen.append)
    (partial,) = [unpack(m.body, m.sender) for m in seen if m.kind == "partial" and m.receiver == "A"]
    tokens = tokens_of(partial, "tokens/a", "B")
    number = Counter(partial["rows"].column("a").to_pylist())
    guessed = {tokens[code]: own.index(n) for code, n in number.items() if n in own}
    return sum(true[place] == token for token, place in guessed.items())


def test_a_ring_of_two_regions_would_be_read_by_its_master(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recognized_by_frequency(3) == 0
    monkeypatch.setattr(contract_checks, "LEAST_RING", 2)
    assert recognized_by_frequency(2) == 6, "the attack for which it is refused must work"


def test_only_one_party_of_a_region_counts_its_people() -> None:
    federation = in_regions(random_whole(13, **LARGE), Protocol.MASKED, (2, 1), 1, made_up_share=0.5)
    participants = federation.participants()
    private = participants[0]._private
    helper: Any = run_in_memory(participants)[HELPER]
    counts = private.decrypt(helper._share.counters)
    people = sum(federation.tables[region[0]].num_rows for region in federation.contract.regions)
    assert set(counts) == {0, 1}
    assert sum(counts) == people < len(counts)


@pytest.mark.parametrize("protocol", [Protocol.STAR, Protocol.MASKED, Protocol.MASKED_RING])
def test_who_is_known_in_two_regions_ends_the_run(protocol: Protocol) -> None:
    federation = in_regions(random_whole(13, **LARGE), protocol, (1, 1), 1)
    one, other = federation.contract.parties
    twice = federation.tables[one].slice(0, 1).select(federation.tables[other].column_names)
    tables = {**federation.tables, other: pa.concat_tables([federation.tables[other], twice])}
    with pytest.raises(ProtocolError, match="1 person is known in more than one region"):
        dataclasses.replace(federation, tables=tables).run()


@pytest.mark.parametrize("protocol", CIPHERED)
def test_parties_of_a_region_with_different_people_end_the_run(protocol: Protocol) -> None:
    federation = in_regions(random_whole(13, **LARGE), protocol, (2, 2, 2), 1)
    tables = {**federation.tables, "B2": federation.tables["B2"].slice(1)}
    with pytest.raises(ProtocolError, match="people"):
        dataclasses.replace(federation, tables=tables).run()


@pytest.mark.parametrize("lost", ["rows", "tokens/a", "unfinished/rows", "unfinished/tokens/a"])
def test_a_merge_of_which_something_is_missing_ends_the_run(lost: str) -> None:
    federation = in_regions(random_whole(13, **LARGE), Protocol.RING, (2, 2, 2), 1)
    seen: list[Message] = []
    federation.run(seen.append)
    having = sum(lost in unpack(m.body, m.sender) for m in seen if m.kind == "partial")
    assert having

    def without(message: Message) -> Message:
        tables = unpack(message.body, message.sender)
        return dataclasses.replace(message, body=pack({n: t for n, t in tables.items() if n != lost}))

    for skipped in range(having):
        met = iter(range(having))

        def tamper(_: int, m: Message, met: Iterator[int] = met, place: int = skipped) -> list[Message]:
            hit = m.kind == "partial" and lost in unpack(m.body, m.sender) and next(met) == place
            return [without(m)] if hit else [m]

        participants = federation.participants()
        with pytest.raises(ProtocolError, match="the run ends"):
            deliver(participants, tamper)
        assert all(participant.outcome is None for participant in participants)


def test_absent_people_of_a_region_are_filled_in() -> None:
    whole = random_whole(13, **LARGE)
    federation = in_regions(whole, Protocol.STAR, (2, 2), 1, fill_absent=True)
    names = set(whole.quasi_identifiers)
    party = next(p for p, t in federation.tables.items() if names & set(t.column_names))
    tables = {**federation.tables, party: federation.tables[party].slice(1)}
    rules = {
        name: (lambda text, rule=rule: ["?"] * (rule.height - 1) + ["*"])
        if name in whole.quasi_identifiers
        else rule
        for name, rule in whole.rules.items()
    }
    rules["disease"] = lambda text: ["?", "*"]
    outcome = dataclasses.replace(federation, tables=tables, rules=rules).run()["A1"].outcome
    assert outcome.release.num_rows + outcome.suppressed == whole.table.num_rows


@pytest.mark.slow
@pytest.mark.parametrize("protocol", CIPHERED)
def test_regions_in_processes_of_their_own(
    tmp_path: Path, started: list[subprocess.Popen[str]], protocol: Protocol
) -> None:
    whole = random_whole(13, **LARGE)
    federation = in_regions(whole, protocol, (2, 1, 2), 1, limit=0.1)
    expected = whole.central((KAnonymity(2),), Entropy(), 0.1)
    assert expected is not None
    ports = write_sites(tmp_path, federation)
    for name in ports:
        serve(name, tmp_path, started)
    wait_for(ports)
    done = tarn("federate", "job.toml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = json.loads(done.stdout)["digest"][:16]
    for party in federation.contract.parties:
        assert multiset(pq.read_table(tmp_path / party / folder / "release.parquet")) == expected[1]


def test_what_regions_need_is_said() -> None:
    whole = random_whole(13)
    contract = in_regions(whole, Protocol.RING, (2, 2, 2), 1).contract
    with pytest.raises(ParameterError, match="a ring of 2 regions protects nobody: 'A1'"):
        in_regions(whole, Protocol.RING, (2, 2), 1)
    with pytest.raises(ParameterError, match="name the parties in the order A1, B1, B2, C1, C2, A2"):
        dataclasses.replace(contract, parties=("A1", "A2", "B1", "B2", "C1", "C2"))
    with pytest.raises(ParameterError, match="name each exactly once"):
        dataclasses.replace(contract, regions=contract.regions[:2])
    with pytest.raises(ColumnError, match="needs one owner in each region"):
        dataclasses.replace(
            contract,
            columns=(dataclasses.replace(contract.columns[0], owners=("A1",)), *contract.columns[1:]),
        )
    with pytest.raises(ParameterError, match="only a hybrid distribution has regions"):
        dataclasses.replace(contract, distribution=Partitioning.VERTICAL)
    assert Contract.from_document(contract.as_document()) == contract
