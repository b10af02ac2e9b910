"""Insiders of an oblivious run: the central release under m-privacy, and what a site finds without its rows."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import NoSolutionError, ProtocolError, TarnkappeError
from tarnkappe.federation.contract import Reveal
from tarnkappe.federation.oblivious import plan
from tarnkappe.federation.oblivious.criterion import Criterion
from tarnkappe.federation.oblivious.dense import CellGrid, kept_cells, satisfied_nodes
from tarnkappe.federation.oblivious.insiders import coalitions_of
from tarnkappe.federation.wording import describe
from tarnkappe.loss import Height
from tarnkappe.privacy import DistinctDiversity, KAnonymity, Model, MPrivacy, MPrivateDiversity
from tests.federation.federations import multiset, random_whole
from tests.federation.test_oblivious import CRITERIA, PUBLIC
from tests.federation.test_oblivious_engine import rows_of
from tests.federation.three import ObliviousFederation, Three, obliviously

LIMITS = (0.0, 0.1, 0.3, 0.6)


def against_insiders(models: Sequence[Model], m: int) -> tuple[Model, ...]:
    """The same promises for who takes out the rows of m sites."""
    parts = [part for model in models for part in model.parts]
    return tuple(
        MPrivacy(part.k, "site", m)
        if isinstance(part, KAnonymity)
        else MPrivateDiversity(part.column, part.l, "site", m)
        for part in parts
        if isinstance(part, KAnonymity | DistinctDiversity)
    )


def with_sites(federation: ObliviousFederation) -> pa.Table:
    """The rows of all sites with a column that says whose they are."""
    tables = [
        table.append_column("site", pa.array([name] * table.num_rows, pa.string()))
        for name, table in federation.tables.items()
        if table is not None
    ]
    rows = pa.concat_tables(tables)
    return rows.append_column("tid", pa.array([f"person {i}" for i in range(rows.num_rows)]))


def compare(data: st.DataObject, most_sites: int) -> None:
    whole = random_whole(data.draw(st.integers(0, 10**6)))
    models, loss = data.draw(st.sampled_from(CRITERIA)), data.draw(st.sampled_from(PUBLIC))
    limit, sites = data.draw(st.sampled_from(LIMITS)), data.draw(st.integers(2, most_sites))
    m = data.draw(st.integers(1, min(2, sites - 1)))
    federation = obliviously(
        whole,
        models,
        loss,
        limit,
        parties=sites,
        reveal=data.draw(st.sampled_from(Reveal)),
        seed=data.draw(st.integers(0, 10**6)),
        insiders=m,
    )
    union = dataclasses.replace(whole, table=with_sites(federation))
    try:
        expected = union.central(against_insiders(models, m), loss, limit)
    except TarnkappeError:
        expected = None
    if expected is None:
        with pytest.raises(NoSolutionError):
            federation.run()
        return
    levels, rows = expected
    without_site: Counter[tuple[Any, ...]] = Counter()
    for row, number in rows.items():
        without_site[row[:-1]] += number
    everybody = federation.run()
    for party in federation.contract.parties:
        outcome = everybody[party].outcome
        assert outcome.levels == levels
        assert multiset(outcome.release) == without_site


@given(data=st.data())
@settings(max_examples=20)
def test_a_release_equals_the_central_one_under_m_privacy(data: st.DataObject) -> None:
    compare(data, most_sites=3)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=300)
def test_hundreds_of_releases_equal_the_central_ones_under_m_privacy(data: st.DataObject) -> None:
    compare(data, most_sites=6)


@given(data=st.data())
@settings(max_examples=10)
def test_the_circuit_decides_as_taking_out_rows_does(data: st.DataObject) -> None:
    sites, size, values = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 70)), 3
    least, limit = data.draw(st.sampled_from([None, 1, 2, 3])), data.draw(st.integers(0, 30))
    k = data.draw(st.integers(2 if least is None else 1, 6))
    m = data.draw(st.integers(1, min(3, sites - 1)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    counts = rng.poisson(1.0, (sites, size))
    drawn = [[rng.integers(0, values, n).tolist() for n in row] for row in counts]
    diversity = () if least is None else ((values, least),)
    criterion = Criterion(k, diversity, limit, int(counts.sum()), coalitions_of(sites, m))
    cells, three = CellGrid((size,)), Three()
    shared = []
    for row, kinds in zip(counts.tolist(), drawn, strict=True):
        planes = rows_of(row, None if least is None else kinds).planes([(0,)], cells, criterion)
        shared.append(three.share(planes))
    by_party = [[site[i] for site in shared] for i in range(3)]
    kept, _ = zip(*three.run(lambda c, s: kept_cells(c, s, criterion), by_party), strict=True)
    good = three.run(lambda c, s: satisfied_nodes(c, s, cells, criterion), by_party)
    expected = []
    for cell in range(size):
        left = [
            [v for p in range(sites) if p not in gone for v in drawn[p][cell]]
            for number in range(m + 1)
            for gone in itertools.combinations(range(sites), number)
        ]
        enough = all(not rows or (len(rows) >= k and len(set(rows)) >= (least or 1)) for rows in left)
        expected.append(bool(left[0]) and enough)
    assert three.flags(kept, size) == expected
    suppressed = sum(int(counts[:, cell].sum()) for cell in range(size) if not expected[cell])
    assert three.flags(good, 1) == [suppressed <= limit]


def test_the_dense_fixture_does_not_hold_against_insiders() -> None:
    """Without ulm the first cell has a single row, so that it goes, and five rows are suppressed."""
    sites = [rows_of([2, 0, 5, 0]), rows_of([1, 1, 0, 0]), rows_of([0, 1, 0, 0])]
    cells, criterion = CellGrid((4,)), Criterion(3, (), 2, 10, coalitions_of(3, 1))
    three = Three()
    shared = [three.share(site.planes([(0,)], cells, criterion)) for site in sites]
    by_party = [[site[i] for site in shared] for i in range(3)]
    kept, dropped = zip(*three.run(lambda c, s: kept_cells(c, s, criterion), by_party), strict=True)
    assert three.flags(kept, 4) == [False, False, True, False]
    assert sum(three.read(dropped, 4)) == 5
    good = three.run(lambda c, s: satisfied_nodes(c, s, cells, criterion), by_party)
    assert three.flags(good, 1) == [False]


def some(insiders: int, limit: float = 0.3) -> ObliviousFederation:
    return obliviously(
        random_whole(3, least_rows=24), (KAnonymity(4),), Height(), limit, insiders=insiders, parties=4
    )


def test_a_site_keeps_no_release_in_which_it_finds_fewer_of_others_than_promised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The computing parties look away from insiders; each site takes its own rows out and sees it."""
    assert some(1).run()["P1"].outcome is not None
    monkeypatch.setattr(plan, "coalitions_of", lambda sites, most: ())
    with pytest.raises(ProtocolError, match="without the rows of one party"):
        some(1).run()


def test_the_text_of_a_contract_says_which_insiders_find_how_much() -> None:
    assert "If a site takes out its own rows" in describe(some(1).contract)
    assert "If a coalition of 2 sites takes out" in describe(some(2).contract)
    assert "may find others in classes smaller than promised" in describe(some(0).contract)
