"""The theory behind the matching table: which matchings are modelled, and that the table models no others."""

from __future__ import annotations

import itertools
import json
from collections import Counter

import numpy as np

from tarnkappe.gate.delta_top.extension import CLONE_MATCHING
from tests.conftest import FIXTURES
from tests.gate import matchings as m
from tests.gate.sheets import LETTERS, Sheet, played

TABLES = json.loads((FIXTURES / "gate" / "matching_tables.json").read_text(encoding="utf-8"))
RUNNING = {1: "A", 2: "A", 3: "B", 4: "C", 5: "B", 6: "B", 7: "D", 8: "C"}
GRAPHS = [[1, 2, 3, 4], [1, 5, 6, 7], [2, 5, 7, 8]]
SIX = {i: "ABCDEF"[i - 1] for i in range(1, 7)}


def rows_of(sheet: Sheet) -> m.Rows:
    found: m.Rows = {}
    for name, texts in sheet.texts().items():
        found[int(name)] = {
            (text[0], frozenset(int(u) for u in text[2:-1].split(",") if u)) for text in texts
        }
    return found


def single(truth: dict[int, str], *pairs: tuple[int, int]) -> m.Matching:
    """One answer with everybody, and t using what is u's for the given pairs."""
    permutation = {t: t for t in truth} | dict(pairs)
    return [permutation]


def test_sa_equivalence_matrix() -> None:
    """F4.3."""
    truth = {1: "A", 2: "A", 3: "B"}
    named = {
        "M1": single(truth),
        "M2": single(truth, (1, 2), (2, 1)),
        "M3": single(truth, (2, 3), (3, 2)),
        "M4": single(truth, (1, 2), (2, 3), (3, 1)),
        "M5": single(truth, (1, 3), (3, 1)),
        "M6": single(truth, (1, 3), (2, 1), (3, 2)),
    }
    expected = {
        "M1-M2": {1, 2}, "M1-M3": set(), "M1-M4": {1}, "M1-M5": set(), "M1-M6": {2}, "M2-M3": {1}, "M2-M4": set(),
        "M2-M5": {2}, "M2-M6": set(), "M3-M4": {1, 3}, "M3-M5": {3}, "M3-M6": set(), "M4-M5": set(), "M4-M6": {3},
        "M5-M6": {2, 3},
    }  # fmt: skip
    for pair, tuples in expected.items():
        one, other = (named[name] for name in pair.split("-"))
        assert m.equivalent_edges(truth, one, other) == tuples, pair
        assert m.equivalent_edges(truth, other, one) == tuples, "symmetric"
        assert m.is_fully_equivalent(truth, one, other) == (pair in ("M1-M2", "M3-M4", "M5-M6"))
    assert m.without_equivalent_edges(truth, named["M1"], named["M6"]) == named["M5"]
    assert [n for n, x in named.items() if m.is_delta_top(truth, x)] == ["M3", "M5"]


def test_removing_equivalent_edges_and_its_printed_form() -> None:
    """Algorithm 4.1 read as corrected keeps the distribution; as printed it destroys matchings (E6)."""
    broken = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        truth = {t: "AAAB"[int(rng.integers(4))] for t in range(6)}
        matching = [dict(enumerate(rng.permutation(6).tolist()))]
        reference = m.original([list(truth)])
        found = m.without_equivalent_edges(truth, reference, matching)
        assert m.distribution(truth, found) == m.distribution(truth, matching)
        assert not m.equivalent_edges(truth, reference, found)
        broken += len(set(m.as_printed(truth, reference[0], matching[0]).values())) < 6
    assert broken > 40


def test_symmetric_difference_is_disjoint_even_cycles() -> None:
    """F4.4, F4.8."""
    permutation = {1: 2, 2: 1, 3: 3, 4: 5, 5: 6, 6: 4}
    assert sorted(2 * len(cycle) for cycle in m.cycles(permutation)) == [4, 6]
    eight = {i: chr(64 + i) for i in range(1, 9)}
    assert m.largest_cycle(single(eight, (1, 2), (2, 1), (3, 4), (4, 3))) == 2
    assert m.largest_cycle(single(eight, (1, 2), (2, 3), (3, 1))) == 3
    assert m.largest_cycle(single(eight, (1, 2), (2, 3), (3, 4), (4, 1))) == 4


def test_smaller_and_minimal_differences() -> None:
    """F4.5: minimal is not fewest."""
    m1 = single(SIX, (1, 2), (2, 1), (3, 4), (4, 3), (5, 6), (6, 5))
    m2 = single(SIX, (1, 2), (2, 1), (3, 4), (4, 3))
    m3 = single(SIX, (1, 2), (2, 1))
    m4 = single(SIX, (1, 2), (2, 3), (3, 1))
    m5 = single(SIX, (3, 4), (4, 5), (5, 6), (6, 3))
    assert m.difference(m3) < m.difference(m2) < m.difference(m1)
    assert [m.is_minimal(SIX, x) for x in (m1, m2, m3, m4, m5)] == [False, False, True, True, True]


