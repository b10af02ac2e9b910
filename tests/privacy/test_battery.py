"""What every privacy model must fulfil; a model in the registry is tested here without being asked."""

from __future__ import annotations

import math
import random
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.privacy import MODELS, Direction, Model, monotone, needed_distributions, protect, satisfied
from tarnkappe.privacy.verify import verify
from tarnkappe.table import Classes
from tests.privacy.twins import TWINS
from tests.random_tables import DISEASE_LEVELS, DISEASES, Example, build_tuples, examples

INSTANCES = [instance for model in MODELS for instance in model.examples()]
PARTS = list(dict.fromkeys(part for model in INSTANCES for part in model.parts))
every_model = pytest.mark.parametrize("model", INSTANCES, ids=str)


def some(models: list[Model]) -> st.SearchStrategy[list[Model]]:
    """Some of the models at a time: all of them in every test would take too long."""
    return st.lists(st.sampled_from(models), min_size=1, max_size=12, unique=True)


Node = tuple[int, ...]


def classes_of(example: Example, levels: Node, models: list[Model]) -> Classes:
    return example.tuples.classes(example.quasi_identifiers, levels, needed_distributions(models))


def class_keys(classes: Classes) -> list[tuple[str, ...]]:
    return [tuple(classes.labels(index).values()) for index in range(classes.num_classes)]


@every_model
def test_a_model_explains_itself(model: Model) -> None:
    assert model.promise.endswith(".")
    assert model.monotonicity.reason
    assert MODELS.create(model.name, model.parameters) == model
    assert str(model).startswith(model.name)


@given(example=examples(with_population=True), data=st.data())
def test_every_class_is_measured_as_the_slow_twin_does(example: Example, data: st.DataObject) -> None:
    levels = data.draw(st.sampled_from(list(example.nodes())))
    models = data.draw(some(list(dict.fromkeys([*PARTS, *INSTANCES]))))
    classes = classes_of(example, levels, models)
    everyone, members = example.generalized(levels), example.members(levels)
    population = example.population_members(levels)
    keys = class_keys(classes)
    for part in models:
        measured, holds = part.measure(classes), part.holds(classes)
        for index, key in enumerate(keys):
            if key not in members:
                continue
            value, good = TWINS[part.name](part, members[key], everyone, population[key], example)
            assert measured[index] == pytest.approx(float(value), abs=1e-9), (part, key)
            assert bool(holds[index]) == good, (part, key, value)
        assert np.array_equal(part.keep(classes, classes.released), protect(classes, [part]).kept), part


@given(example=examples(with_population=True), data=st.data())
@settings(max_examples=60)
def test_kernels_and_sql_agree(example: Example, data: st.DataObject) -> None:
    levels = data.draw(st.sampled_from(list(example.nodes())))
    models = data.draw(some(INSTANCES))
    assert_kernels_and_sql_agree(example, levels, models)


@every_model
def test_kernels_and_sql_agree_on_skewed_tables(model: Model) -> None:
    for example in skewed_examples()[:3]:
        assert_kernels_and_sql_agree(example, (1, 0), [model])


@every_model
def test_counted_rows_are_verified_as_rows_are(model: Model) -> None:
    """An engine hands over distinct rows with counts; every model must find in them what it finds in rows."""
    for example in skewed_examples()[:3]:
        rows, everyone = example.release((1, 0)), example.release((1, 0), example.population)
        with duckdb.connect(config={"threads": 1}) as connection:
            for name, data in (("release", rows), ("input", rows), ("everyone", everyone)):
                connection.register(name, data)
                merged = f"SELECT *, count(*) AS rows FROM {name} GROUP BY ALL"
                connection.register(f"counted_{name}", connection.sql(merged).to_arrow_table())
            names, sensitive = example.quasi_identifiers, dict(example.tuples.columns)
            one_by_one = verify(connection, [model], names, population="everyone", sensitive=sensitive)
            counted = verify(
                connection,
                [model],
                names,
                release="counted_release",
                input_table="counted_input",
                population="counted_everyone",
                sensitive=sensitive,
                weight="rows",
            )
        assert counted == one_by_one


def assert_kernels_and_sql_agree(example: Example, levels: Node, models: list[Model]) -> None:
    """What the kernels keep, SQL passes with the same value; what they forbid, SQL forbids too."""
    classes = classes_of(example, levels, models)
    names = example.quasi_identifiers
    keys = class_keys(classes)
    row_keys = [tuple(str(row[n]) for n in names) for row in example.generalized(levels)]
    release = example.release(levels)
    connection = duckdb.connect(config={"threads": 1})
    connection.register("input", release)
    connection.register("everyone", example.release(levels, example.population))
    connection.register("untouched", release)
    for model in models:
        if any(part.irreparable(classes) for part in model.parts):
            continue
        state = protect(classes, [model])
        kept = {key for key, keep in zip(keys, state.kept, strict=True) if keep}
        connection.register("release", release.filter(pa.array([k in kept for k in row_keys], pa.bool_())))
        sensitive = dict(example.tuples.columns)
        for found in verify(connection, [model], names, population="everyone", sensitive=sensitive):
            assert found.holds, found
            if found.value is not None and state.kept.any():
                assert found.value == pytest.approx(found.model.value(classes, state.kept), abs=1e-6), found
        untouched = verify(
            connection, [model], names, release="untouched", population="everyone", sensitive=sensitive
        )
        assert all(v.holds for v in untouched) == satisfied(state, [model], 0), model


