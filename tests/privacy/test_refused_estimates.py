"""What (n,t)-closeness and k-map by a test refuse."""

from __future__ import annotations

import pytest

from tarnkappe.errors import ParameterError
from tarnkappe.privacy import MODELS
from tests.random_tables import build_tuples

ROWS = [{f"q{i:02}": 0 for i in range(13)} | {"disease": "flu"}] * 3


def test_more_rows_than_the_table_has_are_no_group() -> None:
    model = MODELS.create("n-t-closeness", {"column": "disease", "n": 4, "t": 0.1})
    with pytest.raises(ParameterError, match="has only 3 rows"):
        model.check(build_tuples(ROWS, {}), ("q00",))


def test_thirteen_columns_have_too_many_groups() -> None:
    model = MODELS.create("n-t-closeness", {"column": "disease", "n": 2, "t": 0.1})
    with pytest.raises(ParameterError, match="too many larger groups"):
        model.check(build_tuples(ROWS, {}), tuple(ROWS[0])[:13])


def test_a_significance_needs_a_sampling_fraction() -> None:
    with pytest.raises(ParameterError, match="none is stated"):
        MODELS.create("k-map", {"k": 5, "significance": 0.05})
