"""m-invariance of a sequence of releases."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe_bench.m_invariance import Condition, Violation, m_invariance
from tests.conftest import FIXTURES
from tests.privacy.test_documents import read


def violations(releases: list[pa.Table], m: int, **options: bool) -> list[Violation]:
    return m_invariance(releases, m, person="name", groups=["age", "zip"], sensitive="disease", **options)


FIRST = read(FIXTURES / "query-model" / "f2.3.csv")
SECOND = read(FIXTURES / "query-model" / "f2.7.csv")


def values_of(release: pa.Table, person: str) -> set[str]:
    group = {row["name"]: (row["age"], row["zip"]) for row in release.to_pylist()}
    return {row["disease"] for row in release.to_pylist() if group[row["name"]] == group[person]}


def test_two_diverse_releases_disclose_a_value_together() -> None:
    for release in (FIRST, SECOND):
        assert all(len(values_of(release, row["name"])) >= 2 for row in release.to_pylist())
    assert values_of(FIRST, "Clive") & values_of(SECOND, "Clive") == {"Diabetes"}
    assert not {"Asthma", "Bronchitis"} & set(SECOND["disease"].to_pylist())


def test_what_breaks_the_invariance_of_the_two_releases() -> None:
    """Groups 2 and 3 repeat a value in both; the values of groups 1 and 3 change for who stays in them."""
    found = violations([FIRST, SECOND], 3)
    repeated = {(v.release, v.group[0]) for v in found if v.condition is Condition.UNIQUE_VALUES}
    assert repeated == {(0, "23–24"), (0, "24–27"), (1, "23–24"), (1, "24–27")}
    changed = {(v.release, v.group[0], v.person) for v in found if v.condition is Condition.SAME_VALUES}
    assert changed == {(1, "20–21", "Clive"), (1, "24–27", "Harry"), (1, "24–27", "Isabel")}
    assert not [v for v in found if v.condition is Condition.SIZE]


def release(*rows: tuple[str | None, str, str]) -> pa.Table:
    names, groups, values = zip(*rows, strict=True)
    return pa.table({"name": names, "age": groups, "zip": groups, "disease": values})


def test_a_counterfeit_keeps_the_values_of_a_group() -> None:
    first = release(("Ann", "1", "flu"), ("Bob", "1", "cold"))
    broken = release(("Ann", "1", "flu"), ("Cem", "1", "ulcer"))
    kept = release(("Ann", "1", "flu"), (None, "1", "cold"), ("Cem", "2", "ulcer"), (None, "2", "cold"))
    assert violations([first, kept], 2) == []
    assert [v.person for v in violations([first, broken], 2)] == ["Ann"]


def test_groups_of_another_size() -> None:
    table = release(("Ann", "1", "flu"), ("Bob", "1", "cold"), ("Cem", "1", "ulcer"), ("Dee", "2", "flu"))
    assert [v.group[0] for v in violations([table], 2)] == ["1", "2"]
    assert [v.group[0] for v in violations([table], 2, at_least=True)] == ["2"]


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(ColumnError, match="no column 'name'"):
        violations([FIRST.drop_columns(["name"])], 3)
    with pytest.raises(ParameterError, match="whole number m"):
        violations([FIRST], 0)
