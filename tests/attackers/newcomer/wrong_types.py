"""Somebody who gives settings of the wrong type or size, and waits for the program to stumble."""

from __future__ import annotations

import resource
from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.program import Program, told

JOB = """\
[input]
path = "people.csv"
[columns.sex]
role = "quasi-identifier"
[columns.age]
role = "quasi-identifier"
{column}
[[privacy]]
model = "k-anonymity"
k = {k}
[search]
{search}
"""
GOOD = {"k": "2", "column": "", "search": ""}
WRONG = (
    {"k": "nan"},
    {"k": "true"},
    {"k": '"two"'},
    {"k": "[2]"},
    {"k": "1" + "0" * 30},
    {"column": "weight = nan"},
    {"column": "weight = inf"},
    {"column": "level = -1"},
    {"column": 'hierarchy = {builder = "intervals", width = 5, levels = 100000000}'},
    {"column": 'hierarchy = {builder = "intervals", width = nan}'},
    {"column": 'hierarchy = {builder = "intervals", quantiles = 1000000000000}'},
    {"column": "hierarchy = 3"},
    {"search": "suppression_limit = nan"},
    {"search": "suppression_limit = true"},
    {"search": "loss = [1]"},
    {"search": "loss = {name = 'precision', weights = {age = nan}}"},
    {"search": "seconds = 'soon'"},
    {"search": "algorithm = 7"},
    {"search": "local_recoding = 'yes'"},
)
FLAGS = (
    ("--model", "distinct-diversity:column=illness,l=nan"),
    ("--model", "recursive-diversity:column=[1],c=inf,l=true"),
    ("--loss", "precision:weights=3"),
    ("--algorithm", "mondrian:strict=maybe"),
    ("--weight", "age=nan"),
    ("--suppression-limit", "nan"),
)
LONGEST = 30.0
"""Seconds of processor time; a refusal takes a fraction of one once the program is loaded."""


class WrongTypes(Attacker[Program]):
    name = "wrong types"
    promise = "wrong"
    knows = "The names of all settings."
    sees = "What the program prints, its exit code and how long it worked."
    does = "Gives text, lists, truth, nan, infinity and huge numbers where something else is expected."

    def __init__(self, number: int = 4) -> None:
        self._number = number

    def attack(self, target: Program) -> Iterator[Victim]:
        attempts: list[tuple[str, tuple[str, ...]]] = []
        for number, change in enumerate(WRONG):
            job = target.folder / f"wrong-{number}.toml"
            job.write_text(JOB.format(**{**GOOD, **change}), encoding="utf-8")
            attempts.append((str(change), ("anonymize", str(job))))
        asked = ("anonymize", "--input", str(target.people), "--qi", "sex", "--qi", "age", "--k", "2")
        attempts += [(" ".join(flags), (*asked, *flags)) for flags in FLAGS]
        step = max(1, len(attempts) // self._number)
        for what, words in attempts[::step]:
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = target.run(*words)
            used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
            lines = done.stderr.strip().splitlines()
            if done.returncode == 0:
                yield Victim(what, "was taken for a good setting")
            elif "unexpected" in done.stderr or "Traceback" in done.stderr or len(lines) > 2:
                yield Victim(what, f"made the program stumble: {told(done)}")
            elif used > LONGEST:
                yield Victim(what, f"kept the program busy for {used:.0f} s")
