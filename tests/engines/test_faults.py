"""What goes wrong in the middle: one clear error without cells, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import resource
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from tarnkappe.engines.duckdb import open_duckdb
from tarnkappe.engines.postgresql import open_postgresql
from tarnkappe.errors import ColumnError, InputError, OutputError, ParameterError, TarnkappeError
from tarnkappe.table import read, write
from tests.engines.places import Place
from tests.engines.test_release import EVERYTHING, ROWS, plan

SECRET = "Geheimnis"


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    table = pa.table({"alter": range(100_000), "secret": [f"{SECRET} {i}" for i in range(100_000)]})
    pyarrow.parquet.write_table(table, path, row_group_size=10_000, compression="zstd", use_dictionary=False)
    return path


def damage(path: Path) -> None:
    """A disk that forgets: zeros in the middle of a file. Its footer is sound, so the scan meets the damage."""
    content = bytearray(path.read_bytes())
    middle, hole = len(content) // 2, len(content) // 5
    content[middle : middle + hole] = bytes(hole)
    path.write_bytes(content)


def refused(path: Path, names: tuple[str, ...] = ("alter", "secret"), **options: str) -> str:
    with (
        pytest.raises(TarnkappeError) as error,
        open_duckdb(path.with_name("release.parquet"), path=str(path), **options) as engine,
    ):
        engine.group(list(names))
    assert SECRET not in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


# --- files ----------------------------------------------------------------------------------------


def test_a_truncated_parquet_file(parquet: Path) -> None:
    parquet.write_bytes(parquet.read_bytes()[: parquet.stat().st_size // 2])
    assert refused(parquet).endswith("rows.parquet: this is no Parquet file, or it is damaged")


def test_a_parquet_file_that_is_damaged_in_the_middle(parquet: Path) -> None:
    damage(parquet)
    assert "damaged" in refused(parquet)


def test_a_parquet_file_damaged_in_the_middle_for_spark(spark: None, parquet: Path) -> None:
    from tarnkappe.engines.spark import open_spark

    damage(parquet)
    with (
        pytest.raises(InputError, match="Spark could not read the rows, or they are damaged") as error,
        open_spark(parquet.with_name("release"), path=str(parquet)) as engine,
    ):
        engine.group(["alter", "secret"])
    assert SECRET not in str(error.value)
    assert not any((parquet.parent / "scratch").glob("*/*.parquet"))


def test_a_csv_file_that_is_malformed_in_the_middle_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{i};{SECRET}" for i in range(200_000)]
    lines[150_000] = f"1;2;{SECRET}"
    path.write_text("alter;secret\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert "rows.csv, line 150002: expected 2 fields, found 3" in refused(path)


def test_a_file_that_changes_while_it_is_read(parquet: Path) -> None:
    def read_and_touch() -> None:
        with open_duckdb(parquet.with_name("release.parquet"), path=str(parquet)) as engine:
            engine.group(["alter"])
            parquet.touch()

    with pytest.raises(InputError, match="changed while it was read"):
        read_and_touch()


@pytest.mark.slow
def test_a_folder_that_changes_while_spark_reads_it(spark: None, parquet: Path) -> None:
    from tarnkappe.engines.spark import open_spark

    folder = parquet.parent / "folder"
    folder.mkdir()
    parquet.rename(folder / "a.parquet")

    def read_and_add() -> None:
        with open_spark(parquet.with_name("release"), path=str(folder)) as engine:
            assert engine.group(["alter"]).num_rows == 100_000
            (folder / "b.parquet").write_bytes((folder / "a.parquet").read_bytes())

    with pytest.raises(InputError, match="changed while they were read"):
        read_and_add()


def test_too_little_memory_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    long = "x" * 10_000
    write(pa.table({"alter": range(3000), "secret": [f"{SECRET}{i}{long}" for i in range(3000)]}), path)
    assert "the memory limit is too low for this table: raise `memory_limit`" in refused(
        path, memory_limit="2MB"
    )


@pytest.mark.parametrize("limit", ["lots", "-1", "2 apples"])
def test_a_memory_limit_that_is_none(parquet: Path, limit: str) -> None:
    assert "is no amount of memory: write 2GB" in refused(parquet, memory_limit=limit)


def test_names_that_differ_in_case_only(tmp_path: Path) -> None:
    for path in (tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        write(pa.table({"age": [1], "Age": [2]}), path)
        assert "differ only in the case of their letters" in refused(path, ("age",))


def test_names_that_duckdb_uses_itself(tmp_path: Path) -> None:
    path = tmp_path / "rows [1]*?.parquet"
    write(pa.table({"file_row_number": [1, 1], "row": [2, 2], "n": [3, 3], "rows": [4, 5]}), path)
    with open_duckdb(tmp_path / "release.parquet", path=str(path)) as engine:
        counted = engine.group(["file_row_number", "row", "n"])
        assert counted.table.data.to_pylist() == [{"file_row_number": 1, "row": 2, "n": 3}]
        assert counted.counts.tolist() == [2]


def test_formats_that_duckdb_does_not_read_or_write(tmp_path: Path, parquet: Path) -> None:
    write(pa.table({"a": [1]}), tmp_path / "rows.xlsx")
    assert "DuckDB reads Parquet and CSV files" in refused(tmp_path / "rows.xlsx")
    with (
        pytest.raises(ParameterError, match="DuckDB writes"),
        open_duckdb(tmp_path / "release.xlsx", path=str(parquet)),
    ):
        pass


def test_a_query_cannot_open_other_files(tmp_path: Path, parquet: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    address = f"duckdb:///{other}/rows.db"
    write(pa.table({"a": [1]}), address, table="t")
    query = f"SELECT * FROM read_parquet('{parquet}')"
    place = tmp_path / "private"
    place.mkdir()
    with (
        pytest.raises(InputError),
        open_duckdb(place / "release.parquet", database=address, query=query) as engine,
    ):
        engine.group(["alter"])


def test_what_is_not_a_duckdb_file(parquet: Path) -> None:
    with (
        pytest.raises(InputError, match="this is no DuckDB file"),
        open_duckdb(parquet.with_name("r.parquet"), database=f"duckdb:///{parquet}", table="t"),
    ):
        pass
    address = f"duckdb:///{parquet.with_name('rows.db')}"
    duckdb.connect(str(parquet.with_name("rows.db"))).execute("CREATE TABLE people (a INT)").close()
    with (
        pytest.raises(InputError, match="there is no table 'persons': it has people"),
        open_duckdb(parquet.with_name("r.parquet"), database=address, table="persons"),
    ):
        pass


@contextmanager
def small_disk(size: int) -> Iterator[None]:
    """A limit on the size of files: a write fails as it does on a full disk."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_full_disk_while_writing(tmp_path: Path, suffix: str) -> None:
    write(pa.concat_tables([ROWS] * 5000), tmp_path / "many.parquet")
    with (
        open_duckdb(tmp_path / f"release{suffix}", path=str(tmp_path / "many.parquet")) as engine,
        pytest.raises(OutputError, match="the release cannot be written: File too large"),
        small_disk(2000),
        engine.release(plan(EVERYTHING)),
    ):
        pass


