"""The baseline: whoever is returned again meets exactly the values that he met the first time."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.errors import GuaranteeError
from tarnkappe.gate import Answer, Gate, MInvariance, Population, Refusal
from tests.gate import twin


def gate_of(truth: dict[int, str], k: int, may_add: bool = True) -> Gate:
    return Gate(Population(truth, sorted(set(truth.values()))), k, MInvariance(), may_add=may_add)


def test_a_signature_is_fixed_at_the_first_publication() -> None:
    gate = gate_of({1: "A", 2: "B", 3: "C", 4: "C", 5: "D"}, 2)
    first = gate.ask([1, 2])
    assert [block.values for block in first.blocks] == [("A", "B")]
    again = gate.ask([1, 3, 5])
    assert {block.people: block.values for block in again.blocks} == {(1,): ("A", "B"), (3, 5): ("C", "D")}
    assert again.artificial == 1


def test_a_new_tuple_fills_a_group_before_an_artificial_value_does() -> None:
    gate = gate_of({1: "A", 2: "B", 3: "B", 4: "C", 5: "D"}, 2)
    gate.ask([1, 2])
    answer = gate.ask([1, 3, 4, 5])
    assert {frozenset(b.people): b.values for b in answer.blocks} == {
        frozenset({1, 3}): ("A", "B"),
        frozenset({4, 5}): ("C", "D"),
    }
    assert answer.artificial == 0
    assert gate.degrees()[3] == 2


def test_equal_values_with_one_signature_go_into_different_groups() -> None:
    gate = gate_of({1: "A", 2: "B", 3: "A", 4: "B"}, 2)
    gate.ask([1, 2])
    gate.ask([3, 4])
    answer = gate.ask([1, 3])
    assert sorted(block.people for block in answer.blocks) == [(1,), (3,)]
    assert answer.artificial == 2


def test_it_works_only_with_artificial_values() -> None:
    gate = gate_of({1: "A", 2: "B", 3: "C"}, 2, may_add=False)
    assert isinstance(gate.ask([1, 2]), Answer)
    assert isinstance(gate.ask([1, 3]), Refusal)
    assert isinstance(gate.ask([2, 1]), Answer)


def test_the_signatures_are_exact_and_every_group_is_invariant() -> None:
    for seed in range(80):
        rng = np.random.default_rng(seed)
        people, values, k = int(rng.integers(3, 8)), int(rng.integers(2, 5)), 2
        gate = gate_of({i: "ABCD"[v] for i, v in enumerate(rng.integers(0, values, people))}, k)
        for _ in range(4):
            gate.ask(rng.choice(people, rng.integers(1, people), replace=False).tolist())
        if gate.knowledge.results:
            brute = twin.signatures(twin.published(gate.knowledge))
            assert gate.strategy.degrees().tolist() == [len(brute[t]) for t in range(len(brute))]
            met: dict[int, set[tuple[int, ...]]] = {}
            for members, given in twin.published(gate.knowledge):
                assert len(set(given)) == len(given) >= k
                for t in members:
                    met.setdefault(t, set()).add(tuple(sorted(given)))
            assert all(len(groups) == 1 for groups in met.values())


def test_a_state_that_is_not_invariant_is_refused() -> None:
    gate = gate_of({1: "A", 2: "B", 3: "C", 4: "D"}, 2)
    gate.ask([1, 2])
    state = gate.strategy.state()
    other = MInvariance()
    other.begin(type(gate.knowledge)(4), 2)
    other.knowledge = gate.knowledge
    other.restore(gate.truth, state)
    wrong = state["signatures"].copy()
    wrong[0, 3] = True
    with pytest.raises(GuaranteeError, match="not invariant"):
        other.restore(gate.truth, {"signatures": wrong})
    with pytest.raises(GuaranteeError, match="does not belong"):
        other.restore(gate.truth, {"signatures": wrong[:1]})
