"""Which new tuple goes to which old one: worked examples, optimality by brute force, clone graphs as the theory has them."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.gate.delta_top import extension
from tarnkappe.gate.delta_top.extension import CLONE_MATCHING, MAX_ANONYMITY, MAX_EDGES, SIMPLE_MATCHING
from tarnkappe_bench import plain_extension
from tests.conftest import FIXTURES
from tests.gate import clone_graphs
from tests.gate.sheets import Sheet, edges, texts

EXAMPLES: dict[str, Any] = json.loads((FIXTURES / "gate" / "extensions.json").read_text(encoding="utf-8"))
ALGORITHMS = {
    "max-edges": MAX_EDGES,
    "max-anonymity": MAX_ANONYMITY,
    "simple-matching": SIMPLE_MATCHING,
    "clone-matching": CLONE_MATCHING,
}
PLAIN = {
    MAX_EDGES: plain_extension.max_edges,
    MAX_ANONYMITY: plain_extension.max_anonymity,
    SIMPLE_MATCHING: plain_extension.simple_matching,
    CLONE_MATCHING: plain_extension.clone_matching,
}
EVERY = pytest.mark.parametrize("algorithm", list(ALGORITHMS.values()), ids=list(ALGORITHMS))
B, C, D, E, F = range(1, 6)


def play(name: str, algorithm: str) -> Sheet:
    example = EXAMPLES[name]
    truth = {tuple_: row.split(":")[0] for tuple_, row in example["old"].items()}
    rows = {tuple_: row.split(":")[1] for tuple_, row in example["old"].items()}
    sheet = Sheet(truth, rows)
    sheet.enter([*truth, *example["new"]], example["new"], ALGORITHMS[algorithm])
    return sheet


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_worked_examples(name: str, algorithm: str) -> None:
    example, sheet = EXAMPLES[name], play(name, algorithm)
    found, degrees = sheet.texts(), sheet.degrees()
    olds = example.get("of_olds", list(example["old"]))
    if algorithm in example.get("tables", {}):
        for tuple_, row in texts(example["tables"][algorithm]).items():
            mine = {t for t in found[tuple_] if tuple_ not in example["new"] or t.startswith("A")}
            assert mine == row, tuple_
    if algorithm in example.get("degrees", {}):
        expected = example["degrees"][algorithm]
        assert {tuple_: degrees[tuple_] for tuple_ in expected} == expected
    if algorithm in example.get("lowest", {}):
        assert min(degrees[tuple_] for tuple_ in olds) >= example["lowest"][algorithm]
    if algorithm in example.get("extended", {}):
        survivors = {
            (tuple_, letter, frozenset(p for p in partners if p not in example["new"]))
            for tuple_ in olds
            for text in found[tuple_]
            for letter, partners in edges(text)
            if set(partners) & set(example["new"])
        }
        assert len(survivors) == example["extended"][algorithm]


def test_most_edges_can_cost_somebody_the_anonymity() -> None:
    """E0: the best for edges leaves tuple 2 alone with its value."""
    assert play("E0", "max-edges").degrees()["2"] == 1
    assert play("E0", "clone-matching").degrees()["2"] == 2


def test_greedy_and_simple_matching_are_not_optimal_but_clone_matching_is() -> None:
    """E5: v2 is possible for the others; E4's footnote: greedy always fails there."""
    assert min(play("E5", "clone-matching").degrees()[t] for t in "12") == 3
    sheet = Sheet(
        dict.fromkeys("1239", "A"),
        {"1": "B(x1.1) C(x1.2)", "2": "B(x2.1) D(x2.2)", "3": "B(x3.1) D(x3.2)", "9": "B(x9.1) D(x9.2)"},
    )
    sheet.enter([*"1239", "4", "5", "6", "7"], {"4": "B", "5": "C", "6": "D", "7": "B"}, MAX_ANONYMITY)
    assert min(sheet.degrees()[t] for t in "1239") == 1
    best = Sheet(
        dict.fromkeys("1239", "A"),
        {"1": "B(x1.1) C(x1.2)", "2": "B(x2.1) D(x2.2)", "3": "B(x3.1) D(x3.2)", "9": "B(x9.1) D(x9.2)"},
    )
    best.enter([*"1239", "4", "5", "6", "7"], {"4": "B", "5": "C", "6": "D", "7": "B"}, CLONE_MATCHING)
    assert min(best.degrees()[t] for t in "1239") == 2


