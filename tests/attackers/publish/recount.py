"""Somebody who counts the rows of a written release again."""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class WrittenRelease:
    """A file that left, and what was promised of it."""

    path: Path
    delimiter: str
    quasi_identifiers: tuple[str, ...]
    k: int


class Recount(Attacker[WrittenRelease]):
    name = "recount"
    promise = "verified"
    knows = "Which columns others may know, and the k that was promised."
    sees = "The file that was written."
    does = "Counts how many rows share what others may know."

    def attack(self, target: WrittenRelease) -> Iterator[Victim]:
        with target.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=target.delimiter))
        sizes = Counter(tuple(row[name] for name in target.quasi_identifiers) for row in rows)
        for key, size in sizes.items():
            if size < target.k:
                yield Victim(
                    f"{size} rows", f"are alone with {dict(zip(target.quasi_identifiers, key, strict=True))}"
                )
