"""Applying a node to rows: the published releases of the running example, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.hierarchy import read_hierarchy
from tarnkappe.job.release import generalized, random_order, release_table
from tarnkappe.table import Table, read
from tarnkappe.table.row_tuples import row_tuples
from tests.conftest import FIXTURES

LOCAL = FIXTURES / "local"
QUASI_IDENTIFIERS = ("age", "sex", "zip")


@pytest.fixture
def table() -> Table:
    return read(LOCAL / "running-example.csv").with_roles(
        quasi_identifiers=QUASI_IDENTIFIERS, sensitive=["diagnosis"]
    )


@pytest.mark.parametrize("node", [(1, 0, 3), (1, 1, 4), (2, 1, 3)])
def test_nodes_give_the_published_tables(table: Table, node: tuple[int, ...]) -> None:
    tuples = row_tuples(table, QUASI_IDENTIFIERS)
    columns = {
        name: read_hierarchy(LOCAL / f"hierarchy_{name}.csv").attach(tuples.columns[name])
        for name in QUASI_IDENTIFIERS
    }
    levels = zip(QUASI_IDENTIFIERS, node, strict=True)
    recoded = {name: generalized(columns[name], level) for name, level in levels}
    release = release_table(table, recoded, np.arange(8))
    expected = read(LOCAL / f"release-{'-'.join(map(str, node))}.csv")
    assert release.data.to_pylist() == expected.data.to_pylist()


def test_identifiers_and_suppressed_rows_are_left_out(table: Table) -> None:
    table = table.with_roles(
        identifiers=["zip"], quasi_identifiers=["sex"], sensitive=["diagnosis"], insensitive=["age"]
    )
    release = release_table(table, {"sex": table.data.column("sex")}, np.array([6, 4, 2, 0]))
    assert release.column_names == ("age", "sex", "diagnosis")
    assert release.data.column("age").to_pylist() == [18, 35, 66, 34]


def test_the_random_order_is_a_permutation_and_needs_no_seed() -> None:
    assert sorted(random_order(1000)) == list(range(1000))
    assert not np.array_equal(random_order(1000), random_order(1000))
    assert np.array_equal(random_order(1000, seed=1), random_order(1000, seed=1))


def test_every_position_is_equally_likely_for_the_newest_row() -> None:
    """Who knows that the last row of the input is the newest patient must not find it by its place."""
    places = np.bincount([int(np.flatnonzero(random_order(8) == 7)[0]) for _ in range(4000)], minlength=8)
    assert places.min() > 380  # 500 expected; five standard deviations below
