"""Releases of a made-up hospital, written by the command."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tarnkappe
from tests import forked
from tests.attackers.publish.recount import WrittenRelease

KNOWN = ("age", "sex", "postcode")
TARN = forked.TARN


@contextmanager
def originals(folder: Path) -> Iterator[WrittenRelease]:
    path = folder / "patients.csv"
    rows = tarnkappe.examples.hospital(rows=400, seed=11).table.data.to_pylist()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*KNOWN, "diagnosis"], delimiter=";", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    yield WrittenRelease(path, ";", KNOWN, 5)


@contextmanager
def release(folder: Path) -> Iterator[WrittenRelease]:
    with originals(folder) as raw:
        out = folder / "release.csv"
        roles = ("--qi", *KNOWN, "--sensitive", "diagnosis")
        said = ["--input", raw.path, *roles, "--k", "5", "--suppression-limit", "0.1", "--out", out]
        subprocess.run([TARN, "anonymize", *said], check=True, capture_output=True)
        yield WrittenRelease(out, ";", KNOWN, 5)
