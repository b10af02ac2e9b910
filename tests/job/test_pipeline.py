"""The whole way from a table to a verified release, and what an attacker or a fault in between meets."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import NoSolutionError, ParameterError, VerificationError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.job.verification import verify_release, write_verified
from tarnkappe.table import Table
from tests.random_tables import DISEASES, Example, examples


def hierarchy_of(example: Example, name: str) -> Hierarchy:
    values = sorted({value for level in example.maps[name] for value in level})
    return Hierarchy.from_rows([[str(v), *(level[v] for level in example.maps[name])] for v in values])


def table_of(example: Example) -> Table:
    data = pa.Table.from_pylist(example.rows)
    data = data.append_column("name", pa.array([f"person {i}" for i in range(len(example.rows))]))
    return Table(data).with_roles(
        identifiers=["name"],
        quasi_identifiers=example.quasi_identifiers,
        sensitive=["disease", "treatment"],
        insensitive=["income"],
    )


@given(examples(min_rows=4), st.sampled_from([0.0, 0.2, 0.5]))
@settings(max_examples=60)
def test_every_release_meets_its_models_and_is_part_of_the_input(example: Example, limit: float) -> None:
    try:
        result = tarnkappe.anonymize(
            table_of(example),
            privacy=[
                {"model": "k-anonymity", "k": 2},
                {"model": "distinct-diversity", "column": "disease", "l": 2},
            ],
            hierarchies={name: hierarchy_of(example, name) for name in example.quasi_identifiers},
            suppression_limit=limit,
        )
    except (NoSolutionError, ParameterError):
        reject()
    released = result.release.data.to_pylist()
    node = tuple(result.levels[name] for name in example.quasi_identifiers)
    names = example.quasi_identifiers
    members = Counter(tuple(str(row[n]) for n in names) for row in released)
    values: dict[tuple[str, ...], set[str]] = {}
    for row in released:
        values.setdefault(tuple(str(row[n]) for n in names), set()).add(row["disease"])
    assert all(count >= 2 for count in members.values())
    assert all(len(found) >= 2 for found in values.values())
    assert len(example.rows) - len(released) == result.suppressed <= limit * len(example.rows)

    def as_text(row: dict[str, object]) -> tuple[str, ...]:
        return tuple(str(row[n]) for n in (*names, "disease", "treatment", "income"))

    assert not Counter(map(as_text, released)) - Counter(map(as_text, example.generalized(node)))
    assert "name" not in result.release.column_names
    assert all(found.holds for found in result.verified)


@pytest.fixture
def people() -> Table:
    return Table(
        pa.table(
            {
                "name": [f"person {i}" for i in range(40)],
                "age": [20 + i for i in range(40)],
                "illness": [DISEASES[i % 4] for i in range(40)],
            }
        )
    ).with_roles(identifiers=["name"], quasi_identifiers=["age"], sensitive=["illness"])


@pytest.fixture
def result(people: Table) -> tarnkappe.Result:
    return tarnkappe.anonymize(people, privacy=[{"model": "k-anonymity", "k": 5}], seed=1)


def test_two_calls_do_not_influence_each_other(people: Table) -> None:
    """Another tool keeps state between calls and suppresses 20 % under a limit of 5 % in the second."""
    first, second = (
        tarnkappe.anonymize(
            people, privacy=[{"model": "k-anonymity", "k": 5}], suppression_limit=0.05, seed=7
        )
        for _ in range(2)
    )
    assert first.release.data.equals(second.release.data)
    assert first.suppressed == second.suppressed <= 2


def test_a_release_that_was_tampered_with_is_not_handed_over(result: tarnkappe.Result) -> None:
    release = result.release.data
    with pytest.raises(VerificationError, match="does not meet k-anonymity"):
        verify_release(result, release.slice(1, 2))
    foreign = release.set_column(
        release.schema.get_field_index("age"), "age", pa.array(["20"] * release.num_rows)
    )
    with pytest.raises(VerificationError, match="no label of level"):
        verify_release(result, foreign)
    with pytest.raises(VerificationError, match="still has the identifier name"):
        verify_release(result, release.append_column("name", pa.array(["x"] * release.num_rows)))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx", ".arrow"])
def test_what_is_written_is_verified(result: tarnkappe.Result, tmp_path: Path, suffix: str) -> None:
    write_verified(result, tmp_path / f"release{suffix}", ";")
    assert tarnkappe.read(tmp_path / f"release{suffix}").data.to_pylist() == result.release.data.to_pylist()
    assert [path.name for path in tmp_path.iterdir()] == [f"release{suffix}"]


def test_a_release_that_fails_once_written_is_refused(result: tarnkappe.Result, tmp_path: Path) -> None:
    promised_more = dataclasses.replace(
        result,
        problem=dataclasses.replace(result.problem, models=(tarnkappe.models.KAnonymity(30),)),
    )
    with pytest.raises(VerificationError):
        write_verified(promised_more, tmp_path / "release.csv", ";")


def test_when_nothing_helps_the_user_is_told_what_would(people: Table) -> None:
    alike = Table(people.data.set_column(2, "illness", pa.array(["flu"] * 39 + ["cold"])), people.roles)
    with pytest.raises(NoSolutionError, match="even fully generalized, 40 rows would have to be suppressed"):
        tarnkappe.anonymize(alike, privacy=[{"model": "entropy-diversity", "column": "illness", "l": 2}])


def test_a_population_is_generalized_and_verified_with_the_release(people: Table) -> None:
    population = Table(pa.table({"age": [20 + i for i in range(80)]}))
    result = tarnkappe.anonymize(
        people, privacy=[{"model": "delta-presence", "minimum": 0.1, "maximum": 0.6}], population=population
    )
    assert result.verified[0].holds
    assert result.population is not None
    assert result.population.num_rows == 80


def test_persons_are_counted_where_they_have_several_rows(people: Table) -> None:
    """Ten rows of two people are not 5-anonymous; who the rows are about is judged but never released."""
    person = pa.array([f"person {i // 5}" for i in range(40)])
    table = Table(people.data.set_column(0, "name", person), people.roles)
    with pytest.raises(tarnkappe.TarnkappeError, match="32 rows repeat the name"):
        tarnkappe.anonymize(table, privacy=[{"model": "k-anonymity", "k": 5}])
    result = tarnkappe.anonymize(
        table,
        privacy=[{"model": "multi-relational-k-anonymity", "person": "name", "k": 5}],
        several_rows_per_person=True,
    )
    assert result.verified[0].value >= 5
    assert "name" not in result.release.column_names
    classes = Counter(result.release.data.column("age").to_pylist())
    assert min(classes.values()) >= 20


def test_whole_numbers_in_a_column_of_fractions_are_verified(people: Table) -> None:
    """DuckDB shows 100.0 where a hierarchy has 100; the two paths must speak of the same values."""
    doses = pa.array([0.5, 1.0, 2.0, 100.0] * 10)
    table = Table(
        people.data.append_column("dose", doses), {**people.roles, "dose": tarnkappe.Role.SENSITIVE}
    )
    small = tarnkappe.Hierarchy.from_rows(
        [["0.5", "low", "*"], ["1", "low", "*"], ["2", "high", "*"], ["100", "high", "*"]]
    )
    result = tarnkappe.anonymize(
        table,
        privacy=[{"model": "hierarchical-closeness", "column": "dose", "t": 0.25}],
        hierarchies={"dose": small},
    )
    assert result.verified[0].value == pytest.approx(
        result.problem.models[0].value(result.state.classes, result.state.kept)
    )


def test_rows_without_a_sensitive_promise_are_attacked_all_the_same(result: tarnkappe.Result) -> None:
    assert {attack.attack for attack in result.attacks} >= {"linking", "homogeneity"}
    assert "verified: k-anonymity" in str(result)
