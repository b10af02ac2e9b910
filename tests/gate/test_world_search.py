"""Kernels of the search for worlds against the plain loops that they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.gate.carrying import CHUNK, carry_some, free_before
from tarnkappe.gate.knowledge import Integers, Knowledge
from tarnkappe.gate.local_search import Scratch, enter
from tarnkappe.gate.pool import Pool
from tarnkappe.gate.pool_counts import fits_all_but
from tarnkappe.gate.reserve import _labels
from tarnkappe.gate.seeking import show
from tests.gate import twin

SEEDS = st.integers(0, 2**31)
GOAL, STEPS = 3, 30


def _worlds(knowledge: Knowledge, truth: Integers, rng: np.random.Generator) -> Integers:
    """Worlds that fit all that is known: the true one, and some that local search makes of it."""
    pool = Pool(knowledge, seed=int(rng.integers(2**20)))
    pool.add(truth[: knowledge.tuples])
    pool.seek(np.arange(knowledge.tuples, dtype=np.int32), GOAL, 50)
    return pool.values.copy()


@given(SEEDS)
@settings(max_examples=60)
def test_worlds_are_carried_as_if_one_by_one(seed: int) -> None:
    """The same worlds, parents, counts and random numbers, however they are cut into pieces; work can end it."""
    rng = np.random.default_rng(seed)
    history, truth = twin.random_history(rng, 9, 4, 4, 0.5)
    knowledge, values = twin.knowledge_of(history[:-1], 4), 4
    known = knowledge.tuples
    worlds = _worlds(knowledge, truth, rng) if known else np.zeros((1, 0), dtype=np.int32)
    knowledge.publish(list(history[-1][0]), np.bincount(history[-1][1], minlength=values))
    new = knowledge.tuples - known
    base = np.hstack([worlds, rng.integers(0, values, (len(worlds), new))]).astype(np.int32)
    base = base[rng.integers(0, len(base), rng.integers(1, 3 * CHUNK))]
    anybody = np.arange(known, knowledge.tuples, dtype=np.int32)
    floors = np.zeros((len(base), 0), dtype=np.int32)
    if rng.random() < 0.3:  # all founders: nobody here is one, so any floor is lacking
        floors = rng.integers(0, 2, (len(base), values)).astype(np.int32)
    work = int(rng.choice([0, 10, 1_000_000]))
    view = knowledge.view._replace(kind=np.arange(knowledge.tuples, dtype=np.int32))
    newest = knowledge.results - 1
    counted = np.zeros((len(base), 0), dtype=np.int32)
    none = np.zeros(len(base), dtype=np.int64)

    def empty() -> tuple[Integers, Integers, Integers, np.ndarray, Integers, np.ndarray, Integers]:
        return (
            np.empty((len(base) + 1, knowledge.tuples), dtype=np.int32),
            np.empty((len(base) + 1, len(view.capacity)), dtype=np.int32),
            np.zeros(len(base) + 1, dtype=np.int32),
            np.zeros((knowledge.tuples, values), dtype=np.int8),
            np.zeros(knowledge.tuples, dtype=np.int32),
            np.array([seed + 1, 0], dtype=np.uint64),
            np.zeros_like(base),
        )

    made, frees, parent, shown, degree, state, nearly = empty()
    near = np.zeros(len(base), dtype=np.bool_)
    scratch, number, count = Scratch.of(view), 0, 0
    while number < len(base) and not (number and int(state[1]) > work):
        before = number
        number, count = carry_some(
            view,
            base,
            number,
            anybody,
            floors,
            counted,
            none.astype(np.int32),
            none,
            made,
            frees,
            count,
            parent,
            near,
            nearly,
            scratch,
            shown,
            degree,
            GOAL,
            STEPS,
            work,
            state,
        )
        assert before < number <= before + CHUNK

    plain, free, origin, seen, degrees, coins, almost = empty()
    close: list[int] = []
    found = 0
    for place, world in enumerate(base):
        plain[found] = world
        plain[found][anybody] = -1
        free_before(view, plain[found], free[found], newest, counted[place], 0, 0)
        if enter(
            view,
            plain[found],
            free[found],
            floors[place],
            0,
            scratch,
            -1,
            newest,
            seen,
            degrees,
            GOAL,
            STEPS,
            coins,
        ):
            origin[found] = place
            show(view, plain[found], seen, degrees, 1)
            found += 1
        elif plain[found].min() >= 0 and not floors[place].any() and fits_all_but(view, plain[found], newest):
            almost[place] = plain[found]
            close.append(place)
        if int(coins[1]) > work:
            break

    assert count == found
    assert np.array_equal(made[:count], plain[:found])
    assert np.array_equal(frees[:count], free[:found])
    assert np.array_equal(parent, origin)
    assert np.flatnonzero(near).tolist() == close
    assert np.array_equal(nearly, almost)
    assert np.array_equal(state, coins)
    assert np.array_equal(shown, seen)


@given(SEEDS, st.integers(1, 6))
def test_labels_of_classes_with_one_label_need_no_coin(seed: int, labels: int) -> None:
    """What is found without a choice is what choosing finds, and the next random number is the same."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(labels).astype(np.int32)
    chosen = rng.integers(0, labels, (3, 4)).astype(np.int32)
    chance, other = np.random.default_rng(seed), np.random.default_rng(seed)
    plain = np.zeros(chosen.shape, dtype=np.int32)
    for one in np.unique(chosen).tolist():
        mine = chosen == one
        plain[mine] = other.choice(np.flatnonzero(classes == one), size=int(mine.sum()))
    assert np.array_equal(_labels(chance, classes, chosen), plain)
    assert chance.integers(2**40) == other.integers(2**40)


def test_labels_of_one_class_are_chosen_among() -> None:
    classes = np.array([0, 1, 0, 1], dtype=np.int32)
    found = _labels(np.random.default_rng(1), classes, np.zeros((20, 20), dtype=np.int32))
    assert set(found.ravel().tolist()) == {0, 2}
