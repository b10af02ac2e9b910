"""Weighs what is left: how likely each value of somebody has become, for who knew how likely it was before."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping

import psycopg

from tests.attackers.attacker import Attacker, Victim
from tests.attackers.gate.bisector import asked


@dataclasses.dataclass(frozen=True)
class WeighedGate:
    """A gate that bounds how likely a value becomes: people have numbers, by which they are asked for.

    Attributes:
        url: where it is.
        people: the numbers of those in the table.
        weights: how likely each label is for who never saw the table.
        belief: what is promised.
    """

    url: str
    people: range
    weights: Mapping[str, float]
    belief: float


class Believer(Attacker[WeighedGate]):
    """Asks for everybody alone and with everybody else, and weighs the labels that all answers share."""

    name = "believer"
    promise = "belief"
    knows = (
        "The program, the policy, how likely values are, and, should he like, the values of everybody else."
    )
    sees = "Every answer on the wire."
    does = (
        "Asks for each person alone and in all pairs; a label that one of the answers lacks is none of his."
    )

    def attack(self, target: WeighedGate) -> Iterator[Victim]:
        left = {nr: set(target.weights) for nr in target.people}
        with psycopg.connect(target.url, autocommit=True) as connection:
            for size in (1, 2):
                for group in itertools.combinations(target.people, size):
                    people, values = asked(connection, group)
                    for nr in people:
                        left[nr] &= set(values)
        for nr, labels in left.items():
            total = sum(target.weights[label] for label in labels)
            for label in sorted(labels):
                believed = target.weights[label] / total
                if believed > target.belief + 1e-9:
                    yield Victim(f"person {nr}", f"{label} is believed with {believed:.2f}")