def test_simplified_clone_matching_ignores_what_is_kept() -> None:
    """E6: optimal for the simpler goal (v1), and worse than the full algorithm (v2)."""
    pending, fresh = np.array([[0, 1, 1], [0, 1, 1]], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    kept = np.array([[False, True, True], [False, False, False]])
    current = np.array([3, 1], dtype=np.int32)
    nothing = np.zeros_like(kept), np.ones(2, dtype=np.int32)
    assert sorted(extension.extend(CLONE_MATCHING, pending, *nothing, fresh).tolist()) == [0, 1]
    assert extension.extend(CLONE_MATCHING, pending, kept, current, fresh).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("current", "options", "news", "expected"),
    [
        ([1, 1], [2, 4], 5, [2, 3]),  # E5, table 6.3
        ([1, 1, 1], [4, 2, 3], 6, [2, 2, 2]),  # E11, table A.1
        ([1, 2, 3], [4, 2, 2], 6, [3, 2, 1]),  # E12, table A.2
        ([3, 3, 3], [2, 1, 1], 2, [1, 1, 1]),  # E12, second round: dmax is negative
        ([1, 1, 1], [2, 2, 4], 9, [2, 2, 4]),  # E13, table A.4 with dmax 2 (erratum 19)
    ],
)
def test_clone_graphs_have_the_stated_nodes(current, options, news, expected) -> None:
    found = extension.clones(np.array(current, dtype=np.int32), np.array(options), news)
    assert found.tolist() == expected


