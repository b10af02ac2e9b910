"""Perturbations: each is what its definition says, by slow twins and by what must stay the same."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.recoding.perturbation import (
    PERTURBATIONS,
    AdditiveNoise,
    MicroAggregation,
    Perturbation,
    PostRandomization,
    RankSwapping,
    measured,
    perturb,
)
from tarnkappe.recoding.perturbation.mdav import groups_of
from tarnkappe.table import Table

INSTANCES = [each for kind in PERTURBATIONS for each in kind.examples("a", "b")]
every = pytest.mark.parametrize("perturbation", INSTANCES, ids=str)


def table(rows: int = 40, seed: int = 1) -> Table:
    generator = np.random.default_rng(seed)
    data = {
        "a": generator.integers(0, 90, rows),
        "b": generator.integers(0, 5, rows) * 1.5,
        "c": [f"P{row}" for row in range(rows)],
    }
    return Table(pa.table(data))


@every
def test_a_perturbation_is_named_and_built_from_its_parameters(perturbation: Perturbation) -> None:
    assert type(perturbation).__doc__
    assert PERTURBATIONS.create(perturbation.name, perturbation.parameters) == perturbation


@every
def test_only_the_named_columns_change_and_keep_their_kind(perturbation: Perturbation) -> None:
    before = table()
    after, done = perturb(before, [perturbation], seed=3)
    assert after.data["c"].equals(before.data["c"])
    assert after.data.column_names == before.data.column_names
    assert [after.data[name].type for name in "ab"] == [before.data[name].type for name in "ab"]
    assert not (after.data["a"].equals(before.data["a"]) and after.data["b"].equals(before.data["b"]))
    assert done[0].to_dict() == {"method": perturbation.name, **perturbation.parameters}


@every
def test_a_seed_is_for_tests_and_without_one_chance_is_new(perturbation: Perturbation) -> None:
    first, second = (perturb(table(), [perturbation], seed=5)[0].data for _ in range(2))
    assert first.equals(second)
    if not isinstance(perturbation, MicroAggregation):  # which needs no chance
        unseeded = [perturb(table(), [perturbation])[0].data for _ in range(2)]
        assert not unseeded[0].equals(unseeded[1])


# ---------------------------------------------------------------- noise


@pytest.mark.parametrize("correlated", [False, True])
def test_noise_has_the_stated_spread_and_relations(correlated: bool) -> None:
    generator = np.random.default_rng(7)
    x = generator.normal(50, 10, 20_000)
    values = np.column_stack([x, x + generator.normal(0, 5, 20_000)])
    noise = (
        AdditiveNoise(columns=("x", "y"), share=0.5, correlated=correlated).change(values, generator) - values
    )
    assert noise.mean(axis=0) == pytest.approx([0, 0], abs=0.2)
    assert noise.std(axis=0) == pytest.approx(0.5 * values.std(axis=0), rel=0.03)
    between = np.corrcoef(noise, rowvar=False)[0, 1]
    assert between == pytest.approx(np.corrcoef(values, rowvar=False)[0, 1] if correlated else 0, abs=0.03)


def test_missing_numbers_stay_missing_and_a_column_of_equal_ones_gets_no_noise() -> None:
    data = Table(pa.table({"a": pa.array([1, None, 3, 8]), "b": [2.0, 2.0, 2.0, 2.0]}))
    for perturbation in (AdditiveNoise(columns=("a", "b")), RankSwapping(columns=("a", "b"), distance=1.0)):
        after, _ = perturb(data, [perturbation], seed=2)
        assert [value is None for value in after.data["a"].to_pylist()] == [False, True, False, False]
        assert after.data["b"].to_pylist() == [2.0] * 4


# ---------------------------------------------------------------- rank swapping


@given(
    values=st.lists(st.integers(0, 8), min_size=1, max_size=40),
    distance=st.floats(0.01, 1),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60)
def test_swapped_values_are_the_same_and_near(values: list[int], distance: float, seed: int) -> None:
    """Whatever the order of equal values: places differ by no more than the reach."""
    column = np.array(values, np.float64)[:, None]
    after = RankSwapping(columns=("x",), distance=distance).change(column, np.random.default_rng(seed))[:, 0]
    assert Counter(after.tolist()) == Counter(map(float, values))
    reach = max(1, int(distance * len(values)))
    ascending = sorted(values)
    first = {value: ascending.index(value) for value in values}
    last = {value: len(values) - 1 - ascending[::-1].index(value) for value in values}
    for old, new in zip(values, after.tolist(), strict=True):
        nearest = max(first[int(new)] - last[old], first[old] - last[int(new)], 0)
        assert nearest <= reach


def test_swapping_is_an_exchange_of_two_and_all_partners_in_reach_occur() -> None:
    values = np.arange(6.0)[:, None]
    partners = set()
    for seed in range(200):
        after = RankSwapping(columns=("x",), distance=0.5).change(values, np.random.default_rng(seed))[:, 0]
        assert [after[int(after[place])] for place in range(6)] == list(range(6))
        partners.add(int(after[0]))
    assert partners == {1, 2, 3}


# ---------------------------------------------------------------- micro-aggregation


def slow_groups(points: list[tuple[int, ...]], k: int) -> list[set[int]]:
    """MDAV by its definition, in fractions."""

    def distance(a: Any, b: Any) -> Fraction:
        return sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a, b, strict=True))

    def middle(rows: list[int]) -> tuple[Fraction, ...]:
        return tuple(Fraction(sum(points[row][d] for row in rows), len(rows)) for d in range(len(points[0])))

    def farthest(rows: list[int], point: Any) -> int:
        return max(rows, key=lambda row: (distance(points[row], point), -row))

    def nearest(rows: list[int], row: int) -> set[int]:
        return set(sorted(rows, key=lambda other: (distance(points[other], points[row]), other))[:k])

    left, groups = list(range(len(points))), []
    while len(left) >= 3 * k:
        r = farthest(left, middle(left))
        groups.append(nearest(left, r))
        left = [row for row in left if row not in groups[-1]]
        s = farthest(left, points[r])
        groups.append(nearest(left, s))
        left = [row for row in left if row not in groups[-1]]
    if len(left) >= 2 * k:
        r = farthest(left, middle(left))
        groups.append(nearest(left, r))
        left = [row for row in left if row not in groups[-1]]
    return [*groups, set(left)]


@given(
    points=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=3, max_size=30, unique=True),
    k=st.integers(1, 4),
)
@settings(max_examples=60)
def test_groups_are_those_of_the_definition(points: list[tuple[int, int]], k: int) -> None:
    """Means are not whole numbers: where two rows are equally far from one, rounding may decide otherwise."""
    found = [set(group.tolist()) for group in groups_of(np.array(points, np.float64), k)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, slow_groups(points, k))) or tied(points, k)
    assert all(len(group) >= min(k, len(points)) for group in found)
    assert sorted(row for group in found for row in group) == list(range(len(points)))


def tied(points: list[tuple[int, int]], k: int) -> bool:
    """Whether some step of the definition had to choose between equally far rows."""
    left = list(range(len(points)))
    for group in slow_groups(points, k):
        mean = [Fraction(sum(points[row][d] for row in left), len(left)) for d in (0, 1)]
        far = sorted((sum((points[row][d] - mean[d]) ** 2 for d in (0, 1)) for row in left), reverse=True)
        if len(far) > 1 and far[0] == far[1]:
            return True
        left = [row for row in left if row not in group]
    return False


def test_means_are_those_of_the_group_and_k_rows_share_them() -> None:
    before = table(rows=50)
    after, _ = perturb(before, [MicroAggregation(columns=("b",), k=5)], seed=1)
    assert min(Counter(after.data["b"].to_pylist()).values()) >= 5
    assert math.fsum(after.data["b"].to_pylist()) == pytest.approx(math.fsum(before.data["b"].to_pylist()))


# ---------------------------------------------------------------- post-randomization


@given(
    counts=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    keep=st.integers(0, 10),
    invariant=st.booleans(),
)
@settings(max_examples=60)
def test_transitions_are_those_of_the_definition(counts: list[int], keep: int, invariant: bool) -> None:
    m, kept = len(counts), Fraction(keep, 10)
    first = (
        [[kept if i == j else (1 - kept) / (m - 1) for j in range(m)] for i in range(m)] if m > 1 else [[1]]
    )
    reached = [sum(first[i][j] * counts[i] for i in range(m)) for j in range(m)]
    expected = first
    if invariant and m > 1:
        back = [
            [first[k][j] * counts[k] / reached[j] if reached[j] else 0 for k in range(m)] for j in range(m)
        ]
        expected = [[sum(first[i][j] * back[j][k] for j in range(m)) for k in range(m)] for i in range(m)]
    made = PostRandomization(columns=("x",), keep=keep / 10, invariant=invariant).transitions(
        np.array(counts)
    )
    assert made == pytest.approx(np.array([[float(cell) for cell in row] for row in expected]), abs=1e-12)
    if invariant:
        assert np.array(counts) @ made == pytest.approx(np.array(counts, np.float64))


def test_categories_become_others_as_often_as_stated() -> None:
    codes = np.repeat(np.arange(3), (30_000, 20_000, 10_000)).astype(np.int32)
    for invariant in (True, False):
        pram = PostRandomization(columns=("x",), keep=0.6, invariant=invariant)
        after = pram.change(codes, 3, np.random.default_rng(4))
        stated = pram.transitions(np.bincount(codes))
        for category in range(3):
            shares = np.bincount(after[codes == category], minlength=3) / np.count_nonzero(codes == category)
            assert shares == pytest.approx(stated[category], abs=0.02)


def test_a_missing_category_is_one_like_any_other() -> None:
    data = Table(pa.table({"a": pa.array(["x", None, "y"] * 200)}))
    after, _ = perturb(data, [PostRandomization(columns=("a",), keep=0.0, invariant=False)], seed=1)
    moved = list(zip(data.data["a"].to_pylist(), after.data["a"].to_pylist(), strict=True))
    assert all(old != new for old, new in moved)
    assert {new for old, new in moved if old is None} == {"x", "y"}


# ---------------------------------------------------------------- figures


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=20),
)
@settings(max_examples=60)
def test_figures_are_those_of_comparing_all_rows(rows: list[tuple[int, ...]]) -> None:
    before = np.array([row[:2] for row in rows], np.float64)
    after = np.array([row[2:] for row in rows], np.float64)
    spread = before.std(axis=0)
    unit = [s if s > 0 else 1.0 for s in spread]
    found = measured(before, after)
    lost = [
        abs(after[i, d] - before[i, d]) / (math.sqrt(2) * spread[d])
        for i in range(len(rows))
        for d in (0, 1)
        if spread[d] > 0
    ]
    assert found.information_loss == pytest.approx(sum(lost) / len(lost) if lost else 0.0)
    linked = told = 0.0
    for i in range(len(rows)):
        own = math.dist(after[i] / unit, before[i] / unit)
        away = [math.dist(after[i] / unit, other / unit) for other in before]
        if own <= min(away) + 1e-7:
            linked += 1 / sum(tuple(other) == tuple(before[i]) for other in before)
        told += all(abs(after[i, d] - before[i, d]) <= 0.05 * unit[d] for d in (0, 1))
    assert found.linked == pytest.approx(linked / len(rows))
    assert found.told == pytest.approx(told / len(rows))


def test_untouched_rows_are_all_found_and_nothing_is_lost() -> None:
    values = np.arange(30.0)[:, None]
    assert (measured(values, values).information_loss, measured(values, values).linked) == (0.0, 1.0)
    far = measured(values, np.full_like(values, 14.5))
    assert far.linked <= 2 / 30
    assert "linked" in str(far)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("perturbation", "words"),
    [
        (AdditiveNoise(columns=("c",)), "has no numbers"),
        (MicroAggregation(columns=("d",)), "has missing values"),
        (RankSwapping(columns=("nothing",)), "no column 'nothing'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(perturbation: Perturbation, words: str) -> None:
    data = Table(pa.table({"c": ["x", "y", "z"], "d": pa.array([1, None, 2])}))
    with pytest.raises(ColumnError, match=words):
        perturb(data, [perturbation])


def test_more_rows_or_categories_than_are_bearable_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="larger than the table"):
        perturb(table(rows=2), [MicroAggregation(columns=("a",), k=3)])
    monkeypatch.setattr("tarnkappe.recoding.perturbation.post_randomization.MOST_CATEGORIES", 3)
    with pytest.raises(ParameterError, match="at most 3 categories"):
        perturb(table(), [PostRandomization(columns=("c",))])
    monkeypatch.setattr("tarnkappe.recoding.perturbation.mdav.MOST_ROWS", 3)
    with pytest.raises(ParameterError, match="at most 3 rows"):
        perturb(table(), [MicroAggregation(columns=("a",))])
