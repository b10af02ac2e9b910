"""Sets of labels that are drawn once: odds, changes, beliefs and estimates, against enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.gate.audit import audit
from tarnkappe.gate.belief import largest_belief, least_k
from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.gate.label_sets import LabelSets, change_factor, injections
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.set_estimate import SetDraw
from tarnkappe.state.store import Store
from tests.gate.clinic import RUNNING, between, cells, keeper, policy, write


def sets_with(secret: bytes, merged: frozenset[int] = frozenset()) -> LabelSets:
    sets = LabelSets()
    sets.secret, sets.merged = secret, merged
    return sets


def all_sets(labels: int, k: int, true: int) -> list[frozenset[int]]:
    return [frozenset(some) for some in itertools.combinations(range(labels), k) if true in some]


def test_every_set_with_the_true_label_is_equally_likely() -> None:
    often: Counter[frozenset[int]] = Counter()
    for number in range(3_000):
        drawn = sets_with(b"s").drawn(number, true=1, labels=5, k=3)
        assert drawn[0] == 1
        often[frozenset(drawn.tolist())] += 1
    assert set(often) == set(all_sets(5, 3, 1))
    assert max(abs(count - 500) for count in often.values()) < 5 * math.sqrt(500)


def test_three_people_and_all_that_can_be_published_leave_the_odds_given_all_sets() -> None:
    """Three people, four labels, k = 2: every table and every draw, with any weights (specification, F8)."""
    labels, k, weights = 4, 2, [Fraction(6, 10), Fraction(2, 10), Fraction(1, 10), Fraction(1, 10)]
    joint: dict[tuple[frozenset[int], ...], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for world in itertools.product(range(labels), repeat=3):
        prior = math.prod(weights[label] for label in world)
        draws = [all_sets(labels, k, true) for true in world]
        for drawn in itertools.product(*draws):
            joint[drawn][world] += prior / math.prod(map(len, draws))
    for drawn, worlds in joint.items():
        for person in range(3):
            for others in {w[:person] + w[person + 1 :] for w in worlds}:  # even with everybody else known
                belief = {w[person]: p for w, p in worlds.items() if w[:person] + w[person + 1 :] == others}
                for u, v in itertools.combinations(drawn[person], 2):
                    assert belief[u] * weights[v] == belief[v] * weights[u]


@pytest.mark.parametrize(("published", "wanted"), [("AABC", (2, 1, 1)), ("AABB", (1, 1, 0))])
def test_two_people_by_their_answer_alone(published: str, wanted: tuple[int, ...]) -> None:
    """The table of F8: less is known than with the sets, and the bound of all sets holds."""
    counts = Counter("ABC".index(label) for label in published)
    belief: Counter[int] = Counter()
    for world in itertools.product(range(3), repeat=2):
        for first, second in itertools.product(all_sets(3, 2, world[0]), all_sets(3, 2, world[1])):
            if Counter([*first, *second]) == counts:
                belief[world[0]] += Fraction(1)
    total = sum(belief.values())
    assert [belief[label] / total for label in range(3)] == [Fraction(w, sum(wanted)) for w in wanted]
    assert max(belief.values()) / total <= Fraction(1, 2)


@pytest.mark.parametrize("labels", range(2, 9))
def test_the_number_of_injections_is_what_one_counts(labels: int) -> None:
    for k in range(2, min(labels, 4) + 1):
        old = tuple(range(k))
        for new in range(labels):
            if new == 0:
                continue
            found = [
                image
                for image in itertools.permutations(range(labels), k)
                if image[0] == new and all(a != b for a, b in zip(old, image, strict=True))
            ]
            assert len(found) == injections(labels, k, k - 2 if new in old else k - 1)


@pytest.mark.parametrize(("labels", "k", "merged"), [(4, 2, 0), (5, 3, 0), (5, 3, 1), (5, 3, 2), (6, 4, 1)])
def test_one_change_moves_the_odds_of_two_paths_by_no_more_than_the_factor(
    labels: int, k: int, merged: int
) -> None:
    """Every injection of every set: how likely it is with each of its paths for the true one."""
    loose = set(range(merged))

    def allowed(old: tuple[int, ...], image: tuple[int, ...]) -> bool:
        return all(a != b or a in loose for a, b in zip(old, image, strict=True))

    worst = Fraction(1)
    for old in itertools.combinations(range(labels), k):
        images = [image for image in itertools.permutations(range(labels), k) if allowed(old, image)]
        ways = Counter((place, image[place]) for image in images for place in range(k))
        for image in images:
            chances = [Fraction(1, ways[place, image[place]]) for place in range(k)]
            worst = max(worst, max(chances) / min(chances))
    assert worst <= change_factor(labels, k, merged)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 3))
@settings(max_examples=30)
def test_a_changed_set_fixes_no_label_and_leads_to_the_new_one(number: int, k: int, new: int) -> None:
    sets = sets_with(b"s", merged=frozenset({0}))
    old = sets.drawn(number, true=0, labels=5, k=k)
    moved = sets.moved(number + 1, old, new, labels=5)
    assert moved[0] == new
    assert len(set(moved.tolist())) == k
    assert all(a != b or a == 0 for a, b in zip(old.tolist(), moved.tolist(), strict=True))


@given(st.lists(st.integers(1, 20), min_size=3, max_size=6), st.integers(2, 3))
def test_the_largest_belief_is_that_of_the_worst_set(parts: list[int], k: int) -> None:
    weights = {f"v{place}": part / sum(parts) for place, part in enumerate(parts)}
    worst = max(
        weights[label] / sum(weights[other] for other in some)
        for some in itertools.combinations(weights, k)
        for label in some
    )
    assert largest_belief(weights, k)[1] == pytest.approx(worst)
    enough = least_k(weights, worst + 1e-9)
    assert enough is not None
    assert enough <= k


@pytest.mark.parametrize("k", [2, 5])
def test_estimates_have_no_bias_and_their_intervals_hold(k: int) -> None:
    chance = np.random.default_rng(k)
    labels = [str(n) for n in range(10)]
    truth = np.repeat(np.arange(10), [5, 10, 15, 20, 25, 25, 25, 25, 25, 25])
    draw = SetDraw(len(truth), k, frozenset(labels))
    numbers = {label: float(label) for label in labels}
    found, holds, sums = [], 0, []
    rounds = 400
    for _ in range(rounds):
        others = np.argsort(chance.random((len(truth), 9)), axis=1)[:, : k - 1]
        others += others >= truth[:, None]  # any label but his own
        counts = np.bincount(np.concatenate([truth, others.ravel()]), minlength=10)
        shown = dict(zip(labels, counts.tolist(), strict=True))
        one = draw.count(shown, "2")
        found.append(one.value)
        holds += one.low <= 15 <= one.high
        total = draw.sum(shown, numbers)
        sums.append((total.value, total.low <= truth.sum() <= total.high))
    error = np.std(found) / math.sqrt(rounds)
    assert abs(np.mean(found) - 15) <= 4 * error
    assert holds >= 0.94 * rounds
    assert abs(np.mean([value for value, _ in sums]) - truth.sum()) <= 4 * np.std([v for v, _ in sums]) / 20
    assert sum(inside for _, inside in sums) >= 0.94 * rounds


@pytest.fixture
def veiled(tmp_path: Path) -> GatePolicy:
    write(tmp_path / "t.parquet")
    return policy(tmp_path, strategy="veil", k=3)


def test_a_gate_of_sets_answers_with_them_for_ever(veiled: GatePolicy, tmp_path: Path) -> None:
    with_first = keeper(veiled)
    first = with_first.answer("ann", between(20, 22))
    shown = cells(first, "disease")
    assert len(shown) == 3 * 4, "three labels for each of four people"
    one = Counter(cells(with_first.answer("ann", between(20, 20)), "disease"))
    assert sorted(one.values()) == [1, 1, 1]
    assert "Asthma" in one
    with_first.close()
    again = keeper(veiled, seed=2)
    assert Counter(cells(again.answer("bob", between(20, 20)), "disease")) == one
    assert cells(again.answer("bob", between(20, 22)), "disease") == shown
    more = Counter(cells(again.answer("bob", between(20, 24)), "disease"))
    assert not Counter(shown) - more, "whoever was in it keeps his set"
    told = again.status()["histories"][0]
    assert (told["least_degree"], told["largest_odds"]) == (3, 1.0)
    again.close()
    with Store.open(veiled.store, mode="read") as store:
        (proven,) = audit(veiled, store)
    assert proven.is_complete


def test_a_change_gives_another_set_and_is_proven(veiled: GatePolicy, tmp_path: Path) -> None:
    gate = keeper(veiled)
    before = Counter(cells(gate.answer("ann", between(20, 20)), "disease"))
    write(tmp_path / "t.parquet", [("Alison", 20, "10140", "f", "Diabetes", 2490), *RUNNING[1:]])
    after = Counter(cells(gate.answer("ann", between(20, 20)), "disease"))
    assert "Diabetes" in after
    assert before != after
    assert gate.status()["histories"][0]["largest_odds"] > 1
    gate.close()
    again = keeper(veiled, seed=3)
    assert Counter(cells(again.answer("ann", between(20, 20)), "disease")) == after
    again.close()
    with Store.open(veiled.store, mode="read") as store:
        assert audit(veiled, store)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"belief": 0.5}, "needs strategy"),
        ({"strategy": "veil", "belief": 0.3}, "k = 2 somebody could believe in .* 0.500, .*: k = 4 would do"),
        ({"strategy": "veil", "known": "staff.csv"}, "take 'known' out"),
        ({"strategy": "veil", "on_violation": "refuse"}, "needs on_violation"),
    ],
)
def test_what_sets_cannot_promise_is_refused(settings_: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        policy(tmp_path, **settings_)


def test_a_store_of_sets_is_held_to_them(veiled: GatePolicy, tmp_path: Path) -> None:
    keeper(veiled).close()
    with pytest.raises(ParameterError, match="another policy: 'strategy'"):
        keeper(policy(tmp_path, k=3))
    assert HistoryStore(Store.open(veiled.store)).promise("strategy") == "veil"
