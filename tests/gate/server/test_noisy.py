"""Figures with noise, paid for by a budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.gate.noisy_figures import NoisyAggregate, NoisyFigures
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.question import GateQuery, RefusedQuery
from tarnkappe.gate.server.settings import Settings
from tarnkappe.gate.source import ProtectedTable
from tarnkappe.state import AuditLog, Store
from tests.gate.server.gates import DISEASES, Running, people, policy, put, running

pytest.importorskip("opendp")
COUNT, MEAN = NoisyAggregate("count"), NoisyAggregate("avg", "age")


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("noisy")
    chosen = policy(put(people(400), "parquet", folder), folder)
    chosen = dataclasses.replace(
        chosen, sensitive=(dataclasses.replace(chosen.sensitive[0], values=(*DISEASES, "plague")),)
    )
    settings = {
        "aggregates": "noisy",
        "epsilon": Fraction(5),
        "budget": Fraction(60),
        "bounds": {"age": (Fraction(18), Fraction(90))},
    }
    with running(chosen, folder, **settings) as found:
        yield found


def test_counts_are_near_the_truth_and_never_exact_twice(noisy: Running) -> None:
    truth = {name: sum(row[4] == name for row in people(400)) for name in DISEASES}
    with noisy.connect() as connection:
        query = "SELECT disease, count(*) AS n FROM patients GROUP BY disease ORDER BY n DESC"
        rows = connection.execute(query).fetchall()
        assert [n for _, n in rows] == sorted((n for _, n in rows), reverse=True)
        found = dict(rows)
        assert set(found) == {*DISEASES, "plague", "(other)"}  # what the policy names, not what there is
        assert all(abs(found[name] - truth[name]) < 15 for name in DISEASES)
        assert (
            abs(
                connection.execute("SELECT count(*) FROM patients WHERE sex = 'f'").fetchone()[0]
                - sum(row[3] == "f" for row in people(400))
            )
            < 15
        )  # type: ignore[index]
        for refused in (
            "SELECT sum(DISTINCT age) FROM patients",
            "SELECT max(age) FROM patients",
            "SELECT count(disease) FROM patients",
            "SELECT max(disease), count(*) FROM patients",
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported):
                connection.execute(refused)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no others"):
            connection.execute("SELECT age, count(*) FROM patients GROUP BY age")
        assert connection.execute("SELECT age, disease FROM patients LIMIT 3").fetchall()  # rows cost nothing


def test_the_budget_ends_for_everybody_who_may_share_answers(folder: Path) -> None:
    chosen = policy(put(people(50), "parquet", folder), folder)
    store = Store.open(chosen.store)
    figures = NoisyFigures(chosen, ProtectedTable.open(chosen), store, Fraction(1, 2), Fraction(1))
    everybody = GateQuery(("age",))
    for user in ("ann", "bob"):
        assert not isinstance(figures.answer(user, everybody, (), [COUNT]), RefusedQuery)
    again = NoisyFigures(
        chosen, ProtectedTable.open(chosen), store, Fraction(1, 2), Fraction(1)
    )  # also after a restart
    spent_up = RefusedQuery("the privacy budget for noisy figures is spent")
    assert again.answer("cid", everybody, (), [COUNT]) == spent_up
    spent = [entry for entry in AuditLog(store).entries() if entry.event == "budget spent"]
    assert len(spent) == 2


def test_what_is_refused_costs_nothing(folder: Path) -> None:
    chosen = policy(put(people(50), "parquet", folder), folder)
    bounds = {"age": (Fraction(18), Fraction(90))}
    figures = NoisyFigures(
        chosen, ProtectedTable.open(chosen), Store.in_memory(), Fraction(1), Fraction(1), bounds
    )
    assert isinstance(figures.answer("ann", GateQuery(("zip",)), ("zip",), [COUNT]), RefusedQuery)
    assert isinstance(
        figures.answer("ann", GateQuery(("zip",)), (), [NoisyAggregate("sum", "zip")]), RefusedQuery
    )
    assert isinstance(figures.answer("ann", GateQuery(("age",)), (), [COUNT, MEAN]), RefusedQuery), (
        "two figures"
    )
    assert not isinstance(figures.answer("ann", GateQuery(("age",)), (), [COUNT, COUNT]), RefusedQuery)


def test_sums_and_means_are_near_the_truth(noisy: Running) -> None:
    ages = [row[1] for row in people(400)]
    with noisy.connect() as connection:
        total, mean, again = connection.execute(
            "SELECT sum(age) AS total, avg(age), avg(age) AS again FROM patients"
        ).fetchone()  # type: ignore[misc]
        assert abs(total - sum(ages)) < 90 * 10
        assert abs(float(mean) - sum(ages) / 400) < 5
        assert again == mean, "one figure, asked for twice, is paid for once"
        means = dict(connection.execute("SELECT disease, avg(age) FROM patients GROUP BY 1").fetchall())
        assert all(18 <= value <= 90 for value in means.values() if value is not None)
        for disease in DISEASES:
            own = [row[1] for row in people(400) if row[4] == disease]
            assert abs(float(means[disease]) - sum(own) / len(own)) < 15
        empty = connection.execute("SELECT sum(age) FROM patients WHERE age > 200").fetchone()
        assert abs(empty[0]) < 90 * 10  # type: ignore[index]


def test_one_person_changes_a_sum_by_no_more_than_the_bounds_say(folder: Path, monkeypatch) -> None:
    """The noise is scaled by the bounds, and whoever is beyond them counts as the bound."""
    asked: list[tuple[list[int], int, Fraction]] = []

    def exact(values: list[int], sensitivity: int, epsilon: Fraction) -> list[int]:
        asked.append((list(values), sensitivity, epsilon))
        return list(values)

    monkeypatch.setattr("tarnkappe.gate.noisy_figures.laplace", exact)
    rows = [("a", 20, "1", "f", "cold"), ("b", 500, "1", "f", "cold"), ("c", None, "1", "f", "flu")]
    chosen = policy(put(rows, "parquet", folder), folder)
    bounds = {"age": (Fraction(-10), Fraction(120))}
    figures = NoisyFigures(
        chosen, ProtectedTable.open(chosen), Store.in_memory(), Fraction(1), Fraction(10), bounds
    )
    found = figures.answer("ann", GateQuery(("age",)), (), [NoisyAggregate("sum", "age"), MEAN])
    assert found == {(): {NoisyAggregate("sum", "age"): 140, MEAN: 70}}
    assert asked[0] == ([140], 120, Fraction(1))
    (_, half_range, first), (counts, one, second) = asked[1:]
    assert (half_range, counts, one, first + second) == (65, [2], 1, Fraction(1))


@pytest.mark.parametrize(
    ("grouped", "figure", "sensitivities"),
    [
        ((), COUNT, [1]),
        (("disease",), COUNT, [2]),
        (("disease",), NoisyAggregate("sum", "age"), [240]),
        (("disease",), MEAN, [120, 2]),
        ((), NoisyAggregate("sum", "pay"), [200]),
        ((), NoisyAggregate("avg", "pay"), [100, 2]),
    ],
)
def test_noise_hides_another_sensitive_value_of_somebody_who_is_known_to_be_there(
    grouped: tuple[str, ...], figure: NoisyAggregate, sensitivities: list[int], folder: Path, monkeypatch
) -> None:
    """Another value takes somebody out of one group and puts him into another: two figures change."""
    asked: list[int] = []

    def exact(values: list[int], sensitivity: int, epsilon: Fraction) -> list[int]:
        asked.append(sensitivity)
        return list(values)

    monkeypatch.setattr("tarnkappe.gate.noisy_figures.laplace", exact)
    table = pa.table({"id": ["a", "b"], "age": [20, 30], "disease": ["cold", "flu"], "pay": [10, 20]})
    pq.write_table(table, folder / "p.parquet")
    content = {
        "table": {"source": "p.parquet", "name": "p", "key": "id", "quasi_identifiers": ["age"]},
        "sensitive": {"disease": {"values": ["cold", "flu"]}, "pay": {"values": [10, 20]}},
        "protection": {"k": 2},
    }
    chosen = GatePolicy.from_dict(content, folder)
    bounds = {"age": (Fraction(0), Fraction(120)), "pay": (Fraction(0), Fraction(100))}
    figures = NoisyFigures(
        chosen, ProtectedTable.open(chosen), Store.in_memory(), Fraction(1), Fraction(10), bounds
    )
    figures.answer("ann", GateQuery(("age",)), grouped, [figure])
    assert asked == sensitivities


def test_bounds_are_of_columns_of_numbers(folder: Path) -> None:
    chosen = policy(put(people(20), "parquet", folder), folder)
    for name in ("zip", "nonsense"):
        bounds = {name: (Fraction(0), Fraction(1))}
        with pytest.raises(ColumnError, match=f"'{name}' is no column of numbers"):
            NoisyFigures(
                chosen, ProtectedTable.open(chosen), Store.in_memory(), Fraction(1), Fraction(1), bounds
            )
    assert Settings.from_dict({"bounds": {"age": [0, 0.5]}}).bounds == {"age": (Fraction(0), Fraction(1, 2))}
    for wrong in ([1], [2, 1], ["a", "b"], 7, [True, 2], [0.0, float("inf")]):
        with pytest.raises(ParameterError, match=r"\[bounds\]|bounds"):
            Settings.from_dict({"bounds": {"age": wrong}})
