"""Random orders: uniform, and those of sorting by keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.recoding.randomness import Chance


class FixedKeys(Chance):
    """Keys that are given, so that many of them agree in all but their last bits."""

    def __init__(self, keys: list[int]) -> None:
        super().__init__()
        self._given = np.array(keys, np.uint64)

    def keys(self, number: int) -> npt.NDArray[np.uint64]:
        return self._given


@given(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), unique=True, max_size=40))
def test_an_order_is_that_of_the_keys_also_where_they_nearly_agree(keys: list[int]) -> None:
    expected = sorted(range(len(keys)), key=lambda place: keys[place])
    assert FixedKeys(keys).order(len(keys)).tolist() == expected


def test_all_orders_of_four_rows_are_equally_likely() -> None:
    chance, draws = Chance(seed=24), 24_000
    found = Counter(tuple(chance.order(4).tolist()) for _ in range(draws))
    assert len(found) == 24
    # The sum of squared deviations is chi-squared with 23 degrees of freedom: beyond 60 once in 40,000.
    expected = draws / 24
    assert sum((n - expected) ** 2 / expected for n in found.values()) < 60
