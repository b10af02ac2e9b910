"""Surplus values: the draw is uniform, the answer keeps k, and values that are alike can count as one."""

from __future__ import annotations

from collections import Counter
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.gate import Gate, Ilp, LabelDomain, Population, PublicPool
from tarnkappe.gate.policy_columns import Surplus
from tarnkappe.gate.signature_check import farthest
from tarnkappe.gate.surplus import Coins, Veiled
from tarnkappe.gate.world_search import could_have
from tests.gate import twin

LABELS = ["A", "B", "C", "D"]


def opened(
    people: dict[int, str], k: int, decision: Veiled, labels: list[str] = LABELS, *, is_exact: bool = False
) -> Gate:
    """A gate with a public list."""
    domain, pool = LabelDomain(tuple(labels)), PublicPool(is_exact=is_exact)
    return Gate(Population(people, labels), k, pool, decision=decision, domain=domain)


def test_every_multiset_is_drawn_equally_often() -> None:
    coins = Coins(Random(1))
    drawn = Counter(tuple(sorted(coins.multiset([0, 1, 2], 3))) for _ in range(10_000))
    assert len(drawn) == comb(5, 3)
    assert all(abs(count - 1000) < 5 * 30 for count in drawn.values())
    assert coins.multiset([5], 2) == [5, 5]
    assert coins.multiset([5, 6], 0) == []


def test_the_size_goes_down_geometrically() -> None:
    coins = Coins(Random(1))
    sizes = Counter(coins.beyond(1.0) for _ in range(10_000))
    assert [abs(sizes[size] - 10_000 / 2 ** (size + 1)) < 250 for size in range(5)] == [True] * 5
    assert min(sizes) == 0


def test_without_a_seed_the_numbers_are_those_of_the_operating_system() -> None:
    assert type(Coins()._random).__name__ == "SystemRandom"


@settings(max_examples=40)
@given(data=st.data())
@pytest.mark.parametrize("is_exact", [False, True])
def test_every_answer_keeps_k_and_has_at_least_the_floor(is_exact: bool, data: st.DataObject) -> None:
    k = data.draw(st.integers(2, 4))
    people = {number: data.draw(st.sampled_from(LABELS)) for number in range(6)}
    surplus = Surplus(share=data.draw(st.sampled_from([0.0, 0.5])), least=data.draw(st.integers(0, 3)))
    decision = Veiled(surplus, Coins(Random(data.draw(st.integers(0, 9)))))
    gate = opened(people, k, decision, is_exact=is_exact)
    for query in data.draw(
        st.lists(st.lists(st.integers(0, 5), min_size=1, unique=True), min_size=1, max_size=4)
    ):
        could = None
        if not gate.newcomers(query):
            members = np.array([gate.returned.number[person] for person in query], dtype=np.int32)
            could = set(could_have(gate.knowledge, members))
        answer = gate.ask(query)
        values = answer.blocks[0].values
        assert not Counter(people[person] for person in query) - Counter(values)
        assert len(values) - len(query) >= decision.floor(len(query), k, 1)
        if could is not None:
            assert {LABELS.index(value) for value in values} <= could
        assert twin.degree(twin.published(gate.knowledge)) >= k


def test_where_hardly_a_draw_does_the_answer_grows() -> None:
    labels = [f"v{i:03}" for i in range(200)]
    people = {number: labels[number] for number in range(12)}
    decision = Veiled(Surplus(least=2), Coins(Random(3)))
    gate = opened(people, 3, decision, labels)
    gate.ask(range(6))
    gate.ask([0, 6, 7])  # out of 200 values, the draw must hit two of the six that are left to 0
    assert decision.grown
    assert min(gate.degrees().values()) >= 3


def test_a_strategy_that_cannot_start_from_a_surplus_says_so() -> None:
    gate = Gate(Population({1: "A", 2: "B"}, LABELS), 2, Ilp(), decision=Veiled(Surplus(), Coins(Random(1))))
    with pytest.raises(ParameterError, match="takes no surplus"):
        gate.ask([1, 2])
    assert gate.knowledge.results == 0


def test_values_that_are_alike_count_as_one() -> None:
    """F-12: three kinds of the same disease are one."""
    people = {number: "ABC"[number % 3] for number in range(6)} | {6: "D"}
    for seed in range(5):
        decision = Veiled(Surplus(share=0.0, least=0, spread=0.2), Coins(Random(seed)))
        pool = PublicPool()
        pool.classes = np.array([0, 0, 0, 1], dtype=np.int32)
        gate = Gate(
            Population(people, LABELS),
            2,
            pool,
            decision=decision,
            domain=LabelDomain(tuple(LABELS)),
            seed=seed,
        )
        for query in ([0, 1, 2], [0, 1], [3, 4, 5], [0, 3]):
            assert "D" in gate.ask(query).blocks[0].values
        gate.update(0, "B")
        gate.ask([0, 1])
        signatures = twin.signatures(twin.published(gate.knowledge))
        assert all(3 in signature and len(signature) > 1 for signature in signatures.values())


def test_what_the_search_does_without_can_be_any_value_and_is_none_half_of_the_time() -> None:
    coins = Coins(Random(1))
    counts = np.array([2, 0, 1], dtype=np.int32)
    found = Counter(tuple(coins.left_out(counts, 2).tolist()) for _ in range(4000))
    assert set(found) == {(0, 0, 0), (1, 0, 0), (0, 0, 1), (2, 0, 0), (1, 0, 1)}
    assert abs(found[0, 0, 0] - 2000) < 160
    assert not coins.left_out(counts, 0).any()


def test_how_far_possible_values_are_from_those_of_all() -> None:
    """Half the sum of the differences, for signatures {A, B} and true values A, A, B, C."""
    history = [([0, 1], [0, 1]), ([2, 3], [0, 2])]
    knowledge = twin.knowledge_of(history, 3)
    truth = np.array([0, 1, 0, 2], dtype=np.int32)
    assert farthest(knowledge, truth) == pytest.approx(0.25)