def test_an_interruption_from_the_keyboard_is_one(tmp_path: Path) -> None:
    """DuckDB hears it only between two pieces of work, and reports an error of its own."""
    address = f"duckdb:///{tmp_path}/rows.db"
    write(pa.table({"a": [1]}), address, table="t")
    query = "SELECT md5(i::VARCHAR) AS a FROM range(1000000000) AS t(i)"
    with open_duckdb(tmp_path / "release.parquet", database=address, query=query) as engine:
        threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            engine.group(["a"])


# --- PostgreSQL -----------------------------------------------------------------------------------


def tables_of(postgres: str) -> set[str]:
    with psycopg.connect(postgres) as connection:
        found = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE '%release%'").fetchall()
    return {name for (name,) in found}


@pytest.fixture
def people(postgres: str) -> str:
    with psycopg.connect(postgres) as connection:
        connection.execute("DROP TABLE IF EXISTS release, people")
    write(ROWS, postgres, table="people")
    return postgres


def cut_when_active(postgres: str, wanted: str) -> threading.Thread:
    """Play the administrator who ends the connection while it runs a statement."""

    def cut() -> None:
        with psycopg.connect(postgres, autocommit=True) as connection:
            for _ in range(1000):
                done = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                    "AND state = 'active' AND query ILIKE %s",
                    [f"%{wanted}%"],
                ).fetchall()
                if done:
                    return
                time.sleep(0.01)

    thread = threading.Thread(target=cut)
    thread.start()
    return thread


