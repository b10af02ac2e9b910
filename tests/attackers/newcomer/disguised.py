"""Somebody who knows what people are called, also where neither header nor cells look like it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.newcomer.habit import Habits


class Disguised(Attacker[Habits]):
    name = "disguised"
    promise = "names"
    knows = "Invented names with a digit in them, in another script or beside another part of a name, codes of people that repeat, and notes about them."
    sees = "The release, and what was printed."
    does = "Lets the steward publish one such column after the other, and looks for whom he knows."

    def attack(self, target: Habits) -> Iterator[Victim]:
        out = target.program.folder / "release.csv"
        for words in target.words:
            out.unlink(missing_ok=True)
            done = target.program.run(*words)
            release = out.read_text(encoding="utf-8") if out.exists() else ""
            for place, text in (("the release", release), ("what was printed", done.stdout + done.stderr)):
                found = [person for person in target.people if person in text]
                if found:
                    yield Victim(f"{len(found)} people", f"are in {place}, after {' '.join(words[-3:])}")
