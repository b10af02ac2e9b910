"""What the theory takes for granted: graphs, matchings, linear programs; and models that would be wrong or too weak.

The gate leaves matchings to a flow of its own and to SciPy, and programs to HiGHS and CP-SAT. The worked examples say
whether these, and the explicit algorithms of the tests, do what the theory says they do.
"""

from __future__ import annotations

import itertools
from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from tarnkappe.gate import Knowledge
from tarnkappe.gate.delta_top import extension
from tarnkappe.gate.exact_test import ContradictionError, any_distribution, signatures
from tests.gate import clone_graphs
from tests.gate.graphs import QueryGraph, query_graphs
from tests.gate.test_model import running, triangle

EDGES = {
    "e1": (1, 2), "e2": (1, 3), "e3": (1, 4), "e4": (2, 3), "e5": (2, 4), "e6": (2, 5),
    "e7": (3, 4), "e8": (4, 5), "e9": (3, 6), "e10": (4, 7), "e11": (5, 8), "e12": (7, 8),
}  # fmt: skip
Edge = tuple[int, int]


def incidence(vertices: int, edges: list[Edge]) -> np.ndarray:
    return np.array([[int(v in edge) for edge in edges] for v in range(1, vertices + 1)])


def matchings(edges: list[Edge], size: int) -> list[tuple[Edge, ...]]:
    return [m for m in itertools.combinations(edges, size) if len(set(itertools.chain(*m))) == 2 * size]


def test_the_graph_of_the_examples() -> None:
    """F1.1: induced subgraphs, a maximal matching that is not maximum, its augmenting paths, 3 perfect matchings."""
    chosen = {1, 2, 3, 4, 6}
    assert [name for name, edge in EDGES.items() if set(edge) <= chosen] == [
        "e1",
        "e2",
        "e3",
        "e4",
        "e5",
        "e7",
        "e9",
    ]
    edges = list(EDGES.values())
    neighbours = {v: {u for e in edges if v in e for u in e if u != v} for v in range(1, 9)}
    assert (incidence(8, edges).sum(axis=1) == [len(neighbours[v]) for v in range(1, 9)]).all()
    m2 = {(1, 4), (2, 3), (5, 8)}
    covered = set(itertools.chain(*m2))
    assert all(covered & set(edge) for edge in edges), "no edge can be added"
    for path in ([6, 3, 2, 5, 8, 7], [6, 3, 2, 1, 4, 7]):
        steps = [tuple(sorted(step)) for step in itertools.pairwise(path)]
        assert all(step in edges for step in steps)
        assert [step in m2 for step in steps] == [False, True, False, True, False]
        larger = m2 ^ set(steps)
        assert len(larger) == len(set(itertools.chain(*larger))) / 2 == 4
    assert ((1, 4), (2, 5), (3, 6), (7, 8)) in [tuple(sorted(m)) for m in matchings(edges, 4)]
    assert len(matchings(edges, 4)) == 3


LEFT = {1: [4], 3: [2], 5: [2, 8], 7: [4, 8, 10], 11: [10, 12]}
RIGHT = {2: "A", 4: "B", 8: "C", 10: "D", 12: "E"}


