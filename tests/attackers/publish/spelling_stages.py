"""Releases of a table in which everybody wrote the diagnoses in a way of their own."""

from __future__ import annotations

import csv
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests import forked
from tests.attackers.attacker import Stage
from tests.attackers.publish.sloppy_reader import DiverseRelease

KNOWN = ("age", "sex")
WAYS = {
    "HIV": ["HIV", "hiv", "HIV ", "\u200bHIV", "Hiv\u00a0"],
    "type 2 diabetes": ["type 2 diabetes", "Type 2  Diabetes", "TYPE\u00a02 DIABETES"],
    "caf\u00e9 au lait spots": ["caf\u00e9 au lait spots", "cafe\u0301 au lait spots"],
    "flu": ["flu", "Flu"],
}


def _table(folder: Path) -> Path:
    """Of the men below 50 all but a few have one illness, in as many ways of writing as they are."""
    draw = random.Random(8)
    path = folder / "patients.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*KNOWN, "diagnosis"])
        for _ in range(400):
            age, sex = draw.randrange(20, 80), draw.choice("mf")
            often = ["HIV"] * 8 if sex == "m" and age < 50 else []
            illness = draw.choice([*often, *WAYS])
            writer.writerow([age, sex, draw.choice(WAYS[illness])])
    return path


@contextmanager
def published(folder: Path, algorithm: str, role: str = "--sensitive") -> Iterator[DiverseRelease]:
    table, out = _table(folder), folder / "release.csv"
    said = [
        "--qi",
        *KNOWN,
        "--sensitive",
        "diagnosis",
        "--k",
        "3",
        "--model",
        "distinct-diversity:column=diagnosis,l=3",
        "--suppression-limit",
        "0.2",
    ]
    said += ["--algorithm", algorithm, "--loss", "loss", "--out", out]
    subprocess.run([forked.TARN, "anonymize", "--input", table, *said], check=True, capture_output=True)
    yield DiverseRelease(out, KNOWN, "diagnosis", 3)


@contextmanager
def counted_as_written(folder: Path) -> Iterator[DiverseRelease]:
    """Groups of neighbours that are as large as it takes for three different texts."""
    out = folder / "release.csv"
    with _table(folder).open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["sex"], row["age"]))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*KNOWN, "diagnosis"])
        writer.writeheader()
        group: list[dict[str, str]] = []
        for row in rows:
            group.append(row)
            if len(group) >= 3 and len({each["diagnosis"] for each in group}) >= 3:
                ages = f"{group[0]['age']}-{group[-1]['age']}"
                writer.writerows({**each, "age": ages, "sex": group[0]["sex"]} for each in group)
                group = []
    yield DiverseRelease(out, KNOWN, "diagnosis", 3)


SPELLINGS = (
    Stage("levels", partial(published, algorithm="auto")),
    Stage("regions", partial(published, algorithm="regions")),
    Stage("a column called insensitive", partial(published, algorithm="auto", role="--publish")),
    Stage("mondrian", partial(published, algorithm="mondrian"), slow=True),
    Stage("groups of three different texts", counted_as_written, unprotected=True),
)
