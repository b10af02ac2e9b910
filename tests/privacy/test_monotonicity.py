"""The table of monotonicity: which criteria allow which pruning, with and without suppression."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tarnkappe.privacy import MODELS, Model, monotone
from tests.random_tables import Example, examples

K = MODELS.create("k-anonymity", {"k": 5})
DISTINCT = MODELS.create("distinct-diversity", {"column": "disease", "l": 2})
ENTROPY = MODELS.create("entropy-diversity", {"column": "disease", "l": 1.8})
RECURSIVE = MODELS.create("recursive-diversity", {"column": "disease", "c": 3, "l": 2})
CLOSENESS = [
    MODELS.create(f"{name}-closeness", {"column": "disease", "t": 0.3})
    for name in ("equal", "ordered", "hierarchical")
]
PRESENCE = MODELS.create("delta-presence", {"minimum": 0.0, "maximum": 0.5})


@pytest.mark.parametrize(
    ("models", "without", "with_suppression"),
    [
        ([K], True, True),
        ([DISTINCT], True, True),
        ([ENTROPY], True, False),
        ([RECURSIVE], True, False),
        *(([model], True, False) for model in CLOSENESS),
        ([PRESENCE], True, False),
        ([K, DISTINCT], True, True),
        ([K, RECURSIVE], True, False),
        ([K, PRESENCE], True, False),
    ],
    ids=str,
)
def test_criteria_are_monotone_as_the_table_says(
    models: list[Model], without: bool, with_suppression: bool
) -> None:
    assert monotone(models, suppression=False) is without
    assert monotone(models, suppression=True) is with_suppression


@given(examples(with_population=True, with_missing=False))
@settings(max_examples=20)
def test_partial_monotonicity_rests_on_implied_criteria(example: Example) -> None:
    """Diversity implies as many rows as values, closeness alone a class size that the data tell."""
    assert DISTINCT in RECURSIVE.sub_criteria(example.tuples)
    assert DISTINCT in ENTROPY.sub_criteria(example.tuples)
    for model in (K, DISTINCT, ENTROPY, RECURSIVE, *CLOSENESS, PRESENCE):
        for implied in model.sub_criteria(example.tuples):
            assert monotone([implied], suppression=True)
