"""DuckDB: files, tables in memory, and databases."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet

from tarnkappe.algebra.decimals import with_decimals
from tarnkappe.algebra.lowering.backend import AttachedTable, Backend, Source
from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.lowering.site import REFUSED, EngineSnapshot
from tarnkappe.engines.duckdb import literal, new_connection, without_patterns
from tarnkappe.engines.polling import Answer, wait_for
from tarnkappe.engines.statements import in_words, left
from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table import read
from tarnkappe.table.encoding import Progress
from tarnkappe.table.files import Format, format_of, opened
from tarnkappe.table.formats.address import quoted, shown
from tarnkappe.table.formats.names import check_names

DATABASE = "tarnkappe_database"
ROW = "file_row_number"
"""What DuckDB calls the number of a row in a Parquet file."""

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
OWN_KINDS = {
    *WHOLE,
    *(f"U{kind}" for kind in WHOLE),
    "BOOLEAN",
    "DATE",
    "FLOAT",
    "DOUBLE",
    "VARCHAR",
    "TIMESTAMP",
}
"""Types that engines share, besides decimals; everything else is read as text."""


class DuckDBBackend(Backend):
    """Relations that DuckDB reads. Nothing but their files and a private folder can be opened."""

    name: ClassVar[str] = "duckdb"

    def __init__(self, source: str, memory_limit: str | None = None) -> None:
        self.source = source
        self.relations: dict[str, tuple[str, ...]] = {}
        self._views: dict[str, tuple[str, Any]] = {}
        self._dense: dict[str, bool] = {}
        self._files: list[Path] = []
        self._databases: dict[Path, str] = {}
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tarnkappe-")))
        self.connection = self._stack.enter_context(new_connection(self._folder / "spill", memory_limit))

    @classmethod
    def over_files(cls, sources: Mapping[str, Source], memory_limit: str | None = None) -> DuckDBBackend:
        """Files, Arrow tables, or single tables of DuckDB files, by the names of their relations.

        A Parquet file is read where it is, and so is a table of a database.
        """
        return cls.together(sources, (), memory_limit)

    @classmethod
    def over_database(cls, path: Path, address: str, memory_limit: str | None = None) -> DuckDBBackend:
        """The tables of a DuckDB file; its views are left out, since what they do is not known here."""
        return cls.together({}, [(path, address)], memory_limit)

    @classmethod
    def together(
        cls,
        sources: Mapping[str, Source],
        databases: Sequence[tuple[Path, str]],
        memory_limit: str | None = None,
    ) -> DuckDBBackend:
        """Files and tables by name, and beside them all tables of some DuckDB files (and their addresses).

        A table whose name another place has as well is called by its database, too: `archive.visits`.
        """
        names = [shown(address) for _, address in databases]
        backend = cls(", ".join([*names, *(["the files"] if sources or not names else [])]), memory_limit)
        with backend._opening():
            found = [backend._tables_of(path) for path, _ in databases]
            taken = Counter([*sources, *(name for tables in found for name in tables)])
            for (path, _), tables in zip(databases, found, strict=True):
                for name, place in tables.items():
                    called = name if taken[name] == 1 or len(databases) == 1 else f"{path.stem}.{name}"
                    backend._show(backend._new(called), place, "rowid", backend._kinds(place))
            for name, source in sources.items():
                backend._take(backend._new(name), source)
        return backend

    def _new(self, name: str) -> str:
        if name in self.relations:
            raise ParameterError(
                "algebra.two-tables-called",
                "two tables are called '{name}', and a query could not tell them apart: give one of the "
                "files another name",
                name=name,
            )
        return name

    def _tables_of(self, path: Path) -> dict[str, str]:
        """The tables of a DuckDB file, as a query calls them, and what DuckDB calls them here."""
        database = self._attached(path)
        found = self.connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY ALL",
            [database],
        ).fetchall()
        return {
            table if schema == "main" else f"{schema}.{table}": ".".join(
                map(quoted, (database, schema, table))
            )
            for schema, table in found
        }

    def _attached(self, path: Path) -> str:
        """What DuckDB calls a database; each file is opened once."""
        whole = path.resolve()
        if whole not in self._databases:
            self._files.append(path)
            name = f"{DATABASE}{len(self._databases)}"
            with opened(path):
                self.connection.execute(f"ATTACH {literal(str(path))} AS {name} (READ_ONLY)")
            self._databases[whole] = name
        return self._databases[whole]

    @contextmanager
    def _opening(self) -> Iterator[None]:
        """Take relations, and then let nothing else be opened."""
        try:
            yield
            names = ", ".join(literal(str(file)) for file in self._files)
            self.connection.execute(f"SET allowed_paths = [{names}]")
            self.connection.execute(f"SET allowed_directories = [{literal(str(self._folder))}]")
            self.connection.execute("SET enable_external_access = false")
        except duckdb.Error as error:
            self._stack.close()
            kind = type(error).__name__
            raise InputError(
                "algebra.duckdb-cannot-read-another-program",
                "{source}: DuckDB cannot read it, or another program has it open ({kind})",
                source=self.source,
                kind=kind,
            ) from None
        except BaseException:
            self._stack.close()
            raise

    def _take(self, name: str, source: Source) -> None:
        if isinstance(source, AttachedTable):
            tables = self._tables_of(source.path)
            if source.table not in tables:
                raise InputError(
                    "algebra.no-table",
                    "{source}: there is no table '{table}'",
                    source=shown(source.address),
                    table=source.table,
                )
            place = tables[source.table]
            self._show(name, place, "rowid", self._kinds(place))
            return
        if not isinstance(source, pa.Table):
            path = Path(source)
            if format_of(path) is Format.PARQUET:
                self._take_parquet(name, path)
                return
            source = with_decimals(read(path).data)
        self._store(name, source)

    def _take_parquet(self, name: str, path: Path) -> None:
        """Read the file where it is, unless DuckDB would mistake one of its columns for another."""
        with opened(path):
            try:
                names = pyarrow.parquet.read_schema(path).names
            except (pa.ArrowException, OSError):
                raise InputError(
                    "algebra.no-parquet-file-damaged",
                    "{path}: this is no Parquet file, or it is damaged",
                    path=path,
                ) from None
            lower = {column.lower() for column in names}
            if len(lower) < len(names) or ROW in lower:
                self._store(name, pyarrow.parquet.read_table(path))
                return
            self._files.append(path)
            place = f"read_parquet({literal(without_patterns(path))}, {ROW} = true)"
            kinds = self._kinds(place)
            self._show(name, place, ROW, {column: kinds[column] for column in names})

    def _store(self, name: str, rows: pa.Table) -> None:
        """Copy rows into the database, which may spill them into its private folder."""
        columns = check_names(rows.column_names, f"{self.source}: {name}")
        stored = f"tarnkappe_t{len(self.relations)}"
        self.connection.register("tarnkappe_source", rows.rename_columns(list(map(str, range(len(columns))))))
        kinds = self._kinds("tarnkappe_source")
        cells = ", ".join(f"{_cell(column, kind)} AS {quoted(column)}" for column, kind in kinds.items())
        self.connection.execute(f"CREATE TEMP TABLE {stored} AS SELECT {cells} FROM tarnkappe_source")
        self.connection.unregister("tarnkappe_source")
        self._show(name, stored, "rowid", self._kinds(stored))
        self.relations[name] = tuple(columns)

    def _kinds(self, place: str) -> dict[str, str]:
        described = self.connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall()
        return {column: kind for column, kind, *_ in described}

    def _show(self, name: str, place: str, row: str, kinds: Mapping[str, str]) -> None:
        """Make a view with numbered columns; types that engines do not share become text."""
        check_names(list(kinds), f"{self.source}: {name}")
        hidden = row == "rowid" and row in {column.lower() for column in kinds}
        number = "row_number() OVER () - 1" if hidden else row
        cells = [f"{_cell(column, kind)} AS c{n}" for n, (column, kind) in enumerate(kinds.items())]
        view = f"tarnkappe_v{len(self.relations)}"
        self.connection.execute(
            f"CREATE TEMP VIEW {view} AS SELECT {', '.join(cells)}, {number} AS i0 FROM {place}"
        )
        schema = self.connection.sql(f"FROM {view} LIMIT 0").to_arrow_table().schema
        self.relations[name] = tuple(kinds)
        self._views[name] = view, ibis.Schema.from_pyarrow(schema)
        self._dense[name] = number != "rowid"

    @contextmanager
    def site(self, progress: Progress | None = None) -> Iterator[DuckDBSite]:
        """A transaction that is rolled back at the end, and with it everything that the query made.

        A file that changes until then is refused.
        """
        with ExitStack() as stack:
            for file in self._files:
                stack.enter_context(opened(file))
            self.connection.begin()
            try:
                yield DuckDBSite(self, progress)
            finally:
                with suppress(duckdb.Error):  # an error may have ended it already
                    self.connection.rollback()

    def view(self, name: str) -> tuple[str, Any]:
        """The view of a relation, and its schema."""
        self._require(name)
        return self._views[name]

    def is_dense(self, name: str) -> bool:
        """Whether the row numbers of a relation have no gaps; deleted rows leave some."""
        if not self._dense[name]:
            query = f"SELECT count(*) = coalesce(max(i0) + 1, 0) FROM {self._views[name][0]}"
            ((found,),) = self.connection.execute(query).fetchall()
            self._dense[name] = bool(found)
        return self._dense[name]

    def close(self) -> None:
        """Let go of the database."""
        self._stack.close()


class DuckDBSite(EngineSnapshot):
    """One query in DuckDB."""

    has_codes: ClassVar[bool] = True

    def __init__(self, backend: DuckDBBackend, progress: Progress | None) -> None:
        self._backend, self._progress = backend, progress
        self._connection = backend.connection
        self._numbers = itertools.count()

    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        view, schema = self._backend.view(name)
        table = ibis.table(schema, name=view)
        columns = self._backend.relations[name]
        if not numbered:
            return LoweredRows(table, columns, 1).without_ids()
        is_dense = self._run(lambda: self._backend.is_dense(name), "counting")
        return LoweredRows(table, columns, 1, is_dense).renumbered()

    def fetch(self, expression: Any, what: str = "querying") -> pa.Table:
        statement = in_words(expression, "duckdb")
        return self._run(lambda: self._connection.sql(statement).to_arrow_table(), what)

    def upload(self, rows: pa.Table) -> Any:
        name = f"tarnkappe_u{next(self._numbers)}"
        self._connection.register("tarnkappe_upload", rows)
        cells = ", ".join(self._upload_cell(name, field) for field in rows.schema)
        self._connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {cells} FROM tarnkappe_upload")
        self._connection.unregister("tarnkappe_upload")
        return ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=name)

    def _upload_cell(self, table: str, field: pa.Field) -> str:
        """A column to upload; a dictionary becomes an enumeration, in the order of its texts."""
        column = quoted(field.name)
        if not pa.types.is_dictionary(field.type):
            return column
        texts = f"SELECT DISTINCT {column} FROM tarnkappe_upload WHERE {column} IS NOT NULL ORDER BY 1"
        self._connection.execute(f"CREATE TYPE {table}_{field.name} AS ENUM ({texts})")
        return f"CAST({column} AS {table}_{field.name}) AS {column}"

    def keep(self, expression: Any) -> Any:
        name = f"tarnkappe_k{next(self._numbers)}"
        statement = f"CREATE TEMP TABLE {name} AS {in_words(expression, 'duckdb')}"
        self._run(lambda: self._connection.execute(statement), "querying")
        return ibis.table(expression.schema(), name=name)

    def secret(self, secret: str) -> Any:
        return ibis.literal(secret)  # the database is in this process and keeps no log

    def hashed(self, text: Any) -> Any:
        return text.hexdigest("sha256")

    def digits(self, digits: str) -> Any:
        return ibis.literal(digits)

    def as_hash(self, digits: Any) -> Any:
        return digits

    def prefix(self, drawn: Any, digits: int) -> Any:
        return left(drawn, digits)

    def refusal(self, message: str, kind: Any) -> Any:
        return error(REFUSED + message).cast(kind)

    def quantile(self, cell: Any, at: float) -> Any:
        return cell.cast("float64").quantile(at)

    def about_distinct(self, cell: Any) -> Any:
        return cell.approx_nunique()

    def _run(self, work: Callable[[], Answer], what: str) -> Answer:
        """What DuckDB says may quote cells, so only what kind of trouble it is gets through."""
        source = self._backend.source
        try:
            interrupt, percent = self._connection.interrupt, self._connection.query_progress
            return wait_for(work, interrupt, percent, self._progress, what)
        except duckdb.OutOfMemoryException:
            raise InputError(
                "algebra.memory-limit-too-low",
                "{source}: the memory limit is too low for this query: raise `memory_limit`",
                source=source,
            ) from None
        except duckdb.InvalidInputException as trouble:
            if REFUSED in str(trouble):
                raise ParameterError.because(str(trouble).partition(REFUSED)[2]) from None
            raise InputError(
                "algebra.duckdb-refused-query",
                "{source}: DuckDB refused the query ({name})",
                source=source,
                name=type(trouble).__name__,
            ) from None
        except duckdb.IOException:
            raise OutputError(
                "algebra.file-cannot-read-written",
                "{source}: a file cannot be read or written; nothing was released",
                source=source,
            ) from None
        except duckdb.Error as trouble:
            raise InputError(
                "algebra.duckdb-refused-query",
                "{source}: DuckDB refused the query ({name})",
                source=source,
                name=type(trouble).__name__,
            ) from None


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def error(message: str) -> str:  # type: ignore[empty-body]
    """Fails with a message where it is evaluated, in DuckDB."""


def _cell(column: str, kind: str) -> str:
    """A column in a type that engines share: times of all precisions to the microsecond, and in UTC."""
    if kind in ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        return f"CAST({quoted(column)} AS TIMESTAMP)"
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"make_timestamp(epoch_us({quoted(column)}))"
    is_own = kind in OWN_KINDS or kind.startswith("DECIMAL(")
    return quoted(column) if is_own else f"CAST({quoted(column)} AS VARCHAR)"
