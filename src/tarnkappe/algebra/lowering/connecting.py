"""Which engine has which relations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tarnkappe.algebra.lowering.backend import Backend, Source
from tarnkappe.errors import ParameterError
from tarnkappe.table.compression import GZIP
from tarnkappe.table.files import suffix_of
from tarnkappe.table.formats.address import database_file, is_address, is_duckdb, shown, split_address
from tarnkappe.table.formats.database import DRIVERS


def connect(
    place: str | Path | Mapping[str, Source], *, engine: str | None = None, memory_limit: str | None = None
) -> Backend:
    """The relations at a place.

    Args:
        place: files (or Arrow tables) by the names of their relations; one file, whose name without its
            ending is that of the relation; `duckdb:///people.db`; `postgresql://user@host/database`; or
            `spark:folder` with Parquet files, or folders of them, in it.
        engine: `duckdb` (the default) or `spark`, for files.
        memory_limit: how much memory DuckDB may take, as in "2GB".

    >>> import pyarrow as pa
    >>> with connect({"people": pa.table({"age": [34, 51]})}) as backend:
    ...     backend.relations
    {'people': ('age',)}
    """
    if isinstance(place, str) and is_address(place):
        return _database(place, memory_limit)
    if isinstance(place, str) and place.startswith("spark:"):
        place, engine = _folder(Path(place.removeprefix("spark:"))), "spark"
    files = place if isinstance(place, Mapping) else {_name(Path(place)): Path(place)}
    if engine == "spark":
        from tarnkappe.algebra.lowering.spark import SparkBackend

        return SparkBackend(files)
    if engine not in (None, "duckdb"):
        raise ParameterError(f"files are read by duckdb or spark, not by {engine}")
    from tarnkappe.algebra.lowering.duckdb import DuckDBBackend

    return DuckDBBackend.over_files(files, memory_limit)


def _database(address: str, memory_limit: str | None) -> Backend:
    path = database_file(address)
    if is_duckdb(address) and path is not None:
        from tarnkappe.algebra.lowering.duckdb import DuckDBBackend

        return DuckDBBackend.over_database(path, address, memory_limit)
    if split_address(address)[0].partition("+")[0] in DRIVERS:
        from tarnkappe.algebra.lowering.postgresql import PostgreSQLBackend

        return PostgreSQLBackend(address)
    raise ParameterError(
        f"{shown(address)}: queries run on DuckDB (duckdb:///file) and PostgreSQL (postgresql://...)"
    )


def _folder(folder: Path) -> dict[str, Source]:
    """The Parquet files and folders in a folder, by their names without endings."""
    if not folder.is_dir():
        raise ParameterError(f"{folder}: there is no such folder")
    found = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    return {_name(path): path for path in found if path.is_dir() or suffix_of(path) == ".parquet"}


def _name(path: Path) -> str:
    """What a file is called without its endings."""
    return path.name.removesuffix(GZIP).removesuffix(suffix_of(path))
