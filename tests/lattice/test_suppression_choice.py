"""Optimal means that nothing that may be released loses less, whichever classes are suppressed."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tarnkappe import anonymize
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.lattice import Exhaustive, SearchProblem
from tarnkappe.lattice.explore import choose, explore
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, AverageRisk, KAnonymity, Model, PopulationUniqueness, SampleUniqueness
from tarnkappe.privacy.evaluate import keep_all, satisfied
from tarnkappe.privacy.model import ModelScope
from tarnkappe.table import ClassState, Role, Table
from tests.random_tables import Example, build_tuples, examples

INSTANCES = [model for kind in MODELS for model in kind.examples()]
LOSS_INSTANCES = [loss for kind in LOSSES for loss in kind.examples()[:1]] + [
    LOSSES.create("loss", {"coding_model": 0.2})
]
MOST_CLASSES = 9


def least_of_all(problem: SearchProblem) -> float:
    """The least loss of all releases: every combination of levels with every choice of kept classes."""
    parts = [part for model in problem.models for part in model.parts]
    least = math.inf
    for node in problem.nodes():
        classes = problem.classes(node)
        if classes.num_classes > MOST_CLASSES:
            reject()
        for choice in itertools.product((True, False), repeat=classes.num_classes):
            kept = np.array(choice, dtype=bool) & classes.released
            state = ClassState(classes, kept)
            if satisfied(state, problem.models, problem.limit) and np.array_equal(
                keep_all(classes, kept, parts), kept
            ):
                least = min(least, problem.loss(state))
    return least


@given(
    example=examples(min_rows=3, max_rows=8, with_population=True),
    model=st.sampled_from(INSTANCES),
    loss=st.sampled_from(LOSS_INSTANCES),
    share=st.sampled_from([0.25, 0.5, 1.0]),
)
@settings(max_examples=250)
def test_what_is_called_optimal_loses_least_of_all_choices(
    example: Example, model: Model, loss: Loss, share: float
) -> None:
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, (model,), loss, share)
        found = Exhaustive().run(problem)
    except (ColumnError, ParameterError):
        reject()
    if found.optimal and found.best is not None:
        least = least_of_all(problem)
        assert found.best.loss <= least + 1e-9 * max(1.0, abs(least)), (str(model), str(loss))


@pytest.mark.parametrize("model", INSTANCES, ids=str)
def test_models_on_the_table_never_claim_an_optimum_with_suppression(model: Model) -> None:
    scopes = {part.scope for part in model.parts}
    if ModelScope.TABLE in scopes:
        assert any(part.suppression_rule for part in model.parts)
    if scopes == {ModelScope.CLASS}:
        assert not any(part.suppression_rule for part in model.parts)


def pair_or_single() -> tuple[Table, dict[str, Hierarchy]]:
    """Classes of 1, 2, 8 and 8 rows at any level but the first: suppressing the pair loses less."""
    rows = ["a"] + ["b", "c"] + ["d"] * 8 + ["e"] * 8
    hierarchy = [["a", "a", "*"], ["b", "bc", "*"], ["c", "bc", "*"], ["d", "d", "*"], ["e", "e", "*"]]
    return Table(pa.table({"x": rows})).with_roles({"x": Role.QUASI_IDENTIFIER}), {
        "x": Hierarchy.from_rows(hierarchy)
    }


@pytest.mark.parametrize(
    "model",
    [
        AverageRisk("1/5"),
        SampleUniqueness("1/30"),
        PopulationUniqueness("1/100", "zayatz", sampling_fraction=0.5),
    ],
    ids=str,
)
def test_the_report_says_how_classes_were_suppressed(model: Model) -> None:
    table, hierarchies = pair_or_single()
    result = anonymize(
        table, privacy=[model], hierarchies=hierarchies, loss="loss", suppression_limit=0.2, seed=1
    )
    figures = result.to_dict()
    assert (figures["optimal"], figures["optimal_levels"], figures["bound"]) == (False, True, None)
    assert "no other levels lose less when classes are suppressed smallest first" in result.solution.proof
    assert "proven optimal" not in str(result)
    without = anonymize(
        table, privacy=[model], hierarchies=hierarchies, loss="loss", suppression_limit=0, seed=1
    )
    assert without.solution.proof == "proven optimal"


def test_a_chosen_node_is_no_optimum_either() -> None:
    generator = random.Random(4)
    rows = [{"q": generator.randrange(6), "disease": "flu"} for _ in range(30)]
    maps = {"q": [{n: f"{n // 2}" for n in range(6)}, dict.fromkeys(range(6), "*")]}
    for model, optimal in ((AverageRisk(0.2), False), (KAnonymity(4), True)):
        problem = SearchProblem(build_tuples(rows, maps), ("q",), (model,), LOSSES.create("loss", {}), 0.3)
        best = explore(problem).best
        assert best is not None
        assert choose(problem, best.node, best.loss).optimal is optimal