def test_shortest_augmenting_paths_get_longer_phase_by_phase() -> None:
    """F1.2: the lengths are 3, then 7, then there is none; every algorithm we have finds all five pairs."""
    graph = clone_graphs.CloneGraph.named(
        {str(old): "".join(RIGHT[new] for new in news) for old, news in LEFT.items()},
        [f"{letter}{new}" for new, letter in RIGHT.items()],
    )

    def pairs(*edges: Edge) -> clone_graphs.Matching:
        return {(str(old), f"{RIGHT[new]}{new}") for old, new in edges}

    def length(matching: clone_graphs.Matching) -> int | None:
        distance, ends = clone_graphs.levels(graph, matching)
        return distance[ends[0]] if ends else None

    m1 = pairs((7, 4), (5, 2), (11, 10))
    assert length(m1) == 3
    m2 = clone_graphs.augmented(m1, ["1", "B4", "7", "C8"])
    assert m2 == pairs((1, 4), (7, 8), (5, 2), (11, 10))
    assert length(m2) == 7
    m3 = clone_graphs.augmented(m2, ["3", "A2", "5", "C8", "7", "D10", "11", "E12"])
    assert m3 == pairs((1, 4), (3, 2), (5, 8), (7, 10), (11, 12))
    assert length(m3) is None
    assert clone_graphs.one_by_one(graph) == clone_graphs.in_phases(graph) == m3
    allowed = np.array([[new in news for new in RIGHT] for news in LEFT.values()])
    assert (maximum_bipartite_matching(csr_array(allowed)) >= 0).sum() == 5
    dealt = extension.deal(np.ones(5, dtype=np.int64), allowed, np.ones(5, dtype=np.int64))
    assert dealt.sum() == 5


PROGRAM = np.array([[1, 4], [1, 1], [3, 1]]), np.array([12, 4, 9])


def test_the_solvers_solve_the_stated_programs() -> None:
    """F1.3: a linear optimum, the integer ones, no solution, no bound; and matchings as a program."""
    matrix, limits = PROGRAM
    relaxed = linprog([-1, -2], A_ub=matrix, b_ub=limits)
    assert relaxed.x == pytest.approx([4 / 3, 8 / 3])
    assert -relaxed.fun == pytest.approx(float(Fraction(20, 3)))
    points = [p for p in itertools.product(range(13), repeat=2) if (matrix @ p <= limits).all()]
    assert len(points) == 11
    best = max(x + 2 * y for x, y in points)
    assert sorted(p for p in points if p[0] + 2 * p[1] == best) == [(0, 3), (2, 2)]
    whole = milp([-1, -2], constraints=LinearConstraint(matrix, -np.inf, limits), integrality=[1, 1])
    assert -whole.fun == best == 6
    impossible = milp([1], constraints=LinearConstraint([[1]], 2, 3), bounds=Bounds(0, 1), integrality=[1])
    assert (impossible.x is None, impossible.status) == (True, 2)
    assert linprog([-1], bounds=(0, None)).status == 3
    edges = list(EDGES.values())
    covering = LinearConstraint(incidence(8, edges), -np.inf, 1)
    largest = milp(-np.ones(12), constraints=covering, bounds=Bounds(0, 1), integrality=np.ones(12))
    assert -largest.fun == 4


def test_relaxations_are_exact_for_two_sides_and_not_for_a_triangle() -> None:
    """The relaxed perfect matching of a triangle is 0.5 everywhere; a bipartite incidence matrix is unimodular."""
    three = [(1, 2), (2, 3), (1, 3)]
    assert linprog(np.zeros(3), A_eq=incidence(3, three), b_eq=np.ones(3)).x == pytest.approx([0.5] * 3)
    assert not [m for m in matchings(three, 1) if set(itertools.chain(*m)) == {1, 2, 3}]
    rows = [[1, 0, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1]]  # fmt: skip
    matrix = np.array(rows)
    assert (matrix[:3].sum(axis=0) == 1).all()
    assert (matrix[3:].sum(axis=0) == 1).all(), "each edge goes from one side to the other"
    for size in range(1, 7):
        for down in itertools.combinations(range(6), size):
            for across in itertools.combinations(range(6), size):
                assert round(np.linalg.det(matrix[np.ix_(down, across)])) in (-1, 0, 1)
    assert round(abs(np.linalg.det(incidence(3, three)))) == 2


def hyperedges(graphs: list[QueryGraph]) -> list[tuple[int, frozenset[tuple[int, int]]]]:
    """A tuple, and one node of one value in every graph that has it."""
    found = []
    for tuple_ in sorted({t for graph in graphs for t in graph.tuples}):
        places = [g for g, graph in enumerate(graphs) if tuple_ in graph.tuples]
        for value in sorted({v for graph in graphs for v in graph.nodes}):
            nodes = [
                [
                    (g, p)
                    for p, v in enumerate(graphs[g].nodes)
                    if v == value and (tuple_, p) in graphs[g].edges
                ]
                for g in places
            ]
            found += [(tuple_, frozenset(chosen)) for chosen in itertools.product(*nodes)]
    return found


