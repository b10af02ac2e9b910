"""What one test says of all nodes below it: bounds against slow twins, and never above a loss."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.loss import LOSSES, Loss
from tarnkappe.privacy import EntropyDiversity, KAnonymity, protect
from tarnkappe.table import ClassState
from tests.loss.test_battery import (
    INSTANCES,
    MONOTONE,
    Node,
    above,
    battery_examples,
    close,
    lattice,
    marked_rows,
    release_of,
    under_model,
)
from tests.loss.twins import TWINS, Release, arx_prices
from tests.random_tables import Example, build_tuples

seeds = st.integers(0, 2**32)


def below(node: Node) -> list[range]:
    return [range(level + 1) for level in node]


# ---------------------------------------------------------------- the bounds are never too high


def nested_criteria(example: Example, generator: random.Random) -> Iterator[Callable[..., Any]]:
    """Criteria under which a kept row stays kept on every way upward."""
    yield from (under_model(model) for model in MONOTONE)
    yield under_model(*MONOTONE)
    yield from (marked_rows(example, generator) for _ in range(2))


@given(example=battery_examples(), seed=seeds)
@settings(max_examples=25)
def test_no_node_below_a_state_falls_below_the_bound(example: Example, seed: int) -> None:
    generator, nodes = random.Random(seed), lattice(example)
    for criterion in nested_criteria(example, generator):
        states = {node: ClassState(classes, criterion(classes)) for node, classes in nodes.items()}
        for loss in INSTANCES:
            losses = {node: loss(state) for node, state in states.items()}
            for node, state in states.items():
                bounds = loss.lower_bounds_below(state, below(node))
                for other in losses if bounds is not None else ():
                    if above(node, other):
                        bound = float(bounds[other])
                        assert bound <= losses[other] or close(bound, losses[other]), (loss, node, other)


@given(example=battery_examples(), least_size=st.integers(1, 4))
@settings(max_examples=25)
def test_the_bound_holds_where_small_classes_are_never_kept(example: Example, least_size: int) -> None:
    """Also for a model that is not monotone: the rows that its implied k-anonymity suppresses are lost."""
    nodes = lattice(example)
    keepable = {node: protect(classes, [KAnonymity(least_size)]) for node, classes in nodes.items()}
    for models in ([KAnonymity(least_size)], [KAnonymity(least_size), EntropyDiversity("disease", 1.8)]):
        for loss in INSTANCES:
            losses = {node: loss(protect(classes, models)) for node, classes in nodes.items()}
            for node, state in keepable.items():
                bounds = loss.lower_bounds_below(state, below(node), least_size=least_size)
                for other in losses if bounds is not None else ():
                    if above(node, other):
                        bound = float(bounds[other])
                        assert bound <= losses[other] or close(bound, losses[other]), (loss, node, other)


def test_losses_that_state_a_growing_charge_and_no_others_have_a_bound_from_it() -> None:
    """All that is suppressed at the top is suppressed below it: the charge alone then reaches the loss."""
    stated = {loss.name for loss in INSTANCES if loss.charge_grows_downward}
    assert {"loss", "precision", "entropy-suppression-aware", "discernibility"} <= stated
    assert not stated & {"entropy", "discernibility-star", "height", "aecs"}


# ---------------------------------------------------------------- the bounds are as high as their definition


def parts(release: Release, low: Node) -> int:
    """The most classes at lower levels that one class may fall into, by the labels of single columns."""
    product = 1
    for name, level, high in zip(release.names, low, release.levels, strict=True):
        pairs = {
            (str(release.label(name, row[name], high)), str(release.label(name, row[name], level)))
            for row in release.rows
        }
        product *= max(Counter(label for label, _ in pairs).values())
    return product


def charged(loss: Any, release: Release, low: Node) -> Fraction | float:
    """What the columns lose with all rows kept at lower levels, and what suppression adds at these levels."""
    everything = Release(release.example, release.levels, frozenset(release.keys))
    lower = Release(release.example, low, frozenset(Release(release.example, low, frozenset()).keys))
    twin = TWINS[loss.name]
    return float(twin(loss, lower)) + float(twin(loss, release)) - float(twin(loss, everything))


def most_groups(loss: Any, release: Release, low: Node, k: int) -> Fraction:
    some = [size for key, size in release.sizes.items() if key in release.kept]
    groups = 1 + sum(min(size // k, parts(release, low)) for size in some)
    needed = Fraction(loss.k if loss.name == "normalized-class-size" else str(loss.p))
    if getattr(loss, "factor", None) is None:
        return len(release.rows) / (needed * groups)
    s, g = arx_prices(loss)
    return len(release.rows) / (needed * (s * groups + max(Fraction(0), g - s)))


def least_charge(release: Release, low: Node, k: int, kept: set[Any]) -> Fraction:
    k, most = min(k, len(release.rows)), parts(release, low)
    return sum(
        (
            max(Fraction(size**2, min(size, most)), Fraction(k * size))
            for key, size in release.sizes.items()
            if key in kept
        ),
        Fraction(0),
    )


def twin_bound(loss: Any, release: Release, low: Node, k: int) -> float | None:
    rows = len(release.rows)
    match loss.name:
        case "aecs" | "aecs-released" | "normalized-class-size":
            return float(most_groups(loss, release, low, k))
        case "discernibility":
            return float(rows * release.suppressed + least_charge(release, low, k, set(release.kept)))
        case "discernibility-star":
            return float(least_charge(release, low, 1, set(release.keys)))
        case _ if loss.charge_grows_downward and loss.aggregate in ("sum", "mean") and release.suppressed:
            return float(charged(loss, release, low))
        case _:
            return None


@given(example=battery_examples(), k=st.integers(1, 4), data=st.data())
@settings(max_examples=25)
def test_bounds_below_a_state_agree_with_their_slow_twins(
    example: Example, k: int, data: st.DataObject
) -> None:
    nodes = lattice(example)
    node = data.draw(st.sampled_from(list(nodes)))
    state = protect(nodes[node], [KAnonymity(k)])
    release = release_of(example, state)
    for loss in INSTANCES:
        bounds = loss.lower_bounds_below(state, below(node), least_size=k)
        for low in itertools.product(*below(node)):
            expected = twin_bound(loss, release, low, k)
            if expected is not None:
                assert bounds is not None
                assert close(float(bounds[low]), expected), (loss, node, low)


# ---------------------------------------------------------------- a worked example


AGE = [{0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"}, dict.fromkeys(range(4), "*")]
ROWS = [(0, 0)] * 3 + [(1, 0)] * 2 + [(1, 1), (2, 0)] + [(2, 1)] * 3 + [(3, 1), (3, 0)]
WORKED = Example(
    rows := [{"age": age, "sex": sex} for age, sex in ROWS],
    None,
    maps := {"age": AGE, "sex": [dict.fromkeys(range(2), "*")]},
    build_tuples(rows, maps),
)

# levels: sizes, suppressed, loss, with all kept, entropy, charge in bits, DM*, DM, groups, bound by entropy
TABLE: dict[Node, tuple[list[int], int, float, float, float, float, int, int, int, float]] = {
    (0, 0): ([1, 1, 1, 1, 2, 3, 3], 4, 0.3333, 0.0, 0.0, 10.0, 26, 70, 4, 18.78),
    (0, 1): ([2, 3, 3, 4], 0, 0.5, 0.5, 11.758, 0.0, 38, 38, 4, 37.03),
    (1, 0): ([1, 2, 4, 5], 1, 0.2361, 0.1667, 11.510, 0.0, 46, 57, 4, 36.51),
    (1, 1): ([6, 6], 0, 0.6667, 0.6667, 23.268, 0.0, 72, 72, 2, 72.0),
    (2, 0): ([5, 7], 0, 0.5, 0.5, 23.510, 0.0, 74, 74, 2, 73.01),
    (2, 1): ([12], 0, 1.0, 1.0, 35.268, 0.0, 144, 144, 1, 144.0),
}


def worked(node: Node) -> ClassState:
    return protect(WORKED.tuples.classes(("age", "sex"), node), [KAnonymity(2)])


def create(name: str) -> Loss:
    return LOSSES.create(name, {})


@pytest.mark.parametrize("node", TABLE)
def test_the_worked_example(node: Node) -> None:
    sizes, suppressed, loss, kept, entropy, bits, star, charge, groups, bound = TABLE[node]
    state = worked(node)
    tuples, columns = WORKED.tuples, state.classes.quasi_identifiers
    assert sorted(state.classes.sizes.tolist()) == sizes
    assert state.suppressed_rows == suppressed
    assert create("loss")(state) == pytest.approx(loss, abs=5e-5)
    assert create("loss").lower_bound_at(tuples, columns, node) == pytest.approx(kept, abs=5e-5)
    assert create("entropy")(state) == pytest.approx(entropy, abs=5e-4)
    assert create("entropy-suppression-aware")(state) == pytest.approx(entropy + bits, abs=5e-4)
    assert create("discernibility-star")(state) == star
    assert create("discernibility")(state) == charge
    assert create("aecs")(state) == 12 / groups
    by_entropy = 144 * 2 ** -sum(
        -sum(n / 12 * math.log2(n / 12) for n in tuples.label_counts(c.name, level).tolist() if n)
        for c, level in zip(columns, node, strict=True)
    )
    assert by_entropy == pytest.approx(bound, abs=5e-3)
    assert create("discernibility-star").lower_bound_at(tuples, columns, node) >= by_entropy - 1e-9


def test_what_a_test_of_the_worked_example_says_of_the_node_below_it() -> None:
    state, levels = worked((1, 0)), below((1, 0))
    assert create("loss").lower_bounds_below(state, levels)[0, 0] == pytest.approx(0.0694, abs=5e-5)
    # Row by row: 12 for the suppressed one; classes of 4 and 5 fall into two parts each, that of 2 keeps its 2.
    charge = create("discernibility").lower_bounds_below(state, levels, least_size=2)
    assert charge[0, 0] == 12 + max(2 * 2, 2**2 / 2) + max(2 * 4, 4**2 / 2) + max(2 * 5, 5**2 / 2)
    groups = 1 + min(1, 2) + min(2, 2) + min(2, 2)
    average = create("aecs").lower_bounds_below(state, levels, least_size=2)
    assert average[0, 0] == pytest.approx(12 / groups)
