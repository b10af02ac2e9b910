"""The measurement of k-Optimize tells what it promises."""

from __future__ import annotations

from typing import Any

import pytest

from tarnkappe.recoding.partitions import alphabet
from tarnkappe_bench.adult import read_adult
from tarnkappe_bench.k_optimize import adult_problem, run


def test_the_partitionings_have_the_published_numbers_of_values(adult: Any) -> None:
    table = read_adult(adult)
    assert alphabet(adult_problem(table, 5, 0, fine=True)).size == 166
    coarse = alphabet(adult_problem(table, 5, 100, fine=False))
    assert coarse.size == 109
    assert int(coarse.free.sum()) == 100
    assert adult_problem(table, 5, 100, fine=False).limit == 100
    assert adult_problem(table, 5, -1, fine=False).limit == 30_162


@pytest.mark.slow
def test_every_configuration_has_a_loss_and_a_bound_below_it(adult: Any) -> None:
    measured = run(seconds=1.0, sizes=(1000,))
    assert [each["partitioning"] for each in measured["configurations"]] == ["coarse", "fine"]
    for each in measured["configurations"]:
        assert 30_162 * 1000 <= each["bound"] <= each["loss"]
        assert each["gap"] >= 0
