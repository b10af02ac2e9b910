"""A site that takes its own rows out of the release."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping

from tests.attackers.attacker import Attacker, Victim

Row = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Published:
    """A release and an insider.

    Attributes:
        classes: for each row of the release its quasi-identifiers.
        own: the same of the insider's rows.
        owners: whose each row is, which only the judge knows.
        told: how many of its rows each other site was told to be exposed to insiders.
        k: what the contract promises.
    """

    classes: list[Row]
    own: list[Row]
    owners: Mapping[str, list[Row]]
    told: Mapping[str, int]
    k: int


class Insider(Attacker[Published]):
    name = "insider"
    promise = "insiders-told"
    knows = "His own rows, and the hierarchies."
    sees = "The release."
    does = "Takes his own rows out of every class and looks for classes that are then too small."

    def attack(self, target: Published) -> Iterator[Victim]:
        left = Counter(target.classes)
        left.subtract(target.own)
        small = {key for key, size in left.items() if 0 < size < target.k}
        for site, rows in target.owners.items():
            exposed = sum(key in small for key in rows)
            if exposed > target.told[site]:
                yield Victim(site, f"was told {target.told[site]} rows, and {exposed} are in classes below k")


class Subtractor(Insider):
    name = "subtractor"
    promise = "insiders-kept"

    def attack(self, target: Published) -> Iterator[Victim]:
        left = Counter(target.classes)
        left.subtract(target.own)
        for key, size in left.items():
            if 0 < size < target.k:
                yield Victim("the other sites", f"the class {key} has {size} of their rows")
