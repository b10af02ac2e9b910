"""How many rows of a class can be kept: against brute force, and never fewer than are kept at lower levels."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.privacy import (
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    OrderedCloseness,
    PositiveDisclosureRecursiveDiversity,
    RecursiveDiversity,
    needed_distributions,
    protect,
)
from tarnkappe.privacy.keepable import keepable
from tarnkappe.privacy.model import SensitiveModel
from tarnkappe.table import Distribution
from tarnkappe.table.encoding import encode_column
from tests.random_tables import DISEASE_LEVELS, DISEASES, Example, build_levels, examples

MODELS: tuple[SensitiveModel, ...] = (
    EntropyDiversity("disease", 2),
    EntropyDiversity("disease", 2.3),
    EntropyDiversity("disease", 1.8, given=("treatment",)),
    RecursiveDiversity("disease", 2, 2),
    RecursiveDiversity("disease", 1.5, 3),
    RecursiveDiversity("disease", 0.9, 2),
    RecursiveDiversity("disease", 3, 2, given=("treatment",)),
    EqualCloseness("disease", 0.2),
    EqualCloseness("disease", "1/3"),
    EqualCloseness("disease", 0.3, given=("treatment",)),
    OrderedCloseness("disease", 0.15),
    OrderedCloseness("disease", 0.3),
    HierarchicalCloseness("disease", 0.15),
    HierarchicalCloseness("disease", 0.3),
)


def distribution(classes: list[tuple[int, ...]], totals: tuple[int, ...]) -> Distribution:
    """Classes with so many rows of each disease, in a table with so many."""
    column = encode_column("disease", pa.chunked_array([sorted(DISEASES)]))
    column = column.with_levels(build_levels(column, DISEASE_LEVELS))
    entries = [[(code, n) for code, n in enumerate(counts) if n] for counts in classes]
    return Distribution(
        column=column,
        totals=np.array(totals),
        offsets=np.cumsum([0, *map(len, entries)]),
        codes=np.array([code for own in entries for code, _ in own], np.int32),
        counts=np.array([n for own in entries for _, n in own], np.int64),
    )


def parts_of(counts: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [part for part in itertools.product(*(range(n + 1) for n in counts)) if any(part)]


@cache
def brute_force(model: SensitiveModel, counts: tuple[int, ...], totals: tuple[int, ...]) -> int:
    """The size of the largest part of a class that meets a model, of all its parts."""
    parts = parts_of(counts)
    good = model.values_hold(distribution(parts, totals))
    return max((sum(part) for part, holds in zip(parts, good, strict=True) if holds), default=0)


@given(
    counts=st.tuples(*(st.integers(0, 4) for _ in range(4))).filter(lambda n: 0 < sum(n) <= 9),
    others=st.tuples(*(st.integers(0, 9) for _ in range(4))),
)
@settings(max_examples=30)
def test_no_part_of_a_class_that_meets_a_model_is_larger(
    counts: tuple[int, ...], others: tuple[int, ...]
) -> None:
    totals = tuple(a + b for a, b in zip(counts, others, strict=True))
    for model in (each for each in MODELS if not each.given):
        most = model.values_keepable(distribution([counts], totals))
        assert most is not None
        largest = brute_force(model, counts, totals)
        assert largest <= most[0] <= sum(counts), (model, counts, totals)


@given(example=examples(max_columns=2, max_rows=12))
@settings(max_examples=30)
def test_nothing_below_a_node_keeps_more_rows_than_it_allows(example: Example) -> None:
    """On all pairs of nodes of a lattice, model by model and together with k-anonymity."""
    needed = needed_distributions(MODELS)
    nodes = {
        node: example.tuples.classes(example.quasi_identifiers, node, needed) for node in example.nodes()
    }
    for model in MODELS:
        suppressed = {node: protect(classes, [model]).suppressed_rows for node, classes in nodes.items()}
        for node, classes in nodes.items():
            most = keepable(model, classes)
            assert most is not None
            assert np.all(most <= classes.sizes)
            surely = int((classes.sizes - most).sum())
            for other, lost in suppressed.items():
                if all(a <= b for a, b in zip(other, node, strict=True)):
                    assert surely <= lost, (model, node, other)


def test_the_worked_class() -> None:
    """8, 2 and 1 rows: capped at 5 the odds hold; e to the entropy is 2.137, 2.230, 2.337 for 8, 7, 6."""
    counts, totals = (8, 2, 1, 0), (50, 30, 20, 0)
    for model, most in (
        (RecursiveDiversity("disease", 2, 2), 8),
        (EntropyDiversity("disease", 2.3), 9),
        (EqualCloseness("disease", 0.2), 10),
    ):
        assert model.values_keepable(distribution([counts], totals)) == [most], model
        assert brute_force(model, counts, totals) == most, model


def test_it_is_not_known_where_values_may_be_disclosed() -> None:
    """Harmless values may be as frequent as they like, so evening out the counts proves nothing."""
    model = PositiveDisclosureRecursiveDiversity("disease", 2, 2, harmless=("cold",))
    assert model.values_keepable(distribution([(1, 4, 0, 0)], (9, 9, 9, 9))) is None


def test_a_distance_of_exactly_t_keeps_the_class() -> None:
    """2/3, 1/6, 1/6 against thirds are 1/3 apart, which no binary fraction is."""
    model = EqualCloseness("disease", Fraction(1, 3))
    assert model.values_keepable(distribution([(4, 1, 1, 0)], (2, 2, 2, 0))) == [6]
