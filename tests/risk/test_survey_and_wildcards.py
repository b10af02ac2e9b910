"""Survey weights in the individual risk, and '*' that fits everything."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError
from tarnkappe.risk import check
from tarnkappe.risk.measures import SurveyRisk, Wildcards
from tarnkappe.risk.measures.survey_risk import expected_inverse
from tarnkappe.table import Table
from tests.risk.test_measures import THRESHOLD, agree, classes_of, group, wildcards


def inverse_by_terms(f: int, p: float) -> float:
    """The expectation of 1 / F term by term: the f-th success comes at the F-th trial."""
    total, mass, chance = 0.0, 0.0, p**f
    for trial in count(f):
        total, mass = total + chance / trial, mass + chance
        if mass > 1 - 1e-13 or trial > 200_000:
            return total
        chance *= trial / (trial - f + 1) * (1 - p)
    raise AssertionError


@given(f=st.integers(1, 60), p=st.floats(0.02, 1.0))
@settings(max_examples=60)
def test_the_integral_is_the_sum_of_its_terms(f: int, p: float) -> None:
    assert expected_inverse(np.array([f]), np.array([p]))[0] == pytest.approx(
        inverse_by_terms(f, p), rel=1e-9
    )


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from([1.0, 1.5, 20.0, 300.0])),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=60)
def test_weights_are_summed_in_each_class(rows: list[tuple[str, str, float]]) -> None:
    table = Table(pa.table({name: [row[i] for row in rows] for i, name in enumerate(("sex", "town", "w"))}))
    report = check(table, quasi_identifiers=["sex", "town"], sensitive=[], measures=[SurveyRisk("w", "2/5")])
    found = report.measures["survey-risk"].to_dict()
    plain = [{"sex": sex, "town": town, "w": w} for sex, town, w in rows]
    risks = []
    for members in group(plain, ("sex", "town")).values():
        people = sum(member["w"] for member in members)
        risks += [inverse_by_terms(len(members), len(members) / people)] * len(members)
    assert found["highest"] == pytest.approx(max(risks), rel=1e-6)
    assert found["expected"] == pytest.approx(math.fsum(risks), rel=1e-6)
    assert found["average"] == pytest.approx(math.fsum(risks) / len(rows), rel=1e-6)
    assert found["population"] == pytest.approx(math.fsum(row["w"] for row in plain))
    assert found["above"] == pytest.approx(sum(risk > float(THRESHOLD) for risk in risks) / len(rows))
    assert "w" not in report.sensitive


@pytest.mark.parametrize("weights", [["1", "x"], [1, None], [1, 0], [2.0, -1.0]])
def test_what_is_no_weight_is_refused(weights: list[object]) -> None:
    table = Table(pa.table({"sex": ["f", "m"], "w": weights}))
    with pytest.raises(ColumnError, match="must have a number above 0 in each row"):
        check(table, quasi_identifiers=["sex"], sensitive=[], measures=[SurveyRisk("w")])


@given(
    rows=st.lists(
        st.tuples(*[st.sampled_from(["*", "a", "b"])] * 3),
        min_size=1,
        max_size=14,
    )
)
@settings(max_examples=80)
def test_a_star_fits_every_value(rows: list[tuple[str, ...]]) -> None:
    plain = [{**dict(zip("abc", row, strict=True)), "disease": "flu"} for row in rows]
    found = Wildcards("2/5").measure(classes_of(plain, ("a", "b", "c"))).to_dict()
    agree(wildcards(plain, None, ("a", "b", "c")), found)
