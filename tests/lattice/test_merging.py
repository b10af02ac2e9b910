"""The inner loops of grouping, beside the same in plain numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.lattice.merging import HANDS, deal, hand_of, join, merge, merge_entries, pick_up

WORD = st.integers(0, 2**64 - 1)
WORDS = st.lists(WORD, max_size=20).map(lambda words: np.array(words, np.uint64))


def turned(word: int, turn: int) -> int:
    """A word of 64 bits, turned to the left."""
    return (word << turn | word >> (64 - turn)) & (2**64 - 1)


@pytest.mark.parametrize("turn", [0, 1, 17, 32, 63])
@given(st.lists(st.tuples(WORD, WORD), max_size=8))
def test_no_bit_is_lost_where_words_are_joined(turn: int, pairs: list[tuple[int, int]]) -> None:
    words, others = np.array(pairs, np.uint64).reshape(-1, 2).T.copy()
    assert join(words, others, turn).tolist() == [one | turned(other, turn) for one, other in pairs]


@given(WORDS, st.integers(0, HANDS - 1), st.integers(1, HANDS))
def test_every_row_of_the_hands_is_dealt_once_and_in_its_hand(
    words: np.ndarray, begin: int, number: int
) -> None:
    end = min(begin + number, HANDS)
    sizes = np.arange(1, len(words) + 1)
    dealt, starts = deal(words, sizes, begin, end)
    found, own_sizes, rows = pick_up(dealt)
    hands = [int(hand_of(word)) for word in words]
    assert rows.tolist() == sorted(
        (row for row, hand in enumerate(hands) if begin <= hand < end), key=lambda row: hands[row]
    )
    assert found.tolist() == words[rows].tolist()
    assert own_sizes.tolist() == sizes[rows].tolist()
    for hand in range(begin, end):
        own = rows[starts[hand - begin] : starts[hand - begin + 1]]
        assert {hands[row] for row in own} <= {hand}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 3))
def test_equal_words_are_merged_and_numbered_as_they_first_occur(few: list[int], more: int) -> None:
    words = np.array(few, np.uint64) << np.uint64(61)  # what differs is at one end
    sizes = np.arange(1, len(few) + 1)
    first, ids, size = merge(words, sizes, len(set(few)) + more)
    expected = list(dict.fromkeys(few))
    assert [few[row] for row in first] == expected
    assert [few.index(value) for value in expected] == first.tolist()
    assert [expected[group] for group in ids] == few
    assert size.tolist() == [sum(sizes[row] for row in range(len(few)) if few[row] == v) for v in expected]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.dictionaries(st.integers(0, 4), st.integers(1, 9))), max_size=8)
)
def test_merged_classes_have_the_values_of_all_of_them(classes: list[tuple[int, dict[int, int]]]) -> None:
    ids = np.array([own for own, _ in classes], np.int32)
    offsets = np.cumsum([0, *(len(values) for _, values in classes)])
    codes = np.array([code for _, values in classes for code in values], np.int32)
    counts = np.array([count for _, values in classes for count in values.values()], np.int64)
    found = merge_entries(ids, 4, offsets, codes, counts, 5)
    for group in range(4):
        expected: dict[int, int] = {}
        for own, values in classes:
            for code, count in values.items() if own == group else ():
                expected[code] = expected.get(code, 0) + count
        entries = slice(found[0][group], found[0][group + 1])
        assert dict(zip(found[1][entries].tolist(), found[2][entries].tolist(), strict=True)) == expected
