"""Files, also larger than memory, and DuckDB databases through DuckDB.

What does not fit in the memory limit is spilled beside the file that is written. Nothing but the source and
the folder of that file can be opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa
import pyarrow.parquet

from tarnkappe.engines.collect import collect, plain_kinds
from tarnkappe.engines.engine import SOURCE, Engine, Grouped, StagedRelease
from tarnkappe.engines.polling import Answer, wait_for
from tarnkappe.engines.statements import KEPT, LEVELS, ReleasePlan, kept_rows, level_rows, unused
from tarnkappe.engines.text_file import TextFile
from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress, as_text
from tarnkappe.table.files import Format, format_of, is_compressed, opened
from tarnkappe.table.formats.address import database_file, quoted, shown
from tarnkappe.table.formats.columnar import PARQUET_COMPRESSION
from tarnkappe.table.formats.exact_types import typed_values
from tarnkappe.table.formats.names import check_names

RELEASE = "tarnkappe_release"
DATABASE = "tarnkappe_database"
CHUNK = 2**17
UNWRITABLE = re.compile(r'Could not write file .+?": ([A-Za-z ]+)')
MEMORY = re.compile(r"\d+(\.\d+)? ?[KMGT]i?B")
FORMATS = (Format.PARQUET, Format.CSV)


@contextmanager
def open_duckdb(
    target: Path,
    *,
    path: str | None = None,
    database: str | None = None,
    table: str | None = None,
    query: str | None = None,
    options: Mapping[str, Any] | None = None,
    memory_limit: str | None = None,
    output_delimiter: str | None = None,
) -> Iterator[DuckDB]:
    """The rows of a Parquet or CSV file, or of a table or query of a DuckDB file.

    Args:
        target: the Parquet or CSV file to write, in a private folder, where DuckDB also spills.
        path: the file to read, or
        database: the address of a DuckDB file, with
        table: the name of a table in it, or
        query: a query to it.
        options: what is stated about a CSV file, as for `read`; the rest is found out.
        memory_limit: how much memory DuckDB may take, as in "2GB".
        output_delimiter: of the CSV file to write; that of the input, or a comma, if not given.
    """
    if format_of(target) not in FORMATS or is_compressed(target):
        raise ParameterError(
            "engines.duckdb-writes-parquet-csv",
            "{target}: DuckDB writes .parquet and .csv files: choose such a name",
            target=target,
        )
    if memory_limit is not None and not MEMORY.fullmatch(memory_limit):
        raise ParameterError(
            "engines.memory-limit-no-amount",
            "memory_limit: {memory_limit!r} is no amount of memory: write 2GB or 500MB",
            memory_limit=memory_limit,
        )
    with ExitStack() as stack:
        file = Path(path or "") if database is None else database_file(database)
        if file is None:
            raise ParameterError(
                "engines.duckdb-opens-files-only-use",
                "{database}: DuckDB opens files only: use another engine",
                database=shown(database or ""),
            )
        stack.enter_context(opened(file))  # a file that changes until the end is refused
        connection = stack.enter_context(new_connection(target.with_name("spill"), memory_limit))
        engine = DuckDB(connection, str(file) if database is None else shown(database), target)
        if database is not None:
            engine.take_database(file, database, table, query)
        elif format_of(file) is Format.PARQUET:
            engine.take_parquet(file)
        elif format_of(file) is Format.CSV:
            engine.take_csv(file, options or {})
        else:
            raise ParameterError(
                "engines.duckdb-reads-parquet-csv",
                "{file}: DuckDB reads Parquet and CSV files: use the engine 'memory'",
                file=file,
            )
        engine.output_delimiter = output_delimiter or engine.output_delimiter
        connection.execute(f"SET allowed_paths = [{literal(str(file))}]")
        connection.execute(f"SET allowed_directories = [{literal(str(target.parent))}]")
        connection.execute("SET enable_external_access = false")
        yield engine


class DuckDB(Engine):
    """Rows that DuckDB reads."""

    name: ClassVar[str] = "duckdb"
    dialect: ClassVar[str] = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: str, target: Path) -> None:
        self.source, self.output_delimiter = source, ","
        self._connection, self._target = connection, target
        self._kinds: dict[str, pa.DataType] = {}
        self._texts: dict[str, TextFile] = {}

    # ------------------------------------------------------------------ where the rows come from

    def take_parquet(self, path: Path) -> None:
        """Read the rows of a Parquet file."""
        try:
            schema = pyarrow.parquet.read_schema(path)
        except (pa.ArrowException, OSError):
            raise InputError(
                "engines.no-parquet-file-damaged",
                "{path}: this is no Parquet file, or it is damaged",
                path=path,
            ) from None
        self._kinds = plain_kinds(schema)
        file, row = literal(without_patterns(path)), "file_row_number"
        if unused(row, schema.names) == row:
            self._take(f"SELECT * FROM read_parquet({file}, {row} = true)", row, schema.names)
        else:
            row = unused("row", schema.names)
            query = f"SELECT *, row_number() OVER () AS {quoted(row)} FROM read_parquet({file})"
            self._take(query, row, schema.names)

    def take_csv(self, path: Path, options: Mapping[str, Any]) -> None:
        """Read the rows of a CSV file."""
        text = TextFile(path, options)
        self.reading = text.reading
        self.output_delimiter = text.reading.delimiter or self.output_delimiter
        self._texts[SOURCE], self.row = text, text.row
        self.columns = self._told_apart(text.names)

    def take_database(self, path: Path, address: str, table: str | None, query: str | None) -> None:
        """Read the rows of a table or a query of a DuckDB file."""
        try:
            self._connection.execute(f"ATTACH {literal(str(path))} AS {DATABASE} (READ_ONLY)")
            self._connection.execute(f"USE {DATABASE}")
        except duckdb.Error:
            raise InputError(
                "engines.no-duckdb-file-another-program",
                "{source}: this is no DuckDB file, or another program has it open",
                source=self.source,
            ) from None
        from tarnkappe.table.formats.database import planning, split_name  # loads SQLAlchemy

        if table is not None:
            found = self._connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ?",
                [DATABASE],
            ).fetchall()
            query = f"SELECT * FROM {'.'.join(map(quoted, split_name(table, set(found), address)))}"
        rows = f"({(query or '').strip().rstrip(';')})"
        with planning(address):
            names = self._connection.sql(f"FROM {rows} LIMIT 0").columns
        row = unused("row", names)
        self._take(f"SELECT *, row_number() OVER () AS {quoted(row)} FROM {rows}", row, names)

    def _take(self, query: str, row: str, names: Sequence[str]) -> None:
        self.row, self.columns = row, self._told_apart(names)
        with self._reporting():
            self._connection.execute(f"CREATE TEMP VIEW {SOURCE} AS {query}")

    def _told_apart(self, names: Sequence[str]) -> tuple[str, ...]:
        if len({name.lower() for name in names}) < len(set(names)):
            raise InputError(
                "engines.two-column-names-differ",
                "{source}: two column names differ only in the case of their letters, which DuckDB does not"
                " tell apart: rename one",
                source=self.source,
            )
        return tuple(check_names(list(names), self.source))

    # ------------------------------------------------------------------ what is asked of them

    def group(self, names: Sequence[str], progress: Progress | None = None) -> Grouped:
        """The distinct combinations of some columns; what is a number in a CSV file is seen only now."""
        found = super().group(names, progress)
        if SOURCE not in self._texts:
            return found
        columns = {name: self._typed(name, found.table.data.column(name).chunk(0)) for name in names}
        return Grouped(Table(pa.table(columns), reading=self.reading), found.counts)

    def _typed(self, name: str, column: pa.DictionaryArray) -> pa.DictionaryArray:
        """Texts as numbers where nothing is lost by it, as a file in memory would have them."""
        spelling = None if self.reading is None else self.reading.spelling(name)
        if spelling is not None and (spelling.number or spelling.date):
            return column
        values = typed_values(column.dictionary)
        return column if values is None else pa.DictionaryArray.from_arrays(column.indices, values)

    def answer(self, statement: str, progress: Progress | None = None) -> pa.Table:
        """The rows that a query gives, in the types that the file names."""

        def ask() -> pa.Table:
            reader = self._connection.sql(statement).to_arrow_reader(CHUNK)
            return collect(reader.schema, reader, self._kinds)

        return self._run(ask, progress, "counting")

    @contextmanager
    def release(self, plan: ReleasePlan, progress: Progress | None = None) -> Iterator[StagedRelease]:
        """Write the file; its name is given to it by who made the place for it."""
        for index, level in enumerate(plan.levels):
            rows = level_rows(index, level)
            if SOURCE in self._texts:
                rows = rows.set_column(0, f"v{index}", as_text(rows.column(0).combine_chunks()))
            self._connection.register(LEVELS.format(index), rows)
        self._connection.register(KEPT, kept_rows(plan))
        copy = f"COPY ({self.statement(plan)}) TO {literal(str(self._target))} ({self._format()})"
        self._run(lambda: self._connection.execute(copy), progress, "writing")
        yield _WrittenFile(self, self._look_at_written())

    def _format(self) -> str:
        if format_of(self._target) is Format.PARQUET:
            return f"FORMAT parquet, COMPRESSION {PARQUET_COMPRESSION}"
        return f"""FORMAT csv, HEADER, NULLSTR '', QUOTE '"', DELIMITER {literal(self.output_delimiter)}"""

    def _look_at_written(self) -> tuple[str, ...]:
        """Make the written release a relation, and return its columns."""
        if format_of(self._target) is Format.CSV:
            self._texts[RELEASE] = TextFile.written(self._target, self.output_delimiter)
            return tuple(self._texts[RELEASE].names)
        with self._reporting():
            rows = f"read_parquet({literal(without_patterns(self._target))})"
            self._connection.execute(f"CREATE TEMP VIEW {RELEASE} AS FROM {rows}")
            return tuple(self._connection.sql(f"FROM {RELEASE} LIMIT 0").columns)

    # ------------------------------------------------------------------ how a statement runs

    def _run(self, work: Callable[[], Answer], progress: Progress | None, what: str) -> Answer:
        """Text files are streamed anew for every statement, and what is wrong with them is told as it is."""
        for name, text in self._texts.items():
            self._connection.register(name, text.reader())
        try:
            with self._reporting():
                interrupt, percent = self._connection.interrupt, self._connection.query_progress
                return wait_for(work, interrupt, percent, progress, what)
        except InputError:
            for text in self._texts.values():
                if text.fault is not None:
                    raise text.fault from None
            raise
        finally:
            for name in self._texts:
                self._connection.unregister(name)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """What DuckDB says may quote cells, so only what kind of trouble it is gets through."""
        try:
            yield
        except duckdb.OutOfMemoryException:
            raise InputError(
                "engines.memory-limit-too-low",
                "{source}: the memory limit is too low for this table: raise `memory_limit`",
                source=self.source,
            ) from None
        except duckdb.IOException as error:
            reason = UNWRITABLE.search(str(error))
            if reason:
                raise OutputError(
                    "engines.release-cannot-written",
                    "the release cannot be written: {reason}",
                    reason=reason[1],
                ) from None
            raise InputError(
                "engines.file-cannot-read-damaged",
                "{source}: the file cannot be read, or is damaged",
                source=self.source,
            ) from None
        except duckdb.Error as error:
            raise InputError(
                "engines.file-damaged-duckdb-cannot-read",
                "{source}: the file is damaged, or DuckDB cannot read it ({name})",
                source=self.source,
                name=type(error).__name__,
            ) from None


class _WrittenFile(StagedRelease):
    def __init__(self, engine: DuckDB, columns: tuple[str, ...]) -> None:
        self.columns, self._engine = columns, engine

    def group(self, names: Sequence[str]) -> Grouped:
        return self._engine.grouped(RELEASE, names)


def new_connection(spill: Path, memory_limit: str | None = None) -> duckdb.DuckDBPyConnection:
    """An empty database in memory that spills into a private folder and loads no extension by itself."""
    connection = duckdb.connect(
        config={
            "temp_directory": str(spill),
            "autoinstall_known_extensions": "false",
            **({"memory_limit": memory_limit} if memory_limit else {}),
        }
    )
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    return connection


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def without_patterns(path: Path) -> str:
    """A path in which no character stands for others."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
