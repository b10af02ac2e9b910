"""Attackers who know some of the quasi-identifiers: what is kept, and that smaller combinations need no look."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given, settings

from tarnkappe.privacy import LKCPrivacy, Model, SubsetAnonymity, SubsetConfidence, protect
from tests.privacy.test_battery import class_keys, classes_of
from tests.random_tables import Example, Row, examples

MODELS: list[Model] = [
    SubsetAnonymity(1, 3),
    SubsetAnonymity(2, 2),
    SubsetConfidence(2, 0.5, "disease"),
    SubsetConfidence(1, 0.4, "disease", values=("flu",)),
    LKCPrivacy(2, 2, "2/3", "disease"),
]


def meets(
    rows: list[Row], names: tuple[str, ...], most: int, k: int, c: Fraction, values: tuple[str, ...]
) -> bool:
    """The definition: every combination of 1 to `most` columns has k rows and no share above c."""
    for chosen in chain.from_iterable(combinations(names, n) for n in range(1, min(most, len(names)) + 1)):
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(row[name] for name in chosen), []).append(row)
        for group in groups.values():
            counts = Counter(row["disease"] for row in group)
            inferred = [n for value, n in counts.items() if not values or value in values]
            if len(group) < k or any(Fraction(n, len(group)) > c for n in inferred):
                return False
    return True


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(example=examples())
@settings(max_examples=40)
def test_what_is_kept_meets_the_definition(model: Model, example: Example) -> None:
    known = model.parameters
    k, c, values = known.get("k", 1), Fraction(str(known.get("c", 1))), known.get("values", ())
    for levels in example.nodes():
        classes = classes_of(example, levels, [model])
        kept = protect(classes, [model]).kept
        keys = {key for key, keep in zip(class_keys(classes), kept, strict=True) if keep}
        names = example.quasi_identifiers
        rows = [r for r in example.generalized(levels) if tuple(str(r[n]) for n in names) in keys]
        assert meets(rows, names, known["l"], k, c, values)
        if meets(example.generalized(levels), names, known["l"], k, c, values):
            assert kept.all(), "nothing is suppressed needlessly"


@given(example=examples(max_rows=9, max_columns=2))
@settings(max_examples=60)
def test_no_larger_set_of_classes_has_subset_anonymity(example: Example) -> None:
    model = SubsetAnonymity(1, 3)
    names = example.quasi_identifiers
    for levels in example.nodes():
        classes = classes_of(example, levels, [model])
        kept = protect(classes, [model]).kept
        members = list(example.members(levels).values())
        best = max(
            len(rows)
            for n in range(len(members) + 1)
            for chosen in combinations(members, n)
            if meets(rows := list(chain.from_iterable(chosen)), names, 1, 3, Fraction(1), ())
        )
        assert classes.sizes[kept].sum() == best
