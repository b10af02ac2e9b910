"""The worked examples of the model: distributions, signatures, query graphs, valid matchings, the integer program."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

from tarnkappe.errors import ParameterError, VerificationError
from tarnkappe.gate import Knowledge
from tarnkappe.gate.certificate import certify
from tarnkappe.gate.exact_test import ContradictionError, any_distribution, signatures
from tarnkappe.gate.integer_program import (
    distribution_with,
    integer_program,
    is_k_assign_anonymous,
    signatures_by_program,
)
from tests.conftest import FIXTURES
from tests.gate import twin
from tests.gate.graphs import distribution_of, is_valid, matching_of, query_graphs

HISTORIES: list[dict[str, Any]] = json.loads(
    (FIXTURES / "gate" / "histories.json").read_text(encoding="utf-8")
)
DISTRIBUTIONS = json.loads((FIXTURES / "gate" / "distributions.json").read_text(encoding="utf-8"))
LETTERS = "ABCDEFG"


def history(example: dict[str, Any]) -> tuple[list[twin.Result], np.ndarray, list[Any]]:
    truth = {name: LETTERS.index(letter) for name, letter in example["truth"].items()}
    queries = [[str(name) for name in query] for query in example["queries"]]
    members, known, names = twin.numbered(queries, truth)
    added = example.get("added", [""] * len(queries))
    results = [
        (who, known[who].tolist() + [LETTERS.index(letter) for letter in more])
        for who, more in zip(members, added, strict=True)
    ]
    return results, known, names


def running(results: int = 3) -> tuple[Knowledge, np.ndarray]:
    given, truth, _ = history(HISTORIES[0])
    knowledge = twin.knowledge_of(given[:results], 4)
    return knowledge, truth[: knowledge.tuples]


@pytest.mark.parametrize("example", HISTORIES, ids=lambda e: e["name"])
def test_signatures_of_the_worked_examples(example: dict[str, Any]) -> None:
    results, truth, names = history(example)
    for count in range(1, len(results) + 1):
        knowledge = twin.knowledge_of(results[:count], len(LETTERS))
        known = truth[: knowledge.tuples]
        found = signatures(knowledge, known)
        brute = twin.signatures(results[:count])
        assert [set(s) for s in found] == [brute[t] for t in range(knowledge.tuples)]
        assert signatures_by_program(twin.knowledge_of(results[:count], len(LETTERS)), known) == found
        expected = example["signatures"][count - 1]
        if expected is not None:
            assert {names[t]: "".join(LETTERS[v] for v in sorted(s)) for t, s in enumerate(found)} == expected
        if "distributions" in example:
            assert sum(1 for _ in twin.distributions(results[:count])) == example["distributions"][count - 1]


def test_the_running_example_satisfies_k_3_then_2_then_2() -> None:
    for results, k in ((1, 3), (2, 2), (3, 2)):
        knowledge, truth = running(results)
        assert is_k_assign_anonymous(knowledge, k, truth)
        assert not is_k_assign_anonymous(knowledge, k + 1, truth)
        assert not is_k_assign_anonymous(knowledge, k + 1)


def test_all_distributions_of_the_running_example() -> None:
    given, _, _ = history(HISTORIES[0])

    def spelled(results: list[twin.Result]) -> set[str]:
        return {
            "".join(LETTERS[value] for _, value in sorted(distribution.items()))
            for distribution in twin.distributions(results)
        }

    assert spelled(given[:1]) == set(DISTRIBUTIONS["after 1"])
    assert spelled(given[1:2]) == set(DISTRIBUTIONS["second alone"])
    assert spelled(given[:2]) == set(DISTRIBUTIONS["after 2"])
    assert spelled(given) == set(DISTRIBUTIONS["after 3"].values())


def test_candidates_are_a_strict_superset_of_the_signature() -> None:
    knowledge, truth = running()
    assert knowledge.candidates(1) == [0, 1, 2]
    assert signatures(knowledge, truth)[1] == {0, 2}
    assert knowledge.candidates(1) == [0, 2], "what was proven impossible is kept"


def test_query_graphs_have_the_stated_edges_and_lose_some_with_every_result() -> None:
    assert [len(g.edges) for g in query_graphs(running(1)[0])] == [16]
    assert [len(g.edges) for g in query_graphs(running(2)[0])] == [15, 15]
    graphs = query_graphs(running(3)[0])
    assert [len(g.edges) for g in graphs] == [15, 15, 13]
    third = {
        tuple_ + 1: "".join(sorted(LETTERS[graphs[2].nodes[p]] for t, p in graphs[2].edges if t == tuple_))
        for tuple_ in graphs[2].tuples
    }
    assert third == {2: "ABC", 5: "ABD", 7: "ABD", 8: "ABCD"}
    first = [LETTERS[graphs[0].nodes[p]] for t, p in sorted(graphs[0].edges) if t == 0]
    assert first == ["A", "A", "B"], "equal values are several nodes"


def all_matchings(knowledge: Knowledge) -> int:
    """How many valid matchings there are, on the level of nodes."""
    graphs = query_graphs(knowledge)
    per_graph = [
        [
            dict(zip(g.tuples, places, strict=True))
            for places in itertools.permutations(range(len(g.nodes)), len(g.tuples))
        ]
        for g in graphs
    ]
    per_graph = [
        [m for m in every if all(e in g.edges for e in m.items())]
        for g, every in zip(graphs, per_graph, strict=True)
    ]
    return sum(is_valid(graphs, list(choice)) for choice in itertools.product(*per_graph))


def test_valid_matchings_are_counted() -> None:
    assert all_matchings(running(1)[0]) == 24
    assert all_matchings(running(2)[0]) == 144
    knowledge, _ = running(3)
    graphs = query_graphs(knowledge)
    count = 0
    for word in DISTRIBUTIONS["after 3"].values():
        distribution = [LETTERS.index(letter) for letter in word]
        repeats = [max(1, sum(distribution[t] == v for t in g.tuples)) for g in graphs for v in set(g.nodes)]
        count += int(np.prod([{1: 1, 2: 2}[n] for n in repeats]))
    assert count == 72


def test_matchings_and_distributions_are_two_views_of_one_thing() -> None:
    knowledge, truth = running()
    graphs = query_graphs(knowledge)
    for word in DISTRIBUTIONS["after 3"].values():
        distribution = [LETTERS.index(letter) for letter in word]
        matching = matching_of(graphs, distribution)
        assert is_valid(graphs, matching)
        assert distribution_of(graphs, matching) == dict(enumerate(distribution))
    assert matching_of(query_graphs(running(2)[0]), truth) == matching_of(graphs, truth)[:2], (
        "the original stays fixed"
    )


def test_a_matching_that_is_perfect_in_every_graph_need_not_be_valid() -> None:
    knowledge, _ = running()
    graphs = query_graphs(knowledge)
    inconsistent = ["AABC", "BABD", "CBDA"]
    matching = []
    for graph, word in zip(graphs, inconsistent, strict=True):
        left = {v: [p for p, node in enumerate(graph.nodes) if node == v] for v in set(graph.nodes)}
        matching.append({t: left[LETTERS.index(c)].pop() for t, c in zip(graph.tuples, word, strict=True)})
        assert all(edge in graph.edges for edge in matching[-1].items())
    assert not is_valid(graphs, matching)
    good = matching_of(graphs, [LETTERS.index(c) for c in DISTRIBUTIONS["after 3"]["9.6"]])
    assert is_valid(graphs, good)
    twice = [dict(chosen) for chosen in good]
    twice[0][1] = twice[0][0]
    assert not is_valid(graphs, twice)
    del good[0][0]
    assert not is_valid(graphs, good)


def test_the_integer_program_is_the_stated_one() -> None:
    sizes = {}
    for results in (1, 2, 3):
        program = integer_program(running(results)[0])
        sizes[results] = (len(program.variables), len(program.constraints))
    assert sizes == {1: (12, 7), 2: (20, 13), 3: (24, 18)}
    program = integer_program(running(3)[0])
    spelled = [
        " + ".join(f"x{program.variables[v][0] + 1}{LETTERS[program.variables[v][1]]}" for v in row.variables)
        + (" = " if row.exact else " <= ")
        + str(row.number)
        for row in program.constraints
    ]
    assert spelled[0] == "x1A + x1B = 1"
    assert spelled[7:] == [
        "x8A + x8B + x8C + x8D = 1",
        "x1A + x2A + x3A + x4A = 2",
        "x1B + x2B + x3B + x4B = 1",
        "x2C + x3C + x4C = 1",
        "x1A + x5A + x6A + x7A = 1",
        "x1B + x5B + x6B + x7B = 2",
        "x5D + x6D + x7D = 1",
        "x2A + x5A + x7A + x8A = 1",
        "x2B + x5B + x7B + x8B = 1",
        "x2C + x8C = 1",
        "x5D + x7D + x8D = 1",
    ]


def test_artificial_values_make_the_constraints_of_their_result_inequalities() -> None:
    knowledge = Knowledge(3)
    knowledge.publish([0, 1], [1, 1, 0])
    knowledge.publish([0, 2], [1, 1, 1])
    program = integer_program(knowledge)
    assert [row.exact for row in program.constraints] == [True] * 5 + [False] * 3


def test_both_ways_to_have_no_distribution() -> None:
    knowledge, _ = running()
    program = integer_program(knowledge)
    assert distribution_with(program, 0, 2) is None, "no common value"
    assert distribution_with(program, 1, 1) is None, "a common value, but impossible"
    found = distribution_with(program, 5, 3)
    assert found is not None
    assert found[5] == 3
    assert found in list(twin.distributions(twin.published(knowledge)))


def triangle() -> Knowledge:
    """Three tuples, each two of which share one A and one B: impossible, but possible in halves."""
    return twin.knowledge_of([([0, 1], [0, 1]), ([1, 2], [0, 1]), ([0, 2], [0, 1])], 2)


def test_the_linear_relaxation_is_not_exact() -> None:
    program = integer_program(triangle())
    relaxed = program.solve(integral=False)
    assert relaxed == pytest.approx([0.5] * 6)
    assert program.solve() is None
    with pytest.raises(ContradictionError):
        any_distribution(triangle())
    rows = [row for row in program.constraints[3:] if program.variables[row.variables[0]][1] == 0]
    matrix = [[int(v in row.variables) for v in (0, 2, 4)] for row in rows]
    assert abs(round(np.linalg.det(np.array(matrix)))) == 2


def test_the_relaxation_excludes_but_never_confirms() -> None:
    knowledge, truth = running()
    program = integer_program(knowledge)
    excluded = {pair for pair in program.variables if program.solve(pair, integral=False) is None}
    assert excluded == {(1, 1)}
    exact = signatures(knowledge, truth)
    assert all(value not in exact[tuple_] for tuple_, value in excluded)


def test_removed_edges_are_respected() -> None:
    """F3.10: the short augmenting path leads into a circle; there is exactly one valid matching."""
    knowledge = twin.knowledge_of([([0, 1, 2], [0, 1, 2]), ([1, 3, 4], [0, 1, 2])], 3)
    edges = {0: [0], 1: [0, 1, 2], 2: [1, 2], 3: [0, 1], 4: [2]}
    for tuple_, values in edges.items():
        for value in set(range(3)) - set(values):
            knowledge.view.allowed[tuple_, value] = False
    for tuple_ in range(5):  # the edges are no longer those of one kind
        knowledge.view.kind[tuple_] = tuple_
    knowledge.kinds = 5
    assert any_distribution(knowledge).tolist() == [0, 1, 2, 0, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_exponentially_many_distributions_are_no_burden(n: int) -> None:
    """F4.13: 2^n + 1 distributions, two values for everybody."""
    truth = {0: 1, **dict.fromkeys(range(1, 2 * n + 1), 0)}
    members, known, _ = twin.numbered([[0, 2 * i - 1, 2 * i] for i in range(1, n + 1)], truth)
    results = [(who, known[who].tolist()) for who in members]
    if n <= 4:
        assert sum(1 for _ in twin.distributions(results)) == 2**n + 1
    assert signatures(twin.knowledge_of(results, 2), known) == [frozenset({0, 1})] * (2 * n + 1)


@pytest.mark.parametrize("m", [2, 3, 4, 6])
def test_the_family_on_which_swaps_alone_fail(m: int) -> None:
    """F4.10: the exact minimum is m, and tuple 0 has m + 1 values although it can swap with nobody."""
    truth = {0: 0, **{i: i for i in range(1, m + 1)}}
    odd, even = [i for i in range(1, m + 1) if i % 2], [i for i in range(1, m + 1) if not i % 2]
    queries, filler = [], m + 1
    for named, filled, zero in ((odd, even, []), (even, odd, []), (odd, even, [0]), (even, odd, [0])):
        fillers = list(range(filler, filler + len(filled)))
        filler += len(filled)
        truth |= dict(zip(fillers, filled, strict=True))
        queries.append(zero + named + fillers)
    members, known, names = twin.numbered(queries, truth)
    found = signatures(twin.knowledge_of([(who, known[who].tolist()) for who in members], m + 1), known)
    degrees = {name: len(s) for name, s in zip(names, found, strict=True)}
    assert degrees[0] == m + 1
    assert min(degrees.values()) == m


def test_few_distributions_show_all_signatures() -> None:
    """F4.1 and F4.2: a few witnesses are a certificate for everybody."""
    first, _ = running(1)
    rows = DISTRIBUTIONS["after 1"]
    for chosen in ([1, 4, 9, 10], [1, 2, 3, 6, 7, 11]):
        shown = {(t, word[t]) for word in (rows[c - 1] for c in chosen) for t in range(4)}
        assert len(shown) == 12
    knowledge, truth = running()
    words = [DISTRIBUTIONS["after 3"][name] for name in ("1.1", "1.3", "2.1", "6.1", "7.3", "9.1", "9.4")]
    witnesses = np.array([[LETTERS.index(letter) for letter in word] for word in words], dtype=np.int32)
    assert [set(column) for column in witnesses.T] == [set(s) for s in signatures(knowledge, truth)]
    certify(knowledge, witnesses, 2)
    with pytest.raises(VerificationError, match="show 2 values for tuple 0, not 3"):
        certify(knowledge, witnesses, 3)
    witnesses[2, 1] = 1
    with pytest.raises(VerificationError, match="witness 2 contradicts result"):
        certify(knowledge, witnesses, 2)
    certify(first, np.array([[0, 0, 1, 2]]), 3)


def test_disjoint_results_do_not_concern_each_other() -> None:
    """Two answers without common people leave to everybody all that the own answer leaves."""
    knowledge = twin.knowledge_of([([0, 1, 2], [0, 1, 2]), ([3, 4], [3, 4])], 5)
    assert signatures(knowledge) == [frozenset({0, 1, 2})] * 3 + [frozenset({3, 4})] * 2


def test_an_impossible_result_is_refused() -> None:
    knowledge = Knowledge(2)
    knowledge.publish([0, 1], [1, 1])
    for members, counts, message in (
        ([], [1, 1], "at least one tuple"),
        ([0, 0], [1, 1], "occurs twice"),
        ([5], [1, 0], "next numbers, from 2"),
        ([-1], [1, 0], "next numbers"),
        ([0], [1, 0, 0], "one count"),
        ([0], [-1, 2], "one count"),
        ([0, 1], [1, 0], "2 tuples cannot share 1 values"),
    ):
        with pytest.raises(ParameterError, match=message):
            knowledge.publish(members, counts)
    with pytest.raises(ParameterError, match="at least one value"):
        Knowledge(0)
