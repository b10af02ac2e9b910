"""Somebody who reads cells as people do: `HIV`, `hiv` and `HIV ` are one diagnosis."""

from __future__ import annotations

import csv
import dataclasses
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class DiverseRelease:
    """A release, the columns that others know, the sensitive one, and how many values each class should have."""

    path: Path
    known: tuple[str, ...]
    sensitive: str
    values: int


class SloppyReader(Attacker[DiverseRelease]):
    """Looks up the class of everybody and reads its sensitive cells aloud."""

    name = "sloppy reader"
    promise = "spellings"
    knows = "The class of everybody."
    sees = "The release."
    does = "Reads the cells of each class aloud, and counts what sounds different."

    def attack(self, target: DiverseRelease) -> Iterator[Victim]:
        sounds: dict[tuple[str, ...], set[str]] = defaultdict(set)
        with target.path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                sounds[tuple(row[name] for name in target.known)].add(_aloud(row[target.sensitive]))
        for key, values in sounds.items():
            if len(values) < target.values:
                yield Victim(" ".join(key), f"only {', '.join(sorted(values))}")


def _aloud(cell: str) -> str:
    """A cell without what nobody hears."""
    plain = unicodedata.normalize("NFKC", cell).casefold()
    return "".join(sign for sign in plain if unicodedata.category(sign)[0] not in "ZC")
