"""Answers are verified from their values."""

from __future__ import annotations

import pyarrow as pa
import pytest

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
