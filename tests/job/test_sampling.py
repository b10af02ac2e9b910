"""Fixed levels and differential privacy by sampling: the conditions of the promise are demanded."""

from __future__ import annotations

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Table

BY_TEN = {"age": {"builder": "intervals", "width": [10, 50]}}
PRIVATE = [{"model": "differential-privacy", "epsilon": 1.0, "delta": 0.001}]


@pytest.fixture
def ages() -> Table:
    data = pa.table({"name": [f"p{i}" for i in range(3000)], "age": [i % 100 for i in range(3000)]})
    return Table(data).with_roles(identifiers=["name"], quasi_identifiers=["age"])


def test_rows_are_drawn_and_classes_have_the_size_that_the_promise_needs(ages: Table) -> None:
    result = tarnkappe.anonymize(
        ages, privacy=PRIVATE, hierarchies=BY_TEN, levels={"age": 1}, suppression_limit=1, seed=3
    )
    model = tarnkappe.models.DifferentialPrivacy(1.0, 0.001)
    assert abs(result.input.num_rows / 3000 - model.sampling_rate) < 0.05
    assert result.levels == {"age": 1}
    assert result.verified[0].value >= model.k
    again = tarnkappe.anonymize(
        ages, privacy=PRIVATE, hierarchies=BY_TEN, levels={"age": 1}, suppression_limit=1
    )
    assert again.input.num_rows != result.input.num_rows or not again.input.data.equals(result.input.data)


def test_every_condition_is_demanded(ages: Table) -> None:
    def ask(table: Table, **changes: object) -> None:
        settings = {"hierarchies": BY_TEN, "levels": {"age": 1}, "suppression_limit": 1} | changes
        tarnkappe.anonymize(table, privacy=PRIVATE, **settings)

    with pytest.raises(ParameterError, match="levels of age would be searched for"):
        ask(ages, levels={})
    with pytest.raises(ParameterError, match="levels of age would be searched for"):
        ask(ages, levels={"age": (0, 1)})
    with pytest.raises(ParameterError, match="suppression_limit = 1"):
        ask(ages, suppression_limit=0.5)
    with pytest.raises(ParameterError, match="name would be released unchanged"):
        ask(ages.with_roles(quasi_identifiers=["age"], insensitive=["name"]), accept={"name": "unique-code"})


def test_levels_stay_within_their_limits(ages: Table) -> None:
    for limits, expected in ((2, 2), ((2, 3), 2), ((0, 3), 0)):
        result = tarnkappe.anonymize(
            ages, privacy=[{"model": "k-anonymity", "k": 5}], hierarchies=BY_TEN, levels={"age": limits}
        )
        assert result.levels == {"age": expected}


def test_impossible_limits_are_refused(ages: Table) -> None:
    with pytest.raises(
        ParameterError, match="'age' has the levels 0 to 3: a level from 4 to 4 is impossible"
    ):
        tarnkappe.anonymize(
            ages, privacy=[{"model": "k-anonymity", "k": 5}], hierarchies=BY_TEN, levels={"age": 4}
        )
    with pytest.raises(ColumnError, match="'name' has level limits but is no quasi-identifier"):
        tarnkappe.anonymize(ages, privacy=[{"model": "k-anonymity", "k": 5}], levels={"name": 0})
