"""Grouping by packed keys, against a dictionary of tuples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.table import grouping
from tarnkappe.table.grouping import group_codes, group_keys, sort_pairs_by_group, sum_by_group


@st.composite
def code_columns(draw: st.DrawFn) -> tuple[list[np.ndarray], list[int]]:
    rows = draw(st.integers(0, 30))
    cardinalities = draw(st.lists(st.sampled_from([1, 2, 5, 2**20, 2**31 - 1]), min_size=1, max_size=6))
    columns = [
        np.array(draw(st.lists(st.integers(0, min(c, 4) - 1), min_size=rows, max_size=rows)), dtype=np.int32)
        + np.int32(draw(st.sampled_from([0, max(c - 4, 0)])))
        for c in cardinalities
    ]
    return columns, cardinalities


@given(code_columns())
def test_rows_are_together_exactly_when_they_agree_in_all_columns(case) -> None:
    columns, cardinalities = case
    result = group_codes(columns, cardinalities)
    numbers: dict[tuple[int, ...], int] = {}
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    expected = [numbers.setdefault(row, len(numbers)) for row in rows]
    assert result.ids.tolist() == expected
    assert result.num_groups == len(numbers)
    assert [rows[i] for i in result.representatives] == list(numbers)


@given(st.lists(st.integers(0, 2**63 - 1), max_size=200), st.booleans())
def test_hash_and_array_group_alike(keys: list[int], few: bool) -> None:
    array = np.array([key % 50 for key in keys] if few else keys, dtype=np.uint64)
    by_hash = grouping._group_by_hash(array)
    numbers: dict[int, int] = {}
    assert by_hash[0].tolist() == [numbers.setdefault(int(key), len(numbers)) for key in array]
    if few:
        by_array = grouping._group_by_array(array, 50)
        assert all(np.array_equal(a, b) for a, b in zip(by_hash, by_array, strict=True))


def test_more_than_64_bits_of_key_are_grouped_in_steps() -> None:
    generator = np.random.default_rng(3)
    columns = [generator.integers(0, 2**30, 1000).astype(np.int32) for _ in range(7)]
    columns = [np.concatenate([c, c]) for c in columns]
    result = group_codes(columns, [2**30] * 7)
    assert result.num_groups == 1000
    assert np.array_equal(result.ids[:1000], result.ids[1000:])


def test_keys_that_collide_in_every_slot_are_still_told_apart() -> None:
    """An attacker who knows the hash cannot merge groups, only slow them down."""
    keys = np.arange(2000, dtype=np.uint64) << np.uint64(50)
    assert group_keys(keys, 2**62).num_groups == 2000


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**40)), max_size=50))
def test_sums_and_order_by_group(pairs: list[tuple[int, int]]) -> None:
    ids = np.array([g for g, _ in pairs], dtype=np.int32)
    weights = np.array([w for _, w in pairs], dtype=np.int64)
    assert sum_by_group(ids, weights, 6).tolist() == [sum(w for g, w in pairs if g == i) for i in range(6)]
    order, offsets = sort_pairs_by_group(ids, 6)
    assert order.tolist() == sorted(range(len(pairs)), key=lambda i: (pairs[i][0], i))
    assert offsets.tolist() == [sum(g < i for g, _ in pairs) for i in range(7)]


def test_no_columns_mean_no_rows() -> None:
    assert group_codes([], []).num_groups == 0


@pytest.mark.parametrize("rows", [0, 1])
def test_tiny_tables(rows: int) -> None:
    assert group_codes([np.zeros(rows, np.int32)], [1]).num_groups == rows