def test_a_connection_that_is_cut_during_the_scan(people: str) -> None:
    message = cut_during_the_scan(people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the driver cannot close a cursor on a connection that is gone
        gc.collect()
    assert "the connection was cut: AdminShutdown" in message
    assert "run it again when the database can be reached" in message
    assert "\n" not in message
    assert tables_of(people) == set()


def cut_during_the_scan(people: str) -> str:
    slow = "SELECT n AS alter, pg_sleep(0.001)::text AS secret FROM generate_series(1, 100000) AS n"
    thread = cut_when_active(people, "FETCH FORWARD")  # the engine sends the rows through a cursor
    with (
        pytest.raises(InputError) as error,
        open_postgresql(people, "release", query=slow) as engine,
    ):
        engine.group(["alter", "secret"])
    thread.join()
    return str(error.value)


def test_a_connection_that_is_cut_while_the_release_is_written(people: str) -> None:
    slow = "SELECT *, pg_sleep(0.5)::text AS slow FROM people"
    thread = cut_when_active(people, 'CREATE TABLE "release"')
    chosen = plan(EVERYTHING)
    with (
        pytest.raises(InputError, match="the connection was cut"),
        open_postgresql(people, "release", query=slow) as engine,
        engine.release(type(chosen)((*chosen.columns, "slow"), chosen.levels, chosen.kept)),
    ):
        pass
    thread.join()
    assert tables_of(people) == set()


def test_a_connection_that_is_cut_between_writing_and_committing(people: str) -> None:
    def write_and_cut() -> None:
        with (
            open_postgresql(people, "release", table="people") as engine,
            engine.release(plan(EVERYTHING)) as written,
        ):
            assert written.group(["alter"]).num_rows == 8
            with psycopg.connect(people, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                    "AND state LIKE 'idle in transaction%'"
                )

    with pytest.raises(InputError, match="the connection was cut"):
        write_and_cut()
    assert tables_of(people) == set()


def test_others_see_the_release_only_when_it_is_finished(people: str) -> None:
    with open_postgresql(people, "release", table="people") as engine:
        with engine.release(plan(EVERYTHING)):
            assert tables_of(people) == set()
        assert tables_of(people) == {"release"}
    assert read(people, table="release").num_rows == 8


def test_a_release_that_fails_verification_was_never_there(people: str) -> None:
    with (
        pytest.raises(RuntimeError),
        open_postgresql(people, "release", table="people") as engine,
        engine.release(plan(EVERYTHING)),
    ):
        raise RuntimeError
    assert tables_of(people) == set()


def test_what_others_write_meanwhile_is_not_seen(people: str) -> None:
    with open_postgresql(people, "release", table="people") as engine:
        assert engine.group(["alter"]).num_rows == 8
        with psycopg.connect(people) as connection:
            connection.execute("DELETE FROM people WHERE alter = 31")
            connection.execute("INSERT INTO people (alter) VALUES (99)")
        assert engine.group(["alter"]).num_rows == 8
        with engine.release(plan(EVERYTHING)) as written:
            assert written.group(["alter"]).num_rows == 8


def test_a_table_that_exists_is_not_replaced(people: str) -> None:
    write(pa.table({"a": [1]}), people, table="release")
    with (
        pytest.raises(ParameterError, match="the table 'release' exists: choose another name"),
        open_postgresql(people, "release", table="people"),
    ):
        pass
    assert read(people, table="release").num_rows == 1


def test_a_name_that_would_be_cut_and_an_address_that_is_not_postgresql(people: str, tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="too long"), open_postgresql(people, "r" * 64, table="people"):
        pass
    with (
        pytest.raises(ParameterError, match="this is no address of PostgreSQL"),
        open_postgresql(f"sqlite:///{tmp_path}/a.db", "release", table="people"),
    ):
        pass


def test_a_schema_may_be_named(people: str) -> None:
    with psycopg.connect(people) as connection:
        connection.execute("DROP SCHEMA IF EXISTS research CASCADE; CREATE SCHEMA research")
    with (
        open_postgresql(people, "research.release", table="public.people") as engine,
        engine.release(plan(EVERYTHING)),
    ):
        pass
    assert read(people, table="research.release").num_rows == 8
    with psycopg.connect(people) as connection:
        connection.execute("DROP SCHEMA research CASCADE")


def test_a_query_that_is_wrong_is_told_before_any_work(people: str) -> None:
    with (
        pytest.raises(InputError, match='column "ags" does not exist'),
        open_postgresql(people, "release", query="SELECT ags FROM people"),
    ):
        pass


# --- Spark ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_session_that_runs_already_is_left_as_it_was(spark: None, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    session.conf.unset("spark.sql.caseSensitive")
    place = Place("spark", tmp_path)
    place.put(ROWS)
    with place.open() as engine:
        assert engine.group(["alter"]).num_rows == 8
    assert session.conf.get("spark.sql.session.timeZone") == "Europe/Berlin"
    assert session.conf.get("spark.sql.caseSensitive") == "false"
    assert [table.name for table in session.catalog.listTables()] == []
    assert list((tmp_path / "scratch").rglob("*.parquet")) == []


@pytest.mark.slow
def test_what_is_no_parquet_for_spark(spark: None, tmp_path: Path) -> None:
    from tarnkappe.engines.spark import open_spark

    (tmp_path / "rows.parquet").write_text("no", encoding="utf-8")
    with (
        pytest.raises(InputError, match="no Parquet file"),
        open_spark(tmp_path / "r", path=str(tmp_path / "rows.parquet")),
    ):
        pass
    with (
        pytest.raises(InputError, match="no Parquet file"),
        open_spark(tmp_path / "r", path=str(tmp_path / "none")),
    ):
        pass
