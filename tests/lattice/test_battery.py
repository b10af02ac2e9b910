"""What every search must fulfil; a search in the registry is tested here without being asked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.lattice import SEARCHES, FlashTwoPhase, Node, Samarati, Search, SearchProblem, Solution
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tarnkappe.privacy.exact import share_of
from tests.loss.twins import TWINS as LOSS_TWINS
from tests.loss.twins import Release
from tests.privacy.twins import TWINS as MODEL_TWINS
from tests.random_tables import Example, build_tuples, examples

KINDS = list(SEARCHES)
COMBINATIONS: list[list[Model]] = [
    [MODELS.create("k-anonymity", {"k": 2})],
    [MODELS.create("distinct-diversity", {"column": "disease", "l": 2})],
    [MODELS.create("entropy-diversity", {"column": "disease", "l": 1.8})],
    [MODELS.create("recursive-diversity", {"column": "disease", "c": 2, "l": 2})],
    [MODELS.create("equal-closeness", {"column": "disease", "t": 0.4})],
    [
        MODELS.create("k-anonymity", {"k": 2}),
        MODELS.create("hierarchical-closeness", {"column": "disease", "t": 0.4}),
    ],
]

SIMPLE_LOSSES = [
    LOSSES.create(name, {}) for name in ("entropy", "precision", "aecs", "discernibility", "height", "loss")
]


def losses_for(kind: type[Search]) -> list[Loss]:
    return [LOSSES.create("height", {})] if kind is Samarati else SIMPLE_LOSSES


def slow_best(
    example: Example, models: list[Model], loss: Loss, limit: int, ranges: Sequence[range]
) -> tuple[float, set[Node]]:
    """The smallest loss over all satisfying nodes and who has it, with slow twins only."""
    losses: dict[Node, float] = {}
    for node in itertools.product(*ranges):
        everyone = example.generalized(node)
        kept, suppressed = set(), 0
        for key, members in example.members(node).items():
            population = example.population_members(node)[key]
            good = all(
                MODEL_TWINS[part.name](part, members, everyone, population, example)[1]
                for model in models
                for part in model.parts
            )
            if good:
                kept.add(key)
            else:
                suppressed += len(members)
        if suppressed <= limit:
            losses[node] = float(LOSS_TWINS[loss.name](loss, Release(example, node, frozenset(kept))))
    best = min(losses.values(), default=math.inf)
    return best, {node for node, value in losses.items() if value <= best + 1e-9 * max(1, abs(best))}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(
    example=examples(min_rows=2, max_rows=10), data=st.data(), share=st.sampled_from([0.0, 0.25, 0.5, 1.0])
)
@settings(max_examples=settings().max_examples // 4)
def test_the_result_is_the_best_node_of_the_slow_twin(
    kind: type[Search], example: Example, data: st.DataObject, share: float
) -> None:
    models = data.draw(st.sampled_from(COMBINATIONS))
    loss = data.draw(st.sampled_from(losses_for(kind)))
    limits = {
        name: tuple(sorted(data.draw(st.tuples(st.integers(0, height), st.integers(0, height)))))
        for name, height in zip(example.quasi_identifiers, example.heights, strict=True)
        if data.draw(st.booleans())
    }
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, tuple(models), loss, share, limits)
        solution = kind().run(problem)
    except ParameterError:  # more diversity is asked for than the table has, or a search is not made for it
        reject()
    best, nodes = slow_best(example, models, loss, problem.limit, problem.level_ranges)
    if not kind.is_exact:
        check_heuristic(solution, problem, best)
        return
    if solution.best is None:
        assert not nodes
        return
    assert solution.best.loss == pytest.approx(best)
    assert solution.levels == min(nodes, key=problem.order)


def check_heuristic(solution: Solution, problem: SearchProblem, best: float) -> None:
    """A heuristic returns a satisfying node, and what it says about its distance from the best is true."""
    if solution.bound is not None:
        assert solution.bound <= best + 1e-9 * max(1, abs(best))
    if solution.best is None:
        assert not solution.optimal
        return
    assert problem.evaluate(solution.best.node).satisfied
    for level, allowed in zip(solution.best.node, problem.level_ranges, strict=True):
        assert level in allowed
    assert solution.best.loss >= best - 1e-9 * max(1, abs(best))
    if solution.optimal:
        assert solution.best.loss == pytest.approx(best)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@given(example=examples(min_rows=2), data=st.data())
@settings(max_examples=settings().max_examples // 5)
def test_the_order_of_the_columns_does_not_matter(
    kind: type[Search], example: Example, data: st.DataObject
) -> None:
    models = (MODELS.create("k-anonymity", {"k": 2}),)
    loss = data.draw(st.sampled_from(losses_for(kind)))
    shuffled = tuple(data.draw(st.permutations(example.quasi_identifiers)))

    def levels(names: Iterable[str]) -> dict[str, int] | None:
        problem = SearchProblem(example.tuples, tuple(names), models, loss, 0.3)
        try:
            found = kind().run(problem).levels
        except ParameterError:
            reject()
        return None if found is None else dict(zip(problem.quasi_identifiers, found, strict=True))

    assert levels(example.quasi_identifiers) == levels(shuffled)


def some_problem(example: Example, **changes: object) -> SearchProblem:
    settings_of = {
        "tuples": example.tuples,
        "quasi_identifiers": example.quasi_identifiers,
        "models": (MODELS.create("k-anonymity", {"k": 1}),),
        "loss": LOSSES.create("entropy", {}),
        "suppression_limit": 0.0,
    } | changes
    return SearchProblem(**settings_of)


@given(example=examples())
@settings(max_examples=5)
def test_impossible_problems_are_refused(example: Example) -> None:
    with pytest.raises(ParameterError, match="no privacy model"):
        some_problem(example, models=())
    with pytest.raises(ParameterError, match="share of the rows from 0 to 1, not 5"):
        some_problem(example, suppression_limit=5)
    with pytest.raises(ColumnError, match="no quasi-identifier"):
        some_problem(example, quasi_identifiers=())
    with pytest.raises(ColumnError, match="no column 'height'"):
        some_problem(example, quasi_identifiers=("height",))
    with pytest.raises(ColumnError, match="'treatment' has no hierarchy"):
        some_problem(example, quasi_identifiers=("treatment",))
    with pytest.raises(ParameterError, match="k = 1000 is larger than the table"):
        some_problem(example, models=(MODELS.create("k-anonymity", {"k": 1000}),))


def test_the_suppression_limit_is_exact_decimal_arithmetic() -> None:
    assert share_of(0.29, 100) == 29  # 0.29 * 100 is 28.999999999999996 in floating point
    assert share_of(0.05, 30162) == 1508


def test_a_lattice_that_is_too_large_is_refused_in_words() -> None:
    rows = [{f"q{i}": value for i in range(30)} for value in (0, 1)]
    maps = {f"q{i}": [dict.fromkeys((0, 1), "*")] for i in range(30)}
    problem = SearchProblem(
        build_tuples(rows, maps),
        tuple(maps),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("height", {}),
    )
    with pytest.raises(ParameterError, match="1,073,741,824 combinations of levels"):
        FlashTwoPhase().run(problem)
