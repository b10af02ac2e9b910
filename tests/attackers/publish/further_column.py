"""Somebody who knows the main sensitive value of a person and wants a further one."""

from __future__ import annotations

import csv
import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class FurtherRelease:
    """A release, the columns that others know, the main sensitive one, a further one, and its share."""

    path: Path
    known: tuple[str, ...]
    main: str
    further: str
    share: int


class FurtherColumn(Attacker[FurtherRelease]):
    """Looks up the class and the main value of everybody, and counts how many of those rows show the further one."""

    name = "further column"
    promise = "further_sensitive"
    knows = (
        "The class and the main sensitive value of everybody, or which main values somebody does not have."
    )
    sees = "The release."
    does = "Counts, among the rows that somebody may have, those that show the further value."

    def attack(self, target: FurtherRelease) -> Iterator[Victim]:
        with target.path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter=";"))
        alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for row in rows:
            alike[(*(row[name] for name in target.known), row[target.main])].append(row[target.further])
        for key, cells in alike.items():
            shown = [cell for cell in cells if cell != "*"]
            if target.share * len(shown) > len(cells):
                yield Victim(" ".join(key), f"{len(shown)} of {len(cells)} rows show {target.further}")
