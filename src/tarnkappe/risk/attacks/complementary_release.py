"""Complementary releases: what each of them leaves possible is intersected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.risk.attacks.attack import Attack, Indices, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.people import KnownPeople
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.attacks.views import release_view, shared_values
from tarnkappe.risk.candidates import ReleaseView, remaining_values
from tarnkappe.schema import Name, param


class ComplementaryRelease(Attack):
    """Learn the sensitive value of a person who is in several releases.

    Each release leaves the person the values of the classes that he fits; he has a value that all of them
    leave him. Random order of the rows does not stop it, nor does diversity of each release alone. A
    release whose every class is a union of classes of each earlier release does, and so does m-invariance.
    """

    name = "complementary-release"
    cites = ("sweeney2002", "ganta2008")
    title = "Complementary releases"
    needs = (AttackNeed.RELEASE, AttackNeed.PEOPLE, AttackNeed.EARLIER)
    repaired_by = ("generalize", "suppress", "base-on-earlier")
    knowledge = "The quasi-identifiers of a person, and that the person is in all of the releases."

    column: Annotated[Name, param("the sensitive column", kind="column")]

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        earlier = target.background.earlier.values()
        return [cls(c) for c in target.sensitive if any(c in table.sensitive for table in earlier)]

    def find(self, target: Target, shown: int | None) -> Victims:
        people, labels, views = self.views(target)
        left = remaining_values(views, people.sizes)
        everywhere = left.limited & (left.groups >= 0).all(axis=1)
        victims = np.flatnonzero((everywhere & (left.numbers == 1))[left.kind])

        def describe(place: int) -> VictimClass:
            kind = int(victims[place])
            value = labels[int(left.of(int(left.kind[kind]))[0])]
            return VictimClass(people.known(kind), int(people.sizes[kind]), value, 1.0, people.names([kind]))

        number = len(views)
        return Victims(
            sizes=people.sizes[victims],
            certainties=np.ones(len(victims)),
            describe=describe,
            among=people.number,
            classes=target.fit.of_kinds(victims),
            success=lambda told: (
                f"Only one value of '{self.column}' fits all {number} releases for {told}, "
                "if they are in all of them."
            ),
            failure=f"The {number} releases together leave everybody at least two values of '{self.column}'.",
            evidence={
                "releases": number,
                "by_one_release_alone": int(people.sizes[victims][_alone(views)[victims]].sum()),
                "unavoidable": self._unavoidable(views, people, victims),
            },
        )

    def _unavoidable(self, views: Sequence[ReleaseView], people: KnownPeople, victims: Indices) -> int:
        """The victims of the earlier releases: no change of this one can protect them."""
        left = remaining_values(views[1:], people.sizes)
        disclosed = (left.limited & (left.numbers == 1))[left.kind]
        return int(people.sizes[victims][disclosed[victims]].sum())

    def views(self, target: Target) -> tuple[KnownPeople, list[str], list[ReleaseView]]:
        """The people, the sensitive values, and every release that shows them, the newest first."""
        target.distribution(self.column)  # refuses a column that is not sensitive
        earlier = [fit for fit in target.earlier_fits.values() if (self.column,) in fit.classes.distributions]
        fits = [target.fit, *earlier]
        codes = shared_values(fits, self.column)
        return fits[0].people, list(codes), [release_view(fit, self.column, codes) for fit in fits]


def _alone(views: Sequence[ReleaseView]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The kinds of people of whom one release alone leaves only one value."""
    found = np.zeros(len(views[0].group), dtype=bool)
    for view in views:
        single = (np.diff(view.offsets) == 1) & ~view.open
        found |= (view.group >= 0) & single[view.group]
    return found
