"""Classes of tables with so many columns that their labels need several words."""

from __future__ import annotations

import random

import pytest

from tarnkappe.lattice import SearchProblem
from tarnkappe.lattice.groups import PackedClasses
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tests.random_tables import build_tuples


@pytest.mark.parametrize("columns", [1, 21, 22, 40, 64, 70, 130])
def test_classes_of_many_columns_are_those_of_the_rows(columns: int) -> None:
    draw = random.Random(columns)
    pairs = {value: value // 2 for value in range(6)}
    maps = {
        f"q{i:03}": [{v: f"pair {p}" for v, p in pairs.items()}, dict.fromkeys(pairs, "*")]
        for i in range(columns)
    }
    kinds = [{name: draw.randrange(6) for name in maps} for _ in range(20)]
    # Rows that differ from others in one or two columns only, wherever the bits of these are.
    rows = [kind | {draw.choice(list(maps)): draw.randrange(6)} for kind in kinds for _ in range(5)]
    problem = SearchProblem(
        build_tuples(rows, maps),
        tuple(maps),
        (MODELS.create("k-anonymity", {"k": 2}),),
        LOSSES.create("height", {}),
    )
    bottom = PackedClasses.of_tuples(problem, ())
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        low = tuple(2 if draw.random() < share else 0 for _ in maps)
        high = tuple(draw.randint(level, 2) for level in low)
        for node, groups in ((low, bottom.at(low)), (high, bottom.at(low).at(high))):
            slow = problem.classes(node)
            assert sorted(groups.sizes.tolist()) == sorted(slow.sizes.tolist())