def test_two_cycles_can_be_forced_together() -> None:
    """F4.6."""
    truth, graphs = {1: "A", 2: "A", 3: "B", 5: "B"}, [[1, 3], [2, 3], [1, 2, 3, 5]]
    matching = m.with_swaps(graphs, [(1, 3)], [(2, 3)], [(1, 3), (2, 5)])
    assert m.distribution(truth, matching) == {1: "B", 2: "B", 3: "A", 5: "A"}
    assert len(m.cycles(matching[2])) == 2
    assert m.is_minimal(truth, matching)


def test_classification_of_all_distributions_of_the_first_answer() -> None:
    """F4.7 and figure A.3: r, minimal, and the five delta-top matchings."""
    truth = {t: RUNNING[t] for t in GRAPHS[0]}
    found: dict[str, list[tuple[int, bool]]] = {}
    for matching in m.all_valid(truth, GRAPHS[:1]):
        if m.equivalent_edges(truth, m.original(GRAPHS[:1]), matching) or not m.difference(matching):
            continue
        spelled = "".join((m.distribution(truth, matching) or {}).values())
        found.setdefault(spelled, []).append((m.largest_cycle(matching), m.is_minimal(truth, matching)))
    two, three = [(2, True)], [(3, True)]
    assert sorted(found.pop("BCAA")) == sorted(found.pop("CBAA")) == [(2, False), (4, True)]
    assert found == {
        "AACB": two, "ABAC": two, "ABCA": three, "ACAB": three, "ACBA": two, "BAAC": two, "BACA": three,
        "CAAB": three, "CABA": two,
    }  # fmt: skip


def test_classification_belongs_to_matchings_not_to_distributions() -> None:
    """BCAA has a swap matching that is not minimal, and a single cycle of eight edges that is."""
    truth = {t: RUNNING[t] for t in GRAPHS[0]}
    kinds = {
        (m.largest_cycle(x), m.is_minimal(truth, x))
        for x in m.all_valid(truth, GRAPHS[:1])
        if "".join((m.distribution(truth, x) or {}).values()) == "BCAA"
        and not m.equivalent_edges(truth, m.original(GRAPHS[:1]), x)
    }
    assert kinds == {(2, False), (4, True)}


