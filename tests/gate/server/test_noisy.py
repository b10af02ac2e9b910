"""Counts with noise, paid for by a budget."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from tarnkappe.gate.noisy_counts import NoisyCounts
from tarnkappe.gate.question import Question, Refused
from tarnkappe.gate.source import Source
from tarnkappe.state import AuditLog, Store
from tests.gate.server.gates import DISEASES, Running, people, policy, put, running

pytest.importorskip("opendp")


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("noisy")
    chosen = policy(put(people(400), "parquet", folder), folder)
    chosen = dataclasses.replace(
        chosen, sensitive=(dataclasses.replace(chosen.sensitive[0], values=(*DISEASES, "plague")),)
    )
    settings = {"aggregates": "noisy", "epsilon": Fraction(5), "budget": Fraction(30)}
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
            "SELECT avg(age) FROM patients",
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
    counts = NoisyCounts(chosen, Source.open(chosen), store, Fraction(1, 2), Fraction(1))
    everybody = Question(("age",))
    for user in ("ann", "bob"):
        assert not isinstance(counts.answer(user, everybody, ()), Refused)
    again = NoisyCounts(
        chosen, Source.open(chosen), store, Fraction(1, 2), Fraction(1)
    )  # also after a restart
    assert again.answer("cid", everybody, ()) == Refused("the privacy budget for noisy counts is spent")
    spent = [entry for entry in AuditLog(store).entries() if entry.event == "budget spent"]
    assert len(spent) == 2


def test_what_is_refused_costs_nothing(folder: Path) -> None:
    chosen = policy(put(people(50), "parquet", folder), folder)
    counts = NoisyCounts(chosen, Source.open(chosen), Store.in_memory(), Fraction(1), Fraction(1))
    assert isinstance(counts.answer("ann", Question(("disease",)), ("disease",)), Refused)
    assert not isinstance(counts.answer("ann", Question(("age",)), ()), Refused)
