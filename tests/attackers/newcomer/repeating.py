"""Somebody who repeats and misspells flags and settings until a promise is weaker than the steward asked for."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.program import Program

K = 4
ASKED = ("--qi", "sex", "--qi", "age", "--identifier", "name", "--k", str(K))
FLAGS = (
    ("--k", "1"),
    ("--k=1",),
    ("--publish", "name"),
    ("--sensitive", "name"),
    ("--publish", "age"),
    ("--identifer", "age"),
    ("--supression-limit", "1"),
    ("--sensitve", "illness"),
    ("--model", "k-anonymity:k=4,k=1"),
    ("--K", "1"),
)
SETTINGS = (
    ('[columns]\nunnamed = "Publish"\n', "unnamed"),
    ("[columns.name]\nrole = 'identifer'\n", "role"),
    ("[columns.name]\nRole = 'identifier'\n", "key"),
    ("[columns.nmae]\nrole = 'identifier'\n", "column"),
    ("[output]\npath = 'release.csv'\nshuffel = true\n", "key of the output"),
    ("[Privacy]\nmodel = 'k-anonymity'\n", "section"),
)
PLAIN = """\
[input]
path = "people.csv"
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
[[privacy]]
model = "k-anonymity"
k = 4
"""


class Repeating(Attacker[Program]):
    name = "repeating"
    promise = "repeated"
    knows = "What the steward asked for, and every flag and setting there is."
    sees = "The release, if one is made."
    does = "Adds a second, weaker or misspelled flag or setting, and counts again what was released."

    def __init__(self, number: int = 4) -> None:
        self._number = number

    def attack(self, target: Program) -> Iterator[Victim]:
        out = target.folder / "release.csv"
        attempts: list[tuple[str, tuple[str, ...]]] = [
            (" ".join(more), ("anonymize", "--input", str(target.people), *ASKED, *more, "--out", str(out)))
            for more in FLAGS
        ]
        for number, (more, what) in enumerate(SETTINGS):
            job = target.folder / f"misspelled-{number}.toml"
            output = "" if "[output]" in more else '[output]\npath = "release.csv"\n'
            job.write_text(f"{PLAIN}{output}{more}", encoding="utf-8")
            attempts.append((f"misspelled {what}", ("anonymize", str(job))))
        step = max(1, len(attempts) // self._number)
        for what, words in attempts[::step]:
            out.unlink(missing_ok=True)
            Path(f"{out}.manifest.json").unlink(missing_ok=True)
            target.run(*words)
            if out.exists():
                yield from _weaker(what, out)


def _weaker(what: str, out: Path) -> Iterator[Victim]:
    text = out.read_text(encoding="utf-8-sig")
    mark = ";" if ";" in text.partition("\n")[0] else ","
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=mark))
    if rows and "name" in rows[0]:
        yield Victim(f"{len(rows)} people", f"are named in the release, after {what}")
    known = [name for name in ("sex", "age") if rows and name in rows[0]]
    least = min(Counter(tuple(row[name] for name in known) for row in rows).values(), default=K)
    if least < K:
        yield Victim(f"{least} rows", f"are alone in the release, after {what}")
