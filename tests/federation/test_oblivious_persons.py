"""Persons across sites: found whoever they are, and nothing told of them but that there is one."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ProtocolError
from tarnkappe.federation.leakage import foretell
from tarnkappe.federation.message import Message
from tarnkappe.federation.oblivious.persons import lanes_for, planes_of, somebody_repeats, tags_of
from tarnkappe.federation.wording import describe
from tarnkappe.loss import Height
from tarnkappe.privacy import KAnonymity
from tarnkappe.table import Table
from tests.federation.federations import multiset, random_whole
from tests.federation.three import ObliviousFederation, Three, obliviously


@given(data=st.data())
@settings(max_examples=12)
def test_the_circuit_finds_what_sets_find(data: st.DataObject) -> None:
    sites = data.draw(st.integers(2, 5))
    greatest = data.draw(st.sampled_from([40, 300, 2**64 - 1]))
    tags = st.sets(st.integers(0, greatest), max_size=70)
    drawn = [sorted(data.draw(tags)) for _ in range(sites)]
    lanes, three = lanes_for([len(each) for each in drawn]), Three()
    shared = [three.share(planes_of(np.array(each, np.uint64), lanes)) for each in drawn]
    by_party = [[site[i] for site in shared] for i in range(3)]
    found = three.run(lambda c, lists: somebody_repeats(c, lists, lanes), by_party)
    everybody = [tag for each in drawn for tag in each]
    assert three.flags(found, 1) == [len(set(everybody)) < len(everybody)]


@pytest.mark.parametrize("shared", [0, 2**64 - 1])
@pytest.mark.parametrize("other", [0, 64])
def test_the_least_and_the_greatest_tag_are_found_in_full_lists(shared: int, other: int) -> None:
    lists = [sorted({shared, *range(1, 64)}), sorted({shared, *range(100, 100 + other)} - {163})]
    lanes, three = lanes_for([len(each) for each in lists]), Three()
    for drawn, expected in (
        (lists, True),
        ([lists[0], lists[1][1:] if shared == 0 else lists[1][:-1]], False),
    ):
        parts = [three.share(planes_of(np.array(each, np.uint64), lanes)) for each in drawn]
        by_party = [[site[i] for site in parts] for i in range(3)]
        found = three.run(lambda c, x: somebody_repeats(c, x, lanes), by_party)
        assert three.flags(found, 1) == [expected]


def named(names: dict[str, list[str]] | None = None, parties: int = 3) -> ObliviousFederation:
    """A federation whose rows have names; some of them may be given, the others differ."""
    whole = random_whole(0, least_rows=20)
    cut = obliviously(whole, (KAnonymity(3),), Height(), 0.2, parties=parties, person=("name",))
    tables = {}
    for site, table in cut.tables.items():
        assert table is not None
        given = (names or {}).get(site, [])
        own = given + [f"{site} {i}" for i in range(table.num_rows - len(given))]
        tables[site] = table.append_column("name", pa.array(own, pa.string()))
    return dataclasses.replace(cut, tables=tables)


@pytest.mark.parametrize("parties", [2, 4])
def test_a_run_without_such_people_gives_the_release_of_one_that_does_not_look(parties: int) -> None:
    looked = named(parties=parties).run()["P1"].outcome
    plain = named(parties=parties).with_contract(person=()).run()["P1"].outcome
    assert looked is not None
    assert multiset(looked.release) == multiset(plain.release)


def test_somebody_at_two_sites_ends_the_run_however_the_name_is_written() -> None:
    for second in ("Ann Lee", " ann  LEE"):
        with pytest.raises(ProtocolError, match="known to several sites, by name") as refusal:
            named({"P1": ["Ann Lee"], "P3": [second]}).run()
        assert "lee" not in str(refusal.value).lower()
    with pytest.raises(ColumnError, match="several rows"):
        named({"P1": ["Ann Lee", "Ann Lee"]}).run()


def test_until_the_one_bit_is_opened_nothing_tells_that_somebody_is_there() -> None:
    """Messages of runs with and without such a person have the same kinds and sizes, up to that bit."""

    def sent(federation: ObliviousFederation) -> list[tuple[str, str, str, int]]:
        seen: list[Message] = []
        with contextlib.suppress(ProtocolError):
            federation.run(watch=seen.append)
        told = [(m.sender, m.receiver, m.kind, len(m.body)) for m in seen]
        return told[: next(i for i, each in enumerate(told) if each[2] == "open persons")]

    assert sent(named()) == sent(named({"P1": ["Ann"], "P2": ["Ann"]}))


def test_tags_of_two_contracts_differ_and_fields_do_not_run_together() -> None:
    contract = named().contract
    both = dataclasses.replace(contract, person=("first", "last"))
    table = Table(pa.table({"first": ["ab", "a"], "last": ["c", "bc"]}))
    assert len(set(tags_of(table, both).tolist())) == 2
    other = dataclasses.replace(both, run="another")
    assert not set(tags_of(table, both).tolist()) & set(tags_of(table, other).tolist())


def test_the_contract_says_what_is_looked_for_and_who_learns_it() -> None:
    contract = named().contract
    assert "within a site or across sites: the run ends" in describe(contract)
    assert "whether somebody is known to several sites" in str(foretell(contract))
