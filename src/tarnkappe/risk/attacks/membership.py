"""Membership: that somebody is in the table at all."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import decimal, percents
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import ExactShare, param


class MembershipAttack(Attack):
    """Learn that a person of a known population is in the table.

    The chance of a person is the share of the rows of a class among all people who fit it; who fits
    several classes is as likely as the likeliest of them says. With the confidence 1, victims are the
    people who fit a class with as many rows: all of them are there. delta-presence limits the chance.
    """

    name = "membership"
    cites = ("nergiz2007",)
    title = "Membership of a person"
    needs = (AttackNeed.RELEASE, AttackNeed.PEOPLE)
    knowledge = "The quasi-identifiers of everybody who could be in the table."

    confidence: Annotated[
        ExactShare, param("the confidence from which on somebody is a victim", kind="share")
    ] = 1.0

    @property
    def certain(self) -> bool:
        return decimal(self.confidence) == 1

    def find(self, target: Target, shown: int | None) -> Victims:
        people, fit = target.people, target.fit
        rows, fitting = target.classes.sizes[fit.pairs.right], fit.class_sizes[fit.pairs.right]
        chances = np.zeros(len(people.sizes))
        np.maximum.at(chances, fit.pairs.left, np.minimum(rows / fitting, 1.0))
        bound = decimal(self.confidence)
        enough = np.zeros(len(chances), dtype=bool)
        enough[fit.pairs.left[rows * bound.denominator >= fitting * bound.numerator]] = True
        victims = np.flatnonzero(enough)

        def describe(place: int) -> VictimClass:
            kind = int(victims[place])
            chance = float(chances[kind])
            learned = "is in the table" if chance == 1 else f"is in the table ({100 * chance:.0f} %)"
            return VictimClass(
                people.known(kind), int(people.sizes[kind]), learned, chance, people.names([kind])
            )

        sure = "certain" if self.certain else f"at least {percents(self.confidence, '%')} certain"
        return Victims(
            sizes=people.sizes[victims],
            certainties=chances[victims],
            describe=describe,
            among=people.number,
            classes=fit.of_kinds(victims),
            success=lambda told: f"It is {sure} that they are in the table for {told}.",
            failure=f"It is {sure} of nobody that he is in the table.",
            evidence={
                "delta_min": float(chances.min()),
                "delta_max": float(chances.max()),
                "surely_absent": int(people.sizes[fit.choices == 0].sum()),
            },
        )