def test_printed_clone_graph_construction_counts_wrong() -> None:
    """Erratum 12: N grows by what is left after n has grown; table 6.3 (N = 2, 4, 5) shows that it must not."""

    def rounds(printed: bool) -> list[int]:
        degrees, nodes = [2, 4], [1, 1]
        total, open_, seen = 2, [0, 1], [2]
        while open_ and (share := (5 - total) // len(open_)) >= 1:
            for i in list(open_):
                more = min(degrees[i] - nodes[i], share)
                nodes[i] += more
                total += min(degrees[i] - nodes[i], share) if printed else more
                if nodes[i] == degrees[i]:
                    open_.remove(i)
            seen.append(total)
        return seen

    assert rounds(printed=False) == [2, 4, 5]
    assert rounds(printed=True) != [2, 4, 5]


CALLS = st.integers(0, 10**6)


def call(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    olds, values = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    pending = (rng.integers(1, 4, (olds, values)) * (rng.random((olds, values)) < 0.6)).astype(np.int32)
    kept = rng.random((olds, values)) < 0.25
    current = (1 + np.count_nonzero(kept, axis=1)).astype(np.int32)
    fresh = rng.integers(0, values, rng.integers(1, 6)).astype(np.int32)
    return pending, kept, current, fresh


def outcomes(pending, kept, fresh):
    """All legal distributions of the new tuples."""
    choices = [[-1, *np.flatnonzero(pending[:, v]).tolist()] for v in fresh]
    return itertools.product(*choices)


def lowest_degree(chosen, kept, fresh) -> int:
    olds = range(len(kept))
    given_ = [
        {int(v) for x, v in enumerate(fresh) if chosen[x] == i} | set(np.flatnonzero(kept[i])) for i in olds
    ]
    return min(1 + len(values) for values in given_)


def extended_edges(chosen, pending, fresh) -> int:
    return sum(
        int(pending[i, v]) for i, v in {(chosen[x], int(v)) for x, v in enumerate(fresh) if chosen[x] >= 0}
    )


@EVERY
@given(CALLS)
def test_every_algorithm_decides_as_its_plain_twin_and_legally(algorithm: int, seed: int) -> None:
    pending, kept, current, fresh = call(seed)
    chosen = extension.extend(algorithm, pending, kept, current, fresh).tolist()
    counters = [Counter({v: int(n) for v, n in enumerate(row) if n}) for row in pending]
    keeps = [set(np.flatnonzero(row).tolist()) for row in kept]
    assert chosen == PLAIN[algorithm](counters, keeps, current.tolist(), fresh.tolist())
    assert all(i < 0 or pending[i, fresh[x]] for x, i in enumerate(chosen)), "f(x) = t needs an edge of t"
    wasted = [x for x, i in enumerate(chosen) if i < 0 and pending[:, fresh[x]].any()]
    assert not wasted, "nobody is left who could be of use"


@given(CALLS)
def test_max_edges_extends_as_many_edges_as_possible(seed: int) -> None:
    pending, kept, current, fresh = call(seed)
    chosen = extension.extend(MAX_EDGES, pending, kept, current, fresh).tolist()
    best = max(extended_edges(other, pending, fresh) for other in outcomes(pending, kept, fresh))
    assert extended_edges(chosen, pending, fresh) == best


@given(CALLS)
def test_clone_matching_makes_the_lowest_degree_as_high_as_possible(seed: int) -> None:
    pending, kept, current, fresh = call(seed)
    chosen = extension.extend(CLONE_MATCHING, pending, kept, current, fresh).tolist()
    best = max(lowest_degree(other, kept, fresh) for other in outcomes(pending, kept, fresh))
    able = pending.any(axis=1)
    if able.all():
        assert lowest_degree(chosen, kept, fresh) == best
    nothing = np.zeros_like(kept)
    simple = extension.extend(CLONE_MATCHING, pending, nothing, np.ones_like(current), fresh).tolist()
    if able.all():
        best = max(lowest_degree(other, nothing, fresh) for other in outcomes(pending, kept, fresh))
        assert lowest_degree(simple, nothing, fresh) == best


@given(CALLS)
def test_the_flow_is_a_largest_unique_matching_by_both_algorithms_of_the_theory(seed: int) -> None:
    """6.7 and 6.8 on the clone graph itself, and the flow on pairs, give the same size."""
    rng = np.random.default_rng(seed)
    pending, _, _, fresh = call(seed)
    demand = rng.integers(0, 4, len(pending))
    left = np.bincount(fresh, minlength=pending.shape[1])
    taken = extension.deal(demand, pending > 0, left)
    assert (taken.sum(axis=0) <= left).all()
    assert (taken.sum(axis=1) <= demand).all()
    graph = clone_graphs.CloneGraph(demand.tolist(), (pending > 0).tolist(), fresh.tolist())
    one, two = clone_graphs.one_by_one(graph), clone_graphs.in_phases(graph)
    assert graph.is_unique(one)
    assert graph.is_unique(two)
    assert len(one) == len(two) == taken.sum()


def test_uniquely_augmenting_paths() -> None:
    """E7: P1 is augmenting but makes clone edges; P2 and P3 do not."""
    graph = clone_graphs.CloneGraph.named(
        {"1": "B", "2": "BCDE", "2'": "BCDE", "3": "CD", "4": "DE"}, ["B5", "C6", "E7", "D8", "E9"]
    )
    matching = {("2", "B5"), ("3", "C6"), ("4", "E7"), ("2'", "D8")}
    assert not graph.stays_unique(matching, ["1", "B5", "2", "E7", "4", "D8", "2'", "E9"])
    assert graph.stays_unique(matching, ["1", "B5", "2", "C6", "3", "D8", "2'", "E9"])
    assert graph.stays_unique(matching, ["1", "B5", "2", "E9"])


def test_sets_of_paths() -> None:
    """E8: strictly and weakly unique sets."""
    nodes = dict.fromkeys(("1", "1'", "1''", "2", "3", "3'", "4", "5", "6"), "BCDEF")
    news = ["B7", "B8", "B9", "B10", "C11", "D12", "E13", "F14"]
    graph = clone_graphs.CloneGraph.named(nodes, news)
    matching = {("4", "B7"), ("5", "B8"), ("3", "B9"), ("6", "B10")}
    p1, p2, p3 = ["1", "B7", "4", "C11"], ["2", "B8", "5", "D12"], ["1''", "B9", "3", "E13"]
    p4, p5 = ["3'", "B10", "6", "F14"], ["2", "B9", "3", "E13"]
    assert graph.stays_unique(matching, p1, p2)
    assert graph.stays_unique(matching, p1)
    assert graph.stays_unique(matching, p2)
    assert not graph.stays_unique(matching, p1, p2, p3)
    assert not graph.stays_unique(matching, p1, p2, p4)
    assert graph.stays_unique(matching, p1, p4, p5)
    assert not graph.stays_unique(matching, p4)
    assert not graph.stays_unique(matching, p1, p4, p5, ["1'", "B8", "5", "D12"])


def test_plain_hopcroft_karp_is_not_enough() -> None:
    """E5 v3: {1-B3, 1'-B4} are clone edges: covering all nodes is no unique matching."""
    graph = clone_graphs.CloneGraph.named(
        {"1": "BC", "1'": "BC", "2": "BCDE", "2'": "BCDE", "2''": "BCDE"}, ["B3", "B4", "C5", "D6", "E7"]
    )
    v1 = {("1", "B3"), ("1'", "C5"), ("2", "B4"), ("2'", "D6"), ("2''", "E7")}
    v3 = {("1", "B3"), ("1'", "B4"), ("2", "C5"), ("2'", "D6"), ("2''", "E7")}
    assert graph.is_unique(v1)
    assert not graph.is_unique(v3)
