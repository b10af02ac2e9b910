"""However a table is recoded, the release as it is written meets every model, or the job is refused.

The attacker here reads the release as it stands: he does not care in which pass a row was recoded, whether its
cells are labels, aggregates or '*'. So the SQL path is asked about the written values, for every model of the
registry.
"""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import ColumnError, NoSolutionError, ParameterError
from tarnkappe.job.column_plan import plan_columns
from tarnkappe.job.preparation import prepare
from tarnkappe.lattice import Evaluation, Solution
from tarnkappe.loss import LeafLoss
from tarnkappe.privacy import MODELS, DifferentialPrivacy, Model
from tarnkappe.privacy.verify import verify
from tests.random_tables import Example, examples
from tests.recoding.people import hierarchies_of, population_of, table_of, with_clashing_labels

INSTANCES = [instance for kind in MODELS if kind is not DifferentialPrivacy for instance in kind.examples()]
LOSSES = ("entropy", "loss", "discernibility", "aecs", "entropy-suppression-aware", "ambiguity")


def require_every_promise(result: tarnkappe.Result) -> None:
    """Ask SQL again, of the plain release table, with nothing that the pipeline handed over but hierarchies."""
    with duckdb.connect(config={"threads": 1}) as connection:
        release = result.release.data
        for name in result.withheld.column_names:
            release = release.append_column(name, result.withheld.column(name))
        connection.register("release", release)
        connection.register("input", result.input.data)
        if result.population is not None:
            connection.register("everyone", result.population.data)
        found = verify(
            connection,
            result.problem.models,
            result.input.quasi_identifiers,
            population=None if result.population is None else "everyone",
            sensitive=result.problem.tuples.columns,
        )
    assert all(each.holds for each in found), found


@given(
    example=examples(with_population=True, min_rows=4, max_columns=2),
    clash=st.booleans(),
    models=st.lists(st.sampled_from(INSTANCES), min_size=1, max_size=2, unique=True),
    suppression=st.sampled_from(["record", "cell"]),
    data=st.data(),
)
@settings(max_examples=40)
def test_whatever_passes_there_are_the_whole_release_keeps_every_promise(
    example: Example, clash: bool, models: list[Model], suppression: str, data: st.DataObject
) -> None:
    """Not only the passes that a search would choose: any."""
    example = with_clashing_labels(example) if clash else example
    nodes = data.draw(st.lists(st.sampled_from(list(example.nodes())), min_size=1, max_size=4))
    try:
        prepared = prepare(
            table_of(example),
            plan_columns(table_of(example), hierarchies_of(example), {}),
            models,
            LeafLoss(),
            suppression_limit=1.0,
            suppression=suppression,
            population=population_of(example),
        )
        names = [example.quasi_identifiers.index(name) for name in prepared.problem.quasi_identifiers]
        nodes = [tuple(node[index] for index in names) for node in nodes]
        best = Evaluation(nodes[0], True, 0.0, 0, 0)
        result = prepared.release(Solution(best, False, 0, "any", passes=tuple(nodes)))
    except (NoSolutionError, ParameterError, ColumnError):
        reject()
    event(f"passes with rows: {sum(each.rows > 0 for each in result.passes)}, stars: {result.starred > 0}")
    require_every_promise(result)
    assert sum(each.rows for each in result.passes) + result.suppressed == len(example.rows)
    assert all(found.holds for each in result.passes for found in each.verified)
    stars = [
        row
        for row in result.release.data.to_pylist()
        if all(row[name] == "*" for name in example.quasi_identifiers)
    ]
    assert len(stars) >= result.starred
    assert result.release.num_rows == len(example.rows) - result.suppressed + result.starred


@given(
    example=examples(with_population=True, min_rows=4, max_columns=2),
    models=st.lists(st.sampled_from(INSTANCES), min_size=1, max_size=2, unique=True),
    loss=st.sampled_from(LOSSES),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
    allowance=st.sampled_from([True, 0.3, 0.7, 1.0]),
)
@settings(max_examples=20)
def test_a_search_in_passes_keeps_every_promise_and_its_limit(
    example: Example, models: list[Model], loss: str, limit: float, allowance: bool | float
) -> None:
    try:
        result = tarnkappe.anonymize(
            table_of(example),
            privacy=models,
            hierarchies=hierarchies_of(example),
            loss=loss,
            suppression_limit=limit,
            local_recoding=allowance,
            population=population_of(example),
        )
    except (NoSolutionError, ParameterError, ColumnError):
        reject()
    require_every_promise(result)
    assert result.suppressed <= limit * len(example.rows)


@given(
    example=examples(min_rows=4, max_columns=3),
    models=st.lists(st.sampled_from(INSTANCES), min_size=1, max_size=2, unique=True),
    function=st.sampled_from(["mean", "median", "mode", "interval"]),
    suppression=st.sampled_from(["record", "cell"]),
    local=st.sampled_from([False, True]),
    data=st.data(),
)
@settings(max_examples=25)
def test_aggregates_keep_every_promise(
    example: Example, models: list[Model], function: str, suppression: str, local: bool, data: st.DataObject
) -> None:
    chosen = data.draw(st.sets(st.sampled_from(example.quasi_identifiers), min_size=1))
    levels = {name: (0, len(example.maps[name])) for name in chosen if data.draw(st.booleans())}
    try:
        result = tarnkappe.anonymize(
            table_of(example),
            privacy=models,
            hierarchies=hierarchies_of(example),
            aggregates=dict.fromkeys(sorted(chosen), function),
            levels=levels,
            loss="loss",
            suppression_limit=0.5,
            suppression=suppression,
            local_recoding=local,
        )
    except (NoSolutionError, ParameterError, ColumnError):
        reject()
    require_every_promise(result)
    assert set(result.aggregates) == chosen


@pytest.mark.parametrize("model", INSTANCES, ids=str)
def test_a_model_about_people_outside_the_release_says_so(model: Model) -> None:
    """Then it cannot be promised of aggregates: they would tell who of the others is not among the members."""
    beyond = {
        "delta-presence",
        "population-coverage",
        "k-map",
        "population-uniqueness",
        "journalist-profitability",
        "journalist-no-attack",
    }
    assert all(part.looks_beyond_release == (part.name in beyond) for part in model.parts)
