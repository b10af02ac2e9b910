"""Somebody who waits until a steward publishes a column by habit, and reads the names in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.program import Program


@dataclasses.dataclass(frozen=True)
class Habits:
    """A program, the words that a steward writes by habit, and whom the table names."""

    program: Program
    words: tuple[tuple[str, ...], ...]
    people: tuple[str, ...]


class Habit(Attacker[Habits]):
    name = "habit"
    promise = "names"
    knows = "Names and e-mail addresses of everybody."
    sees = "The release."
    does = "Lets the steward call columns insensitive, sensitive or quasi-identifiers, publish them all, or accept something else of them, and looks for people he knows."

    def attack(self, target: Habits) -> Iterator[Victim]:
        out = target.program.folder / "release.csv"
        for words in target.words:
            out.unlink(missing_ok=True)
            target.program.run(*words)
            text = out.read_text(encoding="utf-8") if out.exists() else ""
            found = [person for person in target.people if person in text]
            if found:
                yield Victim(f"{len(found)} people", f"are named in the release, after {' '.join(words)}")
