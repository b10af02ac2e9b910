"""Answers are verified from their values."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.algebra.promises import Promise
from tarnkappe.algebra.verification import smallest_class, verify
from tarnkappe.errors import VerificationError

TABLE = pa.table({"a": ["x", "x", None, None], "A": [1, 1, 1, 2], 'say "hi"': [1, 1, 1, 1]})


def test_the_smallest_class_is_counted() -> None:
    assert smallest_class(TABLE, ["a"]) == 2
    assert smallest_class(TABLE, ["a", "A"]) == 1, "names that differ in case alone are two columns"
    assert smallest_class(TABLE, ['say "hi"']) == 4
    assert smallest_class(TABLE, []) == 4
    assert smallest_class(TABLE.slice(0, 0), ["a"]) is None


def test_a_kept_promise_is_told_with_its_measure() -> None:
    (kept,) = verify(TABLE, [Promise(frozenset({"a"}), 2)])
    assert kept.as_dict() == {"columns": ["a"], "k": 2, "measured": 2, "counted": "rows"}
    told = "2-anonymous in a: every row shares it with at least 1 other rows (rows were counted, not people)"
    assert str(kept) == told
    (empty,) = verify(TABLE.slice(0, 0), [Promise(frozenset({"a"}), 2)])
    assert str(empty) == "2-anonymous in a: no rows"


def test_a_broken_promise_hands_nothing_over() -> None:
    with pytest.raises(VerificationError, match="nothing is handed over"):
        verify(TABLE, [Promise(frozenset({"a", "A"}), 2)])


CELLS = st.sampled_from(["x", "y", "z", None])


@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from([1, 2, None])), max_size=12), st.booleans())
def test_classes_are_those_of_counting_row_by_row(
    rows: list[tuple[str | None, str | None, int | None]], coded: bool
) -> None:
    table = pa.table(
        {
            "a": pa.array([a for a, _, _ in rows], pa.string()),
            "b": pa.array([b for _, b, _ in rows], pa.string()),
            "u": pa.array([u for _, _, u in rows], pa.int64()),
        }
    )
    if coded:
        table = table.set_column(0, "a", table.column("a").dictionary_encode())
    classes: dict[tuple[str | None, str | None], list[int | None]] = {}
    for a, b, u in rows:
        classes.setdefault((a, b), []).append(u)
    assert smallest_class(table, ["a", "b"]) == min(map(len, classes.values()), default=None)
    people = (len({u for u in found if u is not None}) for found in classes.values())
    assert smallest_class(table, ["a", "b"], "u") == min(people, default=None)


def test_two_equal_entries_of_a_dictionary_are_one_value() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["x", "x"]))
    assert smallest_class(pa.table({"a": codes}), ["a"]) == 4


@given(st.integers(0, 999), st.integers(1, 400), st.integers(2, 60))
def test_columns_of_many_values_are_numbered_before_they_are_too_many(
    seed: int, rows: int, values: int
) -> None:
    chance = random.Random(seed)
    cells = {name: [chance.randrange(values) for _ in range(rows)] for name in "abcdefgh"}
    classes = Counter(zip(*cells.values(), strict=True))
    assert smallest_class(pa.table(cells), list(cells)) == min(classes.values())
    few = Counter(zip(cells["a"], cells["b"], cells["c"], strict=True))
    assert smallest_class(pa.table(cells), ["c", "b", "a"]) == min(few.values())
