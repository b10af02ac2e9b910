"""The start of the command line: what it loads, and what it says when it must compile."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.test_contract import GOOD
from tests.forked import REAL as TARN

NOTICE = "compiling kernels, once"


def start(
    folder: Path, *arguments: str, cache: Path | None = None
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a small job; also tells the seconds of the processor that it took."""
    (folder / "good.csv").write_text(GOOD, encoding="utf-8")
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache), "TARN_NATIVE": "jit"} if cache else {})
    flags = ["--input", "good.csv", "--qi", "age", "town", "--sensitive", "illness", "--k", "2"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [TARN, "anonymize", *flags, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return run, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.slow
def test_the_first_run_says_why_it_takes_longer_and_the_second_does_not(tmp_path: Path) -> None:
    first, seconds = start(tmp_path, cache=tmp_path / "cache")
    assert first.returncode == 0, first.stderr
    assert first.stderr.count(NOTICE) == 1
    second, later = start(tmp_path, cache=tmp_path / "cache")
    assert second.returncode == 0
    assert NOTICE not in second.stderr
    assert later < seconds
    assert first.stdout == second.stdout


LOADED = """
import sys
sys.argv = ["tarn", "anonymize", "--input", "good.csv", "--qi", "age", "town", "--k", "2", "--out", "r.csv"]
from tarnkappe.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
unneeded = {"pandas", "sqlalchemy", "openpyxl", "scipy.linalg", "coverage", "matplotlib", "ibis", "jinja2"}
unneeded |= {"numba", "llvmlite", "scipy.special"}
print("LOADED", sorted(unneeded & set(sys.modules)))
import scipy.linalg, pandas
print("LATER", scipy.linalg.norm([3.0, 4.0]), len(pandas.DataFrame({"a": [1]})))
"""


def test_nothing_is_loaded_that_the_job_does_not_need(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "good.csv").write_text(GOOD, encoding="utf-8")
    # Numba is loaded for kernels that are not prebuilt, so none is compiled here.
    environment = os.environ | {"TARN_NATIVE": "python"}
    run = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "LOADED []" in run.stdout
    assert "LATER 5.0 1" in run.stdout, "what was hidden for the start can be imported afterwards"


SELECTED = """
import sys
sys.argv = ["tarn", "sql", "SELECT age FROM people", "--data", "people=good.csv"]
from tarnkappe.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
unneeded = {"pandas", "sqlalchemy", "scipy", "numba", "tarnkappe.job", "tarnkappe.risk", "tarnkappe.lattice"}
print("LOADED", sorted(unneeded & set(sys.modules)))
"""


def test_a_plain_query_loads_no_search_no_job_and_no_store(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD, encoding="utf-8")
    environment = os.environ | {"TARN_NATIVE": "python"}  # as above
    run = subprocess.run(
        [sys.executable, "-c", SELECTED], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "LOADED []" in run.stdout


def test_the_package_loads_its_parts_when_they_are_asked_for() -> None:
    script = (
        "import sys, tarnkappe; assert 'numba' not in sys.modules; "
        "[getattr(tarnkappe, name) for name in tarnkappe.__all__]; "
        "assert tarnkappe.models.KAnonymity(2).k == 2; assert dir(tarnkappe) == sorted(tarnkappe.__all__)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    import tarnkappe

    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tarnkappe.nonsense


@pytest.mark.slow
def test_adult_is_anonymized_in_under_two_seconds(tmp_path: Path) -> None:
    """Other work on the machine makes the clock useless, so the processor's time is looked at."""
    from tarnkappe_bench.adult import read_adult, reference_folder
    from tarnkappe_bench.cold_start import cold_start

    measured = cold_start(read_adult(reference_folder()))
    assert measured["cold_start_processor_seconds"] < 3.0
    assert measured["first_run_processor_seconds"] < 20.0


@pytest.mark.parametrize("words", [["--version"], ["--debug", "--version"], ["--version", "check"]])
def test_the_version_is_said_and_nothing_else_is_done(words: list[str]) -> None:
    told = subprocess.run([TARN, *words], capture_output=True, text=True)
    assert (told.returncode, told.stdout, told.stderr) == (0, f"tarn {version('tarnkappe')}\n", "")


def test_the_version_is_said_before_anything_is_loaded() -> None:
    script = (
        "import sys; sys.argv = ['tarn', '--version']\nfrom tarnkappe.cli import main\nmain()\n"
        "print(sorted({'numpy', 'numba', 'pyarrow', 'duckdb', 'typer', 'rich'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


PROGRAM = """
import sys
import tarnkappe.cli.program
unneeded = {"pydantic", "alembic", "httpx", "uvicorn", "fastapi", "prometheus_client", "multiprocessing.forkserver"}
print("LOADED", sorted(unneeded & set(sys.modules)))
"""


def test_the_program_loads_nothing_of_servers_and_connections() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert run.stdout == "LOADED []\n"
