"""Somebody who publishes one table twice, with its columns in another order, and compares."""

from __future__ import annotations

import csv
import dataclasses
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Releases:
    """Releases of one table by one job."""

    paths: tuple[Path, ...]


class ColumnOrder(Attacker[Releases]):
    """Two different releases of one table could be joined, and tell more than each of them."""

    name = "column order"
    promise = "same_release"
    knows = "That all releases come from the same rows."
    sees = "All releases."
    does = "Compares them as sets of rows, by the names of the columns."

    def attack(self, target: Releases) -> Iterator[Victim]:
        first, *others = map(_rows, target.paths)
        for number, other in enumerate(others, start=2):
            if other != first:
                yield Victim(
                    f"release {number}", f"has {sum((other - first).values())} rows that the first lacks"
                )


def _rows(path: Path) -> Counter[tuple[tuple[str, str], ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(tuple(sorted(row.items())) for row in csv.DictReader(file, delimiter=";"))
