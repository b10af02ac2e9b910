"""What cannot work is refused with a sentence that names the thing and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tarnkappe.errors import TarnkappeError
from tarnkappe.privacy import (
    MODELS,
    AlphaKAnonymity,
    AverageRisk,
    ConfidenceBounding,
    EpsilonMAnonymity,
    JournalistNoAttack,
    JournalistProfitability,
    KEAnonymity,
    LKCPrivacy,
    Model,
    MultiRelationalKAnonymity,
    PopulationUniqueness,
    ProsecutorNoAttack,
    PSensitiveKAnonymity,
    SquaredErrorDiversity,
    SubsetAnonymity,
    SubsetConfidence,
    ValueCloseness,
    ValueRange,
    XYAnonymity,
    XYLinkability,
    XYPrivacy,
)
from tarnkappe.privacy.composite import CompositeModel
from tests.privacy.tables import weighted

TABLE = weighted(
    {"age": [1, 2, 2], "zip": [1, 1, 2], "disease": ["flu", "cold", "cold"], "income": [10, 20, 30]},
    [1, 1, 2],
)


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (PSensitiveKAnonymity(5, 2, "disease"), "k = 5 is larger than the table, which has 4 rows"),
        (PSensitiveKAnonymity(2, 3, "disease"), "the whole table has only 2"),
        (PSensitiveKAnonymity(2, 2, "diseases"), "no column 'diseases'"),
        (AlphaKAnonymity(2, 0.4, "disease"), "only 2 different values of 'disease': choose a smaller k"),
        (ConfidenceBounding("disease", {"flue": 0.5}), "no row has the value 'flue'"),
        (ConfidenceBounding("disease", {"flu": 0.5}, quasi_identifiers=("income",)), "'income' is no quasi"),
        (XYAnonymity(("disease",), 2, x=("zip", "weight")), "'weight' is no quasi-identifier"),
        (XYAnonymity(("zip",), 2, x=("age",)), "'zip' is a quasi-identifier"),
        (XYAnonymity(("disease", "income"), 4), "only 3 different values of 'disease' and 'income'"),
        (XYLinkability(("person",), 0.5), "no column 'person'"),
        (XYPrivacy(("disease",), 3, 0.5), "choose a smaller k"),
        (MultiRelationalKAnonymity("person", 2), "no column 'person'"),
        (ValueCloseness("disease", {"flue": (0, 1)}), "no value 'flue': did you mean 'flu'"),
        (ValueRange("disease", 1), "'disease' does not hold numbers"),
        (SquaredErrorDiversity("disease", 1), "'disease' does not hold numbers"),
        (KEAnonymity(2, 5, "disease"), "'disease' does not hold numbers"),
        (EpsilonMAnonymity("disease", 1, 2), "'disease' does not hold numbers"),
        (EpsilonMAnonymity("income", 1, 4), "only 3"),
        (SubsetAnonymity(1, 5), "larger than the table"),
        (SubsetConfidence(1, 0.5, "disease", values=("flue",)), "no row has the value 'flue'"),
        (LKCPrivacy(1, 5, 0.5, "disease"), "larger than the table"),
        (AverageRisk(0.2), "even if all 4 rows look the same"),
        (PopulationUniqueness(0.1, population_size=3), "4 rows, more than the population"),
        (ProsecutorNoAttack(10, 2), "larger than the table"),
        (JournalistNoAttack(10, 2), "none is given"),
        (JournalistProfitability(1, 1, 1, 1), "none is given"),
    ],
    ids=str,
)
def test_a_model_refuses_a_table_it_cannot_work_on(model: Model, complaint: str) -> None:
    with pytest.raises(TarnkappeError, match=complaint):
        model.check(TABLE, ["age", "zip"])


@pytest.mark.parametrize("model", [m for model in MODELS for m in model.examples()], ids=str)
def test_every_example_is_content_with_a_table_that_has_all_it_needs(model: Model) -> None:
    if model.name == "differential-privacy":
        return  # it wants all columns to be quasi-identifiers
    n = range(60)
    table = weighted(
        {
            "a": [i % 3 for i in n],
            "disease": [("flu", "cold", "ulcer", "gastritis")[i % 4] for i in n],
            "treatment": [("A", "B")[i % 2] for i in n],
            "income": [i % 5 * 100 for i in n],
        },
        [1] * 60,
        population=[2] * 60,
        hierarchies={
            "disease": [
                {"flu": "lung", "cold": "lung", "ulcer": "stomach", "gastritis": "stomach"},
                dict.fromkeys(("flu", "cold", "ulcer", "gastritis"), "*"),
            ]
        },
    )
    model.check(table, ["a"])


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("p-sensitive-k-anonymity", {"k": 0, "p": 1, "column": "c"}, "k: at least 1 is needed, not 0"),
        (
            "p-sensitive-k-anonymity",
            {"k": 2, "p": 1.5, "column": "c"},
            r"p: a whole number is needed, not 1\.5",
        ),
        (
            "alpha-k-anonymity",
            {"k": 2, "alpha": 1.2, "column": "c"},
            r"alpha: at most 1 is allowed, not 1\.2",
        ),
        (
            "alpha-k-anonymity",
            {"k": 2, "alpha": 0, "column": "c"},
            "alpha: a number above 0 is needed, not 0",
        ),
        (
            "alpha-k-anonymity",
            {"k": 2, "alpha": "one third", "column": "c"},
            "a fraction such as '1/3', is needed, not 'one third'",
        ),
        (
            "alpha-k-anonymity",
            {"k": 2, "alpha": "1/0", "column": "c"},
            "alpha: a fraction of something other than 0 is needed",
        ),
        (
            "confidence-bounding",
            {"column": "c", "templates": {}},
            "templates: too few entries: 0, at least 1 needed",
        ),
        (
            "confidence-bounding",
            {"column": "c", "templates": {"v": 2}},
            r"templates\.v: at most 1 is allowed, not 2",
        ),
        ("x-y-anonymity", {"y": [], "k": 2}, "y: too few entries: 0, at least 1 needed"),
        ("x-y-anonymity", {"y": ["a"], "x": ["a"], "k": 2}, "different columns"),
        ("x-y-linkability", {"y": ["a", "a"], "p": 0.5}, "different columns"),
        ("x-y-privacy", {"y": ["a"], "k": 2, "p": True}, "p: a number or a fraction is needed, not True"),
        ("multi-relational-k-anonymity", {"person": "p", "k": -1}, "k: at least 1 is needed, not -1"),
        ("value-closeness", {"column": "c", "bounds": {}}, "bounds: too few entries: 0, at least 1 needed"),
        (
            "value-closeness",
            {"column": "c", "bounds": {"v": [0.5]}},
            r"bounds\.v: too few entries: 1, at least 2 needed",
        ),
        (
            "value-closeness",
            {"column": "c", "bounds": {"v": [0.5, 0.4]}},
            r"bounds\.v: the lower bound is above the upper bound",
        ),
        (
            "value-closeness",
            {"column": "c", "bounds": {"v": [0.6, 1], "w": [0.6, 1]}},
            r"bounds: the lower bounds sum to 1\.2, which is more than 1",
        ),
        ("value-range", {"column": "c", "e": -1}, "e: at least 0 is needed, not -1"),
        ("squared-error-diversity", {"column": "c", "error": -1}, "error: at least 0 is needed, not -1"),
        (
            "k-e-anonymity",
            {"k": 2, "e": float("inf"), "column": "c"},
            "e: a finite number is needed, not inf",
        ),
        (
            "epsilon-m-anonymity",
            {"column": "c", "epsilon": 1, "m": 0.5},
            r"m: at least 1 is needed, not 0\.5",
        ),
        ("epsilon-m-anonymity", {"column": "c", "epsilon": 1, "m": 2, "relative": 1}, "true or false"),
        ("lkc-privacy", {"l": 0, "k": 2, "c": 0.5, "column": "c"}, "l: at least 1 is needed, not 0"),
        (
            "lkc-privacy",
            {"l": 1, "k": 2, "c": 0, "column": "c"},
            "c: a confidence above 0 is needed unless values are named",
        ),
        ("average-risk", {"threshold": 0}, "threshold: a number above 0 is needed, not 0"),
        ("sample-uniqueness", {"threshold": -0.1}, r"threshold: at least 0 is needed, not -0\.1"),
        ("population-uniqueness", {"threshold": 0.1}, "either the population_size or the sampling_fraction"),
        (
            "population-uniqueness",
            {"threshold": 0.1, "population_size": 9, "sampling_fraction": 0.1},
            "either the population_size or the sampling_fraction",
        ),
        (
            "population-uniqueness",
            {"threshold": 0.1, "estimator": "guess", "population_size": 9},
            "estimator: one of pitman, zayatz, snb, dankar is needed, not 'guess'",
        ),
        (
            "prosecutor-no-attack",
            {"adversary_gain": 1, "adversary_cost": 0},
            "adversary_cost: a number above 0 is needed, not 0",
        ),
        (
            "prosecutor-profitability",
            {"publisher_benefit": 0, "publisher_loss": 1, "adversary_gain": 1, "adversary_cost": 1},
            "publisher_benefit: a number above 0 is needed, not 0",
        ),
    ],
)
def test_impossible_parameters_are_refused(name: str, parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TarnkappeError, match=complaint):
        MODELS.create(name, parameters)


def test_one_name_will_do_where_several_may_be_given() -> None:
    assert XYAnonymity("disease", 2, x="age") == XYAnonymity(("disease",), 2, x=("age",))  # type: ignore[arg-type]


def test_a_composite_is_verified_part_by_part() -> None:
    composites = [m for model in MODELS for m in model.examples() if isinstance(m, CompositeModel)]
    assert len({model.name for model in composites}) == 6
    for model in composites:
        ask: Callable[[], str] = lambda model=model: model.sql(["a"])  # noqa: E731
        with pytest.raises(TypeError, match="part by part"):
            ask()
