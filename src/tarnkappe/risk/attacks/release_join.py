"""Joining releases of the same people on what they show: quasi-identifiers, or the sensitive column too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.cells import meet
from tarnkappe.risk.pairs import Pairs
from tarnkappe.schema import MANY_ROWS, param

Counts = npt.NDArray[np.int64]


class Joined(NamedTuple):
    """People who are known to be together in a class of this and in a class of an earlier release."""

    earlier: str
    ours: int
    theirs: int
    size: int
    learned: str


class ReleaseJoin(Attack):
    """An attack that joins this release with earlier ones of the same people.

    Victims are the people who for certain are in a class of this release and in a class of an earlier one
    together with fewer than k people, and fewer than their class has.
    """

    needs = (AttackNeed.RELEASE, AttackNeed.EARLIER)
    repaired_by = ("generalize", "base-on-earlier")
    knowledge = "Earlier releases of exactly the same people; nothing about any of them."

    k: Annotated[
        int,
        param("people among whom somebody is no victim any more", ge=2, le=MANY_ROWS, unit="people"),
    ] = 2

    @abstractmethod
    def joins(self, target: Target, name: str, pairs: Pairs) -> Sequence[Joined] | None:
        """Who is together for certain, given which classes can have a member in common.

        None if these cannot be the same people as in the earlier release of this name.
        """

    @abstractmethod
    def success(self, victims: str) -> str:
        """What happens to the victims, in a sentence."""

    def find(self, target: Target, shown: int | None) -> Victims:
        sizes = target.classes.sizes
        found: list[Joined] = []
        same_people = 0
        for name, pairs in target.earlier_pairs.items():
            joins = None if pairs is None else self.joins(target, name, pairs)
            if joins is not None:
                same_people += 1
                found += [j for j in joins if 0 < j.size < self.k and j.size < sizes[j.ours]]

        def describe(place: int) -> VictimClass:
            join = found[place]
            return VictimClass(_labels(target, join), join.size, join.learned)

        return Victims(
            sizes=np.array([join.size for join in found], dtype=np.int64),
            certainties=np.ones(len(found)),
            describe=describe,
            among=target.rows * max(same_people, 1),
            success=self.success,
            failure="Joined with earlier releases of the same people, this one tells nobody further apart."
            if same_people
            else "No earlier release can be of exactly the same people.",
            evidence={
                "releases_of_the_same_people": same_people,
                "releases_too_large_to_join": sum(p is None for p in target.earlier_pairs.values()),
            },
        )


def _labels(target: Target, join: Joined) -> dict[str, str]:
    """What both classes say of their common members."""
    earlier = target.earlier_classes[join.earlier]
    labels = target.classes.labels(join.ours)
    for name, theirs in earlier.labels(join.theirs).items():
        ours = labels.get(name, theirs)
        labels[name] = meet(ours, theirs, target.background.hierarchies.get(name)) or theirs
    return labels
