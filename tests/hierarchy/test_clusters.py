"""Clusters of numbers: the best partition, and the best unions above it, by trying all."""

from __future__ import annotations

import itertools
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy import BUILDERS, Hierarchy
from tarnkappe.hierarchy import clusters as module
from tarnkappe.hierarchy.clusters import Clusters, shortest_between
from tarnkappe.texts import told


def error_of(groups: list[list[int]], rows: Counter[int]) -> Fraction:
    """The sum of squared distances from the means, in fractions."""
    found = Fraction(0)
    for group in groups:
        members = [value for value in group for _ in range(rows[value])]
        mean = Fraction(sum(members), len(members))
        found += sum(((value - mean) ** 2 for value in members), Fraction(0))
    return found


def unions(parts: list[list[int]], number: int) -> list[list[list[int]]]:
    """All ways to join neighbouring parts into so many."""
    ways = []
    for cuts in itertools.combinations(range(1, len(parts)), number - 1):
        ends = [0, *cuts, len(parts)]
        ways.append([list(itertools.chain(*parts[a:b])) for a, b in itertools.pairwise(ends)])
    return ways


def groups_at(hierarchy: Hierarchy, values: list[int], level: int) -> list[list[int]]:
    by_label: dict[str, list[int]] = {}
    for value in sorted(set(values)):
        by_label.setdefault(hierarchy.label(str(value), level), []).append(value)
    return list(by_label.values())


@given(
    values=st.lists(st.integers(-40, 40), min_size=1, max_size=14),
    numbers=st.sampled_from([(2,), (3, 2), (5, 3, 2)]),
)
@settings(max_examples=80)
def test_no_other_partition_has_numbers_nearer_to_each_other(
    values: list[int], numbers: tuple[int, ...]
) -> None:
    hierarchy = Clusters(clusters=numbers).build(pa.array(values))
    rows, parts = Counter(values), [[value] for value in sorted(set(values))]
    for level, number in enumerate(numbers, start=1):
        found = groups_at(hierarchy, values, level)
        least = min(
            (error_of(way, rows) for way in unions(parts, min(number, len(parts)))), default=Fraction(0)
        )
        assert float(error_of(found, rows)) == pytest.approx(float(least), abs=1e-7)
        assert len(found) == min(number, len(parts))
        parts = found


@given(low=st.decimals(-1000, 1000, places=3), above=st.decimals("0.001", 500, places=3))
@settings(max_examples=80)
def test_cuts_have_the_fewest_digits(low: Decimal, above: Decimal) -> None:
    high = low + above
    cut = shortest_between(low, high)
    assert low < cut <= high
    coarser = Decimal(1).scaleb(int(cut.normalize().as_tuple().exponent) + 1)  # type: ignore[arg-type]
    if cut:
        assert not low < (high / coarser).to_integral_value(rounding="ROUND_FLOOR") * coarser <= high


def test_ends_of_intervals_are_no_values_where_there_is_room() -> None:
    hierarchy = Clusters(clusters=2).build(pa.array([21, 22, 47, 48]))
    assert {hierarchy.label(str(value), 1) for value in (21, 22, 47, 48)} == {"<40", ">=40"}


def test_numbers_that_do_not_nest_and_columns_that_are_too_long_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(HierarchyError, match="fewer on every level") as refused:
        Clusters(clusters=(2, 3))
    assert told("de", refused.value) != str(refused.value)
    monkeypatch.setattr(module, "MOST_NUMBERS", 3)
    with pytest.raises(HierarchyError, match="use intervals with quantiles"):
        Clusters(clusters=2).build(pa.array([1, 2, 3, 4]))


def test_it_is_a_builder_by_name() -> None:
    assert BUILDERS.create("clusters", {"clusters": [4, 2]}) == Clusters(clusters=(4, 2))
