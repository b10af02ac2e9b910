"""How many people two divisions share for certain, against all ways to divide."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.risk.candidates import ReleaseView, look_alikes, remaining_values, view_of
from tarnkappe.risk.common_members import certain_shares
from tarnkappe.risk.pairs import Pairs, classes_in_classes, classes_of
from tarnkappe.table import Table


@st.composite
def divisions(draw: st.DrawFn) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    number = draw(st.integers(1, 6))
    left, right = (draw(st.lists(st.integers(0, 2), min_size=number, max_size=number)) for _ in range(2))
    true = set(zip(left, right, strict=True)) if draw(st.booleans()) else set()
    pairs = draw(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1)) | true
    return left, right, sorted(pairs)


@given(divisions())
def test_a_share_is_certain_if_it_is_the_same_in_all_ways(
    case: tuple[list[int], list[int], list[tuple[int, int]]],
) -> None:
    left, right, pairs = case
    seen = [
        Counter(zip(left, order, strict=True))
        for order in set(itertools.permutations(right))
        if all(pair in pairs for pair in zip(left, order, strict=True))
    ]
    sizes = [np.bincount(side, minlength=3).astype(np.int64) for side in (left, right)]
    found = certain_shares(
        *sizes, Pairs(*(np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True)))
    )
    if not seen:
        assert found is None
        return
    shares = [{way[pair] for way in seen} for pair in pairs]
    assert found is not None
    assert found.tolist() == [min(some) if len(some) == 1 else -1 for some in shares]


def test_releases_that_everything_fits_are_not_joined() -> None:
    """Two releases without a common column would make pairs of all their classes."""
    numbers = [str(number) for number in range(40)]
    ours, theirs = (
        classes_of(Table(pa.table({name: numbers})).with_roles(quasi_identifiers=[name]))
        for name in ("a", "b")
    )
    everything = classes_in_classes(ours, theirs, {})
    assert everything is not None
    assert len(everything.left) == 1600
    assert classes_in_classes(ours, theirs, {}, most=1599) is None


def test_different_numbers_of_people_are_not_the_same_people() -> None:
    one = np.array([2], dtype=np.int64)
    assert certain_shares(one, one + 1, Pairs(np.array([0]), np.array([0]))) is None


groups = st.integers(-1, 2)


@given(
    st.lists(st.tuples(groups, groups, groups), min_size=1, max_size=6),
    st.lists(st.lists(st.sets(st.integers(0, 3)), min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=3, max_size=3),
    st.integers(1, 4),
)
def test_remaining_values_and_look_alikes(people, values, hidden, most: int) -> None:
    views = []
    for place in range(3):
        sets = [sorted(some) for some in values[place]]
        offsets = np.concatenate([[0], np.cumsum([len(some) for some in sets])]).astype(np.int64)
        flat = np.array([value for some in sets for value in some], dtype=np.int32)
        group = np.array([person[place] for person in people], dtype=np.int32)
        views.append(ReleaseView(group, offsets, flat, np.array(hidden[place])))
    left = remaining_values(views)
    alike = look_alikes(left, most)
    for index, person in enumerate(people):
        kind = int(left.kind[index])
        limiting = [
            values[place][group]
            for place, group in enumerate(person)
            if group >= 0 and not hidden[place][group]
        ]
        assert bool(left.limited[kind]) == bool(limiting)
        if limiting:
            assert set(left.of(kind).tolist()) == set.intersection(*limiting)
        there = [place for place, group in enumerate(person) if group >= 0]
        same = sum(all(other[place] == person[place] for place in there) for other in people)
        if there:
            assert min(int(alike[kind]), most) == min(same, most)


def test_who_fits_several_classes_is_left_the_values_of_all() -> None:
    fits = Pairs(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]))
    offsets, values = np.array([0, 1, 2]), np.array([5, 7], dtype=np.int32)
    view = view_of(4, fits, offsets, values, np.array([False, False]))
    left = remaining_values([view])
    shown = [set(left.of(int(kind)).tolist()) for kind in left.kind]
    assert shown == [{5}, {5, 7}, {7}, set()]
    assert left.limited[left.kind].tolist() == [True, True, True, False]
