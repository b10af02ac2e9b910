"""The structure of the lattice, against the published figures and against counting."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.lattice import Lattice
from tarnkappe.lattice.lattice import is_generalization

heights = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)


def test_the_running_example_has_the_published_properties() -> None:
    lattice = Lattice((2, 1, 5))
    node = (1, 0, 3)
    assert lattice.num_nodes == 36
    assert lattice.num_levels == 9
    assert len(lattice.successors(node)) == 3
    assert len(lattice.predecessors(node)) == 2
    assert lattice.num_specializations(node) == 7
    assert lattice.num_generalizations(node) == 11
    assert lattice.num_strategies == 168
    assert lattice.num_sublattices == 342
    assert lattice.num_nodes_on(4) == lattice.num_nodes_on(3) == 6
    assert lattice.least_tests_in_worst_case == 12
    # The formula as it was printed returns the size of the next level: 3, 5, 6, 6, 6, 5, 3, 1, 0.
    assert lattice.level_sizes == (1, 3, 5, 6, 6, 6, 5, 3, 1)


def test_a_fourth_column_multiplies_the_strategies() -> None:
    lattice = Lattice((2, 1, 5, 2))
    assert lattice.num_nodes == 108
    assert lattice.num_strategies == 7560
    # 2268 was printed; that counts the 108 sub-lattices of one node too.
    assert lattice.num_sublattices == 2160
    assert lattice.num_sublattices + lattice.num_nodes == 2268


@pytest.mark.parametrize(
    ("levels", "all_nodes", "sensitive", "without"),
    [
        ("2 5 2 3 4 3 3 3 2", 12_960, 7, 4_320),
        ("6 5 2 3 2 5 5 5", 45_000, 5, 9_000),
        ("6 3 4 4 2 3 4 3", 20_736, 6, 5_184),
        ("3 6 2 3 3 3 3 4 3", 34_992, 7, 8_748),
        ("6 3 3 4 5 3 2 2 2", 25_920, 8, 12_960),
    ],
    ids=["ADULT", "CUP", "FARS", "ATUS", "IHIS"],
)
def test_the_lattices_of_the_evaluation_have_the_published_sizes(
    levels: str, all_nodes: int, sensitive: int, without: int
) -> None:
    top = [int(count) - 1 for count in levels.split()]
    assert Lattice(tuple(top)).num_nodes == all_nodes
    del top[sensitive]
    assert Lattice(tuple(top)).num_nodes == without


@given(heights)
def test_every_formula_agrees_with_counting(top: tuple[int, ...]) -> None:
    lattice = Lattice(top)
    nodes = list(lattice.nodes())
    assert len(nodes) == len(set(nodes)) == lattice.num_nodes
    assert len({sum(node) for node in nodes}) == lattice.num_levels
    for level in range(lattice.num_levels):
        on_level = list(lattice.nodes_on(level))
        assert on_level == sorted((n for n in nodes if sum(n) == level), reverse=True)
        assert lattice.num_nodes_on(level) == len(on_level) <= lattice.num_nodes_on_at_most(level)
    pairs = [(a, b) for a, b in itertools.product(nodes, nodes) if a != b and is_generalization(b, a)]
    assert lattice.num_sublattices == len(pairs)
    for node in nodes:
        assert lattice.num_generalizations(node) == sum(a == node for a, _ in pairs)
        assert lattice.num_specializations(node) == sum(b == node for _, b in pairs)
        assert all(node in lattice.predecessors(up) for up in lattice.successors(node))
    assert lattice.num_strategies == _count_paths(lattice)


def _count_paths(lattice: Lattice) -> int:
    paths = {lattice.bottom: 1}
    for level in range(1, lattice.num_levels):
        for node in lattice.nodes_on(level):
            paths[node] = sum(paths[below] for below in lattice.predecessors(node))
    return paths[lattice.top]
