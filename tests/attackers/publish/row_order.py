"""Somebody who knows in which order the people stand in the originals."""

from __future__ import annotations

import csv
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.publish.false_cells import ReleaseOf

SIGMA = 7.0
"""By chance alone he would be this far off once in some hundred billion releases."""


class RowOrder(Attacker[ReleaseOf]):
    """Lines up release and originals at every shift and counts sensitive values in the same place.

    Rows that are left out move the others up, so he also compares neighbours: two values that stood one after the
    other and still do.
    """

    name = "row order"
    promise = "random_order"
    knows = "The order of the people in the originals, as on a list of the ward."
    sees = "The release."
    does = "Lines both up and counts how often the values agree, more than by chance."

    def attack(self, target: ReleaseOf) -> Iterator[Victim]:
        originals = _last_column(target.originals, target.columns[-1])
        released = _last_column(target.release, target.columns[-1])
        for shift in range(len(originals) - len(released) + 1):
            pairs = list(zip(originals[shift:], released, strict=False))
            yield from self._judged(f"shifted by {shift}", [a == b for a, b in pairs], _chance(pairs))
        before = set(itertools.pairwise(originals))
        after = list(itertools.pairwise(released))
        counts, rows = Counter(released), len(released)
        chance = sum(counts[a] * counts[b] for a, b in before) / rows**2
        yield from self._judged("neighbours", [pair in before for pair in after], chance)

    def _judged(self, how: str, hits: list[bool], chance: float) -> Iterator[Victim]:
        expected, spread = chance * len(hits), math.sqrt(max(chance * (1 - chance) * len(hits), 1.0))
        if sum(hits) > expected + SIGMA * spread:
            yield Victim(f"{sum(hits)} rows", f"stand where they stood ({how}; {expected:.0f} by chance)")


def _chance(pairs: list[tuple[str, str]]) -> float:
    left, right = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    return sum(left[value] * right[value] for value in left) / len(pairs) ** 2


def _last_column(path: Path, column: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row[column] for row in csv.DictReader(file, delimiter=";")]
