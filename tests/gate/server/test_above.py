"""SQL over protected answers on the wire: DuckDB over the rows of the plain answer is the twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest

from tests.gate.clinic import policy, write
from tests.gate.server.gates import Running, running


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Men have asthma, women bronchitis."""
    folder: Path = tmp_path_factory.mktemp("above")
    rows = [
        (f"p{n}", 20 + n % 40, "1", "fm"[n % 2], "Asthma" if n % 2 else "Bronchitis", 2000)
        for n in range(120)
    ]
    write(folder / "t.parquet", rows)
    with running(policy(folder), folder, post_processing=True) as service:
        yield service


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS x, disease, count(*) AS n FROM t GROUP BY 1, 2, age, sex",
        "SELECT sex, disease, age, count(*) AS n FROM t GROUP BY sex, disease, age HAVING count(*) > 1",
        "WITH a AS (SELECT age, sex, disease FROM t) SELECT upper(disease), sum(age), min(sex) FROM a GROUP BY 1",
        "SELECT DISTINCT age, sex, disease, dense_rank() OVER (ORDER BY age, sex) AS r FROM t",
        "SELECT age + 1 AS next, sex, disease FROM t WHERE disease = 'Asthma'",
    ],
)
def test_it_is_the_statement_over_the_rows_of_the_answer(gate: Running, statement: str) -> None:
    with gate.connect() as connection:
        found = connection.execute(statement).fetchall()
        grouped = "GROUP BY 1, 2" in statement or "HAVING" in statement
        if grouped:  # each group is a question of its own
            groups = connection.execute("SELECT DISTINCT age, sex FROM t").fetchall()
            rows = [
                row
                for age, sex in groups
                for row in connection.execute(
                    "SELECT age, sex, disease FROM t WHERE age = %s AND sex = %s", (age, sex)
                ).fetchall()
            ]
        else:
            rows = connection.execute("SELECT age, sex, disease FROM t").fetchall()
    names = ("age", "sex", "disease")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    with duckdb.connect() as twin:
        twin.register("t", table)
        assert Counter(found) == Counter(twin.execute(statement).fetchall())


def test_groups_by_sex_find_a_real_difference(gate: Running) -> None:
    statement = "SELECT sex, disease, count(*) + 0 AS n FROM t GROUP BY sex, disease HAVING count(*) > 0"
    with gate.connect() as connection:
        counts = {(sex, disease): n for sex, disease, n in connection.execute(statement)}
    assert counts["m", "Asthma"] >= 60
    assert counts["f", "Bronchitis"] >= 60
    assert counts.get(("f", "Asthma"), 0) < 40
    assert counts.get(("m", "Bronchitis"), 0) < 40


def test_what_does_not_fit_is_said_before_anything_is_asked(gate: Running) -> None:
    asked = gate.keeper.status()["answered"]
    with gate.connect() as connection:
        with pytest.raises(psycopg.Error, match="does not fit"):
            connection.execute("SELECT sum(disease) + 1 FROM t")
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT upper(diseas) FROM t")
    assert gate.keeper.status()["answered"] == asked


def test_too_much_is_stopped_and_others_are_answered(gate: Running) -> None:
    hungry = "SELECT count(*) + 0 FROM t a, t b, t c, t d, t e, t f, t g WHERE a.age + b.age > c.age"
    with gate.connect() as connection, gate.connect() as other:
        with pytest.raises(psycopg.Error, match=r"too long|too much memory"):
            connection.execute(hungry)
        assert other.execute("SELECT count(*) FROM t").fetchone() == (120,)
        assert connection.execute("SELECT age + 1 FROM t WHERE age = 20").fetchone() == (21,)
