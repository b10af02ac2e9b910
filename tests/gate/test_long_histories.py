"""What keeps long histories fast, and that it changes no decision."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate import Knowledge
from tarnkappe.gate.local_search import Scratch, enter
from tarnkappe.gate.minimum_cover import LeastCover, SolverBudget
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.problem import problem
from tests.gate import twin

SEEDS = st.integers(0, 2**31)


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
    none = np.zeros(0, dtype=np.int32)
    enter(view, value, free, none, 0, scratch, -1, -1, nothing, nothing[:, 0].copy(), 3, 30, state)
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
