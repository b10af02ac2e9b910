"""The method 'subtrees': cuts of the hierarchies that start from the proven optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.lattice import AutoSearch, SearchProblem
from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import MODELS, Model, satisfied
from tarnkappe.recoding import Recoding, Subtrees, recoded
from tarnkappe.recoding.subtrees import SubtreeRefinement
from tests.random_tables import Example, build_tuples, examples

TRIED: list[Model] = [
    MODELS.create("k-anonymity", {"k": 2}),
    MODELS.create("distinct-diversity", {"column": "disease", "l": 2}),
    MODELS.create("equal-closeness", {"column": "disease", "t": 0.4}),
]
LOSSES_TRIED: list[Loss] = [
    LOSSES.create("loss", {}),
    LOSSES.create("entropy", {}),
    LOSSES.create("aecs", {}),
]


def worth(problem: SearchProblem, example: Example, cuts: dict[str, dict[object, str]]) -> float | None:
    """What a release loses in which each value has the label that its cut says; None if it breaks a promise."""
    refinement = SubtreeRefinement(problem, (0,) * len(problem.columns))
    for column in problem.columns:
        maps = example.maps[column.name]
        for code, value in enumerate(column.values.to_pylist()):
            wanted = cuts[column.name][value]
            labels = [column.labels[code], *(level[value] for level in maps)]
            refinement.levels[column.name][code] = labels.index(wanted)
    written = {c.name: refinement.written(c.name, c) for c in problem.columns}
    everyone = np.ones(problem.tuples.num_tuples, dtype=bool)
    found = recoded(problem.tuples, Recoding(written, everyone), problem.models, problem.distributions)
    return problem.loss(found.state) if satisfied(found.state, problem.models, problem.limit) else None


def refined(problem: SearchProblem) -> SubtreeRefinement | None:
    found = AutoSearch().run(problem)
    if found.best is None:
        return None
    run = SubtreeRefinement(problem, found.best.node)
    assert run.loss == pytest.approx(found.best.loss) or problem.loss.name == "entropy"
    run.refine()
    return run


@given(example=examples(min_rows=2, max_rows=10), data=st.data(), share=st.sampled_from([0.0, 0.25]))
@settings(max_examples=settings().max_examples // 2)
def test_a_cut_is_left_that_no_label_can_leave_and_never_loses_more_than_the_best_node(
    example: Example, data: st.DataObject, share: float
) -> None:
    model, loss = data.draw(st.sampled_from(TRIED)), data.draw(st.sampled_from(LOSSES_TRIED))
    try:
        problem = SearchProblem(example.tuples, example.quasi_identifiers, (model,), loss, share)
    except (ParameterError, ColumnError):
        return
    run = refined(problem)
    if run is None:
        return
    start = SubtreeRefinement(problem, AutoSearch().run(problem).best.node).loss  # type: ignore[union-attr]
    assert run.loss <= start
    cuts = {}
    for column in problem.columns:
        maps, values = example.maps[column.name], column.values.to_pylist()
        labels = {v: [column.labels[i], *(level[v] for level in maps)] for i, v in enumerate(values)}
        height = {v: int(run.levels[column.name][i]) for i, v in enumerate(values)}
        for one, other in itertools.combinations(
            values, 2
        ):  # a label of the cut covers all that lie under it
            if height[one] and labels[one][height[one]] == labels[other][height[one]]:
                assert height[other] == height[one]
        cuts[column.name] = {v: labels[v][height[v]] for v in values}
    assert worth(problem, example, cuts) == pytest.approx(run.loss)
    for column in problem.columns:  # no label can be replaced by those under it, tried one by one
        values = column.values.to_pylist()
        for label in set(cuts[column.name].values()):
            under = [i for i, v in enumerate(values) if cuts[column.name][v] == label]
            level = int(run.levels[column.name][under[0]])
            if level == 0:
                continue
            lower = [
                column.labels[i] if level == 1 else example.maps[column.name][level - 2][values[i]]
                for i in under
            ]
            changed = {**cuts[column.name], **{values[i]: low for i, low in zip(under, lower, strict=True)}}
            found = worth(problem, example, {**cuts, column.name: changed})
            assert found is None or found >= run.loss - 1e-9


PEOPLE = [{"town": town} for town in ["Ulm"] * 5 + ["Bonn"] * 4 + ["Kiel"] + ["Jena"]]
TOWNS = {
    "town": [
        {"Ulm": "South", "Bonn": "South", "Kiel": "North", "Jena": "North"},
        dict.fromkeys(["Ulm", "Bonn", "Kiel", "Jena"], "*"),
    ]
}


def test_rare_values_lift_only_their_own_branch() -> None:
    """Two towns with one person each lift everybody's town to a region; with subtrees only their own."""
    problem = SearchProblem(
        build_tuples(PEOPLE, TOWNS),
        ("town",),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("loss", {}),
    )
    written = Subtrees().recode(problem.tuples, problem).written["town"]
    assert sorted(set(written.rows(0, problem.tuples.num_tuples).to_pylist())) == ["Bonn", "North", "Ulm"]


def test_level_limits_hold_for_every_branch() -> None:
    problem = SearchProblem(
        build_tuples(PEOPLE, TOWNS),
        ("town",),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("loss", {}),
        level_limits={"town": (1, 2)},
    )
    written = Subtrees().recode(problem.tuples, problem).written["town"]
    assert set(written.rows(0, problem.tuples.num_tuples).to_pylist()) == {"South", "North"}


def test_without_levels_there_is_nothing_to_refine() -> None:
    problem = SearchProblem(
        build_tuples(PEOPLE, TOWNS),
        ("town",),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("loss", {}),
        level_limits={"town": (0, 0)},
    )
    with pytest.raises(NoSolutionError, match="found no levels that meet"):
        Subtrees().recode(problem.tuples, problem)
