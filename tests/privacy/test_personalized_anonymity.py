"""Personalized anonymity with guarding nodes of all kinds."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.privacy import PersonalizedAnonymity, needed_distributions, protect, satisfied
from tarnkappe.privacy.verify import verify
from tests.privacy.tables import holding, measured, weighted
from tests.random_tables import DISEASE_LEVELS

HIERARCHY = {"disease": [{"asthma": "respiratory", "bronchitis": "respiratory", "flu": "viral"}, {}]}
HIERARCHY["disease"][1] = dict.fromkeys(HIERARCHY["disease"][0], "*")
UNDER = {
    "lung": {"flu", "cold"},
    "stomach": {"ulcer", "gastritis"},
    "unknown": {None},
    "*": {"flu", "cold", "ulcer", "gastritis", None},
}


def test_who_guards_a_kind_of_disease_may_be_known_to_have_it_only_up_to_the_bound() -> None:
    """Alina guards all diseases of the respiratory tract; the others guard nothing."""
    table = weighted(
        {
            "block": ["1", "1", "1", "2", "2"],
            "disease": ["asthma", "bronchitis", "flu", "asthma", "flu"],
            "guard": ["respiratory", None, "", "respiratory", None],
        },
        [1] * 5,
        hierarchies=HIERARCHY,
    )
    model = PersonalizedAnonymity("disease", "guard", 0.5)
    assert measured(table, model) == pytest.approx({"1": 2 / 3, "2": 1 / 2})
    assert holding(table, model) == {"1": False, "2": True}


rows = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["flu", "cold", "ulcer", "gastritis", None]),
        st.sampled_from(["flu", "ulcer", "lung", "stomach", "unknown", "*", "", None, "elsewhere"]),
    ),
    min_size=1,
    max_size=12,
)


@given(people=rows, p=st.sampled_from(["1/3", 0.5, 0.75]))
@settings(max_examples=80)
def test_kernel_definition_and_sql_agree(people: list[tuple[int, str | None, str | None]], p: float) -> None:
    columns = {name: [row[i] for row in people] for i, name in enumerate(("block", "disease", "guard"))}
    table = weighted(columns, [1] * len(people), hierarchies={"disease": DISEASE_LEVELS})
    model = PersonalizedAnonymity("disease", "guard", p)
    expected = {}
    for block in {row[0] for row in people}:
        members = [row for row in people if row[0] == block]
        worst = Fraction(0)
        for _, _, guard in members:
            if guard:
                below = UNDER.get(guard, {guard})
                worst = max(worst, Fraction(sum(row[1] in below for row in members), len(members)))
        expected[str(block)] = worst
    assert measured(table, model) == pytest.approx({k: float(v) for k, v in expected.items()})
    assert holding(table, model) == {k: v <= Fraction(str(p)) for k, v in expected.items()}
    release = pa.table(
        {k: pa.array(v, pa.int64() if k == "block" else pa.string()) for k, v in columns.items()}
    )
    connection = duckdb.connect(config={"threads": 1})
    connection.register("release", release)
    connection.register("input", release)
    (found,) = verify(connection, [model], ["block"], sensitive=table.columns)
    assert found.holds == all(v <= Fraction(str(p)) for v in expected.values())


def test_people_who_guard_nothing_spoil_the_class_of_one_who_does() -> None:
    """Why it is not monotone, even without suppression."""
    table = weighted(
        {"block": [1, 1, 2], "disease": ["flu", "ulcer", "flu"], "guard": ["lung", None, None]},
        [1, 1, 2],
        hierarchies={"disease": DISEASE_LEVELS, "block": [{1: "*", 2: "*"}]},
    )
    model = PersonalizedAnonymity("disease", "guard", 0.5)
    verdicts = []
    for level in (0, 1):
        classes = table.classes(["block"], [level], needed_distributions([model]))
        verdicts.append(satisfied(protect(classes, [model]), [model], 0))
    assert verdicts == [True, False]


def test_codes_of_a_consent_form_stand_for_nodes() -> None:
    table = weighted(
        {"block": [1, 1], "disease": ["flu", "ulcer"], "consent": [1, 2]},
        [1, 1],
        hierarchies={"disease": DISEASE_LEVELS},
    )
    everything = PersonalizedAnonymity("disease", "consent", 0.5, nodes={"1": "", "2": "*"})
    assert holding(table, everything) == {"1": False}
    stomach = PersonalizedAnonymity("disease", "consent", 0.5, nodes={"1": "", "2": "stomach"})
    assert holding(table, stomach) == {"1": True}


def test_what_cannot_work_is_refused() -> None:
    table = weighted(
        {"block": [1], "disease": ["flu"], "guard": ["lungs"]}, [1], hierarchies={"disease": DISEASE_LEVELS}
    )
    with pytest.raises(ColumnError, match="is a node of the hierarchy"):
        PersonalizedAnonymity("disease", "guard", 0.5).check(table, ["block"])
    with pytest.raises(ColumnError, match="no hierarchy"):
        PersonalizedAnonymity("guard", "disease", 0.5).check(table, ["block"])
    with pytest.raises(ColumnError, match="no column 'consent'"):
        PersonalizedAnonymity("disease", "consent", 0.5).check(table, ["block"])
    with pytest.raises(ParameterError, match="column of their own"):
        PersonalizedAnonymity("disease", "disease", 0.5)
