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
    does = "Leaves out the rows with the value in each class, counts the people of the classes where one value of a column is left, and compares with what the check counts."

    def attack(self, target: CheckedRelease) -> Iterator[Victim]:
        classes = defaultdict(list)
        with target.path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                classes[tuple(row[name] for name in target.known)].append(row)
        for column in target.sensitive:
            for through in target.sensitive:
                fallen = [key for key, rows in classes.items() if _falls(rows, column, through)]
                people = sum(len(classes[key]) for key in fallen)
                said = _counted(target.attacks, column, through)
                if people > said:
                    yield Victim(
                        f"{people} people who lack one value of {through}, as in {fallen[0]}",
                        f"have a {column} that is certain; the check counts {said}",
                    )


def _falls(rows: list[dict[str, str]], column: str, through: str) -> bool:
    """Whether there is a value of one column without which the rows have a single value of another."""
    excluded = [None, *{row[through] for row in rows}]
    left = [{row[column] for row in rows if row[through] != value} for value in excluded]
    return any(len(values) == 1 for values in left)


def _counted(attacks: tuple[Mapping[str, Any], ...], column: str, through: str) -> int:
    """How many people the check counts: through the column itself, or through another one."""
    return max(
        (
            int(each["victims"])
            for each in attacks
            if each["attack"] == "background-knowledge"
            and each["parameters"]["column"] == column
            and each["parameters"].get("through", column) == through
        ),
        default=0,
    )
