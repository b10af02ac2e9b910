"""Changed data: what a part of the table gains or loses between releases belongs to who joined or left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.privacy.model import entries_of
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import Name, param
from tarnkappe.table import Classes
from tarnkappe.table.classes import Mask

Codes = npt.NDArray[np.int32]


class Change(NamedTuple):
    """What a part of the table gained or lost between an earlier and this release."""

    labels: dict[str, str]
    joined: bool
    values: dict[str, int]


class Temporal(Attack):
    """Learn the value of whoever joined or left between two releases.

    The classes of both releases fall into parts between which nobody can move, since their cells contradict
    each other. A part that only gained rows gained those of the people who joined; if all of them have one
    value, it is theirs. The same holds for a part that only lost rows. m-invariance stops the attack: what
    joins or leaves is then at least a whole set of m values, counterfeits included.
    """

    name = "temporal"
    cites = ("sweeney2002", "xiao2007")
    title = "Changed data"
    needs = (AttackNeed.RELEASE, AttackNeed.EARLIER)
    repaired_by = ("generalize",)
    knowledge = "An earlier release, who joined or left since, and that nothing else has changed."

    column: Annotated[Name, param("the sensitive column", kind="column")]

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        earlier = target.background.earlier.values()
        return [cls(c) for c in target.sensitive if any(c in table.sensitive for table in earlier)]

    def find(self, target: Target, shown: int | None) -> Victims:
        target.distribution(self.column)  # refuses a column that is not sensitive
        changes = [
            change
            for name, earlier in target.earlier_classes.items()
            for change in self._changes(target, name, earlier)
        ]
        found = [change for change in changes if len(change.values) == 1]

        def describe(place: int) -> VictimClass:
            ((value, number),) = found[place].values.items()
            who = "who joined" if found[place].joined else "who left"
            return VictimClass(found[place].labels, number, f"{value} (of those {who})")

        return Victims(
            sizes=np.array([sum(change.values.values()) for change in found], dtype=np.int64),
            certainties=np.ones(len(found)),
            describe=describe,
            among=sum(sum(change.values.values()) for change in changes),
            success=lambda told: f"The change discloses '{self.column}' of those who joined or left: {told}.",
            failure=f"No change shows the value of '{self.column}' of those who joined or left.",
            evidence={"parts_that_only_grew_or_shrank": len(changes)},
        )

    def _changes(self, target: Target, name: str, earlier: Classes) -> list[Change]:
        """The parts of the table that only grew or only shrank."""
        classes, pairs = target.classes, target.earlier_pairs[name]
        if pairs is None or (self.column,) not in earlier.distributions:
            return []
        nodes = classes.num_classes + earlier.num_classes
        graph = scipy.sparse.coo_array(
            (np.ones(len(pairs.left), np.int8), (pairs.left, classes.num_classes + pairs.right)),
            shape=(nodes, nodes),
        )
        number, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
        now = self._values(classes, target.kept, part[: classes.num_classes], number)
        before = self._values(earlier, earlier.released, part[classes.num_classes :], number)
        changes = []
        for index, (new, old) in enumerate(zip(now, before, strict=True)):
            if new is None or old is None or new == old or not (new <= old or old <= new):
                continue
            joined = old <= new
            places = np.flatnonzero(part == index)
            first = int(places[0])
            ours = first < classes.num_classes
            labels = classes.labels(first) if ours else earlier.labels(first - classes.num_classes)
            if len(places) > 2:
                labels |= {"and": f"{len(places) - 1} classes that overlap"}
            changes.append(Change(labels, joined, dict(new - old if joined else old - new)))
        return changes

    def _values(
        self, classes: Classes, released: Mask, part: Codes, number: int
    ) -> list[Counter[str] | None]:
        """The sensitive values of each part; None where a suppressed cell hides some."""
        distribution = classes.distributions[self.column,]
        labels = distribution.column.labels
        found: list[Counter[str] | None] = [Counter() for _ in range(number)]
        hidden = distribution.sizes < classes.sizes
        for index in np.flatnonzero(released).tolist():
            counted = found[part[index]]
            if hidden[index] or counted is None:
                found[part[index]] = None
            else:
                counted.update({labels[code]: n for code, n in entries_of(distribution, index)})
        return found
