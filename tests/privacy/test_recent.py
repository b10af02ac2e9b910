from __future__ import annotations

import numpy as np

from tarnkappe.privacy.recent import remembers_last
from tarnkappe.table.grouping import Counts


def test_only_the_very_same_arguments_get_the_last_answer() -> None:
    asked = []

    @remembers_last
    def total(numbers: Counts) -> int:
        asked.append(numbers)
        return int(numbers.sum())

    one, equal = np.array([1, 2]), np.array([1, 2])
    assert [total(one), total(one), total(equal), total(one)] == [3, 3, 3, 3]
    assert len(asked) == 3
