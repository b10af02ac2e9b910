"""Somebody who has the list by which people were numbered one after the other."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Numbered:
    """Tables with a column of numbers under a header that tells nothing, and which columns were passed.

    Attributes:
        tables: the files, by how their numbers were given.
        passed: for each of them, the columns in which no identifier was found.
        people: who has which number.
    """

    tables: Mapping[str, Path]
    passed: Mapping[str, frozenset[str]]
    people: Mapping[str, str]


class RunningNumbers(Attacker[Numbered]):
    name = "running numbers"
    promise = "running_numbers"
    knows = "The list by which everybody got a number."
    sees = "Tables with these numbers under a header that tells nothing, whole, with gaps, as samples, in any order, and the columns that were passed."
    does = "Looks the numbers up."

    def attack(self, target: Numbered) -> Iterator[Victim]:
        for how, path in target.tables.items():
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for column in target.passed[how]:
                found = [target.people[row[column]] for row in rows if row[column] in target.people]
                if len(found) == len(rows):
                    yield Victim(f"{found[0]} and {len(found) - 1} others", f"are in '{column}' of {how}")
