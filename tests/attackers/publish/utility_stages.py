"""Two runs of `tarn utility` on one release, with originals that differ in one person."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import forked
from tests.attackers.attacker import Stage
from tests.attackers.publish.two_reports import Reports

TARN = forked.TARN
PLANTED = "Zwiebelfisch"
PEOPLE = [(20 + 3 * i % 50, "fm"[i % 2], ("cold", "flu", "gout")[i % 3], 1000 + 7 * i) for i in range(120)]
COLUMNS = ("age", "sex", "illness", "income")


def run(folder: Path, income: int) -> None:
    """Report on the release of people of whom one has this income and an illness with a strange name."""
    folder.mkdir()
    changed = [*PEOPLE[:-1], (*PEOPLE[-1][:2], PLANTED, income)]
    released = [
        (f"{age // 10 * 10}-{age // 10 * 10 + 9}", "*" if age > 60 else sex, illness, "*")
        for age, sex, illness, _ in PEOPLE
    ]
    for name, rows in (("originals.csv", changed), ("release.csv", released)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
    command: list[str | Path] = [
        TARN,
        "utility",
        "release.csv",
        "--original",
        "originals.csv",
        "--qi",
        "age,sex,income",
    ]
    command += ["--report", "page.html", "--json", "--queries", "20"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    (folder / "printed.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    missing = subprocess.run(
        [*command[:-2], "5", "--target", "nothing"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert missing.returncode != 0
    (folder / "error.txt").write_text(missing.stdout + missing.stderr, encoding="utf-8")


@contextmanager
def reports(folder: Path) -> Iterator[Reports]:
    run(folder / "first", 1234)
    run(folder / "second", 998877)
    assert (folder / "first" / "release.utility.internal.json").exists()
    yield Reports(folder / "first", folder / "second", PLANTED)


@contextmanager
def forwarded(folder: Path) -> Iterator[Reports]:
    with reports(folder) as found:
        for own in (found.first, found.second):
            (own / "release.utility.internal.json").chmod(0o644)
        yield found


UTILITY = (
    Stage("what a run shows to others", reports),
    Stage("with the internal files", forwarded, unprotected=True),
)
