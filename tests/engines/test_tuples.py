"""What an engine counts is what the table in memory would give: the same values, codes, labels and counts."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings

from tarnkappe.engines.postgresql import open_postgresql
from tarnkappe.table import Table, Tuples, read
from tarnkappe.table.encoding import Counts
from tarnkappe.table.row_tuples import row_tuples
from tests.engines.places import Place, everywhere
from tests.table.written_tables import tables

WEIRD = pa.table(
    {
        "alter": pa.array([31, None, 31, 44, 44, 31], pa.int32()),
        "select": ["x", "", None, "", "", "x"],
        'so-called "name" `1`': ["it's", 'a "b"', "\\", "%s", "ß€😀", "a\nb"],
        "Größe": [1.5, -0.0, 0.0, None, 0.0, 1e300],
        "day": [dt.date(2020, 2, 29), None, dt.date(1066, 10, 14), dt.date(2020, 2, 29)] * 1 + [None] * 2,
        "moment": pa.array([dt.datetime(2020, 1, 1, 12, 0, 0, 5000)] * 5 + [None], pa.timestamp("ms")),
        "postcode": ["01234", "1234", None, "01234", "", "01234"],
        "yes": [True, None, False, True, True, True],
    }
)


def encoded(
    table: Table, names: Sequence[str], counts: Counts | None = None
) -> tuple[dict[str, object], Counter[tuple[int, ...]]]:
    """Tuples in a form that can be compared: the values of each column, and every tuple with its count."""
    found: Tuples = row_tuples(table, names, counts=counts).distinct()
    rows = zip(*(column.codes.tolist() for column in found.columns.values()), strict=True)
    values = {name: (column.values.to_pylist(), column.labels) for name, column in found.columns.items()}
    return values, Counter(dict(zip(rows, found.counts.tolist(), strict=True)))


def assert_same(place: Place, table: pa.Table) -> None:
    place.put(table)
    names = list(table.column_names)
    with place.open() as engine:
        assert list(engine.columns) == names
        counted = engine.group(names)
        assert counted.num_rows == table.num_rows
        assert encoded(counted.table, names, counted.counts) == encoded(place.read(), names)
        some = names[::-2]
        counted = engine.group(some)
        assert encoded(counted.table, some, counted.counts) == encoded(place.read(), some)


@everywhere
def test_weird_names_and_values_are_counted_as_in_memory(anywhere: Place) -> None:
    assert_same(anywhere, WEIRD)


@pytest.mark.parametrize("anywhere", ["parquet", "csv", "duckdb", "postgresql"], indirect=True)
@given(table=tables())
@settings(max_examples=settings.default.max_examples // 8)
def test_random_tables_are_counted_as_in_memory(anywhere: Place, table: pa.Table) -> None:
    assert_same(anywhere, table)


@pytest.mark.slow
@pytest.mark.parametrize("anywhere", ["spark"], indirect=True)
@given(table=tables())
@settings(max_examples=settings.default.max_examples // 25)
def test_random_tables_are_counted_as_in_memory_by_spark(anywhere: Place, table: pa.Table) -> None:
    assert_same(anywhere, table)


def test_a_long_table_is_counted_in_one_pass(anywhere: Place) -> None:
    long = pa.table(
        {
            "n": [i % 1000 for i in range(300_000)],
            "t": [f"t{i % 7}" for i in range(300_000)],
            "x": range(300_000),
        }
    )
    anywhere.put(long)
    told: list[tuple[str, int, int]] = []
    with anywhere.open() as engine:
        counted = engine.group(["n", "t"], progress=lambda *step: told.append(step))
        assert (len(counted.counts), counted.num_rows) == (7000, 300_000)
        assert engine.repeated(["x"]) == 0
        assert engine.repeated(["n"]) == 299_000
    assert told
    assert told[-1][1] == told[-1][2]


def test_rows_without_any_identifier_are_different_people(anywhere: Place) -> None:
    anywhere.put(pa.table({"name": [None, None, "Ann", "Ann", "Bea"], "number": [None, None, 1, None, None]}))
    with anywhere.open() as engine:
        assert engine.repeated(["name", "number"]) == 0
        assert engine.repeated(["name"]) == 1


@pytest.mark.parametrize(
    "kind", ["numeric", "numeric(10,2)", "uuid", "char(5)", "timestamptz", "time", "mood"]
)
def test_types_that_only_postgresql_has_are_counted_as_in_memory(postgres: str, kind: str) -> None:
    values = {
        "numeric": ["1.5", "2.25", "2", None],
        "numeric(10,2)": ["1.5", "1.50", "2", None],
        "uuid": ["8a5c6f2e-0000-4000-8000-000000000001", None],
        "char(5)": ["ab", "abc", None],
        "timestamptz": ["2020-01-01 12:00+01", "2020-01-01 11:00+00", None],
        "time": ["12:00", None],
        "mood": ["good", "bad", None],
    }[kind]
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE IF EXISTS kinds; DROP TYPE IF EXISTS mood")
        connection.execute("CREATE TYPE mood AS ENUM ('good', 'bad')")
        connection.execute(f"CREATE TABLE kinds (x {kind})")
        for value in values:
            connection.execute(f"INSERT INTO kinds VALUES (%s::{kind})", [value])
    with open_postgresql(postgres, "release", table="kinds") as engine:
        counted = engine.group(["x"])
    assert encoded(counted.table, ["x"], counted.counts) == encoded(read(postgres, table="kinds"), ["x"])


def test_exact_decimals_and_small_types_of_parquet_keep_their_labels(tmp_path) -> None:
    table = pa.table(
        {
            "exact": pa.array([Decimal("1.50"), None, Decimal("2.25")]),
            "small": pa.array([1, None, 200], pa.uint8()),
            "single": pa.array([0.1, None, 1.0], pa.float32()),
            "fine": pa.array([1, None, 2], pa.timestamp("ns")),
            "zoned": pa.array([1, None, 2], pa.timestamp("us", "Europe/Berlin")),
            "time": pa.array([dt.time(1, 2), None, dt.time(3, 4)]),
        }
    )
    assert_same(Place("parquet", tmp_path), table)
