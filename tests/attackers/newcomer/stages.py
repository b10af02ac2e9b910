"""The newcomer's folder, with the command and with programs that are less careful than it."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests import forked
from tests.attackers.newcomer.forgetful import LetOut
from tests.attackers.newcomer.habit import Habits
from tests.attackers.newcomer.interval_ends import Amounts
from tests.attackers.newcomer.program import Program

TARN = str(forked.TARN)
JOB = """\
[input]
path = "people.csv"
[columns.sex]
role = "quasi-identifier"
hierarchy = "sex.csv"
[[privacy]]
model = "k-anonymity"
k = 2
"""


def files(folder: Path, rows: int = 60) -> Path:
    """A table with columns that a newcomer forgets, a hierarchy and a job; the table's path."""
    chance, path = random.Random(7), folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "sex", "age", "illness", "ticket"])
        for number in range(rows):
            known = [chance.choice("fm"), chance.randint(20, 60), chance.choice(["flu", "cold", "gout"])]
            writer.writerow([f"Xyzzy{number:03d}", *known, f"Tck{chance.randrange(10**9):09d}"])
    (folder / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    return path


@contextmanager
def the_command(folder: Path) -> Iterator[Program]:
    yield Program((TARN,), folder, files(folder), folder / "job.toml")


def _program(text: str) -> Callable[[Path], AbstractContextManager[Program]]:
    """A stage with another program in place of the command."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Program]:
        path = folder / "other.py"
        path.write_text(text, encoding="utf-8")
        yield Program((sys.executable, str(path)), folder, files(folder), folder / "job.toml")

    return stage


careless_writer = _program(
    """\
import sys
for place, word in enumerate(sys.argv):
    if word in ("--out", "--report", "--html"):
        open(sys.argv[place + 1], "w").write("a release")
"""
)
"""It opens its outputs for writing without looking what they are."""

last_word = _program(
    f"""\
import subprocess, sys
kept, words = {{}}, sys.argv[1:]
words = [part for word in words for part in (word.split("=", 1) if word.startswith("--k=") else [word])]
if "--k" in words:
    place = len(words) - 2 - words[::-1].index("--k") + 1
    value = words[place + 1]
    plain = [w for n, w in enumerate(words) if w != "--k" and (n == 0 or words[n - 1] != "--k")]
    words = [*plain, "--k", value]
sys.exit(subprocess.run([{TARN!r}, *words]).returncode)
"""
)
"""Of a flag that is given twice, the last counts."""

stumbling = _program("raise TypeError('unsupported operand')\n")
"""It says what went wrong in the words of its programming language."""


def let_out(*commands: Sequence[str], job: str = "") -> Callable[[Path], AbstractContextManager[LetOut]]:
    """A stage on which a steward has run commands that forget columns."""

    @contextmanager
    def stage(folder: Path) -> Iterator[LetOut]:
        path = files(folder)
        out = folder / "out"
        out.mkdir()
        (folder / "forgetful.toml").write_text(job, encoding="utf-8")
        said = ""
        for words in commands:
            done = subprocess.run([TARN, *words], cwd=folder, capture_output=True, text=True, check=True)
            said += done.stdout + done.stderr
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        values = {column: tuple(row[column] for row in rows) for column in ("name", "ticket")}
        yield LetOut(out, said, values)

    return stage


FLAGS = ("anonymize", "--input", "people.csv", "--qi", "sex", "age", "--sensitive", "illness", "--k", "2")
DIVERSE = ("--model", "distinct-diversity:column=illness,l=2", "--suppression-limit", "0.5")
FORGETFUL_JOB = """\
[input]
path = "people.csv"
engine = "duckdb"
[columns]
{unnamed}
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
{accept}
[[privacy]]
model = "k-anonymity"
k = 2
[search]
suppression_limit = 0.5
[output]
path = "out/release.parquet"
report = "out/report.html"
"""
flags = let_out(
    (*FLAGS, *DIVERSE, "--out", "out/release.csv", "--report", "out/report.html"),
    (*FLAGS, *DIVERSE, "--algorithm", "anatomy", "--out", "out/anatomy.xlsx", "--json"),
)
job_file = let_out(("anonymize", "forgetful.toml"), job=FORGETFUL_JOB.format(unnamed="", accept=""))
published = let_out(
    ("anonymize", "forgetful.toml"),
    job=FORGETFUL_JOB.format(
        unnamed='unnamed = "publish"',
        accept='[columns.ticket]\naccept = {"unique-code" = "made up"}\n[columns.name]\naccept = {name = "made up"}',
    ),
)


def habits(*more: str) -> Callable[[Path], AbstractContextManager[Habits]]:
    """A stage with a table of names and e-mail addresses, and words that publish them."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Habits]:
        names = [f"{first} {last}" for first in FIRST for last in LAST]
        mails = [f"{name.lower().replace(' ', '.')}@example.org" for name in names]
        notes = ["slept well", "no fever"] * (len(names) // 2)
        notes[7] = f"asked to write to {mails[7]}"
        names, mails, notes = names * 2, mails * 2, notes * 2  # a second visit: two look alike by their names
        with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["sex", "x1", "x2", "x3"])
            writer.writerows(zip("fm" * (len(names) // 2), names, mails, notes, strict=True))
        (folder / "all.toml").write_text(
            JOB.replace('hierarchy = "sex.csv"\n', "").replace(
                "[columns.sex]", '[columns]\nunnamed = "publish"\n[columns.sex]'
            )
            + '[output]\npath = "release.csv"\n',
            encoding="utf-8",
        )
        program = Program((TARN,), folder, folder / "people.csv", folder / "all.toml")
        asked = ("anonymize", "--input", "people.csv", "--qi", "sex", "--k", "2", "--out", "release.csv")
        words = [
            (*asked, "--publish", "x1", *more),
            (*asked, "--sensitive", "x2", *more),
            (*asked, "--publish", "x3", *more),
            (*asked, "--qi", "x1", *more),
            ("anonymize", "all.toml", *more),
        ]
        yield Habits(program, tuple(words), (*names, *mails))

    return stage


FIRST = ("Anna", "Peter", "Maria", "John")
LAST = ("Miller", "Schmidt", "Fischer", "Weber", "Wagner", "Becker", "Hoffmann", "Koch", "Bauer", "Wolf")
asked_first = habits()
otherwise_accepted = habits("--accept", "x1=e-mail", "x2=name", "x3=name")
accepted = habits("--accept", "x1=name", "x2=e-mail", "x3=e-mail")


def _released(*flags: str) -> Callable[[Path], AbstractContextManager[Amounts]]:
    """A stage with the release that one command made of people with amounts of their own."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Amounts]:
        chance, path = random.Random(11), folder / "amounts.csv"
        amounts = tuple(f"{chance.lognormvariate(3, 1.5):.4f}" for _ in range(80))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["sex", "age", "fare"])
            for amount in amounts:
                writer.writerow([chance.choice("fm"), chance.randint(20, 60), amount])
        out = folder / "release.csv"
        words = [TARN, "anonymize", path, "--qi", "sex", "age", "fare", "--out", out, *flags]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        yield Amounts(out, "fare", amounts)

    return stage


@contextmanager
def proposed_months(folder: Path) -> Iterator[Amounts]:
    """The release of people of whom no two, but for one pair, were born in the same month."""
    chance, path, out = random.Random(7), folder / "births.csv", folder / "release.csv"
    months = tuple(f"{1925 + at * 11 // 12}-{at * 11 % 12 + 1:02d}" for at in range(80))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "birth_date"])
        writer.writerows([chance.choice("fm"), f"{month}-{chance.randint(2, 28):02d}"] for month in months)
        writer.writerow(["f", f"{months[40]}-01"])
    words = [TARN, "anonymize", path, "--out", out]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    yield Amounts(out, "birth_date", (*months[:40], *months[41:]))


proposed = _released()
exact_ends = _released("--algorithm", "regions:intervals=exact")
"""Intervals from the least to the greatest value of a group."""


def disguises(*, accept: bool) -> Callable[[Path], AbstractContextManager[Habits]]:
    """A stage with identifiers in disguise, and words that publish them one after the other."""

    @contextmanager
    def stage(folder: Path) -> Iterator[Habits]:
        columns = disguised(random.Random(11))
        rows = len(columns["name"])
        path = folder / "people.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["sex", *columns])
            writer.writerows(zip("fm" * (rows // 2), *columns.values(), strict=True))
        program = Program((TARN,), folder, path, folder / "job.toml")
        asked = ("anonymize", "--input", "people.csv", "--qi", "sex", "--k", "2", "--out", "release.csv")
        words = [
            (
                *(*asked, "--publish", *some),
                *(("--accept", *(f"{name}={ACCEPTED[name]}" for name in some)) if accept else ()),
            )
            for some in PUBLISHED
        ]
        people = tuple(cell for cells in columns.values() for cell in cells)
        yield Habits(program, tuple(words), people)

    return stage


def disguised(chance: random.Random, rows: int = 60) -> dict[str, list[str]]:
    """Columns that name people although each of them looks harmless in some way."""
    syllables = ["ka", "ro", "mi", "len", "dor", "vas", "tor", "ben", "hal", "sen", "qui", "wald"]

    def invented() -> str:
        return "".join(chance.choices(syllables, k=3)).title()

    def code() -> str:
        return f"{chance.randrange(1000, 9999)}-{''.join(chance.choices('QXZVW', k=5))}"

    notes = [f"{chance.choice(['slept', 'ate', 'walked'])} well" for _ in range(rows)]
    notes[23] = "asked us to call Mrs. Kowalski at night"
    return {
        "name": [f"Anna{number} Meyer" for number in range(rows)],
        "Прізвище": [invented() for _ in range(rows)],
        "first name": [invented() for _ in range(rows)],
        "last": [invented() for _ in range(rows)],
        "colour": [code() for _ in range(rows)],
        "remark": notes,
        "Subject": [f"S{chance.randrange(20):04d}" for _ in range(rows)],
        "Bemerkung": [
            f"kam mit {invented()} und ging nach {chance.randrange(9)} Tagen wieder heim" for _ in range(rows)
        ],
    }


PUBLISHED = (("name",), ("Прізвище",), ("last",), ("colour",), ("remark",), ("Subject",), ("Bemerkung",))
ACCEPTED = {
    "name": "name",
    "Прізвище": "name",
    "last": "name",
    "colour": "unique-code",
    "remark": "name",
    "Subject": "unique-code",
    "Bemerkung": "free-text",
}
in_disguise = disguises(accept=False)
disguise_accepted = disguises(accept=True)
