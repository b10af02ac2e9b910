"""Somebody who can rule out one value of one sensitive column and looks at the others."""

from __future__ import annotations

import csv
import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class CheckedRelease:
    """A release, and what the check said of it.

    Attributes:
        path: the file.
        known: the quasi-identifiers.
        sensitive: the sensitive columns.
        attacks: the attacks that were tried, with their victims.
    """

    path: Path
    known: tuple[str, ...]
    sensitive: tuple[str, ...]
    attacks: tuple[Mapping[str, Any], ...]


class SecondColumn(Attacker[CheckedRelease]):
    name = "second column"
    promise = "exclusions"
    knows = "What others may know of everybody, and one value of one sensitive column that somebody does not have."
    sees = "The release, and which attacks the check found to have victims."
    does = "Leaves out the rows with the value in each class and looks whether one value of another column is left."

    def attack(self, target: CheckedRelease) -> Iterator[Victim]:
        if any(each["victims"] for each in target.attacks if each["attack"] == "background-knowledge"):
            return  # the check says so itself
        classes = defaultdict(list)
        with target.path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                classes[tuple(row[name] for name in target.known)].append(row)
        for key, rows in classes.items():
            for through in target.sensitive:
                for value in {row[through] for row in rows}:
                    left = [row for row in rows if row[through] != value]
                    for column in target.sensitive:
                        if left and len({row[column] for row in left}) == 1:
                            yield Victim(
                                f"who does not have {through} {value} in {key}",
                                f"has {column} {left[0][column]}",
                            )
