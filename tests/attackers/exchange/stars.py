"""Somebody who reads what is not there: a hidden cell tells that something had to be hidden."""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim

HIDDEN = "*"


@dataclasses.dataclass(frozen=True)
class HiddenCells:
    """A package in which some values are hidden.

    Attributes:
        path: the file that the receiver has.
        column: the column with the hidden cells.
        conspicuous: by what a row looks like, how many of these people really have a conspicuous value; to
            judge what he says.
        looks: the columns that others may know, in the order of these words.
    """

    path: Path
    column: str
    conspicuous: Mapping[tuple[str, ...], int]
    looks: tuple[str, ...]


class StarReader(Attacker[HiddenCells]):
    name = "star reader"
    promise = "hidden-among-others"
    knows = "Which values are conspicuous, and what everybody in the package looks like."
    sees = "The package, with its hidden cells."
    does = "Says of everybody whose cell is hidden that she has a conspicuous value."

    def attack(self, target: HiddenCells) -> Iterator[Victim]:
        with target.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        stars = Counter(
            tuple(row[name] for name in target.looks) for row in rows if row[target.column] == HIDDEN
        )
        for words, number in stars.items():
            right = target.conspicuous.get(words, 0)
            if right > number / 2:
                yield Victim(f"{number} hidden cells of {words}", f"{right} of them are conspicuous")
