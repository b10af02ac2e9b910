"""Spark: Parquet files and folders of them, on a local master or a cluster that shares the file system."""

from __future__ import annotations

import itertools
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import ibis
import pyarrow as pa
import pyarrow.parquet
from ibis.config import Config

from tarnkappe.algebra.lowering.backend import Backend
from tarnkappe.algebra.lowering.rows import LoweredRows
from tarnkappe.algebra.lowering.site import REFUSED, EngineSnapshot
from tarnkappe.engines.spark import SETTINGS, parquet_files, running_session, stamps
from tarnkappe.engines.statements import in_words, left
from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.names import check_names

STRICT = {**SETTINGS, "spark.sql.ansi.enabled": "true"}
"""A sum that overflows is an error, not another number."""

KINDS = {
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
    "boolean": "boolean",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "timestamp": "timestamp",
}
"""Types that engines share, besides decimals; everything else is read as text."""


class _Options(Config):  # type: ignore[misc]
    treat_nan_as_null: bool = False


if ibis.options.pyspark is None:  # Ibis reads it to write SQL, but sets it only where it runs Spark itself
    ibis.options.pyspark = _Options()


class SparkBackend(Backend):
    """Relations that Spark reads. A session that runs already is used and left as it was."""

    name: ClassVar[str] = "spark"

    def __init__(self, sources: Mapping[str, Any]) -> None:
        self.source = "the Parquet files"
        self._stack = ExitStack()
        try:
            self._files = {name: parquet_files(_path(name, source)) for name, source in sources.items()}
            self._before = {name: stamps(files) for name, files in self._files.items()}
            folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tarnkappe-"))
            self.scratch = Path(folder)
            self.session = self._stack.enter_context(running_session(self.scratch, STRICT))
            self.relations = {
                name: tuple(check_names(_schema(files[0]).names, str(files[0])))
                for name, files in self._files.items()
            }
        except BaseException:
            self._stack.close()
            raise

    @contextmanager
    def site(self, progress: Progress | None = None) -> Iterator[SparkSite]:
        """One query; files that change until it ends are refused."""
        site = SparkSite(self, progress)
        try:
            yield site
        finally:
            site.forget()
        for name, before in self._before.items():
            if stamps(self._files[name]) != before:
                raise InputError(
                    "algebra.files-changed-while-read",
                    "'{name}': the files changed while they were read: read when nobody writes to them",
                    name=name,
                )

    def files(self, name: str) -> Sequence[Path]:
        """The files of a relation."""
        self._require(name)
        return self._files[name]

    def close(self) -> None:
        """Stop the session, unless it ran before."""
        self._stack.close()


