"""What every loss must fulfil; a loss in the registry is tested here without being asked."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import (
    MODELS,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    needed_distributions,
    protect,
)
from tarnkappe.table import Classes, ClassState, Tuples
from tarnkappe.table.classes import Mask, release_everything
from tests.loss.twins import TWINS, Release
from tests.random_tables import DISEASE_LEVELS, DISEASES, Example, build_tuples, examples

INSTANCES = [instance for loss in LOSSES for instance in loss.examples()]
every_loss = pytest.mark.parametrize("loss", INSTANCES, ids=str)

MONOTONE = (KAnonymity(2), KAnonymity(3), DistinctDiversity("disease", 2))
NOT_MONOTONE = (EntropyDiversity("disease", 1.8), EntropyDiversity("disease", 2.5))
NEEDED = tuple(
    dict.fromkeys(
        [
            *needed_distributions([*MONOTONE, *NOT_MONOTONE]),
            *(names for loss in INSTANCES for names in loss.distributions),
        ]
    )
)

Node = tuple[int, ...]
Criterion = Callable[[Classes], Mask]
SETTINGS = list(itertools.product((True, False), repeat=2))
"""All pairs (the criterion is monotone, rows may be suppressed)."""


def with_bounds(example: Example) -> Example:
    """The example with the least and greatest number under every label of column 'a'."""
    column, maps = example.tuples.columns["a"], example.maps["a"]
    levels = column.levels
    assert levels is not None
    bounds = [np.array([[value, value] for value in column.values.to_pylist()], dtype=np.float64)]
    for labels, level in zip(levels.labels[1:], maps, strict=True):
        under = [[value for value, own in level.items() if own == label] for label in labels]
        bounds.append(np.array([[min(values), max(values)] for values in under], dtype=np.float64))
    bounded = column.with_levels(dataclasses.replace(levels, bounds=tuple(bounds)))
    tuples = dataclasses.replace(example.tuples, columns={**example.tuples.columns, "a": bounded})
    return dataclasses.replace(example, tuples=tuples)


@st.composite
def battery_examples(draw: st.DrawFn) -> Example:
    """A random table with bounds for column 'a': with a population, with a last column that cannot be
    generalized, or with a column of many values and a taller hierarchy."""
    if draw(st.integers(0, 3)) == 0:
        return tall_example(random.Random(draw(st.integers(0, 2**32))))
    example = draw(examples(with_population=True))
    last = example.quasi_identifiers[-1]
    if last != "a" and draw(st.booleans()):
        maps = {**example.maps, last: []}
        tuples = build_tuples(example.rows, {**maps, "disease": DISEASE_LEVELS}, example.population)
        example = dataclasses.replace(example, maps=maps, tuples=tuples)
    return with_bounds(example)


def classes_of(example: Example, levels: Node) -> Classes:
    return example.tuples.classes(example.quasi_identifiers, levels, NEEDED)


def lattice(example: Example) -> dict[Node, Classes]:
    return {node: classes_of(example, node) for node in example.nodes()}


def release_of(example: Example, state: ClassState) -> Release:
    kept = frozenset(tuple(state.classes.labels(int(i)).values()) for i in np.flatnonzero(state.kept))
    return Release(example, state.classes.levels, kept)


def close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def above(node: Node, other: Node) -> bool:
    return all(a >= b for a, b in zip(node, other, strict=True))


# ---------------------------------------------------------------- which classes a criterion keeps


def everything(classes: Classes) -> Mask:
    return classes.released


def under_model(*models: object) -> Criterion:
    return lambda classes: protect(classes, list(models)).kept  # type: ignore[arg-type]


def marked_rows(example: Example, generator: random.Random) -> Criterion:
    """A random monotone criterion: enough of the tuples in a class are marked."""
    marks = np.array([generator.random() < 0.5 for _ in range(example.tuples.num_tuples)])
    least = generator.randint(1, 2)
    return lambda classes: (
        classes.released & (np.bincount(classes.ids, weights=marks, minlength=classes.num_classes) >= least)
    )


def at_random(generator: random.Random) -> Criterion:
    """No criterion at all: any class may be kept or not."""
    share = generator.choice([0.2, 0.5, 0.8])
    return lambda classes: (
        classes.released & np.array([generator.random() < share for _ in range(classes.num_classes)])
    )


def criteria(
    example: Example, generator: random.Random, criterion_monotone: bool, suppression: bool
) -> Iterator[Criterion]:
    if not suppression:
        yield everything
    elif criterion_monotone:
        yield from (under_model(model) for model in MONOTONE)
        yield under_model(*MONOTONE)
        yield from (marked_rows(example, generator) for _ in range(2))
    else:
        yield from (under_model(model) for model in NOT_MONOTONE)
        yield from (at_random(generator) for _ in range(2))


# ---------------------------------------------------------------- the tests


@every_loss
def test_a_loss_explains_itself(loss: Loss) -> None:
    assert inspect.getdoc(type(loss))
    assert LOSSES.create(loss.name, loss.parameters) == loss
    assert hash(LOSSES.create(loss.name, loss.parameters)) == hash(loss)
    assert str(loss).startswith(loss.name)
    assert loss.name in TWINS, "a loss needs a slow twin in tests/loss/twins.py"


@given(example=battery_examples(), data=st.data())
@settings(max_examples=120)
def test_every_loss_agrees_with_its_slow_twin(example: Example, data: st.DataObject) -> None:
    classes = classes_of(example, data.draw(st.sampled_from(list(example.nodes()))))
    flags = data.draw(st.lists(st.booleans(), min_size=classes.num_classes, max_size=classes.num_classes))
    models = data.draw(st.sampled_from([[], *([model] for model in (*MONOTONE, *NOT_MONOTONE))]))
    kept = protect(classes, models).kept if models else classes.released & np.array(flags)
    state = ClassState(classes, kept)
    release = release_of(example, state)
    for loss in INSTANCES:
        loss.check(example.tuples, example.quasi_identifiers)
        expected = float(TWINS[loss.name](loss, release))
        assert close(loss(state), expected), (loss, loss(state), expected)


def falling_edge(losses: dict[Node, float]) -> tuple[Node, Node] | None:
    """A node with a direct generalization that loses less."""
    for node, loss in losses.items():
        for index in range(len(node)):
            up = (*node[:index], node[index] + 1, *node[index + 1 :])
            if up in losses and losses[up] < loss and not close(losses[up], loss):
                return node, up
    return None


@given(example=battery_examples(), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_stated_monotonicity_holds_on_the_whole_lattice(example: Example, seed: int) -> None:
    generator, nodes = random.Random(seed), lattice(example)
    for criterion_monotone, suppression in SETTINGS:
        claiming = [
            loss
            for loss in INSTANCES
            if loss.monotone(criterion_monotone=criterion_monotone, suppression=suppression)
        ]
        for criterion in criteria(example, generator, criterion_monotone, suppression):
            states = {node: ClassState(classes, criterion(classes)) for node, classes in nodes.items()}
            for loss in claiming:
                edge = falling_edge({node: loss(state) for node, state in states.items()})
                assert edge is None, (loss, criterion_monotone, suppression, edge)


def test_a_denied_monotonicity_has_a_counterexample() -> None:
    """A loss that calls itself not monotone forgoes pruning; it must have a reason to."""
    denied = {
        (loss, setting)
        for loss in INSTANCES
        for setting in SETTINGS
        if not loss.monotone(criterion_monotone=setting[0], suppression=setting[1])
    }
    generator = random.Random(3)
    for example in tall_examples():
        nodes = lattice(example)
        for setting in SETTINGS:
            open_claims = [loss for loss, where in denied if where == setting]
            for criterion in criteria(example, generator, *setting) if open_claims else ():
                states = {node: ClassState(classes, criterion(classes)) for node, classes in nodes.items()}
                for loss in open_claims:
                    if falling_edge({node: loss(state) for node, state in states.items()}):
                        denied.discard((loss, setting))
    assert not denied


def bounds_of(loss: Loss, state: ClassState) -> list[float]:
    classes = state.classes
    from_levels = loss.lower_bound_at(classes.tuples, classes.quasi_identifiers, classes.levels)
    return [bound for bound in (loss.lower_bound(state), from_levels) if bound is not None]


@given(example=battery_examples(), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_no_generalization_falls_below_the_lower_bound(example: Example, seed: int) -> None:
    """Whatever is suppressed where the bound is asked, and whatever above it."""
    generator, nodes = random.Random(seed), lattice(example)
    masks: list[Criterion] = [everything, lambda classes: np.zeros(classes.num_classes, bool)]
    masks += [at_random(generator), at_random(generator), under_model(KAnonymity(2))]
    states = {node: [ClassState(classes, mask(classes)) for mask in masks] for node, classes in nodes.items()}
    for loss in INSTANCES:
        least = {node: min(loss(state) for state in own) for node, own in states.items()}
        highest = {
            node: max((bound for state in own for bound in bounds_of(loss, state)), default=None)
            for node, own in states.items()
        }
        for node, bound in highest.items():
            for other in least:
                if bound is not None and above(other, node):
                    assert bound <= least[other] or close(bound, least[other]), (loss, node, other)


@given(example=battery_examples())
@settings(max_examples=60)
def test_bounds_for_all_levels_at_once_are_those_one_by_one(example: Example) -> None:
    tuples = example.tuples
    columns = [tuples.columns[name] for name in example.quasi_identifiers]
    ranges = [range(0 if c.levels is None else c.levels.height + 1) for c in columns]
    for loss in INSTANCES:
        grid = loss.lower_bounds(tuples, columns, ranges)
        for node in example.nodes():
            bound = loss.lower_bound_at(tuples, columns, node)
            assert (grid is None) == (bound is None)
            assert grid is None or close(float(grid[node]), float(bound or 0)), (loss, node)


@given(example=battery_examples(), least_size=st.integers(1, 4))
@settings(max_examples=60)
def test_the_lower_bound_holds_where_small_classes_are_never_kept(example: Example, least_size: int) -> None:
    states = {node: protect(classes, [KAnonymity(least_size)]) for node, classes in lattice(example).items()}
    for loss in INSTANCES:
        for node, state in states.items():
            bound = loss.lower_bound(state, least_size=least_size)
            for other, above_it in states.items():
                if bound is not None and above(other, node):
                    assert bound <= loss(above_it) or close(bound, loss(above_it)), (loss, node, other)


@given(example=battery_examples(), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_suppression_is_charged_for_where_stated(example: Example, seed: int) -> None:
    """Suppression never lowers a loss that charges for it, and never raises another."""
    generator = random.Random(seed)
    classes = classes_of(example, generator.choice(list(example.nodes())))
    suppressed = ClassState(classes, at_random(generator)(classes))
    for loss in INSTANCES:
        if loss.may_prefer_suppression:
            continue
        before, after = loss(release_everything(classes)), loss(suppressed)
        low, high = (before, after) if loss.considers_suppression else (after, before)
        assert low <= high or close(low, high), loss


def test_suppressing_what_might_be_kept_pays_only_where_stated() -> None:
    """A claim that it may pay needs a counterexample, too: being too modest takes the word optimal away."""
    generator = random.Random(3)
    pays = set()
    for example in tall_examples():
        for classes in lattice(example).values():
            kept = at_random(generator)(classes)
            fewer = kept & at_random(generator)(classes)
            for loss in INSTANCES:
                before, after = loss(ClassState(classes, kept)), loss(ClassState(classes, fewer))
                if after < before and not close(after, before):
                    pays.add(loss)
    assert pays == {loss for loss in INSTANCES if loss.suppression_may_pay}


def test_what_a_loss_says_it_depends_on_it_depends_on() -> None:
    generator = random.Random(5)
    sees_data, charges, prefers = set(), set(), set()
    for example in tall_examples()[:40]:
        for classes in lattice(example).values():
            state = release_everything(classes)
            reshuffled = reweighted(example.tuples, generator)
            other = release_everything(reshuffled.classes(example.quasi_identifiers, classes.levels, NEEDED))
            suppressed = ClassState(classes, at_random(generator)(classes))
            for loss in INSTANCES:
                if not close(loss(state), loss(other)) or not close(loss(state), loss(suppressed)):
                    sees_data.add(loss)
                if loss(suppressed) > loss(state) and not close(loss(suppressed), loss(state)):
                    charges.add(loss)
                if loss(suppressed) < loss(state) and not close(loss(suppressed), loss(state)):
                    prefers.add(loss)
    assert sees_data == {loss for loss in INSTANCES if not loss.data_independent}
    assert charges == {loss for loss in INSTANCES if loss.considers_suppression}
    charging = {loss for loss in INSTANCES if loss.considers_suppression}
    assert prefers & charging == {loss for loss in INSTANCES if loss.may_prefer_suppression}


def reweighted(tuples: Tuples, generator: random.Random) -> Tuples:
    """The same values with other frequencies."""
    factors = np.array([generator.randint(1, 3) for _ in range(tuples.num_tuples)])
    return Tuples(tuples.columns, tuples.counts * factors)


UNTOUCHED: dict[str, Callable[[Loss, int], float]] = {
    "aecs": lambda loss, rows: 1 / loss.p / min(1, 2 * (0.5 if loss.factor is None else loss.factor)),  # type: ignore[attr-defined]
    "aecs-released": lambda loss, rows: 1 / loss.p,  # type: ignore[attr-defined]
    "normalized-class-size": lambda loss, rows: 1 / loss.k,  # type: ignore[attr-defined]
    "discernibility": lambda loss, rows: rows,
    "discernibility-star": lambda loss, rows: rows,
    "discernibility-star-released": lambda loss, rows: rows,
    "ambiguity": lambda loss, rows: 1,
}
"""What is lost at the least; all other losses are 0 there."""


@given(example=examples())
@settings(max_examples=40)
def test_untouched_data_without_duplicates_lose_the_least(example: Example) -> None:
    rows = list({tuple(r[n] for n in example.quasi_identifiers): r for r in example.rows}.values())
    tuples = build_tuples(rows, {**example.maps, "disease": DISEASE_LEVELS})
    example = with_bounds(dataclasses.replace(example, rows=rows, population=None, tuples=tuples))
    nodes = lattice(example)
    untouched = release_everything(nodes[(0,) * len(example.heights)])
    for loss in INSTANCES:
        if (
            loss.name == "publisher-payout"
        ):  # who stands alone is attacked, so untouched data are not worth most
            continue
        least = UNTOUCHED.get(loss.name, lambda loss, rows: 0.0)(loss, len(rows))
        assert close(loss(untouched), least), loss
        for classes in nodes.values():
            assert loss(release_everything(classes)) >= least - 1e-9, loss


@given(example=examples(with_population=True, max_columns=2))
@settings(max_examples=25)
def test_a_monotone_model_keeps_no_fewer_and_no_smaller_classes(example: Example) -> None:
    """What the losses rely on when they are told that a criterion is monotone."""
    monotone = [model for kind in MODELS for model in kind.examples() if model.monotonicity.with_suppression]
    needed = needed_distributions(monotone)
    nodes = {
        node: example.tuples.classes(example.quasi_identifiers, node, needed) for node in example.nodes()
    }
    kept: dict[tuple[Model, Node], Mask] = {
        (model, node): protect(classes, [model]).kept
        for node, classes in nodes.items()
        for model in monotone
        if not any(part.irreparable(classes) for part in model.parts)
    }
    for (model, node), own in kept.items():
        rows = own[nodes[node].ids] & (example.tuples.counts > 0)
        for other, classes in nodes.items():
            if above(other, node) and (model, other) in kept:
                reached = np.sort(classes.sizes[np.unique(classes.ids[rows])])[::-1]
                largest = np.sort(classes.sizes[kept[model, other]])[::-1]
                assert len(largest) >= len(reached), (model, node, other)
                assert np.all(largest[: len(reached)] >= reached), (model, node, other)


@cache
def tall_examples() -> tuple[Example, ...]:
    generator = random.Random(11)
    return tuple(tall_example(generator) for _ in range(60))


def tall_example(generator: random.Random) -> Example:
    domain = range(8)
    maps = {
        "a": [
            {v: f"1:{v // 2}" for v in domain},
            {v: f"2:{v // 4}" for v in domain},
            dict.fromkeys(domain, "*"),
        ],
        "b": [dict.fromkeys(range(3), "*")],
    }
    rows = [
        {
            "a": generator.choice(domain),
            "b": generator.randrange(3),
            "disease": generator.choice(DISEASES),
            "treatment": generator.choice("AB"),
            "income": generator.randrange(6) * 100,
        }
        for _ in range(generator.randrange(4, 20))
    ]
    tuples = build_tuples(rows, {**maps, "disease": DISEASE_LEVELS})
    return with_bounds(Example(rows, None, maps, tuples))


NO_BOUND_FROM_LEVELS = {"classification", "discernibility-star-released"}
"""What these lose at least depends on the classes; levels alone tell nothing."""
BY_LEVELS = {"height", "precision", "precision-star", "static", "normalized-entropy", "kl-divergence"}
"""What these lose is told by the levels of columns, and by no cell alone."""


@every_loss
def test_a_search_knows_from_levels_alone_what_is_lost_at_least(loss: Loss) -> None:
    """Without this bound it would have to group every node: a loss must not lose it unnoticed."""
    rows = [{"a": value, "disease": "flu", "treatment": "none"} for value in (0, 0, 1, 2)]
    tuples = build_tuples(rows, {"a": [{0: "x", 1: "x", 2: "y"}, dict.fromkeys(range(3), "*")]})
    columns = tuples.classes(("a",), (1,)).quasi_identifiers
    bounds = [loss.lower_bound_at(tuples, columns, (level,)) for level in range(3)]
    assert (None in bounds) == (loss.name in NO_BOUND_FROM_LEVELS)
    known = [bound for bound in bounds if bound is not None]
    assert known == sorted(known), "what is more general loses no less"


@every_loss
def test_which_losses_measure_cells_at_several_levels(loss: Loss) -> None:
    """`regions` and the other methods below one level in a column take only these."""
    counts_data = "leaves=data" in str(loss)  # how many leaves occur depends on the column's one level
    assert loss.measures_cells is (loss.name not in BY_LEVELS and not counts_data)
