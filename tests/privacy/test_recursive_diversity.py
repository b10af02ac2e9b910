"""The recursive diversities beyond what the battery checks."""

from __future__ import annotations

from typing import Any

import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.privacy import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    NegativeDisclosureRecursiveDiversity,
    PositiveDisclosureRecursiveDiversity,
    RecursiveDiversity,
)
from tests.privacy.tables import blocks, holding, measured


def test_the_inequality_is_strict_and_c_is_the_decimal_as_written() -> None:
    tuples = blocks({"x": {"a": 1, "b": 10}})
    assert not holding(tuples, RecursiveDiversity("disease", 10, 2))["x"]
    tuples = blocks({"x": {"a": 11, "b": 10}})
    assert not holding(tuples, RecursiveDiversity("disease", 1.1, 2))["x"]
    assert holding(tuples, RecursiveDiversity("disease", 1.1000000000000001, 2))["x"] is False
    assert holding(tuples, RecursiveDiversity("disease", 1.100000000000001, 2))["x"]


def test_fewer_than_l_values_fail_whatever_c_is() -> None:
    tuples = blocks({"x": {"a": 1, "b": 1}})
    assert not holding(tuples, RecursiveDiversity("disease", 1e300, 3))["x"]


@pytest.mark.parametrize(
    ("c", "least", "values"), [(3, 2, 2), (1, 2, 3), (0.5, 2, 4), (0.34, 3, 5), (0.1, 2, 12)]
)
def test_a_small_c_implies_more_than_l_values(c: float, least: int, values: int) -> None:
    """With one value fewer, all equally frequent, which is the best that they can be, a class fails."""
    model = RecursiveDiversity("disease", c, least)
    best = blocks({"x": {f"d{i}": 5 for i in range(values)}, "y": {f"d{i}": 5 for i in range(values - 1)}})
    assert holding(best, model) == {"x": True, "y": False}
    assert model.sub_criteria(best) == (DistinctDiversity("disease", values), KAnonymity(values))


def test_a_harmless_value_may_dominate() -> None:
    tuples = blocks(
        {
            "healthy": {"none": 90, "flu": 3, "ulcer": 3, "acne": 3},
            "ill": {"none": 1, "flu": 90, "ulcer": 3, "acne": 3},
            "all well": {"none": 5},
        }
    )
    model = PositiveDisclosureRecursiveDiversity("disease", 2, 3, ("none",))
    # 'none' is ruled out first: 3 of flu against 3 + 3; in the other block 3 is ruled out: 90 against 3 + 1
    assert measured(tuples, model) == {"healthy": 0.5, "ill": 22.5, "all well": 0.0}
    assert holding(tuples, model) == {"healthy": True, "ill": False, "all well": True}
    assert not any(holding(tuples, RecursiveDiversity("disease", 2, 3)).values())


def test_without_harmless_values_it_is_recursive_diversity() -> None:
    tuples = blocks({"x": {"a": 5, "b": 3, "c": 2}, "y": {"a": 2}, "z": {"b": 1, "c": 1}})
    plain = RecursiveDiversity("disease", 2, 2)
    positive = PositiveDisclosureRecursiveDiversity("disease", 2, 2)
    assert measured(tuples, positive) == measured(tuples, plain)
    assert positive.sub_criteria(tuples) == plain.sub_criteria(tuples)
    assert positive.promise == plain.promise


def test_a_share_of_exactly_c2_percent_passes() -> None:
    tuples = blocks({"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 2, "c": 1}})
    for c2, holds in [(33.33333333333333, True), (33.33333333333334, False)]:
        model = NegativeDisclosureRecursiveDiversity("disease", 3, c2, 2, (), ("a", "b"))
        assert holding(tuples, model)["x"] is holds
    model = NegativeDisclosureRecursiveDiversity("disease", 3, 25, 2, (), ("a", "b"))
    assert measured(tuples, model) == {"x": pytest.approx(100 / 3), "y": 25.0}
    assert holding(tuples, model) == {"x": True, "y": True}


def test_values_that_must_not_be_excluded_imply_their_number() -> None:
    tuples = blocks({"x": {"a": 1, "b": 2, "c": 3}})
    harmful = NegativeDisclosureRecursiveDiversity("disease", 1, 10, 2, (), ("a",))
    assert harmful.sub_criteria(tuples)[0] == DistinctDiversity("disease", 3)
    harmless = NegativeDisclosureRecursiveDiversity("disease", 1, 10, 3, ("a", "b"), ("a", "b"))
    assert harmless.sub_criteria(tuples)[0] == DistinctDiversity("disease", 2)


@pytest.mark.parametrize(
    "model",
    [
        DistinctDiversity("disease", 3),
        EntropyDiversity("disease", 2.1),
        RecursiveDiversity("disease", 5, 3),
        RecursiveDiversity("disease", 1, 2),
        PositiveDisclosureRecursiveDiversity("disease", 5, 3, ("a",)),
        NegativeDisclosureRecursiveDiversity("disease", 5, 10, 3, ("a",), ("a",)),
    ],
    ids=str,
)
def test_more_values_than_there_are_cannot_be_asked_for(model: Model) -> None:
    with pytest.raises(ParameterError, match=r"at least 3 different values of 'disease'.* has only 2"):
        model.check(blocks({"x": {"a": 1, "b": 1, "*": 1}}), ["block"])


def test_a_column_without_values_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"'disease'.* has only 0"):
        RecursiveDiversity("disease", 2, 2).check(blocks({"x": {"*": 2}}), ["block"])


def test_unknown_columns_and_values_are_refused() -> None:
    tuples = blocks({"x": {"healthy": 1, "flu": 1}})
    with pytest.raises(ColumnError, match="no column 'diagnosis'"):
        RecursiveDiversity("diagnosis", 2, 2).check(tuples, ["block"])
    with pytest.raises(ParameterError, match="no value 'helthy': did you mean 'healthy'"):
        PositiveDisclosureRecursiveDiversity("disease", 2, 2, ("helthy",)).check(tuples, ["block"])
    with pytest.raises(ParameterError, match="no value 'cancer'"):
        NegativeDisclosureRecursiveDiversity("disease", 2, 5, 2, (), "cancer").check(tuples, ["block"])


def test_one_value_need_not_be_written_as_a_list() -> None:
    model = PositiveDisclosureRecursiveDiversity("disease", 2, 2, "flu", given="treatment")
    assert (model.harmless, model.given) == (("flu",), ("treatment",))


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        (RecursiveDiversity, (0, 2), "c: a number above 0 is needed, not 0"),
        (RecursiveDiversity, (2, 1), "l: at least 2 is needed, not 1"),
        (
            NegativeDisclosureRecursiveDiversity,
            (0, 5, 2, (), ("a",)),
            "c1: a number above 0 is needed, not 0",
        ),
        (NegativeDisclosureRecursiveDiversity, (2, 0, 2, (), ("a",)), "c2"),
        (
            NegativeDisclosureRecursiveDiversity,
            (2, 5, 2.5, (), ("a",)),
            r"l: a whole number is needed, not 2\.5",
        ),
        (NegativeDisclosureRecursiveDiversity, (2, 5, 2), "at least one value"),
        (NegativeDisclosureRecursiveDiversity, (2, 60, 2, (), ("a", "b")), "60 percent each"),
    ],
)
def test_impossible_parameters_are_refused(model: Any, parameters: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        model("disease", *parameters)
