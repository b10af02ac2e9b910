"""Somebody who knows exact amounts of people or the months of their birth, and looks for them at the ends of intervals."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim

INTERVAL = re.compile(r"[\[(]\s*([^,\[\]()]+),\s*([^,\[\]()]+)[\])]|(\d[\d.]*)-(\d[\d.]*)")


@dataclasses.dataclass(frozen=True)
class Amounts:
    """A release, and what everybody in it really has."""

    release: Path
    column: str
    amounts: tuple[str, ...]


class IntervalEnds(Attacker[Amounts]):
    name = "interval-ends"
    promise = "ends"
    knows = "The exact amount or the month of birth of everybody, each of which only one person has."
    sees = "The release."
    does = "Reads the ends of every interval and looks whose amount they are."

    def attack(self, target: Amounts) -> Iterator[Victim]:
        known = {_plain(amount) for amount in target.amounts}
        with target.release.open(encoding="utf-8-sig", newline="") as file:
            labels = {row[target.column] for row in csv.DictReader(file)}
        for label in sorted(labels):
            ends = [end for found in INTERVAL.findall(label) for end in found if end]
            for end in ends:
                if _plain(end) in known:
                    yield Victim(f"the one with {end}", f"stands at an end of {label}")


def _plain(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
