"""Somebody who gets the utility reports around one change of the data and subtracts them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Reports:
    """Two folders with everything that two runs left, and a word that stands in the originals alone."""

    first: Path
    second: Path
    planted: str


class TwoReports(Attacker[Reports]):
    """Reads every file that others than its owner may read, and what was printed.

    Any difference between the two runs comes from the one person in whom the originals differ.
    """

    name = "two reports"
    promise = "public_utility"
    knows = "All people but one, and a word of the originals that the release does not show."
    sees = "Every file and every line of two runs that others may read; the release is the same in both."
    does = "Compares all figures of both, and looks for the word."

    def attack(self, target: Reports) -> Iterator[Victim]:
        ours, theirs = _readable(target.first), _readable(target.second)
        for name in sorted({*ours} | {*theirs}):
            mine, other = ours.get(name, []), theirs.get(name, [])
            for number, (line, changed) in enumerate(zip(mine, other, strict=False), 1):
                if line != changed:
                    yield Victim("the one who changed", f"{name}, line {number} tells of him")
            if len(mine) != len(other):
                yield Victim("the one who changed", f"{name} has another number of lines")
            if any(target.planted in line for line in mine):
                yield Victim("a person of the originals", f"{name} holds a word of his row")


def _readable(folder: Path) -> dict[str, list[str]]:
    """The lines of all files that others may read, without the originals and the time of day."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.stat().st_mode & 0o004 and not path.name.startswith("originals"):
            text = path.read_text(encoding="utf-8", errors="replace")
            found[path.name] = [line for line in text.splitlines() if "UTC" not in line]
    return found
