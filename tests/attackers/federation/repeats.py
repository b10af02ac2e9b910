"""Somebody who knows that one person was at a hospital several times."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator

from tests.attackers.attacker import Attacker, Victim


@dataclasses.dataclass(frozen=True)
class Visits:
    """What was released, if anything was.

    Attributes:
        released: for each row its quasi-identifiers, and who it is about, which only the judge knows.
        k: how many people he is to be confronted with.
    """

    released: list[tuple[tuple[str, ...], str]]
    k: int


class RepeatCounter(Attacker[Visits]):
    name = "repeat-counter"
    promise = "one-row-a-person"
    knows = "Who was treated, and how often."
    sees = "The release."
    does = "Counts the people, not the rows, of every class."

    def attack(self, target: Visits) -> Iterator[Victim]:
        people: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for key, person in target.released:
            people[key].add(person)
        for key, who in people.items():
            if len(who) < target.k:
                yield Victim(", ".join(sorted(who)), f"alone make up the class {key}")


class HospitalHopper(RepeatCounter):
    name = "hospital-hopper"
    promise = "one-person-across-sites"
    knows = "Who was treated, and at which hospitals."