def perfect(edges: list[tuple[int, frozenset[tuple[int, int]]]]) -> int:
    """In how many ways everybody gets a hyperedge and no node is used twice."""
    tuples = sorted({tuple_ for tuple_, _ in edges})

    def count(depth: int, used: frozenset[tuple[int, int]]) -> int:
        if depth == len(tuples):
            return 1
        return sum(count(depth + 1, used | ns) for t, ns in edges if t == tuples[depth] and not ns & used)

    return count(0, frozenset())


def test_the_hypergraph_is_the_same_model_and_the_merged_graph_is_not() -> None:
    """F3.12: six hyperedges and no perfect matching; in the merged graph everybody finds a value all the same."""
    graphs = query_graphs(triangle())
    assert len(hyperedges(graphs)) == 6
    assert perfect(hyperedges(graphs)) == 0
    with pytest.raises(ContradictionError):
        any_distribution(triangle())
    merged = np.array([[int(t in graph.tuples) for graph in graphs for _ in graph.nodes] for t in range(3)])
    assert (maximum_bipartite_matching(csr_array(merged), perm_type="column") >= 0).sum() == 3
    assert perfect(hyperedges(query_graphs(running(1)[0]))) == 24, "as many as there are valid matchings"


@pytest.mark.parametrize(("m", "r"), [(2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (3, 4)])
def test_for_every_r_there_is_a_table_on_which_short_cycles_alone_fail(m: int, r: int) -> None:
    """F4.11: everybody has m values or more, but whoever counts with cycles of at most r people gives tuple 1 only one.

    i goes to B1 for i = 2 .. m; as printed also for i = 1, which would give it one value more (E10).
    """
    truth = {i: f"A{i}" for i in range(1, m + 1)} | {m + j: f"B{j}" for j in range(1, r + 1)}
    may = {t: {value} for t, value in truth.items()}
    may[1] |= {f"A{i}" for i in range(1, m + 1)}
    for i in range(2, m + 1):
        may[i].add("B1")
    for j in range(1, r):
        may[m + j].add(f"B{j + 1}")
    may[m + r].add("A1")
    for k in range(2, m + r + 1):
        gadget = [f"G{k}.{g}" for g in range(m - 1)]
        may[k] |= set(gadget)
        for value in gadget:
            truth[len(truth) + 1] = value
            may[len(truth)] = {*gadget, truth[k]}
    labels = sorted(set(truth.values()))
    knowledge = Knowledge(len(labels))
    knowledge.publish(list(range(len(truth))), np.ones(len(labels), dtype=np.int32))
    knowledge.view.kind[:] = np.arange(len(truth))  # other results are responsible for the missing edges
    knowledge.kinds = len(truth)
    for t, values in may.items():
        knowledge.view.allowed[t - 1] = [label in values for label in labels]
    known = np.array([labels.index(truth[t]) for t in sorted(truth)], dtype=np.int32)
    degrees = [len(signature) for signature in signatures(knowledge, known)]
    assert degrees[0] == m
    assert min(degrees) >= m
    owner = {value: t for t, value in truth.items()}
    shortest = [cycle_through(may, owner, 1, i) for i in range(2, m + 1)]
    assert shortest == [r + 2] * (m - 1)
    assert 1 + sum(length <= r for length in shortest) == 1, "the ratio is m, whatever r is"


def cycle_through(may: dict[int, set[str]], owner: dict[str, int], first: int, second: int) -> int:
    """How many people exchange values at least if the first takes what is the second's."""
    steps, queue = {second: 1}, deque([second])
    while queue:
        at = queue.popleft()
        for value in may[at]:
            if owner[value] not in steps:
                steps[owner[value]] = steps[at] + 1
                queue.append(owner[value])
    return steps[first]
