"""Drivers of PostgreSQL that share no line with psycopg: asyncpg, pg8000, and SQLAlchemy and pandas above them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from tests.conftest import run_async
from tests.gate.server.gates import DISEASES, PASSWORD, Running

LABELS = {*DISEASES, "(other)"}


def by_asyncpg(gate: Running, work: Callable[[Any], Awaitable[Any]]) -> Any:
    asyncpg = pytest.importorskip("asyncpg", reason="the driver asyncpg is not installed")

    async def connected() -> Any:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=gate.port, user="ann", password=PASSWORD, database="tarnkappe"
        )
        try:
            return await work(connection)
        finally:
            await connection.close()

    return run_async(connected())


def for_pg8000(gate: Running) -> dict[str, Any]:
    pytest.importorskip("pg8000", reason="the driver pg8000 is not installed")
    return {
        "host": "127.0.0.1",
        "port": gate.port,
        "user": "ann",
        "password": PASSWORD,
        "database": "tarnkappe",
    }


def test_asyncpg_arrays_of_all_spellings_choose_the_same_people(computing: Running) -> None:
    async def ask(connection: Any) -> list[list[int]]:
        chosen = [
            await connection.fetch("SELECT age FROM patients WHERE age = ANY($1::int[])", [20, 47, 88]),
            await connection.fetch("SELECT age FROM patients WHERE age = ANY($1)", [20, 47, 88]),
            await connection.fetch("SELECT age FROM patients WHERE age = ANY('{20,47,88}'::bigint[])"),
            await connection.fetch("SELECT age FROM patients WHERE age = ANY('{20,47,88}')"),
            await connection.fetch("SELECT age FROM patients WHERE age IN ($1, $2, $3)", 20, 47, 88),
        ]
        others = await connection.fetch("SELECT age FROM patients WHERE age <> ALL($1)", [20, 47, 88])
        nobody = await connection.fetch("SELECT age FROM patients WHERE zip = ANY($1)", [])
        everybody = await connection.fetch("SELECT age FROM patients WHERE zip <> ALL($1)", [])
        return [
            sorted(row["age"] for row in rows) for rows in [*chosen, [*chosen[0], *others], everybody, nobody]
        ]

    *chosen, together, everybody, nobody = by_asyncpg(computing, ask)
    assert chosen[0]
    assert all(one == chosen[0] for one in chosen)
    assert together == everybody
    assert len(everybody) == 60
    assert nobody == []


def test_asyncpg_prepares_walks_and_is_told_types(computing: Running) -> None:
    async def ask(connection: Any) -> Any:
        statement = await connection.prepare("SELECT age, disease FROM patients WHERE sex = $1")
        kinds = [kind.name for kind in statement.get_parameters()]
        columns = [(one.name, one.type.name) for one in statement.get_attributes()]
        both = [len(await statement.fetch(sex)) for sex in "fm"]
        async with connection.transaction(readonly=True):
            walked = [
                row["age"]
                async for row in connection.cursor("SELECT age FROM patients WHERE age > $1", 20, prefetch=7)
            ]
        return kinds, columns, both, walked

    kinds, columns, both, walked = by_asyncpg(computing, ask)
    assert kinds == ["text"]
    assert columns == [("age", "int8"), ("disease", "text")]
    assert min(both) > 3
    assert len(walked) == 56
    assert min(walked) > 20


def test_asyncpg_parameters_of_statements_over_answers_have_the_types_of_their_places(
    computing: Running,
) -> None:
    async def ask(connection: Any) -> Any:
        statement = await connection.prepare(
            "SELECT disease, count(*) AS n FROM patients WHERE age > $1 AND disease <> $2 AND disease = ANY($3) "
            "GROUP BY disease HAVING count(*) >= $4 ORDER BY n DESC LIMIT $5"
        )
        kinds = [kind.name for kind in statement.get_parameters()]
        rows = await statement.fetch(20, "flu", ["flu", "gout", "cold"], 1, 1)
        cast = await connection.fetchval(
            "SELECT count(*) FROM patients WHERE upper(disease) = $1::text", "FLU"
        )
        return kinds, rows, cast

    kinds, rows, cast = by_asyncpg(computing, ask)
    assert kinds == ["int8", "text", "text[]", "int8", "int8"]
    assert len(rows) == 1
    assert rows[0]["disease"] in {"gout", "cold"}
    assert cast > 0


def test_what_is_left_as_a_parameter_gives_what_the_same_value_gives_in_the_statement(
    computing: Running,
) -> None:
    written = "SELECT age + 1 AS next, disease FROM patients WHERE sex = 'f' AND disease <> 'flu' AND length(disease) * 2 > 8.5"
    left = "SELECT age + %s AS next, disease FROM patients WHERE sex = %s AND disease <> %s AND length(disease) * 2 > %s"
    with computing.connect() as connection:
        assert sorted(connection.execute(left, (1, "f", "flu", 8.5)).fetchall()) == sorted(
            connection.execute(written).fetchall()
        )
        with pytest.raises(psycopg.Error, match="two types"):
            connection.execute(
                "SELECT age FROM patients WHERE disease = $1::text OR disease = ANY($1::text[])".replace(
                    "$1", "%(v)s"
                ),
                {"v": None},
            )


def test_asyncpg_fails_in_transactions_and_goes_on(computing: Running) -> None:
    asyncpg = pytest.importorskip("asyncpg", reason="the driver asyncpg is not installed")

    async def ask(connection: Any) -> Any:
        async with connection.transaction():
            with pytest.raises(asyncpg.UndefinedColumnError, match='column "diseas" does not exist') as error:
                async with connection.transaction():
                    await connection.fetch("SELECT diseas FROM patients")
            hint = error.value.hint
            with pytest.raises(asyncpg.DataError):
                await connection.fetch("SELECT age FROM patients WHERE age > $1", "old")
            return hint, await connection.fetchval("SELECT count(*) FROM patients")

    assert by_asyncpg(computing, ask) == ('Did you mean "disease"?', 60)


def test_asyncpg_pools_reset_connections_and_share_them(computing: Running) -> None:
    asyncpg = pytest.importorskip("asyncpg", reason="the driver asyncpg is not installed")

    async def ask() -> list[int]:
        async with asyncpg.create_pool(computing.url(), min_size=1, max_size=2) as pool:
            return list(
                await asyncio.gather(
                    *(
                        pool.fetchval("SELECT count(*) FROM patients WHERE age > $1", least)
                        for least in (18, 40, 60)
                    )
                )
            )

    found = run_async(ask())
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2] > 0


def test_sqlalchemy_with_asyncpg_reflects_and_asks(computing: Running) -> None:
    pytest.importorskip("asyncpg", reason="the driver asyncpg is not installed")

    async def ask() -> Any:
        engine = create_async_engine(computing.url().replace("postgresql", "postgresql+asyncpg"))
        async with engine.connect() as connection:
            table = await connection.run_sync(
                lambda own: sa.Table("patients", sa.MetaData(), autoload_with=own)
            )
            asked = (
                sa.select(table.c.disease, sa.func.count().label("n"))
                .where(table.c.age.between(20, 80), table.c.zip.in_(["10104", "21410"]))
                .group_by(table.c.disease)
                .having(sa.func.count() > 0)
            )
            rows = (await connection.execute(asked)).all()
        await engine.dispose()
        return table.c.keys(), rows

    columns, rows = run_async(ask())
    assert columns == ["age", "zip", "sex", "disease"]
    assert {row.disease for row in rows} <= LABELS
    assert rows


def test_pg8000_binds_prepares_and_fails_as_it_should(computing: Running) -> None:
    options = for_pg8000(computing)
    import pg8000.native

    with pg8000.native.Connection(**options) as connection:
        rows = connection.run("SELECT age, disease FROM patients WHERE age > :least", least=50)
        assert {disease for _, disease in rows} <= LABELS
        chosen = connection.run("SELECT age FROM patients WHERE age = ANY(:ages)", ages=[20, 47])
        assert {age for (age,) in chosen} <= {20, 47}
        statement = connection.prepare("SELECT age FROM patients WHERE sex = :sex")
        assert sum(len(statement.run(sex=sex)) for sex in "fm") == 60
        statement.close()
        connection.run("START TRANSACTION")
        with pytest.raises(pg8000.native.DatabaseError) as error:
            connection.run("SELECT disease FROM patients WHERE agee > 3")
        assert error.value.args[0]["M"] == 'column "agee" does not exist'
        assert error.value.args[0]["H"] == 'Did you mean "age"?'
        connection.run("ROLLBACK")
        assert connection.run("SELECT count(*) FROM patients") == [[60]]


def test_pandas_through_sqlalchemy_and_pg8000(computing: Running) -> None:
    options = for_pg8000(computing)
    import pg8000.dbapi

    engine = sa.create_engine("postgresql+pg8000://", creator=lambda: pg8000.dbapi.connect(**options))
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == ["patients"]
        frame = pd.read_sql_query(
            sa.text("SELECT age, disease FROM patients WHERE age > :least"), connection, params={"least": 40}
        )
        assert frame["age"].dtype == "int64"
        assert set(frame["disease"]) <= LABELS
        whole = pd.read_sql_table("patients", connection)
        assert list(whole.columns) == ["age", "zip", "sex", "disease"]
    engine.dispose()


def test_statements_of_one_message_are_answered_in_order_until_one_fails(computing: Running) -> None:
    with computing.connect() as connection:
        cursor = connection.execute(
            "SELECT 1; ; SELECT count(*) FROM patients WHERE sex = 'f;m' ; SHOW server_version;"
        )
        assert cursor.fetchall() == [(1,)]
        assert cursor.nextset()
        assert cursor.fetchall() == [(0,)]
        assert cursor.nextset()
        assert cursor.fetchall() == [("16.0",)]
        assert not cursor.nextset()
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT 1; SELECT nothing FROM patients; SELECT 2")
        with pytest.raises(psycopg.errors.SyntaxError, match="multiple commands"):
            connection.execute("SELECT 1; SELECT 2", prepare=True)
        with pytest.raises(psycopg.Error, match="may have 100 statements"):
            connection.execute("SELECT 1;" * 101)


def test_what_was_quoted_does_not_come_back_in_errors(computing: Running) -> None:
    with computing.connect() as connection, pytest.raises(psycopg.errors.UndefinedColumn) as error:
        connection.execute('SELECT age FROM patients WHERE zip = "Mrs Miller"')
    assert "Miller" not in str(error.value)
