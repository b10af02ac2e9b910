"""Tries the project on every Python that is here, with the oldest and newest packages: `make test-matrix`.

For each Python, in environments of their own below `.venv/matrix`:

- `core`: the wheel, installed with the pinned core alone: every public name, every command's help, the demo;
- `source`: the same from the source distribution;
- `tests`: the whole suite, with the pinned packages.

For one Python, also with the lowest versions that `pyproject.toml` allows (`lowest`) and with the newest
(`newest`). `make test-matrix WHAT="core source"` chooses.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
EXTRAS = "dev,postgres,spark,gate,noise,federation,service,statistics"
FIRST_STEPS = """\
import importlib.util, tarnkappe
for name in tarnkappe.__all__:
    getattr(tarnkappe, name)
for extra in ("fastapi", "nicegui", "psycopg", "pyspark", "opendp", "ortools", "gmpy2"):
    assert importlib.util.find_spec(extra) is None, f"{extra} came along"
patients = tarnkappe.examples.hospital(rows=300, seed=1).table
assert tarnkappe.check(tarnkappe.anonymize(patients, k=5).release).k >= 5
"""


@dataclass(frozen=True)
class Trial:
    """One way to install the project and what is tried there."""

    name: str
    run: Callable[[Path, Path], None]
    once: bool = False


def main(arguments: list[str]) -> int:
    """Run the trials; how many failed, at most 1."""
    parser = argparse.ArgumentParser(prog="make test-matrix")
    names = [trial.name for trial in TRIALS]
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"of {', '.join(names)}; all by default")
    chosen = parser.parse_args(arguments).trials or names
    if unknown := sorted(set(chosen) - set(names)):
        parser.error(f"no trial is called {', '.join(unknown)}: there are {', '.join(names)}")
    pythons = {version: python for version in VERSIONS if (python := find_python(version))}
    for version in VERSIONS:
        if version not in pythons:
            print(f"{version}: not installed here, left out", flush=True)
    failed = []
    for number, (version, python) in enumerate(pythons.items()):
        for trial in TRIALS:
            if trial.name in chosen and not (trial.once and number):
                failed += [] if _passes(trial, version, python) else [f"{trial.name} on {version}"]
    print("failed: " + ", ".join(failed) if failed else "all passed", flush=True)
    return int(bool(failed))


def find_python(version: str) -> Path | None:
    """The interpreter of a version that really runs: on the path, or kept by pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(pyenv.glob(f"versions/{version}.*/bin"))
    for folder in [None, *reversed(kept)]:
        found = shutil.which(f"python{version}", path=str(folder) if folder else None)
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return Path(found)
    return None


def _passes(trial: Trial, version: str, python: Path) -> bool:
    begun = time.monotonic()
    print(f"{version} {trial.name} ...", flush=True)
    try:
        with tempfile.TemporaryDirectory(prefix="tarnkappe-matrix-") as folder:
            trial.run(python, Path(folder))
    except subprocess.CalledProcessError as error:
        print(f"{version} {trial.name}: FAILED\n{error.stdout or ''}{error.stderr or ''}", flush=True)
        return False
    print(f"{version} {trial.name}: passed in {time.monotonic() - begun:.0f} s", flush=True)
    return True


def _try_wheel(python: Path, folder: Path) -> None:
    _try_installed(python, folder, "wheel")


def _try_source(python: Path, folder: Path) -> None:
    _try_installed(python, folder, "sdist")


def _try_installed(python: Path, folder: Path, kind: str) -> None:
    """Install what people download, away from the clone, and take the first steps there."""
    with _environment(python, folder) as run:
        _install_pinned(run, "core")
        run("hatchling", "build", "-t", kind, "-d", f"{folder}/dist", cwd=ROOT)
        (made,) = (folder / "dist").iterdir()
        run("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", str(made))
        run("tarnkappe", "--help")
        run("tarnkappe", "demo", "--rows", "500", "--out", f"{folder}/demo")
        (folder / "first_steps.py").write_text(FIRST_STEPS)
        run("first_steps")


def _run_tests(python: Path, folder: Path) -> None:
    with _environment(python, folder) as run:
        _install_pinned(run, "test")
        _run_suite(run)


def _try_lowest(python: Path, folder: Path) -> None:
    _run_resolved(python, folder, "lowest-direct")


def _try_newest(python: Path, folder: Path) -> None:
    _run_resolved(python, folder, "highest")


def _run_resolved(python: Path, folder: Path, resolution: str) -> None:
    with _environment(python, folder) as run:
        run("pip", "install", "--quiet", "uv")
        where = ["--python", str(folder / "venv" / "bin" / "python")]
        run("uv", "pip", "install", "--quiet", *where, "--resolution", resolution, f"{ROOT}[{EXTRAS}]")
        run("pip", "install", "--quiet", "-r", f"{ROOT}/requirements/build.in")
        _run_suite(run)


def _install_pinned(run: Callable[..., None], name: str) -> None:
    pinned = str(ROOT / "requirements" / f"{name}.txt")
    run("pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", pinned)


def _run_suite(run: Callable[..., None]) -> None:
    for project in (ROOT, ROOT / "benchmarks"):
        run("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", str(project))
    run("tarnkappe.native.build")
    run("pytest", "-n", "auto", "--dist", "worksteal", "-m", "not slow", "-q", cwd=ROOT)


@contextmanager
def _environment(python: Path, folder: Path) -> Iterator[Callable[..., None]]:
    """An empty environment; gives what runs a module there, away from the clone unless it is told where."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, capture_output=True)  # noqa: S603
    inside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(module: str, *words: str, cwd: Path = folder) -> None:
        command = [str(folder / "venv" / "bin" / "python"), "-m", module, *words]
        subprocess.run(command, cwd=cwd, env=inside, check=True, capture_output=True, text=True)  # noqa: S603

    yield run


TRIALS = (
    Trial("core", _try_wheel),
    Trial("source", _try_source),
    Trial("tests", _run_tests),
    Trial("lowest", _try_lowest, once=True),
    Trial("newest", _try_newest, once=True),
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
