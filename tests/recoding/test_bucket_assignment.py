"""Groups for Anatomy: never a broken promise, and the least loss that any grouping can have."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import NoSolutionError, ParameterError
from tarnkappe.privacy import (
    AverageRisk,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    KAnonymity,
    OrderedCloseness,
)
from tarnkappe.recoding.bucket_assignment import make_groups, reconstruction_error
from tarnkappe.recoding.judging import GroupEvaluator, group_models
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import encode_column

VALUES = st.lists(st.sampled_from("abcde"), min_size=2, max_size=8)


def people(values: list[str] | list[int]) -> Tuples:
    return Tuples.of_rows([encode_column("s", pa.chunked_array([values]))])


def members(of_row: np.ndarray, values: list) -> list[list]:
    return [[v for v, own in zip(values, of_row, strict=True) if own == g] for g in range(of_row.max() + 1)]


def partitions(items: list[str]) -> Iterator[list[list[str]]]:
    """Every way to put rows into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for place, group in enumerate(smaller):
            yield [*smaller[:place], [first, *group], *smaller[place + 1 :]]


def error_of(groups: list[list[str]]) -> Fraction:
    """The reconstruction error by its definition: what is true of a row against what its group tells."""
    error = Fraction(0)
    for group in groups:
        told = {value: Fraction(number, len(group)) for value, number in Counter(group).items()}
        for own in group:
            error += sum((Fraction(value == own) - share) ** 2 for value, share in told.items())
    return error


@given(VALUES, st.integers(2, 4))
@settings(max_examples=60)
def test_no_grouping_loses_less_and_where_there_is_none_we_say_so(values: list[str], least: int) -> None:
    allowed = [
        groups
        for groups in partitions(values)
        if all(number * least <= len(group) for group in groups for number in Counter(group).values())
    ]
    eligible = max(Counter(values).values()) * least <= len(values)
    assert bool(allowed) == eligible, "the l-eligibility condition decides whether a grouping exists"
    assume(eligible)
    # Exact fractions: 1/l has no binary form.
    found = make_groups(people(values), ["s"], [DistinctDiversity("s", l=least)], chance=Chance(1))
    best = min(map(error_of, allowed))
    assert best == len(values) - len(values) // least
    assert found.error == pytest.approx(float(best / len(values)))
    assert error_of(members(found.of_row, values)) == best
    assert found.optimal


@given(VALUES, st.data())
def test_the_error_is_the_one_of_the_definition(values: list[str], data: st.DataObject) -> None:
    of_row = np.array([data.draw(st.integers(0, 2)) for _ in values], np.int32)
    of_row = np.unique(of_row, return_inverse=True)[1].astype(np.int32)
    codes = encode_column("s", pa.chunked_array([values])).codes
    assert reconstruction_error(of_row, codes) == pytest.approx(
        float(error_of(members(of_row, values)) / len(values))
    )


def anatomize(values: list[str], least: int) -> list[list[str]]:
    """The published method: one row from each of the l largest buckets, left-overs where their value is not."""
    heap = [(-number, value) for value, number in Counter(values).items()]
    heapq.heapify(heap)
    groups: list[list[str]] = []
    while len(heap) >= least:
        taken = [heapq.heappop(heap) for _ in range(least)]
        groups.append([value for _, value in taken])
        for number, value in taken:
            if number < -1:
                heapq.heappush(heap, (number + 1, value))
    for number, value in heap:
        assert number == -1
        next(group for group in groups if value not in group).append(value)
    return groups


@given(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=40), st.integers(2, 4))
def test_dealing_makes_as_many_groups_as_the_published_method(values: list[str], least: int) -> None:
    assume(max(Counter(values).values()) * least <= len(values))
    ours = members(
        make_groups(people(values), ["s"], [DistinctDiversity("s", l=least)], chance=Chance(2)).of_row, values
    )
    theirs = anatomize(values, least)
    assert len(ours) == len(theirs) == len(values) // least
    assert all(len(set(group)) == len(group) >= least for group in [*ours, *theirs])
    assert error_of(ours) == error_of(theirs)


def total_distance(group: list[int], whole: list[int], *, ordered: bool) -> Fraction:
    """Distances to the whole table in exact fractions."""
    domain = sorted(set(whole))
    gaps = [Fraction(group.count(v), len(group)) - Fraction(whole.count(v), len(whole)) for v in domain]
    if not ordered:
        return sum(map(abs, gaps), Fraction(0)) / 2
    sums = [abs(sum(gaps[: i + 1], Fraction(0))) for i in range(len(gaps))]
    return sum(sums, Fraction(0)) / max(len(domain) - 1, 1)


@given(st.lists(st.integers(0, 5), min_size=4, max_size=30), st.sampled_from([0.2, 0.35, 0.5]), st.booleans())
@settings(max_examples=60)
def test_groups_for_closeness_are_close(values: list[int], t: float, ordered: bool) -> None:
    assume(len(set(values)) > 1)
    model = OrderedCloseness("s", t=t) if ordered else EqualCloseness("s", t=t)
    found = make_groups(people(values), ["s"], [model], chance=Chance(3))
    for group in members(found.of_row, values):
        assert total_distance(group, values, ordered=ordered) <= Fraction(str(t))


def test_swaps_make_groups_good_that_dealing_does_not() -> None:
    """Two columns: the cards lie in the order of the first, so the second needs swaps."""
    first, second = [0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1, 0, 1]
    rows = Tuples.of_rows([encode_column(n, pa.chunked_array([v])) for n, v in (("s", first), ("z", second))])
    models = [DistinctDiversity("s", l=2), DistinctDiversity("z", l=2)]
    for seed in range(20):
        found = make_groups(rows, ["s", "z"], models, chance=Chance(seed))
        assert found.number == 4, "groups of two are enough"
        for values in (first, second):
            assert all(len(set(group)) == 2 for group in members(found.of_row, values))


def test_too_frequent_a_value_is_refused_and_nobody_is_suppressed_for_it() -> None:
    """Exact quasi-identifiers show who is missing: an attacker would know the value of whoever is left out."""
    values = ["a"] * 8 + ["b", "c", "d", "e"]
    with pytest.raises(NoSolutionError, match=r"'s' has a value in 67% of the rows.*not suppressed"):
        make_groups(people(values), ["s"], [EntropyDiversity("s", l=4.0)])


def test_models_that_speak_of_labels_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"average-risk speaks of generalized quasi-identifiers"):
        group_models([AverageRisk(0.5)], "anatomy")


def test_a_seed_repeats_and_the_system_does_not() -> None:
    values = [str(i % 7) for i in range(70)]
    model = [KAnonymity(5), DistinctDiversity("s", l=4)]
    one, same = (make_groups(people(values), ["s"], model, chance=Chance(5)) for _ in range(2))
    assert np.array_equal(one.of_row, same.of_row)
    drawn = {make_groups(people(values), ["s"], model).of_row.tobytes() for _ in range(4)}
    assert len(drawn) > 1


@given(VALUES)
def test_the_judge_agrees_with_itself_in_both_forms(values: list[str]) -> None:
    rows, of_row = people(values), np.arange(len(values), dtype=np.int32) % 2
    judge = GroupEvaluator(rows, (DistinctDiversity("s", l=2), KAnonymity(2)))
    forbidden = judge.violating(of_row)
    assert np.array_equal(forbidden, judge.excess(of_row, judge.kinds.ids, 2) > 0)
    slow = [len(set(group)) < 2 or len(group) < 2 for group in members(of_row, values)]
    assert forbidden.tolist() == slow
