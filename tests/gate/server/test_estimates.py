"""Estimates on the wire: figures of the people, not of the rows of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import psycopg
import pytest

from tarnkappe.errors import ParameterError
from tests.gate.clinic import policy, write
from tests.gate.server.gates import Running, running

PEOPLE = 400


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Men have asthma, women bronchitis, but for a few; pay is a number, or missing."""
    folder = tmp_path_factory.mktemp("estimates")
    chance = Random(1)
    rows = []
    for n in range(PEOPLE):
        sex = "m" if n % 2 else "f"
        common = "Asthma" if sex == "m" else "Bronchitis"
        disease = "Cholera" if n % 40 == 0 else common
        pay = None if n % 10 == 3 else chance.choice([2000, 2500])
        rows.append((f"p{n}", n, "1", sex, disease, pay))
    write(folder / "t.parquet", rows)
    chosen = policy(folder, two=True)
    # the search has time even on a busy machine, so that answers need not grow
    with running(chosen, folder, aggregates="estimate", deadline=0.3) as service:
        yield service


def test_counts_by_group_are_near_the_truth(gate: Running) -> None:
    """Truth is within three widths of an interval. That 95 of 100 intervals hold it is a matter of many draws.

    (`tests/gate/test_estimate.py` counts those; one draw would miss every twentieth time.)
    """
    with gate.connect() as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda told: notices.append(told.message_primary or ""))
        rows = connection.execute(
            "SELECT disease, count(*), est_low(count(*)), est_high(count(*)) FROM t GROUP BY disease"
        ).fetchall()
    found = {row[0]: row[1:] for row in rows}
    for disease, true in (("Asthma", 200), ("Bronchitis", 190), ("Cholera", 10)):
        value, low, high = found[disease]
        width = max(high - low, 10)
        assert low - width <= true <= high + width
        assert low <= value <= high
    assert "Estimates with 95 % intervals by est_low and est_high" in notices[0]
    assert "values are artificial" in notices[0]


def test_groups_by_a_quasi_identifier_find_a_real_difference(gate: Running) -> None:
    with gate.connect() as connection:
        rows = connection.execute(
            "SELECT sex, disease, count(*) AS n FROM t GROUP BY sex, disease ORDER BY n DESC LIMIT 2"
        ).fetchall()
    assert {row[:2] for row in rows} == {("m", "Asthma"), ("f", "Bronchitis")}
    assert all(100 <= row[2] <= 300 for row in rows)


def test_sums_and_means_of_numbers(gate: Running) -> None:
    with gate.connect() as connection:
        count, present, fewest, most, mean, low, high, total = connection.execute(
            "SELECT count(*), count(pay), est_low(count(pay)), est_high(count(pay)), "
            "avg(pay), est_low(avg(pay)), est_high(avg(pay)), sum(pay) FROM t"
        ).fetchall()[0]
    assert count == PEOPLE, "who is there is no secret"
    width = max(most - fewest, 10)
    assert fewest - width <= 360 <= most + width
    assert low <= mean <= high
    assert low - (high - low) <= 2250 <= high + (high - low)
    assert float(total) == pytest.approx(present * float(mean), rel=0.01)


def test_rows_tell_values_from_what_is_none(gate: Running) -> None:
    with gate.connect() as connection:
        rows = connection.execute("SELECT pay, pay_kind, disease FROM t WHERE age < 40").fetchall()
        assert {row[1] for row in rows} <= {"value", "missing", "other", "padding"}
        assert all((row[0] is None) == (row[1] != "value") for row in rows)
        star = connection.execute("SELECT * FROM t WHERE age < 40")
        assert [column.name for column in star.description or ()] == ["age", "zip", "sex", "disease", "pay"]
        with pytest.raises(psycopg.Error, match='column "diseas" does not exist') as error:
            connection.execute("SELECT diseas FROM t")
        assert error.value.diag.message_hint == 'Did you mean "disease"?'


def test_figures_of_quasi_identifiers_are_exact(gate: Running) -> None:
    with gate.connect() as connection:
        assert connection.execute("SELECT sex, count(*) FROM t GROUP BY sex ORDER BY sex").fetchall() == [
            ("f", 200),
            ("m", 200),
        ]
        assert connection.execute("SELECT count(*) FROM t WHERE age < 0").fetchall() == [(0,)]
        assert connection.execute("SELECT disease, count(*) FROM t WHERE age < 0 GROUP BY 1").fetchall() == []
        assert connection.execute("SELECT count(disease), avg(pay) FROM t WHERE age < 0").fetchall() == [
            (0, None)
        ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT max(pay) FROM t", "count, sum and avg of sensitive columns are estimated"),
        ("SELECT count(DISTINCT disease) FROM t", "are estimated, without DISTINCT"),
        ("SELECT disease, avg(pay) FROM t GROUP BY 1", "not estimated by groups of a sensitive column"),
        ("SELECT disease, count(pay) FROM t GROUP BY 1", "two sensitive columns are not linked"),
        ("SELECT disease, pay, count(*) FROM t GROUP BY 1, 2", "two sensitive columns are not linked"),
        ("SELECT avg(age), avg(pay) FROM t", "in a statement of their own|are estimated"),
        ("SELECT age, disease, count(*) FROM t GROUP BY 1, 2", "400 groups are too many"),
        ("SELECT disease_kind, count(*) FROM t GROUP BY 1", "kinds of cells are not estimated"),
        ("SELECT est_low(disease) FROM t", "est_low takes count, sum or avg"),
        ("SELECT est_low(count(*), 1) FROM t", "est_low takes one aggregate"),
    ],
)
def test_what_cannot_be_estimated_is_refused(statement: str, message: str, gate: Running) -> None:
    with gate.connect() as connection, pytest.raises(psycopg.Error, match=message):
        connection.execute(statement)


def test_estimates_need_surplus_values(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet")
    refusing = policy(tmp_path, accept_leak_through=["minimal-values"])
    with (
        pytest.raises(ParameterError, match="needs surplus values"),
        running(refusing, tmp_path, aggregates="estimate"),
    ):
        pass