def satisfying_nodes(example: Example, models: list[Model], limit: int) -> dict[Model, dict[Node, bool]]:
    good: dict[Model, dict[Node, bool]] = {model: {} for model in models}
    for node in example.nodes():
        classes = classes_of(example, node, models)
        for model in models:
            good[model][node] = satisfied(protect(classes, [model]), [model], limit)
    return good


def violating_edge(good: dict[Node, bool]) -> tuple[Node, Node] | None:
    """A satisfying node with a direct generalization that does not satisfy."""
    for node, is_good in good.items():
        for index in range(len(node)):
            above = (*node[:index], node[index] + 1, *node[index + 1 :])
            if is_good and not good.get(above, True):
                return node, above
    return None


@given(example=examples(with_population=True), share=st.sampled_from([0.0, 0.3, 0.6]), data=st.data())
def test_stated_monotonicity_holds_on_the_whole_lattice(
    example: Example, share: float, data: st.DataObject
) -> None:
    limit = math.floor(share * example.tuples.num_rows)
    claiming = [model for model in INSTANCES if model.monotonicity.holds(suppression=limit > 0)]
    for model, good in satisfying_nodes(example, data.draw(some(claiming)), limit).items():
        assert violating_edge(good) is None, model


@given(example=examples(with_population=True), share=st.sampled_from([0.3, 0.6]), data=st.data())
@settings(max_examples=100)
def test_several_monotone_models_are_monotone_together(
    example: Example, share: float, data: st.DataObject
) -> None:
    limit = math.floor(share * example.tuples.num_rows)
    claiming = [model for model in INSTANCES if model.monotonicity.with_suppression]
    models = data.draw(st.lists(st.sampled_from(claiming), min_size=2, max_size=3, unique=True))
    if not monotone(models, suppression=True):
        return
    good = {
        node: satisfied(protect(classes_of(example, node, models), models), models, limit)
        for node in example.nodes()
    }
    assert violating_edge(good) is None, models


@given(example=examples(with_population=True), models=some(INSTANCES))
@settings(max_examples=100)
def test_implied_criteria_are_implied_and_monotone(example: Example, models: list[Model]) -> None:
    implied = {model: model.sub_criteria(example.tuples) for model in models}
    everything = [*models, *(criterion for criteria in implied.values() for criterion in criteria)]
    for node in example.nodes():
        classes = classes_of(example, node, everything)
        for model, criteria in implied.items():
            kept = protect(classes, [model]).kept
            for criterion in criteria:
                assert criterion.monotonicity.with_suppression, (model, criterion)
                assert np.all(protect(classes, [criterion]).kept[kept]), (model, criterion, node)
            assert np.all(classes.sizes[kept] >= model.least_size(example.tuples)), (model, node)


@pytest.mark.parametrize("suppression", [False, True])
@every_model
def test_a_denied_monotonicity_has_a_counterexample(model: Model, suppression: bool) -> None:
    """A model that calls itself not monotone forgoes pruning; it must have a reason to."""
    if model.monotonicity.holds(suppression):
        return
    limits = (1, 2, 3, 5) if suppression else (0,)
    assert any(
        violating_edge(satisfying_nodes(example, [model], limit)[model])
        for example in skewed_examples()
        for limit in limits
    )


@cache
def skewed_examples() -> tuple[Example, ...]:
    generator = random.Random(7)
    return tuple(skewed_example(generator) for _ in range(400))


def skewed_example(generator: random.Random) -> Example:
    domain = range(4)
    maps = {
        "a": [{v: f"1:{v // 2}" for v in domain}, dict.fromkeys(domain, "*")],
        "b": [dict.fromkeys(range(2), "*")],
    }
    weights = [generator.random() for _ in DISEASES]

    def row() -> dict[str, object]:
        return {
            "a": generator.choice(domain),
            "b": generator.randrange(2),
            "disease": generator.choices(DISEASES, weights)[0],
            "treatment": generator.choice("AB"),
            "income": generator.randrange(6) * 100,
        }

    rows = [row() for _ in range(generator.randrange(4, 14))]
    population = [*rows, *(row() for _ in range(generator.randrange(8)))]
    tuples = build_tuples(rows, {**maps, "disease": DISEASE_LEVELS}, population)
    return Example(rows, population, maps, tuples)


def test_worst_value_follows_the_direction() -> None:
    values = np.array([1.0, 3.0])
    assert Direction.AT_LEAST.worst(values) == Direction.MORE_THAN.worst(values) == 1.0
    assert Direction.AT_MOST.worst(values) == Direction.LESS_THAN.worst(values) == 3.0
