"""The counts of the public pool that make it fast change no decision."""

from __future__ import annotations

from collections.abc import Hashable
from random import Random

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tarnkappe.gate import Gate, Knowledge, Population
from tarnkappe.gate.answer import Answer
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.knowledge import Integers
from tarnkappe.gate.local_moves import options_of, price, prices
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.pool_counts import drop_needless, fits_all_but, is_contradicted, mark_shown, marked
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.surplus import Coins, Veiled
from tests.gate import twin
from tests.gate.slow_pool import SlowPool

SEEDS = st.integers(0, 2**31)
LABELS = ("A", "B", "C", "D", "E", "(other)")
PEOPLE = 24


def _gate(strategy: PublicPool, seed: int) -> Gate:
    """With floors, known people and labels that count as one, or without, as the seed says."""
    chance = Random(seed)
    has_floors, has_known, has_classes = (chance.random() < share for share in (0.4, 0.4, 0.2))
    labels: dict[Hashable, str] = {f"p{number}": chance.choice(LABELS) for number in range(PEOPLE)}
    held = {label: list(labels.values()).count(label) for label in LABELS[:2]}
    floors = {label: min(2, number) for label, number in held.items() if number} if has_floors else {}
    if has_classes:
        strategy.classes = np.array([0, 1, 2, 3, 4, 4], dtype=np.int32)
    return Gate(
        Population(dict(labels), LABELS),
        chance.choice([2, 3]),
        strategy,
        decision=Veiled(Surplus(), Coins(Random(seed))),
        seed=seed,
        domain=LabelDomain(LABELS, frozenset({"(other)"}), floors),
        founders=labels if has_floors else None,
        known=("p1", "p2") if has_known else (),
    )


def _assert_counted_rightly(pool: PublicPool) -> None:
    """What is kept of the cells of each world is what counting from the start gives."""
    view, kept = pool.knowledge.view, pool._free
    for world, free, results in zip(pool.values, kept.free, kept.results, strict=True):
        for result in range(int(results)):
            members = pool.knowledge.members(result)
            for cell in view.cell[result][view.cell[result] >= 0]:
                assert free[cell] == view.capacity[cell] - np.count_nonzero(
                    world[members] == view.label[cell]
                )


