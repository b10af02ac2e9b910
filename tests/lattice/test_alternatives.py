"""Releases that are nearly as good: each the best for its wish, none that another makes superfluous."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import AutoSearch, SearchProblem, explore
from tarnkappe.lattice.alternatives import (
    NodeAlternative,
    column_states,
    explored_alternatives,
    kept_of_columns,
    node_alternatives,
)
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import KAnonymity
from tests.lattice.random_problems import random_problem
from tests.random_tables import Example, examples


def problems(example: Example, share: float, loss: str = "loss") -> SearchProblem:
    return SearchProblem(
        example.tuples, example.quasi_identifiers, (KAnonymity(2),), LOSSES.create(loss, {}), share
    )


def best_for(problem: SearchProblem, found: NodeAlternative) -> float:
    """The least loss of all nodes that grant a wish, the slow way: every node is tested."""
    least = math.inf
    for node in problem.nodes():
        tested = problem.evaluate(node)
        levels = dict(zip(problem.quasi_identifiers, node, strict=True))
        wish = found.wish
        granted = wish.column is None or levels[wish.column] <= (wish.level or 0)
        granted &= wish.rows is None or tested.suppressed <= wish.rows
        if tested.satisfied and granted:
            least = min(least, tested.loss)
    return least


@given(
    example=examples(min_rows=4, max_rows=12),
    share=st.sampled_from([0.0, 0.3, 0.6]),
    loss=st.sampled_from(["loss", "entropy"]),
)
@settings(max_examples=60)
def test_each_is_the_best_for_its_wish_and_none_is_superfluous(
    example: Example, share: float, loss: str
) -> None:
    problem = problems(example, share, loss)
    found = node_alternatives(problem, AutoSearch(), most=99)
    for each in found:
        assert each.proven
        assert each.evaluation.loss == pytest.approx(best_for(problem, each), abs=1e-9)
        assert each.evaluation.loss <= 1.25 * found[0].evaluation.loss + 1e-8
    assert len({each.node for each in found}) == len(found)
    for own in found[1:]:
        mine = kept_of_columns(problem, own.node)
        for other in found:
            if other is not own:
                theirs = kept_of_columns(problem, other.node)
                keeps_all = all(a >= b for a, b in zip(theirs, mine, strict=True))
                assert not (keeps_all and other.evaluation.suppressed <= own.evaluation.suppressed)


@pytest.mark.parametrize("seed", range(12))
def test_explored_and_searched_ones_are_equal(seed: int) -> None:
    problem = random_problem(seed, 1, loss=LOSSES.create("loss", {}))
    searched = node_alternatives(problem, AutoSearch())
    read_off = explored_alternatives(explore(problem))
    assert [each.node for each in searched] == [each.node for each in read_off]
    assert [each.difference for each in searched] == pytest.approx([each.difference for each in read_off])


@pytest.mark.parametrize("seed", range(6))
def test_few_are_chosen_so_that_they_read_differently(seed: int) -> None:
    problem = random_problem(seed, 1, loss=LOSSES.create("loss", {}))
    every = node_alternatives(problem, AutoSearch(), most=99, worse=9.0)
    few = node_alternatives(problem, AutoSearch(), most=2, worse=9.0)
    assert len(few) == min(2, len(every))
    assert [each.node for each in few[:1]] == [each.node for each in every[:1]]
    if len(every) > 2:
        best = column_states(problem, few[0].node)

        def far(own: NodeAlternative) -> int:
            return sum(a is not b for a, b in zip(column_states(problem, own.node), best, strict=True))

        assert far(few[1]) == max(map(far, every[1:]))


def test_wrong_limits_are_refused() -> None:
    problem = random_problem(1, 1)
    with pytest.raises(ParameterError, match="at least one"):
        node_alternatives(problem, AutoSearch(), most=0)
