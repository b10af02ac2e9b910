"""Every place where rows can be that an engine reads, and a way to put a table there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from tarnkappe.engines.duckdb import open_duckdb
from tarnkappe.engines.engine import Engine
from tarnkappe.engines.postgresql import open_postgresql
from tarnkappe.table import Table, read, write

PLACES = ("parquet", "csv", "duckdb", "postgresql", "spark")
everywhere = pytest.mark.parametrize("anywhere", PLACES, indirect=True)
TABLE = 'my "table" 100%'


class Place:
    """One place: put a table there, read it into memory, or open an engine on it."""

    def __init__(self, kind: str, folder: Path, address: str = "") -> None:
        self.kind, self.folder, self.address = kind, folder, address
        self._times = 0

    def put(self, table: pa.Table) -> None:
        self._times += 1
        self.path = self.folder / f"input-{self._times}{'.csv' if self.kind == 'csv' else '.parquet'}"
        self.target = self.folder / f"release-{self._times}.parquet"
        if self.kind == "duckdb":
            self.address = f"duckdb:///{self.folder}/{self._times}.db"
            write(table, self.address, table=TABLE)
        elif self.kind == "postgresql":
            with psycopg.connect(self.address) as connection:
                connection.execute("DROP TABLE IF EXISTS release")
            write(table, self.address, table=TABLE, replace=True)
        else:
            write(table, self.path)

    def read(self) -> Table:
        return read(self.address, table=TABLE) if self.address else read(self.path)

    def open(self) -> AbstractContextManager[Engine]:
        if self.kind == "duckdb":
            return open_duckdb(self.target, database=self.address, table=TABLE)
        if self.kind == "postgresql":
            return open_postgresql(self.address, "release", table=TABLE)
        if self.kind == "spark":
            from tarnkappe.engines.spark import open_spark

            return open_spark(self.target, path=str(self.path))
        return open_duckdb(self.target, path=str(self.path))

    def released(self) -> list[tuple[object, ...]]:
        """The rows of the release, in their order."""
        if self.kind == "postgresql":
            with psycopg.connect(self.address) as connection:
                return connection.execute("SELECT * FROM release").fetchall()
        files = sorted(self.target.glob("*.parquet")) if self.target.is_dir() else [self.target]
        found = pa.concat_tables([pyarrow.parquet.ParquetFile(file).read() for file in files])
        return [tuple(row.values()) for row in found.to_pylist()]


@contextmanager
def place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    if kind == "spark":
        request.getfixturevalue("spark")
    yield Place(kind, folder, request.getfixturevalue("postgres") if kind == "postgresql" else "")
