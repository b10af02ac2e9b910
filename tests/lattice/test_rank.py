"""The aggregate 'rank': of nodes with the same greatest loss, the next greatest decides."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import SEARCHES, Node, Samarati, Search, SearchProblem
from tarnkappe.lattice.explore import choose, explore
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model
from tests.loss.twins import TWINS as LOSS_TWINS
from tests.loss.twins import Release
from tests.privacy.twins import TWINS as MODEL_TWINS
from tests.random_tables import Example, build_tuples, examples

MODELS_TRIED: list[Model] = [
    MODELS.create("k-anonymity", {"k": 2}),
    MODELS.create("equal-closeness", {"column": "disease", "t": 0.4}),
]
RANKED: list[Loss] = [
    LOSSES.create("loss", {"aggregate": "rank"}),
    LOSSES.create("precision", {"aggregate": "rank", "weights": {"a": 0.5}}),
    LOSSES.create("loss", {"aggregate": "rank", "weights": {"a": 3.0}, "weighting": "factor"}),
    LOSSES.create("height", {"aggregate": "rank"}),
    LOSSES.create("entropy", {"aggregate": "rank"}),
]


def vector(loss: Loss, release: Release) -> list[float]:
    """The weighted losses of the columns, the greatest first: each is the sum if all others weigh nothing."""
    given = loss.parameters
    weights = {name: given.get("weights", {}).get(name, 1.0) for name in release.names}
    scale = max(weights.values()) if given.get("weighting") == "factor" else 1.0
    found = []
    for name in release.names:
        alone = {other: float(other == name) for other in release.names}
        one = LOSSES.create(loss.name, {"aggregate": "sum", "weights": alone})
        found.append(round(weights[name] / scale * float(LOSS_TWINS[loss.name](one, release)), 9))
    return sorted(found, reverse=True)


def slow_best(example: Example, problem: SearchProblem) -> Node | None:
    """The node that is least by its vector and then by the total order, of all that satisfy."""
    found = []
    for node in problem.nodes():
        everyone = example.generalized(node)
        kept = frozenset(
            key
            for key, members in example.members(node).items()
            if all(
                MODEL_TWINS[part.name](
                    part, members, everyone, example.population_members(node)[key], example
                )[1]
                for model in problem.models
                for part in model.parts
            )
        )
        release = Release(example, node, kept)
        if release.suppressed <= problem.limit:
            found.append((vector(problem.loss, release), problem.order(node), node))
    return min(found)[2] if found else None


@pytest.mark.parametrize(
    "kind", [kind for kind in SEARCHES if kind.is_exact and kind is not Samarati], ids=lambda kind: kind.name
)
@given(example=examples(min_rows=2, max_rows=10), data=st.data(), share=st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=settings().max_examples // 5)
def test_every_exact_search_finds_the_node_of_least_rank(
    kind: type[Search], example: Example, data: st.DataObject, share: float
) -> None:
    model, loss = data.draw(st.sampled_from(MODELS_TRIED)), data.draw(st.sampled_from(RANKED))
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, (model,), loss, share)
        solution = kind().run(problem)
    except ParameterError:
        reject()
    assert solution.levels == slow_best(example, problem)
    assert explore(problem).best == solution.best


ROWS = [{"a": i % 4, "b": i // 4} for i in range(16)] * 2
PAIRS = {0: "low", 1: "low", 2: "high", 3: "high"}
MAPS = {name: [PAIRS, dict.fromkeys(range(4), "*")] for name in ("a", "b")}


def test_where_the_maximum_is_the_same_the_next_column_decides() -> None:
    """16 cells of two rows, k = 8: (2, 0) and (0, 2) lose 1 in one column, (1, 1) a third in both."""
    tuples = build_tuples(ROWS, MAPS)
    model = MODELS.create("k-anonymity", {"k": 8})
    loss = LOSSES.create("loss", {"aggregate": "rank"})
    problem = SearchProblem(tuples, ("a", "b"), (model,), loss)
    found = SEARCHES.create("auto", {}).run(problem)
    assert found.best is not None
    assert (found.levels, found.best.ranks) == ((1, 1), (round(1 / 3, 9), round(1 / 3, 9)))
    assert found.optimal


def test_a_bound_on_the_first_column_alone_proves_nothing() -> None:
    """Who stops early has met the least maximum, but maybe not the least of the next column."""
    tuples = build_tuples(ROWS, MAPS)
    problem = SearchProblem(
        tuples,
        ("a", "b"),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("loss", {"aggregate": "rank"}),
    )
    assert not choose(problem, (1, 1), bound=1 / 3).optimal