def test_every_edge_of_a_valid_matching_is_in_a_minimal_one() -> None:
    """Theorem 4.9 and lemma 4.7, constructively; proposition 4.10 and symmetry (B.1)."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = {t: "ABC"[int(rng.integers(3))] for t in range(5)}
        graphs = [sorted(rng.choice(5, 3, replace=False).tolist()) for _ in range(2)]
        for matching in itertools.islice(m.all_valid(truth, graphs), 40):
            parts = [m.part_with(matching, component) for component in m.components(truth, matching)]
            assert all(m.distribution(truth, part) is not None for part in parts)
            assert all(m.is_minimal(truth, part) for part in parts)
            pieces = [m.difference(part) for part in parts]
            assert sum(len(piece) for piece in pieces) == len(m.difference(matching))
            assert set().union(*pieces) == m.difference(matching)
            modelled = m.is_minimal(truth, matching) and m.largest_cycle(matching) == 2
            if modelled and not m.equivalent_edges(truth, m.original(graphs), matching):
                assert len({truth[t] for _, t, _ in m.difference(matching)}) == 2


def test_six_labels_in_one_minimal_difference() -> None:
    """F4.12: what holds for swaps fails for cycles of three."""
    truth = {1: "A", 2: "B", 3: "C", 4: "B", 5: "D", 6: "D", 7: "E", 8: "E", 9: "F"}
    graphs = [[1, 2, 3], [1, 4, 5], [4, 6, 7], [6, 8, 9]]
    wanted = {1: "B", 2: "C", 3: "A", 4: "D", 5: "A", 6: "E", 7: "B", 8: "F", 9: "D"}
    matching = next(x for x in m.all_valid(truth, graphs) if m.distribution(truth, x) == wanted)
    assert m.is_minimal(truth, matching)
    assert m.largest_cycle(matching) == 3
    assert {truth[t] for _, t, _ in m.difference(matching)} == set("ABCDEF")


def test_path_conformity() -> None:
    """F4.14 and F4.15."""
    truth = {1: "A", 2: "A", 3: "B", 5: "B", 6: "B"}
    graphs = [[1, 3], [1, 2, 3, 5], [1, 6]]
    conform = m.with_swaps(graphs, [(1, 3)], [(1, 3)], [(1, 6)])
    not_conform = m.with_swaps(graphs, [(1, 3)], [(1, 5), (2, 3)], [(1, 6)])
    assert m.is_path_conform(conform)
    assert not m.is_path_conform(not_conform)
    assert [2 * len(m.difference(x)) for x in (conform, not_conform)] == [12, 16]
    truth, graphs = {1: "A", 2: "A", 3: "B", 5: "B"}, [[1, 3], [1, 5], [1, 2, 3, 5]]
    others = [x for x in m.all_valid(truth, graphs) if m.distribution(truth, x) != truth]
    assert {tuple((m.distribution(truth, x) or {}).items()) for x in others} == {
        tuple({1: "B", 3: "A", 5: "A", 2: "B"}.items())
    }
    assert len(others) == 4, "E11: one distribution, four matchings"
    assert not any(m.is_path_conform(x) for x in others)


def test_delta_top_matchings_of_the_running_example() -> None:
    """F4.16, F4.19: 5, 7, 4 matchings, and the tables of all of them are those of the algorithm."""
    sheets = played(TABLES["running"], CLONE_MATCHING)
    for count, expected in ((1, 5), (2, 7), (3, 4)):
        graphs = GRAPHS[:count]
        found = m.all_delta_top(RUNNING, graphs)
        assert len(found) == expected
        assert m.table_of(RUNNING, graphs, found) == rows_of(sheets[count - 1])


def test_extraction_of_the_matchings_of_an_edge() -> None:
    """F4.17, F4.18 and checklist 45: (3, A) after two answers."""
    graphs = GRAPHS[:2]
    m31 = m.with_swaps(graphs, [(2, 3)], [])
    m71 = m.with_swaps(graphs, [(1, 3)], [(1, 5)])
    m73 = m.with_swaps(graphs, [(1, 3)], [(1, 6)])
    rows = m.table_of(RUNNING, graphs, [m31, m71, m73])
    assert rows[1] == {("B", frozenset({3, 5})), ("B", frozenset({3, 6}))}
    assert rows[3] == {("A", frozenset({1})), ("A", frozenset({2}))}
    assert rows[4] == rows[7] == set(), "only 1-assign anonymous"
    all_rows = m.table_of(RUNNING, graphs, m.all_delta_top(RUNNING, graphs))
    found = m.extracted(RUNNING, graphs, all_rows, 3, "A")
    assert sorted(map(str, found)) == sorted(map(str, [m31, m71, m73]))


def test_a_family_with_exponentially_many_delta_top_matchings() -> None:
    """F4.13."""
    for n in (1, 2, 3):
        truth = {0: "B"} | dict.fromkeys(range(1, 2 * n + 1), "A")
        assert len(m.all_delta_top(truth, [[2 * i - 1, 2 * i, 0] for i in range(1, n + 1)])) == 2**n


def test_chains_of_three_are_not_modelled() -> None:
    """F4.9: the approximation says that 1 can only have A."""
    sheet = Sheet()
    truth = {"1": "A", "3": "B", "4": "C", "5": "B", "8": "C"}
    for query, new in (("13", "13"), ("158", "58"), ("45", "4")):
        sheet.enter(list(query), {t: truth[t] for t in new}, CLONE_MATCHING)
    assert sheet.degrees()["1"] == 1


def random_sequence(seed: int, unique: bool) -> tuple[dict[int, str], list[list[int]]]:
    rng = np.random.default_rng(seed)
    truth = {t: LETTERS[int(v)] for t, v in enumerate(rng.integers(0, 4, 7))}
    graphs = []
    while len(graphs) < 3:
        graph = rng.choice(7, rng.integers(2, 5), replace=False).tolist()
        if not unique or len({truth[t] for t in graph}) == len(graph):
            graphs.append(graph)
    return truth, graphs


def test_the_table_models_only_delta_top_matchings() -> None:
    """Every entry is an edge of a delta-top matching of the whole sequence."""
    kept = Counter[bool]()
    for seed in range(80):
        truth, graphs = random_sequence(seed, unique=False)
        sheet, seen = Sheet(), set[int]()
        for graph in graphs:
            new = {str(t): truth[t] for t in graph if t not in seen}
            sheet.enter([str(t) for t in graph], new, CLONE_MATCHING)
            seen |= set(graph)
        everything = m.table_of(truth, graphs, m.all_delta_top(truth, graphs))
        for t, edges in rows_of(sheet).items():
            assert {value for value, _ in edges} <= {value for value, _ in everything[t]}
            kept.update({value for value, _ in edges} == {v for v, _ in everything[t]} for _ in [0])
    assert kept[True] > kept[False] > 0, "the restrictions cost something, but not much"


def test_unique_answers_have_all_delta_top_matchings() -> None:
    """Theorem 7.5 and proposition 7.3: the table for parts without equal values is complete."""
    for seed in range(80):
        truth, graphs = random_sequence(seed, unique=True)
        sheet, seen = Sheet(), set[int]()
        for graph in graphs:
            new = {str(t): truth[t] for t in graph if t not in seen}
            sheet.enter_parts([[str(t) for t in graph]], new, 1, False)
            seen |= set(graph)
        assert rows_of(sheet) == m.table_of(truth, graphs, m.all_delta_top(truth, graphs))
