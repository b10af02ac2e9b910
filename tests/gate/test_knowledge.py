"""The attacker's knowledge as arrays: publishing, taking back, kinds, later values."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.gate import Knowledge
from tarnkappe.gate.exact_test import signatures
from tests.gate import twin

SEEDS = st.integers(0, 2**32 - 1)


def image(knowledge: Knowledge) -> list[object]:
    return [knowledge.values, knowledge.kinds, *(column.tolist() for column in knowledge.view)]


@given(SEEDS)
def test_a_result_taken_back_leaves_no_trace(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history, _ = twin.random_history(rng, 7, 4, 5, 0.3)
    knowledge = Knowledge(4)
    for number, (members, values) in enumerate(history):
        before = image(knowledge)
        assert knowledge.publish(members, np.bincount(values, minlength=4)) == number
        if rng.random() < 0.5:
            knowledge.exclude(int(knowledge.view.kind[members[0]]), int(rng.integers(4)))
        knowledge.retract()
        assert image(knowledge) == before
        knowledge.publish(members, np.bincount(values, minlength=4))
    assert twin.published(knowledge) == [(m, sorted(v)) for m, v in history]


def test_only_the_newest_result_can_be_taken_back() -> None:
    knowledge = twin.knowledge_of([([0, 1], [0, 1]), ([1, 2], [0, 1])], 2)
    knowledge.retract()
    with pytest.raises(ParameterError, match="only once"):
        knowledge.retract()


@given(SEEDS)
def test_tuples_of_a_kind_are_those_in_the_same_results(seed: int) -> None:
    history, _ = twin.random_history(np.random.default_rng(seed), 9, 3, 4, 0)
    knowledge = twin.knowledge_of(history, 3)
    kinds = knowledge.view.kind.tolist()
    for one in range(knowledge.tuples):
        for other in range(knowledge.tuples):
            assert (kinds[one] == kinds[other]) == (knowledge.results_of(one) == knowledge.results_of(other))
    assert sorted(set(kinds)) == list(range(knowledge.kinds)), "no number of a kind is left unused"


@given(SEEDS)
def test_candidates_are_the_values_common_to_all_results(seed: int) -> None:
    history, _ = twin.random_history(np.random.default_rng(seed), 7, 4, 4, 0.4)
    knowledge = twin.knowledge_of(history, 4)
    for tuple_ in range(knowledge.tuples):
        common = set.intersection(*(set(values) for members, values in history if tuple_ in members))
        assert set(knowledge.candidates(tuple_)) == common


def test_values_that_turn_up_later_change_nothing_so_far() -> None:
    knowledge = twin.knowledge_of([([0, 1], [0, 1]), ([1, 2], [0, 1])], 2)
    before = signatures(copy.deepcopy(knowledge))
    knowledge.add_values(2)
    assert knowledge.values == 4
    assert knowledge.counts(0).tolist() == [1, 1, 0, 0]
    assert signatures(copy.deepcopy(knowledge)) == before
    knowledge.publish([2, 3], [0, 1, 0, 1])
    assert knowledge.candidates(3) == [1, 3]
    assert knowledge.candidates(2) == [1]


@given(SEEDS)
def test_renaming_and_reordering_change_no_signature(seed: int) -> None:
    rng = np.random.default_rng(seed)
    history, _ = twin.random_history(rng, 7, 4, 4, 0.3)
    label = rng.permutation(4).tolist()
    order = rng.permutation(len(history)).tolist()
    shuffled = [(history[i][0], [label[v] for v in history[i][1]]) for i in order]
    members, _, names = twin.numbered([m for m, _ in shuffled], dict.fromkeys(range(7), 0))
    renamed = [(who, values) for who, (_, values) in zip(members, shuffled, strict=True)]
    plain = signatures(twin.knowledge_of(history, 4))
    for number, signature in enumerate(signatures(twin.knowledge_of(renamed, 4))):
        assert signature == {label[v] for v in plain[names[number]]}
