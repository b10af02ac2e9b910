"""Which engine has which relations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from tarnkappe.algebra.lowering.backend import AttachedTable, Backend, Source
from tarnkappe.errors import ParameterError
from tarnkappe.table.compression import GZIP
from tarnkappe.table.files import suffix_of
from tarnkappe.table.formats.address import (
    DRIVERS,
    database_file,
    is_address,
    is_duckdb,
    shown,
    split_address,
)

Place = str | Path | Mapping[str, Source]


def connect(
    place: Place | Sequence[Place], *, engine: str | None = None, memory_limit: str | None = None
) -> Backend:
    """The relations at a place.

    Args:
        place: files (or Arrow tables) by the names of their relations; one file, whose name without its
            ending is that of the relation; `duckdb:///people.db`; `postgresql://user@host/database`; or
            `spark:folder` with Parquet files, or folders of them, in it. Or a list of these, over which one
            query may go: each part of it runs where its rows are.
        engine: `duckdb` (the default) or `spark`, for files.
        memory_limit: how much memory DuckDB may take, as in "2GB".

    >>> import pyarrow as pa
    >>> with connect({"people": pa.table({"age": [34, 51]})}) as backend:
    ...     backend.relations
    {'people': ('age',)}
    """
    if isinstance(place, Sequence) and not isinstance(place, str):
        return _together(place, engine, memory_limit)
    if isinstance(place, str) and is_address(place):
        return _database(place, memory_limit)
    if isinstance(place, str) and place.startswith("spark:"):
        place, engine = _folder(Path(place.removeprefix("spark:"))), "spark"
    files = place if isinstance(place, Mapping) else {_name(Path(place)): Path(place)}
    if engine == "spark":
        from tarnkappe.algebra.lowering.spark import SparkBackend

        return SparkBackend(files)
    if engine not in (None, "duckdb"):
        raise ParameterError(
            "algebra.files-read-duckdb-spark",
            "files are read by duckdb or spark, not by {engine}",
            engine=engine,
        )
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
        "algebra.queries-run-duckdb-duckdb",
        "{address}: queries run on DuckDB (duckdb:///file) and PostgreSQL (postgresql://...)",
        address=shown(address),
    )


def attached_table(address: str, table: str) -> AttachedTable | None:
    """A table that may stand beside files and other databases; None if its engine is another than DuckDB."""
    path = database_file(address) if is_duckdb(address) else None
    return None if path is None else AttachedTable(path, address, table)


def _together(places: Sequence[Place], engine: str | None, memory_limit: str | None) -> Backend:
    """Several places in one query: DuckDB attaches its databases and reads the files, others stand beside."""
    if engine not in (None, "duckdb"):
        raise ParameterError(
            "algebra.several-places-duckdb-engine",
            "files beside other places are read by duckdb, not by {engine}: Spark takes spark:FOLDER",
            engine=engine,
        )
    files: dict[str, Source] = {}
    databases: dict[Path, str] = {}
    others: list[str] = []
    for place in places:
        if isinstance(place, Mapping):
            files |= place
        elif isinstance(place, str) and (is_address(place) or place.startswith("spark:")):
            path = database_file(place) if is_address(place) and is_duckdb(place) else None
            if path is None:
                others.append(place)
            else:
                databases[path] = place
        else:
            files[_name(Path(place))] = Path(place)
    with ExitStack() as opened:
        found: dict[str, Backend] = {}
        if files or databases:
            from tarnkappe.algebra.lowering.duckdb import DuckDBBackend

            only = next(iter(databases)).stem if len(databases) == 1 and not files else FILES
            found[only] = opened.enter_context(
                DuckDBBackend.together(files, list(databases.items()), memory_limit)
            )
        for place in dict.fromkeys(others):
            found[_called(place, found)] = opened.enter_context(connect(place, memory_limit=memory_limit))
        if len(found) == 1:
            together = next(iter(found.values()))
        else:
            from tarnkappe.algebra.lowering.several import SeveralBackends

            together = SeveralBackends(found)
        opened.pop_all()  # they stay open, and are closed with the whole
    return together


FILES = "files"
"""What files and attached databases are called beside other places."""


def _called(place: str, taken: Collection[str]) -> str:
    """What a place is called in a query that has several: its database or folder, numbered if need be."""
    last = place.removeprefix("spark:").partition("?")[0].rstrip("/").rpartition("/")[2] or "place"
    return next(name for n in count(1) if (name := last if n == 1 else f"{last}{n}") not in taken)


def _folder(folder: Path) -> dict[str, Source]:
    """The Parquet files and folders in a folder, by their names without endings."""
    if not folder.is_dir():
        raise ParameterError("algebra.no-folder", "{folder}: there is no such folder", folder=folder)
    found = sorted(path for path in folder.iterdir() if path.name[0] not in "._")
    return {_name(path): path for path in found if path.is_dir() or suffix_of(path) == ".parquet"}


def _name(path: Path) -> str:
    """What a file is called without its endings."""
    return path.name.removesuffix(GZIP).removesuffix(suffix_of(path))
