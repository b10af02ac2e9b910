"""What parties get without a protocol: never less loss than the central release, and vertically not even safety."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import Exhaustive
from tarnkappe.loss import Entropy
from tarnkappe.privacy import KAnonymity, Model, RecursiveDiversity
from tarnkappe_bench.federation_baselines import (
    anonymize_in_turns,
    anonymize_then_concatenate,
    anonymize_then_join,
    cell_entropy,
)
from tests.federation.federations import EXAMPLE, random_whole


def test_checklist_5_parts_that_are_anonymous_need_not_be_so_together() -> None:
    broken = EXAMPLE["broken_integration"]
    class_of = [
        {key: index for index, members in enumerate(broken[party]) for key in members}
        for party in ("P1_classes", "P2_classes")
    ]
    assert all(min(Counter(each.values()).values()) >= 2 for each in class_of)
    together = Counter((class_of[0][key], class_of[1][key]) for key in class_of[0])
    alone = sorted(key for key in class_of[0] if together[class_of[0][key], class_of[1][key]] < 2)
    assert alone == broken["violating_rows"]
    assert (not alone) is broken["two_anonymous"]


@given(seed=st.integers(0, 10**6), parties=st.integers(2, 3))
@settings(max_examples=12)
def test_checklist_6_vertical_baseline_is_safe_and_loses_no_less_than_the_central_release(
    seed: int, parties: int
) -> None:
    whole = random_whole(seed, least_rows=10)
    k = KAnonymity(2)
    rng = np.random.default_rng(seed)
    owner = {name: int(rng.integers(parties)) for name in whole.quasi_identifiers}
    parts = [
        whole.table.select(["tid", *(n for n in whole.quasi_identifiers if owner[n] == i)])
        for i in range(parties)
    ]
    baseline = anonymize_in_turns(
        [p for p in parts if p.num_columns > 1], "tid", whole.rules, (k,), Entropy()
    )
    rows = Counter(zip(*(column.to_pylist() for column in baseline.release.columns), strict=True))
    assert min(rows.values()) >= 2
    best = Exhaustive().run(whole.problem((k,), Entropy(), 0.0)).best
    assert best is not None
    assert best.loss <= baseline.loss + 1e-6


@pytest.mark.parametrize("model", [KAnonymity(2), RecursiveDiversity("disease", c=2, l=2)], ids=str)
@given(seed=st.integers(0, 10**6), limit=st.sampled_from([0.0, 0.3]))
@settings(max_examples=12)
def test_checklist_52_classes_that_nobody_splits_keep_every_promise(
    model: Model, seed: int, limit: float
) -> None:
    whole = random_whole(seed, least_rows=10)
    first, *rest = whole.quasi_identifiers
    parts = [whole.table.select(["tid", first, "disease"]), whole.table.select(["tid", *rest, "visits"])]
    rules = {name: whole.rules[name] for name in whole.quasi_identifiers}
    best = Exhaustive().run(whole.problem((model,), Entropy(), limit)).best
    try:
        baseline = anonymize_then_join(parts, "tid", rules, (model,), Entropy(), limit)
    except NoSolutionError:
        return
    released: dict[tuple[str, ...], Counter[str]] = {}
    for row in baseline.release.to_pylist():
        disease, _ = row.pop("disease"), row.pop("visits")
        released.setdefault(tuple(row.values()), Counter())[disease] += 1
    for diseases in released.values():
        counts = sorted(diseases.values(), reverse=True)
        good = sum(counts) >= 2 if isinstance(model, KAnonymity) else counts[0] < 2 * sum(counts[1:])
        assert good
    assert whole.table.num_rows - baseline.release.num_rows <= limit * whole.table.num_rows
    assert best is not None
    if limit == 0:
        assert best.loss <= baseline.loss + 1e-6


@given(seed=st.integers(0, 10**6))
@settings(max_examples=12)
def test_checklist_6_horizontal_baseline_is_safe_part_by_part(seed: int) -> None:
    whole = random_whole(seed, least_rows=12)
    table = whole.table.select(list(whole.quasi_identifiers))
    half = table.num_rows // 2
    parts = [table.slice(0, half), table.slice(half)]
    baseline = anonymize_then_concatenate(parts, whole.rules, (KAnonymity(2),), Entropy())
    assert baseline.release.num_rows == table.num_rows
    position = 0
    for part in parts:
        piece = baseline.release.slice(position, part.num_rows)
        position += part.num_rows
        assert min(Counter(zip(*(c.to_pylist() for c in piece.columns), strict=True)).values()) >= 2
    assert baseline.loss >= 0


def test_the_entropy_of_mixed_levels_is_that_of_one_level_where_all_cells_have_it() -> None:
    whole = random_whole(13, least_rows=20)
    problem = whole.problem((KAnonymity(1),), Entropy(), 0.0)
    original = whole.table.select(list(whole.quasi_identifiers))
    for node in problem.nodes():
        levels = dict(zip(whole.quasi_identifiers, node, strict=True))
        shown = pa.table(
            {n: [whole.rules[n].label(v, levels[n]) for v in original.column(n).to_pylist()] for n in levels}
        )
        assert cell_entropy(original, shown, levels) == pytest.approx(problem.evaluate(node).loss)


def test_a_part_that_cannot_keep_the_promise_is_told() -> None:
    whole = random_whole(13, least_rows=20)
    table = whole.table.select(list(whole.quasi_identifiers))
    diseased = table.append_column("disease", whole.table.column("disease"))
    rules = {n: whole.rules[n] for n in whole.quasi_identifiers}
    with pytest.raises(NoSolutionError, match="cannot keep the promise"):
        anonymize_then_concatenate(
            [diseased], rules, (RecursiveDiversity("disease", c=0.35, l=2),), Entropy()
        )
