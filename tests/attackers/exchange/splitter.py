"""Somebody who is refused one question and asks several."""

from __future__ import annotations

import csv
import dataclasses
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Asked:
    """Whom a question is about, and what is asked."""

    attribute: str
    value: str
    wanted: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Hospital:
    """A hospital that answers over the network, and the member who asks.

    Attributes:
        command: `tarn exchange` of the member.
        site: his site file.
        hospital: whom he asks.
        known: by person, what everybody may know.
        staff_decides: returns when the staff has decided about all that was asked; it lets everything leave
            that the check recommends.
        questions: the parts of the question.
    """

    command: tuple[str, ...]
    site: Path
    hospital: str
    known: Mapping[str, Mapping[str, str]]
    staff_decides: Callable[[], None]
    questions: Sequence[Asked]


class Splitter(Attacker[Hospital]):
    name = "splitter"
    promise = "selection-told"
    knows = "What every patient of the hospital looks like."
    sees = "The packages that he gets."
    does = (
        "Asks for one value after the other through the command line, and counts how many look like each row."
    )

    def attack(self, target: Hospital) -> Iterator[Victim]:
        for number, asked in enumerate(target.questions):
            wanted = [word for name in asked.wanted for word in ("--want", name)]
            said = ["--select", f"{asked.attribute}={asked.value}", *wanted, "--id", f"part-{number}"]
            self.run(
                target, "request", "--to", target.hospital, *said, "--question", "How many?", "--as", "Eve"
            )
        target.staff_decides()
        out = target.site.parent / "packages"
        self.run(target, "fetch", "--out", str(out))
        everybody = [dict(person) for person in target.known.values()]
        for path in sorted(out.glob("*.csv")) if out.exists() else ():
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            looks = [name for name in rows[0] if name in everybody[0]]
            selected = Counter(tuple(row[name] for name in looks) for row in rows)
            for words, number in selected.items():
                alike = sum(all(map(fits, words, (person[name] for name in looks))) for person in everybody)
                if number > 0.8 * alike:
                    yield Victim(
                        f"{alike} people like {dict(zip(looks, words, strict=True))}",
                        f"{number} of them are in the package {path.name}: they have what it selects",
                    )

    def run(self, target: Hospital, command: str, *arguments: str) -> None:
        told = [*target.command, command, "--site", str(target.site), *arguments]
        done = subprocess.run(told, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def fits(word: str, value: str) -> bool:
    low, dash, high = word.partition("-")
    return word == value or bool(dash and value.isdigit() and int(low) <= int(value) <= int(high))
