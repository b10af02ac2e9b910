"""What keeps long histories fast, and that it changes no decision."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate import Answer, Gate, Knowledge, Population, WitnessPool
from tarnkappe.gate import minimum_cover as cover_module
from tarnkappe.gate.local_search import Scratch, enter
from tarnkappe.gate.minimum_cover import LeastCover, SolverBudget
from tarnkappe.gate.policy import Surplus
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tarnkappe.gate.surplus import TRIES, Coins, Veiled
from tests.gate import twin

SEEDS = st.integers(0, 2**31)


def crowded(seed: int, people: int = 24) -> tuple[Gate, list[list[int]]]:
    """A gate that is asked for many overlapping groups of few people, until there is little room left."""
    chance = Random(seed)
    ages = [chance.randint(0, 9) for _ in range(people)]
    population = Population({p: chance.choice("ABCDE") for p in range(people)}, "ABCDE")
    gate = Gate(population, 3, WitnessPool(), decision=Veiled(Surplus(least=1), Coins(Random(seed))))
    spans = [(low, low + width) for low in range(10) for width in range(4)]
    chance.shuffle(spans)
    groups = [[p for p in range(people) if low <= ages[p] <= high] for low, high in spans]
    return gate, [list(group) for group in dict.fromkeys(map(tuple, groups)) if group]


def test_one_solver_serves_for_all_draws_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = cover_module.solver
    monkeypatch.setattr(cover_module, "solver", lambda question: made.append(1) or real(question))
    gate, groups = crowded(1)
    needed = 0
    for group in groups:
        before = len(made)
        assert isinstance(gate.ask(group), Answer)
        assert len(made) - before <= 1
        needed += len(made) - before
    assert needed, "some answers must need the solver"


def test_draws_that_fail_for_a_known_reason_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a draw was turned down, the next one that is tried has more of a label that was lacking."""
    gate, groups = crowded(3)
    strategy = gate.strategy
    tried: list[np.ndarray] = []
    real = strategy.complete

    def noted(members, truth, counts, may_add):
        tried.append(counts)
        found = real(members, truth, counts, may_add)
        if found is None and not may_add:
            assert strategy.reasons, "the solver says why"
            assert all(reason.excludes(np.zeros_like(counts)) for reason in strategy.reasons)
        return found

    monkeypatch.setattr(strategy, "complete", noted)
    turned_down = 0
    for group in groups:
        tried.clear()
        gate.ask(group)
        turned_down += len(tried) > 1
        assert len(tried) <= TRIES + 8
    assert turned_down, "some draws must be turned down"
    assert gate.decision.mended <= len(groups) // 4


@given(SEEDS)
@settings(max_examples=40)
def test_a_reason_excludes_only_what_would_not_have_done(seed: int) -> None:
    """By enumeration: were it otherwise, answers would be impossible that the rule of the surplus says are possible."""
    rng = np.random.default_rng(seed)
    values, k = 4, int(rng.integers(2, 4))
    history, truth = twin.random_history(rng, 6, values, 3, 0.6)
    knowledge = Knowledge(values)
    pool = Pool(knowledge)
    for members, given_ in history[:-1]:
        knowledge.publish(members, np.bincount(given_, minlength=values))
        pool = pool.carried(truth[: knowledge.tuples], values, 100)
        if twin.degree(twin.published(knowledge)) < k:
            return
    who = np.array(history[-1][0], dtype=np.int32)
    counts = np.bincount(truth[who], minlength=values).astype(np.int32)
    search = LeastCover(pool, who, counts, truth, k, SolverBudget(steps=20))
    if search.find(may_add=False) is not None:
        return
    for more in rng.integers(0, 3, (6, values)):
        if any(reason.excludes(more) for reason in search.reasons):
            published = [v for v in range(values) for _ in range(int(counts[v] + more[v]))]
            assert twin.degree([*twin.published(knowledge), (who.tolist(), published)]) < k


@given(SEEDS)
@settings(max_examples=40)
def test_a_repair_leaves_its_notes_as_it_found_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history, truth = twin.random_history(rng, 8, 4, 4, 0.3)
    knowledge = twin.knowledge_of(history, 4)
    view = knowledge.view
    scratch = Scratch.of(view)
    known = int(max((m for members, _ in history[:-1] for m in members), default=-1)) + 1
    value = np.full(knowledge.tuples, -1, dtype=np.int32)
    value[:known] = truth[:known]
    before = twin.knowledge_of(history[:-1], 4) if len(history) > 1 else Knowledge(4)
    free = view.capacity.copy()
    if before.tuples:
        pool = Pool(before)
        pool.add(truth[:known])
        free[: pool.frees.shape[1]] = pool.frees[0]
    nothing = np.zeros((knowledge.kinds, 4), dtype=np.int32)
    state = np.array([seed + 1, 0], dtype=np.uint64)
    enter(view, value, free, scratch, -1, -1, nothing, nothing[:, 0].copy(), 3, 30, state)
    assert (scratch.position == -1).all()
    assert (scratch.weight == 1).all()
    assert (scratch.left == -1).all()


def test_the_exact_problem_is_about_the_component_that_is_asked_for() -> None:
    """A thousand answers about other people make it no larger."""
    small, large = Knowledge(3), Knowledge(3)
    for knowledge, others in ((small, 1), (large, 1000)):
        for number in range(others):
            knowledge.publish([3 * number, 3 * number + 1, 3 * number + 2], [1, 1, 1])
        start = knowledge.tuples
        knowledge.publish([start, start + 1], [1, 1, 1])
        knowledge.publish([start + 1, start + 2], [1, 0, 1])
    questions = [problem(knowledge, knowledge.tuples - 1) for knowledge in (small, large)]
    assert len(questions[0].kinds) == len(questions[1].kinds)
    assert questions[0].rows == questions[1].rows
