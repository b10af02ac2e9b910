"""Somebody who has the program and publishes every table that could be behind a release."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

from tests.attackers.attacker import Attacker, Victim

People = tuple[int, ...]
"""The quasi-identifier of everybody."""
World = tuple[str, ...]
"""The sensitive value of everybody."""
Written = tuple[str, str]
"""A row of a release: what is written for the quasi-identifier, and the sensitive value."""


@dataclasses.dataclass(frozen=True)
class ReleaseByAProgram:
    """A release, the people in it, and the program that made it."""

    people: People
    release: tuple[Written, ...]
    publish: Callable[[People, World], tuple[Written, ...] | None]
    covers: Callable[[str, int], bool]


class OtherWorlds(Attacker[ReleaseByAProgram]):
    """Minimality: a cut that was not made tells that one of its sides would have broken the promise."""

    name = "other worlds"
    promise = "blind_regions"
    knows = "Everybody's quasi-identifier, the program with all its parameters, and that two values occur."
    sees = "The release."
    does = "Publishes every table that fits the release by the same program, and excludes those whose release differs."

    def attack(self, target: ReleaseByAProgram) -> Iterator[Victim]:
        seen = Counter(target.release)
        values = sorted({value for _, value in target.release})
        number = len(target.people)
        first = sum(value == values[0] for _, value in target.release)
        possible: list[set[str]] = [set() for _ in target.people]
        for chosen in combinations(range(number), first):
            world = tuple(values[0] if person in chosen else values[-1] for person in range(number))
            again = target.publish(target.people, world)
            if again is not None and Counter(again) == seen:
                for person, value in enumerate(world):
                    possible[person].add(value)
        for person, known in enumerate(target.people):
            shown = {value for word, value in seen if target.covers(word, known)}
            if len(possible[person]) == 1 < len(shown):
                yield Victim(f"somebody with {known}", f"has {possible[person].pop()}, and nothing else fits")
