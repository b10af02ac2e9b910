"""Dictionary-coded columns of tokens: shortcuts against the obvious way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.federation.share import PartyShare, ShareColumn


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(10, 14))
@settings(max_examples=50)
def test_tokens_that_occur_are_found_as_by_sorting(codes: list[int], number: int) -> None:
    part = ShareColumn([bytes([i]) for i in range(number)], np.array(codes, np.int32))
    used, places = part.occurring()
    expected, inverse = np.unique(part.codes, return_inverse=True)
    assert used.tolist() == expected.tolist()
    assert places.tolist() == inverse.tolist()
    bare = part.without_rules()
    assert [bare.tokens[i] for i in bare.codes] == [part.tokens[i] for i in codes]


def test_rows_are_taken_with_all_that_stands_beside_them() -> None:
    part = ShareColumn([b"a", b"b"], np.array([0, 1, 1], np.int32))
    rows = np.array([2, 0])
    assert PartyShare({"x": part}, 3).take(rows).num_rows == 2
    keyed = PartyShare({"x": part}, 3, keys=[b"1", b"2", b"3"], members=np.array([True, False, False])).take(
        rows
    )
    assert keyed.keys == [b"3", b"1"]
    assert keyed.members is not None
    assert keyed.members.tolist() == [False, True]
    assert keyed.parts["x"].codes.tolist() == [1, 0]