def _ask(gate: Gate, seed: int, questions: int) -> list[tuple[tuple[str, ...], Integers, Integers]]:
    """Overlapping questions with changes between them; what was answered, and the worlds after it."""
    chance, told = Random(seed), []
    assert isinstance(gate.strategy, PublicPool)
    for number in range(questions):
        changed = f"p{chance.randrange(PEOPLE)}"
        if chance.random() < 0.3:
            gate.update(changed, chance.choice(LABELS))
        hot = range(PEOPLE // 2 if number % 2 else PEOPLE)
        answer = gate.ask([f"p{one}" for one in chance.sample(hot, chance.randrange(2, 9))])
        assert isinstance(answer, Answer)
        _assert_counted_rightly(gate.strategy)
        told.append((answer.blocks[0].values, gate.strategy.values.copy(), gate.strategy.degrees().copy()))
    return told


@example(33595)  # somebody known, who was asked about first and changed then
@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_the_pool_decides_as_its_slow_twin(seed: int) -> None:
    fast, slow = (_ask(_gate(pool, seed), seed, 14) for pool in (PublicPool(), SlowPool()))
    for (values, worlds, degrees), (same, equal, alike) in zip(fast, slow, strict=True):
        assert values == same
        assert np.array_equal(worlds, equal)
        assert np.array_equal(degrees, alike)


def test_who_is_known_has_one_value_in_all_worlds_however_he_is_met() -> None:
    labels = {f"p{number}": LABELS[number % 5] for number in range(PEOPLE)}
    gate = Gate(Population(dict(labels), LABELS), 2, PublicPool(), domain=LabelDomain(LABELS), known=("p1",))
    assert isinstance(gate.ask(["p0", "p1", "p2"]), Answer)
    assert isinstance(gate.strategy, PublicPool)
    (number,) = gate.knowledge.known
    assert set(gate.strategy.values[:, number].tolist()) == {LABELS.index("B")}
    gate.update("p1", "E")
    assert isinstance(gate.ask(["p1", "p3", "p4"]), Answer)
    assert len(gate.knowledge.known) == 2, "the value before and the value now"


@given(SEEDS)
@settings(max_examples=40)
def test_the_prices_of_all_options_are_those_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history, _ = twin.random_history(rng, 8, 5, 5, 0.4)
    view = twin.knowledge_of(history, 5).view
    free = rng.integers(-2, 3, len(view.capacity)).astype(np.int32)
    weight = rng.integers(1, 5, len(view.capacity)).astype(np.int32)
    options, growth = np.empty(5, dtype=np.int32), np.empty(5, dtype=np.int64)
    for tuple_ in range(len(view.newest)):
        may = np.flatnonzero(view.allowed[tuple_]).tolist()
        for old in [-1, *may]:
            count = options_of(view, tuple_, old, -1, options)
            assert options[:count].tolist() == [value for value in may if value != old]
            prices(view, free, weight, tuple_, old, options, count, growth)
            each = [price(view, free, weight, tuple_, old, int(new)) for new in options[:count]]
            assert growth[:count].tolist() == each
        for wanted in range(5):
            count = options_of(view, tuple_, -1, wanted, options)
            assert options[:count].tolist() == [value for value in may if value == wanted]


@given(SEEDS)
@settings(max_examples=40)
def test_worlds_are_counted_and_dropped_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worlds = rng.integers(0, 4, (rng.integers(1, 12), rng.integers(1, 400))).astype(np.int32)
    classes = np.array([0, 1, 2, 2], dtype=np.int32)
    protected = rng.random(worlds.shape[1]) < rng.choice([0.05, 1])
    k, least, order = int(rng.integers(1, 4)), int(rng.integers(0, 4)), rng.permutation(len(worlds))

    def degrees(chosen: list[int]) -> list[int]:
        return [
            len({int(classes[worlds[one, person]]) for one in chosen}) for person in range(worlds.shape[1])
        ]

    kept = list(range(len(worlds)))
    for number in order.tolist():
        without = [one for one in kept if one != number]
        if len(kept) > least and all(d >= k for d, p in zip(degrees(without), protected, strict=True) if p):
            kept = without
    left, degree = drop_needless(worlds, classes, 3, order, protected, k, least)
    assert np.flatnonzero(left).tolist() == kept
    assert degree.tolist() == degrees(kept)
    shown = np.zeros((worlds.shape[1], 3), dtype=np.bool_)
    mark_shown(worlds, left, classes, shown)
    assert marked(shown).tolist() == degrees(kept)


@given(SEEDS)
@settings(max_examples=60)
def test_a_contradiction_is_found_where_it_is_looked_for(seed: int) -> None:
    """Worlds that differ a little from one that fits all but the newest results, against plain counting."""
    rng = np.random.default_rng(seed)
    history, truth = twin.random_history(rng, 10, 4, 5, 0.4)
    knowledge = twin.knowledge_of(history, 4)
    checked = int(rng.integers(0, knowledge.results + 1))
    before = truth[None, : knowledge.tuples].astype(np.int32)
    for _ in range(10):
        world = before[0].copy()
        moved = rng.integers(0, knowledge.tuples, rng.integers(0, 4))
        world[moved] = rng.integers(-1, 5, len(moved))
        used = [world[knowledge.members(result)].tolist() for result in range(knowledge.results)]
        wrong = any(
            label not in range(4) or labels.count(label) > knowledge.counts(result)[label]
            for result, labels in enumerate(used)
            for label in labels
        )
        newest = knowledge.results - 1
        old = [(result, labels) for result, labels in enumerate(used) if result != newest]
        assert fits_all_but(knowledge.view, world, newest) == all(
            label in range(4) and labels.count(label) <= knowledge.counts(result)[label]
            for result, labels in old
            for label in labels
        )
        for parent in (-1, 0):
            parents = np.array([0, parent], dtype=np.int32)
            both = np.vstack([before, world[None]])
            assert is_contradicted(knowledge.view, both, parents, before, checked) == wrong


def test_what_was_never_checked_is_looked_at_even_if_nobody_moved() -> None:
    knowledge = Knowledge(2)
    knowledge.publish([0, 1], [1, 1])
    world = np.array([[0, 0]], dtype=np.int32)
    parent = np.zeros(1, dtype=np.int32)
    assert is_contradicted(knowledge.view, world, parent, world, 0)
    assert not is_contradicted(knowledge.view, world, parent, world, 1)
