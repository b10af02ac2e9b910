"""Slots: how long an answer takes follows from the number of people alone, and a search that ends tells nothing."""

from __future__ import annotations

import random
from random import Random
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.gate import Gate, Population
from tarnkappe.gate.domain import LabelDomain
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.public_pool import PublicPool
from tarnkappe.gate.slot import SIZE, Slot
from tarnkappe.gate.surplus import Coins, Veiled
from tarnkappe.gate.world_search import WorldSearch


@given(st.integers(0, 10**7), st.floats(0.001, 10), st.floats(0, 0.999))
def test_an_answer_that_is_ready_in_time_leaves_when_its_slot_ends(
    people: int, deadline: float, part: float
) -> None:
    slot = Slot(deadline, began=0.0)
    slot.count(people)
    classes = [c for c in range(20) if people <= SIZE * 4**c]
    assert slot.length == deadline * 2 ** classes[0]
    assert slot.release(part * slot.length) == slot.length
    assert 0 < slot.search_until < slot.length


@given(st.integers(1, 9), st.floats(0.001, 0.999))
def test_one_that_is_late_lets_whole_further_slots_pass(slots: int, part: float) -> None:
    slot = Slot(0.5, began=0.0)
    assert slot.release((slots + part) * 0.5) == (slots + 1) * 0.5


def test_the_groups_of_one_statement_count_together() -> None:
    slot = Slot(0.25)
    for _ in range(5):
        slot.count(3_000)
    assert slot.length == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_without_any_time_to_search_everybody_keeps_k_values(seed: int) -> None:
    """Growth alone, which always comes to an end."""
    chance = random.Random(seed)
    labels = tuple("ABCDEF")
    population = Population({number: chance.choice(labels) for number in range(24)}, list(labels))
    pool = PublicPool()
    pool.until = 0.0
    coins = Coins(Random(seed))
    gate = Gate(population, 3, pool, decision=Veiled(Surplus(), coins), domain=LabelDomain(labels))
    with mock.patch.object(WorldSearch, "carry", side_effect=AssertionError("there was no time")):
        for _ in range(12):
            gate.ask(chance.sample(range(24), chance.randint(1, 12)))
    assert gate.least_degree is not None
    assert gate.least_degree >= 3
