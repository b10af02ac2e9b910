"""The private choice of levels: its probabilities computed to the end, and what one row changes of them."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.lattice import Node, SearchProblem
from tarnkappe.lattice.private_choice import SCALE, ReleaseScore, coin, draw, expected_rows, walk
from tarnkappe.loss import Precision
from tarnkappe.privacy import DifferentialPrivacy
from tests.random_tables import build_tuples

TOWNS = [
    {"Ulm": "South", "Bonn": "South", "Kiel": "North", "Jena": "North"},
    dict.fromkeys(["Ulm", "Bonn", "Kiel", "Jena"], "*"),
]
SEXES = [{"f": "*", "m": "*"}]
MAPS = {"town": TOWNS, "sex": SEXES}
people = st.lists(
    st.fixed_dictionaries({"town": st.sampled_from(sorted(TOWNS[0])), "sex": st.sampled_from(["f", "m"])}),
    min_size=3,
    max_size=14,
)
PROMISE = DifferentialPrivacy(1.5, 0.3, search_budget=0.5, search_steps=3)


def problem_of(rows: Sequence[Mapping[str, str]], promise: DifferentialPrivacy = PROMISE) -> SearchProblem:
    return SearchProblem(build_tuples(rows, MAPS), ("town", "sex"), (promise,), Precision(), 1.0)


def chances(scores: Mapping[Node, int], sensitivity: int, budget: float) -> dict[Node, float]:
    """The exponential mechanism, as it is defined."""
    best = max(scores.values())
    weights = {node: math.exp(budget * (score - best) / sensitivity) for node, score in scores.items()}
    return {node: weight / sum(weights.values()) for node, weight in weights.items()}


def all_walks(
    score: Callable[[Node], int], sensitivity: int, steps: int, budget: float, *, truly_best: bool = False
) -> dict[Node, float]:
    """What the walk ends with, with which probability: every walk gone to its end."""
    part = budget / (steps + 1)
    found: Counter[Node] = Counter()

    def go(been: tuple[Node, ...], open_nodes: frozenset[Node], left: int, chance: float) -> None:
        node = been[-1]
        lower = {(node[0] - 1, node[1]), (node[0], node[1] - 1)}
        more = open_nodes | {each for each in lower if min(each) >= 0 and each not in been}
        if left and more:
            for each, p in chances({n: score(n) for n in more}, sensitivity, part).items():
                go((*been, each), more - {each}, left - 1, chance * p)
        elif truly_best:
            found[max(been, key=score)] += chance
        else:
            for each, p in chances({n: score(n) for n in been}, sensitivity, part).items():
                found[each] += chance * p

    go(((2, 1),), frozenset(), steps, 1.0)
    return found


def seen(rows: int, promise: DifferentialPrivacy) -> dict[int, float]:
    """How many rows are seen of a class, with which probability."""
    found: Counter[int] = Counter()
    rate = promise.sampling_rate
    for j in range(rows + 1):
        found[j if j >= promise.k else 0] += math.comb(rows, j) * rate**j * (1 - rate) ** (rows - j)
    return found


def rows_beside(rows: Sequence[Mapping[str, str]], node: Node, one: Mapping[str, str]) -> int:
    """How many rows have the labels that one has at a node."""

    def labels(row: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(
            row[name] if level == 0 else MAPS[name][level - 1][row[name]]
            for name, level in zip(("town", "sex"), node, strict=True)
        )

    return sum(labels(row) == labels(one) for row in rows)


@given(rows=people, epsilon=st.sampled_from([0.8, 1.5, 3.0]))
@settings(max_examples=25, deadline=None)
def test_no_row_makes_levels_and_release_much_more_likely(rows: list[dict[str, str]], epsilon: float) -> None:
    """The definition of differential privacy of the whole: levels chosen and rows seen, in both directions.

    Given the levels, tables that differ by one row differ in one class, so that is all one has to look at.
    """
    promise = DifferentialPrivacy(epsilon, 0.3, search_budget=epsilon / 2, search_steps=3)
    if len(rows) - 1 < promise.k:
        return
    one, fewer = rows[0], rows[1:]
    tables = []
    for table in (rows, fewer):
        score = ReleaseScore(problem_of(table, promise), promise)
        walks = all_walks(score, score.sensitivity, promise.search_steps, float(promise.search_budget))
        outcomes: dict[tuple[Node, int], float] = {}
        for node, chance in walks.items():
            for j, p in seen(rows_beside(table, node, one), promise).items():
                outcomes[node, j] = chance * p
        assert sum(outcomes.values()) == pytest.approx(1)
        tables.append(outcomes)
    for left, right in (tables, reversed(tables)):
        excess = sum(max(0.0, p - math.exp(epsilon) * right.get(key, 0.0)) for key, p in left.items())
        assert excess <= 0.3


@given(rows=people)
@settings(max_examples=25, deadline=None)
def test_one_row_more_raises_every_score_by_no_more_than_the_sensitivity(rows: list[dict[str, str]]) -> None:
    if len(rows) - 1 < PROMISE.k:
        return
    more, less = (ReleaseScore(problem_of(table), PROMISE) for table in (rows, rows[1:]))
    assert more.sensitivity == less.sensitivity
    for node in itertools.product(range(3), range(2)):
        assert 0 <= more(node) - less(node) <= more.sensitivity


@pytest.mark.parametrize(("k", "rate"), [(1, 0.5), (2, 0.3), (5, 0.63), (30, 0.2)])
def test_the_rows_that_are_expected_are_those_of_the_definition(k: int, rate: float) -> None:
    rows, slope = expected_rows(k, rate)
    for n in {0, 1, k - 1, k, k + 1, 3 * k, len(rows) - 1}:
        chance = [math.comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(n + 1)]
        expected = sum(j * p for j, p in enumerate(chance) if j >= k)
        assert rows[n] == pytest.approx(SCALE * expected, abs=2 + 1e-6 * SCALE)
    assert slope == pytest.approx(rows[-1] - rows[-2], abs=2e-3 * SCALE)
    assert all(earlier <= later for earlier, later in itertools.pairwise(rows.tolist()))


def test_a_score_is_the_precision_that_is_expected_to_be_left() -> None:
    rows = [{"town": "Ulm", "sex": "f"}] * 9 + [{"town": "Kiel", "sex": "m"}] * 5
    score = ReleaseScore(problem_of(rows), PROMISE)
    expected, _ = expected_rows(PROMISE.k, PROMISE.sampling_rate)
    assert score((2, 1)) == 0
    assert score((0, 0)) == 2 * 2 * (expected[9] + expected[5])  # each column counts 2, the larger height
    assert score((1, 1)) == 1 * (expected[9] + expected[5])
    assert score((2, 0)) == 2 * (expected[9] + expected[5])
    large = [{"town": "Ulm", "sex": "f"}] * 5_000
    assert ReleaseScore(problem_of(large), PROMISE)((0, 0)) == pytest.approx(
        4 * SCALE * 5_000 * PROMISE.sampling_rate, rel=1e-3
    )


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)])
def test_a_coin_has_its_probability(gamma: Fraction) -> None:
    random_numbers, tosses = random.Random(7), 20_000
    heads = sum(coin(gamma, random_numbers.randrange) for _ in range(tosses))
    assert heads / tosses == pytest.approx(math.exp(-gamma), abs=2 / math.sqrt(tosses))


def test_draws_and_walks_come_out_as_often_as_they_should() -> None:
    random_numbers, tries = random.Random(3), 8_000
    scores: dict[Node, int] = {(0, 0): 40, (0, 1): 30, (1, 1): 0}
    drawn = Counter(draw(scores, 10, Fraction(1, 2), random_numbers.randrange) for _ in range(tries))
    for node, chance in chances(scores, 10, 0.5).items():
        assert drawn[node] / tries == pytest.approx(chance, abs=2 / math.sqrt(tries))

    def score(node: Node) -> int:
        return 10 * (2 - node[0]) + 7 * (1 - node[1]) * (node[0] != 0)

    ends = Counter(
        walk(score, 10, [range(3), range(2)], 3, Fraction(6), random_numbers.randrange) for _ in range(tries)
    )
    for node, chance in all_walks(score, 10, 3, 6.0).items():
        assert ends[node] / tries == pytest.approx(chance, abs=2 / math.sqrt(tries))


def test_taking_the_best_on_the_way_by_its_true_score_would_tell_who_is_in_the_table() -> None:
    """Why the last node is drawn, too: otherwise one row decides which of two nodes comes out."""
    sensitivity, budget = 10, 0.5

    def without(node: Node) -> int:
        return 30 if node == (0, 1) else 29 if node == (1, 0) else 0

    def with_row(node: Node) -> int:
        return 30 if node == (0, 1) else 31 if node == (1, 0) else 0

    ratios = []
    for truly_best in (False, True):
        one, other = (
            all_walks(score, sensitivity, 5, budget, truly_best=truly_best) for score in (without, with_row)
        )
        ratios.append(max(other[node] / one[node] if one[node] else math.inf for node in other))
    assert ratios[0] <= math.exp(budget)
    assert ratios[1] > math.exp(budget)


def test_levels_stay_within_their_limits_and_a_walk_ends_where_nothing_is_left() -> None:
    ends = {
        walk(
            lambda node: -sum(node),
            1,
            [range(1, 3), range(1, 2)],
            50,
            Fraction(1),
            random.Random(s).randrange,
        )
        for s in range(30)
    }
    assert ends == {(1, 1), (2, 1)}
