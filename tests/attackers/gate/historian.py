"""Watches a table that changes: asks about the same few people before and after each change, and counts."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

import psycopg

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.gate.bisector import OpenGate, asked
from tests.attackers.gate.worlds import Told, by_block, enumerated


@dataclasses.dataclass(frozen=True)
class ChangingGate:
    """A gate before a table that changes.

    Attributes:
        gate: as its users see it.
        people: who is in the table on the first day.
        blocks: people who are asked for together, and with nobody else.
        next_day: lets a day pass and tells what everybody knows of it: whose value changed, who came. None
            after the last one.
    """

    gate: OpenGate
    people: frozenset[int]
    blocks: tuple[range, ...]
    next_day: Callable[[], tuple[set[int], set[int]] | None]


class Historian(Attacker[ChangingGate]):
    """Asks about blocks of a few people day after day, and tries out all values that they can have had."""

    name = "historian"
    promise = "changes"
    knows = "The program, the policy, who is in the table, who came, and whose value changed when."
    sees = "Every answer on the wire, before and after each change."
    does = "Asks for the same few people every day, alone and together, and enumerates all worlds."

    def attack(self, target: ChangingGate) -> Iterator[Victim]:
        gate, chance = target.gate, random.Random(7)
        told = Told(labels=sorted(gate.labels), merged=gate.merged)
        version = dict.fromkeys(target.people, 0)
        there = set(target.people)
        with psycopg.connect(gate.url, autocommit=True) as connection:
            today: tuple[set[int], set[int]] | None = (set(), set())
            while today is not None:
                changed, came = today
                there |= came
                version.update({nr: version.get(nr, 0) + (nr in changed) for nr in changed | came})
                for block in target.blocks:
                    present = [nr for nr in block if nr in there]
                    some = chance.sample(present, chance.randint(1, len(present)))
                    for people in (present, some):
                        found, values = asked(connection, people)
                        if found:
                            told.answers.append((tuple((nr, version[nr]) for nr in found), values))
                today = target.next_day()
        for part in by_block(told, target.blocks):
            for (nr, number), labels in enumerated(part).items():
                if len(labels) < gate.k:
                    what = ", ".join(sorted(labels))
                    yield Victim(
                        f"person {nr} after {number} changes", f"{len(labels)} possible values: {what}"
                    )
