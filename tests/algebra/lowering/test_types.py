"""Columns of every type, alone and in pairs: one wider type or a clear refusal, and the engines agree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.algebra.catalog import Catalog
from tarnkappe.algebra.lazy import relation
from tarnkappe.algebra.lowering import Backend, connect
from tarnkappe.algebra.sql.query import read_sql
from tarnkappe.errors import ParameterError, TarnkappeError
from tarnkappe.table import write

MOMENT = datetime(2024, 2, 29, 12, 30)
COLUMNS: dict[str, pa.Array] = {
    **{f"int{bits}": pa.array([1, None, 100], f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": pa.array([1, None, 100], f"uint{bits}") for bits in (8, 16, 32, 64)},
    "float32": pa.array([1.0, None, 0.5], "float32"),
    "float64": pa.array([1.0, None, 0.5], "float64"),
    "money": pa.array([Decimal("1.00"), None, Decimal("9.50")], pa.decimal128(9, 2)),
    "large": pa.array([Decimal(1), None, Decimal(10**37)], pa.decimal128(38, 0)),
    "fine": pa.array([Decimal(1), None, Decimal("0.5")], pa.decimal128(38, 37)),
    "truth": pa.array([True, None, False]),
    "text": pa.array(["1", None, "x"]),
    "day": pa.array([date(2024, 2, 29), None, date(1969, 12, 31)]),
    **{f"time_{unit}": pa.array([MOMENT, None, MOMENT], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    "zoned": pa.array([MOMENT.replace(tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
    "clock": pa.array([MOMENT.time(), None, None], pa.time64("us")),
    "bytes": pa.array([b"1", None, b"2"]),
    "nothing": pa.nulls(3),
}  # fmt: skip
PAIRS = list(itertools.product(COLUMNS, repeat=2))
OPERATIONS = {
    "UNION ALL": "SELECT a FROM {0} UNION ALL SELECT a FROM {1}",
    "INTERSECT ALL": "SELECT a FROM {0} INTERSECT ALL SELECT a FROM {1}",
    "EXCEPT ALL": "SELECT a FROM {0} EXCEPT ALL SELECT a FROM {1}",
    "JOIN": "SELECT a FROM {0} AS l NATURAL JOIN {1} AS r",
}
TABLES = {name: pa.table({"a": values}) for name, values in COLUMNS.items()}


def outcome(backend: Backend, text: str) -> Any:
    """The rows of an answer as a sorted list, or that it was refused by us."""
    query = read_sql(text, backend.relations)
    try:
        found = backend.execute(query, Catalog(backend.relations))
    except ParameterError as error:
        return "refused" if "cannot be brought together" in str(error) else str(error)
    return sorted(map(str, found.column(found.column_names[0]).to_pylist()))


@pytest.fixture(scope="module")
def in_duckdb() -> Iterator[Backend]:
    with connect(TABLES) as backend:
        yield backend


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_pair_of_types_is_widened_or_refused(in_duckdb: Backend, operation: str) -> None:
    pairs = PAIRS if operation == "UNION ALL" else [pair for pair in PAIRS if pair[0] <= pair[1]]
    seen = {pair: outcome(in_duckdb, OPERATIONS[operation].format(*pair)) for pair in pairs}
    for (one, other), rows in seen.items():
        assert (rows == "refused") == (seen.get((other, one), rows) == "refused"), f"{one} and {other}"
        assert rows != "refused" or one != other, one
        assert rows == "refused" or isinstance(rows, list), rows
        if operation == "UNION ALL" and rows != "refused":
            assert len(rows) == 6
    numbers = [name for name in COLUMNS if name.startswith(("int", "uint", "float")) or name == "money"]
    assert all(seen[pair] != "refused" for pair in seen if set(pair) <= set(numbers))


KEPT = ["int16", "int32", "int64", "float32", "float64", "money", "truth", "text", "day", "time_us", "zoned"]


def agreeing(backend: Backend, in_duckdb: Backend, names: list[str]) -> None:
    pairs = itertools.combinations_with_replacement(names, 2)
    for operation, pair in itertools.product(OPERATIONS.values(), pairs):
        text = operation.format(*pair)
        mine, its = outcome(backend, text), outcome(in_duckdb, text)
        assert (mine == "refused") == (its == "refused"), text
        assert len(mine) == len(its), text


def test_postgresql_widens_and_refuses_as_duckdb_does(postgres: str, in_duckdb: Backend) -> None:
    for name in KEPT:
        write(TABLES[name], postgres, table=f"pair_{name}", replace=True)
    try:
        with connect(postgres) as backend, connect({f"pair_{n}": TABLES[n] for n in KEPT}) as here:
            agreeing(backend, here, [f"pair_{name}" for name in KEPT])
    finally:
        with psycopg.connect(postgres) as connection:
            connection.execute(f"DROP TABLE {', '.join(f'pair_{name}' for name in KEPT)}")


def test_spark_widens_and_refuses_as_duckdb_does(spark: None, in_duckdb: Backend, tmp_path: Path) -> None:
    names = ["int32", "int64", "float64", "money", "text", "day", "time_us"]
    for name in names:
        pq.write_table(TABLES[name], tmp_path / f"{name}.parquet")
    with connect(f"spark:{tmp_path}") as backend:
        for pair in itertools.combinations_with_replacement(names, 2):
            text = OPERATIONS["UNION ALL"].format(*pair)
            mine, its = outcome(backend, text), outcome(in_duckdb, text)
            assert (mine == "refused") == (its == "refused"), text
            assert len(mine) == len(its), text


# ---------------------------------------------------------------- decimals in files of text

PRICES = "item,price,plz\na,9.50,01067\nb,100.00,18055\nc,2.0,18057\nd,,18059\ne,-20.25,01067\n"


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("condition", "items"),
    [
        ("price > 20", ["b"]),
        ("price < 10", ["a", "c", "e"]),
        ("price = 9.5", ["a"]),
        ("price IN (2, 100)", ["b", "c"]),
        ("price BETWEEN -21 AND 9.5", ["a", "c", "e"]),
        ("plz = '01067'", ["a", "e"]),
    ],
)
def test_decimals_in_a_csv_file_compare_as_numbers(prices: Path, condition: str, items: list[str]) -> None:
    found = relation(prices, "p").where(condition).project("item").collect()
    assert sorted(found.column("item").to_pylist()) == items
    with connect({"p": prices}) as backend:
        query = read_sql(f"SELECT item FROM p WHERE {condition}", backend.relations)
        assert sorted(backend.execute(query, Catalog(backend.relations)).column("item").to_pylist()) == items


def test_decimals_in_a_csv_file_are_never_compared_as_texts(prices: Path) -> None:
    with pytest.raises(TarnkappeError, match="compares a number with a text"):
        relation(prices, "p").where("price > '20'").collect()


def test_decimals_in_a_csv_file_add_up_exactly(prices: Path) -> None:
    found = relation(prices, "p").aggregate(s="sum(price)", m="max(price)").collect().to_pylist()
    assert found == [{"s": Decimal("91.25"), "m": Decimal("100.00")}]
    lifted = relation(prices, "p").generalize(["price"], k=2).run()
    assert lifted.verified


# ---------------------------------------------------------------- dates and times

TIMES = [
    datetime(2024, 1, 31, 23, 59, 59),
    datetime(2024, 2, 1),
    datetime(2024, 2, 1, 12),
    datetime(2024, 2, 2),
    None,
]
CONDITIONS = [
    "t >= DATE '2024-02-01'",
    "t >= '2024-02-01'",
    "t < '2024-02-01 12:00:00'",
    "t = TIMESTAMP '2024-02-01 12:00:00'",
    "t > CAST('2024-02-01 00:00:00' AS TIMESTAMP)",
    "t < CAST('2024-02-01' AS DATE)",
    "CAST(t AS DATE) = DATE '2024-02-01'",
    "CAST(t AS DATE) <> DATE '2024-02-01'",
    "CAST(t AS DATE) <= '2024-02-01'",
    "CAST(t AS DATE) > DATE '2024-02-01'",
    "DATE '2024-02-01' >= CAST(t AS DATE)",
    "CAST(t AS DATE) BETWEEN DATE '2024-02-01' AND DATE '2024-02-02'",
    "t BETWEEN '2024-02-01' AND '2024-02-01 12:00:00'",
    "t IN (TIMESTAMP '2024-02-01 12:00:00', DATE '2024-02-02')",
    "NOT t = '2024-02-02'",
    "t IS NULL",
]
PRECISIONS = ("s", "ms", "us", "ns")


@pytest.mark.parametrize("unit", [*PRECISIONS, "zoned"])
def test_times_are_filtered_as_duckdb_filters_them(unit: str, tmp_path: Path) -> None:
    kind = pa.timestamp("us", "UTC") if unit == "zoned" else pa.timestamp(unit)
    table = pa.table({"n": range(5), "t": pa.array(TIMES, kind)})
    pq.write_table(table, tmp_path / "t.parquet")
    plain = pa.table({"n": range(5), "t": pa.array(TIMES, pa.timestamp("us"))})
    with (
        duckdb.connect() as judge,
        connect({"t": table}) as one,
        connect({"t": tmp_path / "t.parquet"}) as other,
    ):
        judge.register("t", plain)
        for condition in CONDITIONS:
            text = f"SELECT n FROM t WHERE {condition}"
            expected = sorted(n for (n,) in judge.execute(text).fetchall())
            for backend in (one, other):
                query = read_sql(text, backend.relations)
                found = backend.execute(query, Catalog(backend.relations)).column("n").to_pylist()
                assert sorted(found) == expected, condition


def test_dates_written_by_pandas_are_filtered(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": pandas.to_datetime(["2024-01-31", "2024-02-01", "2024-02-02"])})
    frame.to_parquet(tmp_path / "t.parquet")
    found = relation(tmp_path / "t.parquet").where("t > '2024-02-01'").collect()
    assert found.num_rows == 1


@pytest.mark.parametrize(
    "condition",
    ["t > 'yesterday'", "t > 5", "t > '2024-02-01T00:00:00+02:00'", "t LIKE '2024%'", "t > TIMESTAMP 'noon'"],
)
def test_what_is_no_time_is_refused_and_not_compared_as_text(condition: str) -> None:
    table = pa.table({"t": pa.array(TIMES, pa.timestamp("us"))})
    with pytest.raises(TarnkappeError):
        relation(table, "t").where(condition).collect()