class SparkSite(EngineSnapshot):
    """One query in Spark."""

    like_escape = "\\"

    def __init__(self, backend: SparkBackend, progress: Progress | None) -> None:
        self._backend, self._progress = backend, progress
        self._session = backend.session
        self._token, self._numbers = secrets.token_hex(4), itertools.count()
        self._views: list[str] = []
        self._folders: list[Path] = []

    def relation(self, name: str, *, numbered: bool) -> LoweredRows:
        files = self._backend.files(name)
        columns = self._backend.relations[name]
        with self._reporting():
            frame = self._session.read.parquet(*map(str, files))
            kinds = [field.dataType.simpleString() for field in frame.schema]
            cells = [_cell(c, kind) for c, kind in zip(columns, kinds, strict=True)]
            if numbered:
                frame, number = self._numbered(frame, files)
                cells.append(number)
            schema = {f"c{n}": _kind(kind) for n, kind in enumerate(kinds)}
            schema |= {"i0": "int64"} if numbered else {}
            named = (f"{cell} AS {name}" for cell, name in zip(cells, schema, strict=True))
            table = self._show(frame.selectExpr(*named), schema)
        return LoweredRows(table, columns, int(numbered), numbered)

    def _numbered(self, frame: Any, files: Sequence[Path]) -> tuple[Any, str]:
        """The frame with what numbers its rows: the place in a file, after all rows of the files before."""
        if len(files) == 1:
            return frame, "_metadata.row_index"
        from pyspark.sql.functions import broadcast

        counts = [pyarrow.parquet.read_metadata(file).num_rows for file in files]
        starts = itertools.accumulate(counts[:-1], initial=0)
        names = (file.resolve().as_uri().replace("file:///", "file:/") for file in files)
        known = list(zip(names, starts, strict=True))
        offsets = self._session.createDataFrame(known, "tarnkappe_file string, tarnkappe_start bigint")
        frame = frame.selectExpr(
            "*",
            "regexp_replace(_metadata.file_path, '^file:/+', 'file:/') AS tarnkappe_file",
            "_metadata.row_index AS tarnkappe_place",
        )
        return frame.join(broadcast(offsets), "tarnkappe_file"), "tarnkappe_start + tarnkappe_place"

    def fetch(self, expression: Any, what: str = "querying") -> pa.Table:
        folder = self._written(expression, what)
        parts = [pyarrow.parquet.ParquetFile(file).read() for file in parquet_files(folder)]
        shutil.rmtree(folder)
        return pa.concat_tables(parts)

    def upload(self, rows: pa.Table) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        cells = list(zip(*rows.to_pydict().values(), strict=True))
        with self._reporting():
            frame = self._session.createDataFrame(cells, from_arrow_schema(rows.schema))
        return self._show(frame, ibis.Schema.from_pyarrow(rows.schema))

    def keep(self, expression: Any) -> Any:
        folder = self._written(expression, "querying")
        self._folders.append(folder)
        with self._reporting():
            return self._show(self._session.read.parquet(str(folder)), expression.schema())

    def _written(self, expression: Any, what: str) -> Path:
        """The rows of an expression, written by Spark where they are private."""
        folder = self._backend.scratch / secrets.token_hex(6)
        if self._progress:
            self._progress(what, 0, 1)
        with self._reporting():
            self._session.sql(in_words(expression, "pyspark")).write.parquet(str(folder))
        if self._progress:
            self._progress(what, 1, 1)
        return folder

    def secret(self, secret: str) -> Any:
        # Plans, and so literals, are shown in Spark's pages and logs; the rows of a small table are not.
        return self.upload(pa.table({"k": [secret]}))["k"].as_scalar()

    def hashed(self, text: Any) -> Any:
        return text.hexdigest("sha256")

    def digits(self, digits: str) -> Any:
        return ibis.literal(digits)

    def as_hash(self, digits: Any) -> Any:
        return digits

    def prefix(self, drawn: Any, digits: int) -> Any:
        return left(drawn, digits)

    def refusal(self, message: str, kind: Any) -> Any:
        return raise_error(REFUSED + message).cast(kind)

    def quantile(self, cell: Any, at: float) -> Any:
        return percentile(cell.cast("float64"), at)

    def about_distinct(self, cell: Any) -> Any:
        return cell.approx_nunique()

    def forget(self) -> None:
        """Leave nothing of the query in the session or on the disk."""
        for name in self._views:
            with suppress(Exception):  # a session that broke has nothing to forget
                self._session.catalog.dropTempView(name)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _show(self, frame: Any, schema: Any) -> Any:
        name = f"tarnkappe_{self._token}_{next(self._numbers)}"
        frame.createOrReplaceTempView(name)
        self._views.append(name)
        return ibis.table(schema, name=name)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """What Spark says may quote cells, so only what kind of trouble it is gets through."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as error:
            _, found, message = str(error).partition(REFUSED)
            if found:
                raise ParameterError.because(message.partition("\n")[0]) from None
            if "No space left on device" in str(error):
                raise OutputError(
                    "algebra.disk-full-nothing-released", "the disk is full: nothing was released"
                ) from None
            source = self._backend.source
            raise InputError(
                "algebra.spark-refused-query",
                "{source}: Spark refused the query ({name})",
                source=source,
                name=type(error).__name__,
            ) from None


@ibis.udf.scalar.builtin  # type: ignore[untyped-decorator]
def raise_error(message: str) -> str:  # type: ignore[empty-body]
    """Fails with a message where it is evaluated, in Spark."""


@ibis.udf.agg.builtin  # type: ignore[untyped-decorator]
def percentile(cell: float, at: float) -> float:  # type: ignore[empty-body]
    """The exact quantile, interpolated, in Spark."""


def _path(name: str, source: Any) -> Path:
    if isinstance(source, pa.Table):
        raise ParameterError(
            "algebra.spark-reads-parquet-files",
            "'{name}': Spark reads Parquet files: write the table to one, or use DuckDB",
            name=name,
        )
    return Path(source)


def _schema(file: Path) -> pa.Schema:
    try:
        return pyarrow.parquet.read_schema(file)
    except (pa.ArrowException, OSError):
        raise InputError(
            "algebra.spark-no-parquet-file-damaged",
            "{file}: this is no Parquet file, or it is damaged",
            file=file,
        ) from None


def _kind(kind: str) -> str:
    return kind if kind.startswith("decimal") else KINDS.get(kind, "string")


def _cell(column: str, kind: str) -> str:
    name = "`" + column.replace("`", "``") + "`"
    if kind == "timestamp":
        return f"CAST({name} AS TIMESTAMP_NTZ)"  # the session's time zone is UTC
    is_own = kind in KINDS or kind == "string" or kind.startswith("decimal")
    return name if is_own else f"CAST({name} AS STRING)"
