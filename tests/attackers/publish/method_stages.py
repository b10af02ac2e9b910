"""One made-up hospital published by every method, and releases that were spoiled on purpose."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import tarnkappe
from tests import forked
from tests.attackers.attacker import Stage
from tests.attackers.publish.column_order import Releases
from tests.attackers.publish.false_cells import ReleaseOf
from tests.attackers.publish.recount import WrittenRelease

KNOWN = ("age", "sex", "postcode", "admission_date")
COLUMNS = (*KNOWN, "diagnosis")
TARN = forked.TARN
METHODS = {
    "levels": ("--uniform", "--suppression-limit", "0.1"),
    "local recoding": ("--suppression-limit", "0.1", "--local-recoding"),
    "regions": ("--algorithm", "regions", "--suppression-limit", "0.1"),
    "mondrian": ("--algorithm", "mondrian"),
    "datafly": ("--algorithm", "datafly", "--suppression-limit", "0.1"),
    "mu-argus": ("--algorithm", "mu-argus", "--suppression-limit", "0.1"),
    "subtrees": ("--algorithm", "subtrees", "--suppression-limit", "0.1"),
    "value-suppression": ("--algorithm", "value-suppression", "--suppression-limit", "0.1"),
    "stochastic": ("--algorithm", "stochastic", "--seconds", "2", "--suppression-limit", "0.1"),
    "k-optimize": ("--algorithm", "k-optimize", "--seconds", "2", "--suppression-limit", "0.1"),
}
AVERAGE = {
    "exact-suppression": (
        "--algorithm",
        "exact-suppression",
        "--model",
        "average-risk:threshold=0.2",
        "--loss",
        "loss",
        "--suppression-limit",
        "0.1",
    ),
}
"""Methods for promises about the table as a whole."""
FAST = ("levels", "regions", "mondrian")


@contextmanager
def published(folder: Path, said: Sequence[str], spoil: bool = False) -> Iterator[ReleaseOf]:
    """A release by the command; `spoil` writes an age that nobody has into one of its cells."""
    originals, release = folder / "patients.csv", folder / "release.csv"
    rows = tarnkappe.examples.hospital(rows=300, seed=23).table.data.to_pylist()
    _write(originals, [{name: row[name] for name in COLUMNS} for row in rows])
    call = [TARN, "anonymize", "--input", originals, "--qi", *KNOWN, "--sensitive", "diagnosis"]
    promise = [] if "--model" in said else ["--k", "3"]
    subprocess.run([*call, *promise, *said, "--out", release], check=True, capture_output=True)
    if spoil:
        with release.open(encoding="utf-8", newline="") as file:
            written = list(csv.DictReader(file, delimiter=";"))
        written[0]["age"] = "200"
        _write(release, written)
    yield ReleaseOf(originals, release, COLUMNS)


@contextmanager
def twice(folder: Path, said: Sequence[str], fewer: int = 0) -> Iterator[Releases]:
    """The same rows by the same job, their columns in two orders; `fewer` leaves rows out of the second."""
    rows = tarnkappe.examples.hospital(rows=300, seed=29).table.data.to_pylist()
    paths = []
    for number, order in enumerate((COLUMNS, COLUMNS[::-1])):
        originals, release = folder / f"patients-{number}.csv", folder / f"release-{number}.csv"
        _write(originals, [{name: row[name] for name in order} for row in rows[fewer * number :]], order)
        known = [name for name in order if name in KNOWN]
        call = [
            TARN,
            "anonymize",
            "--input",
            originals,
            "--qi",
            *known,
            "--sensitive",
            "diagnosis",
            "--k",
            "3",
        ]
        subprocess.run([*call, *said, "--out", release], check=True, capture_output=True)
        paths.append(release)
    yield Releases(tuple(paths))


def two_orders(method: str, fewer: int = 0) -> Stage:
    """The hospital published twice by a method."""

    def build(folder: Path) -> AbstractContextManager[Releases]:
        return twice(folder, METHODS[method], fewer)

    name = f"{method}, another table" if fewer else method
    return Stage(name, build, unprotected=bool(fewer), slow=method not in FAST)


def stage(method: str, *further: str, spoil: bool = False, unprotected: bool = False) -> Stage:
    """The hospital published by a method."""

    def build(folder: Path) -> AbstractContextManager[ReleaseOf]:
        return published(folder, [*(METHODS | AVERAGE)[method], *further], spoil)

    words = [method, *(flag.removeprefix("--") for flag in further), *["with a false cell"] * spoil]
    return Stage(
        ", ".join(words), build, unprotected=unprotected, slow=method not in FAST and not unprotected
    )


def recounted(method: str) -> Stage:
    """The hospital published by a method, for somebody who counts."""

    @contextmanager
    def build(folder: Path) -> Iterator[WrittenRelease]:
        with published(folder, METHODS[method]) as release:
            yield WrittenRelease(release.release, ";", KNOWN, 3)

    def started(folder: Path) -> AbstractContextManager[WrittenRelease]:
        return build(folder)

    return Stage(method, started, slow=True)


def _write(path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str] = COLUMNS) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
