"""Somebody with a register of people who looks for them in what the detectors let pass."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim

MANY = 0.5


@dataclasses.dataclass(frozen=True)
class Passed:
    """Parts of one table, and the role that was proposed for each of their columns."""

    paths: tuple[Path, ...]
    roles: tuple[Mapping[str, str], ...]
    register: frozenset[str]


class NamesAndCodes(Attacker[Passed]):
    name = "names and codes"
    promise = "any_number_of_rows"
    knows = "A register of people with their names and their numbers at the institution."
    sees = "Tables of 200 to many thousand rows, and the columns in which no identifier was found."
    does = "Looks up the cells of these columns in the register, and compares the verdicts on parts of one table."

    def attack(self, target: Passed) -> Iterator[Victim]:
        for path, roles in zip(target.paths, target.roles, strict=True):
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            for column, role in roles.items():
                found = sum(row[column] in target.register for row in rows)
                if role != "identifier" and found >= MANY * len(rows):
                    yield Victim(
                        f"{found} of {len(rows)} people", f"are named in '{column}', which was passed"
                    )
        for column in target.roles[0]:
            verdicts = {roles[column] == "identifier" for roles in target.roles}
            if len(verdicts) > 1:
                yield Victim(f"'{column}'", "is an identifier in some parts of the table and none in others")
