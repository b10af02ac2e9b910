"""Releases of a made-up hospital in which the diagnosis all but tells the drug, written by the command."""

from __future__ import annotations

import csv
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.attackers.attacker import Stage
from tests.attackers.publish.further_column import FurtherRelease
from tests.attackers.publish.stages import TARN

JOB = """
[input]
path = "patients.csv"

[columns.age]
role = "quasi-identifier"
hierarchy = { builder = "intervals", width = [10, 40] }

[columns.diagnosis]
role = "sensitive"

[columns.drug]
role = "sensitive"

[[privacy]]
model = "k-anonymity"
k = 5

[[privacy]]
model = "distinct-diversity"
column = "diagnosis"
l = 3

[search]
algorithm = "METHOD"
suppression_limit = 0.1
"""

FURTHER = """
[further_sensitive]
main = "diagnosis"
columns = ["drug"]
l = 3
"""


@contextmanager
def written(folder: Path, *, method: str = "auto", promised: bool = True) -> Iterator[FurtherRelease]:
    chance = random.Random(5)
    with (folder / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["age", "diagnosis", "drug"])
        for _ in range(300):
            diagnosis = chance.choice(("flu", "gout", "asthma", "HIV"))
            drug = chance.choices((f"for {diagnosis}", "none", ""), (8, 1, 1))[0]
            writer.writerow([chance.randint(18, 90), diagnosis, drug])
    job = folder / "job.toml"
    job.write_text(JOB.replace("METHOD", method) + (FURTHER if promised else ""), encoding="utf-8")
    out = folder / "release.csv"
    subprocess.run([TARN, "anonymize", job, "--out", out], check=True, capture_output=True, cwd=folder)
    yield FurtherRelease(out, ("age",), "diagnosis", "drug", 3)


STAGES = (
    Stage("a job with [further_sensitive]", written),
    Stage("regions with [further_sensitive]", partial(written, method="regions"), slow=True),
    Stage("the same job without it", partial(written, promised=False), unprotected=True),
)
