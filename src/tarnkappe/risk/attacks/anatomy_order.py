"""Anatomy order: the two tables of a release are linked by position."""

from __future__ import annotations

import itertools

import numpy as np

from tarnkappe.risk.attacks.anatomy_tables import AnatomyTables
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target


class AnatomyOrder(Attack):
    """Link the two tables of an Anatomy release row by row, if they are in the same order.

    The sequence of group numbers shows it. Tables that are sorted by group agree without being in the same
    order; nothing follows from that. Shuffling both tables independently stops the attack.
    """

    name = "anatomy-order"
    title = "Order of rows in an Anatomy release"
    needs = (AttackNeed.RELEASE, AttackNeed.ROWS, AttackNeed.SENSITIVE_TABLE)
    repaired_by = ("shuffle",)
    knowledge = "Nothing but the two tables."

    def find(self, target: Target, shown: int | None) -> Victims:
        tables = AnatomyTables(target)
        ours, theirs = tables.groups, tables.groups_of_values
        blocks = 1 + sum(a != b for a, b in itertools.pairwise(ours))
        linked = ours == theirs and blocks > len(set(ours))
        rows = np.arange(len(ours)) if linked else np.zeros(0, np.int64)

        def describe(place: int) -> VictimClass:
            class_index = int(target.classes.ids[place])
            return VictimClass(target.classes.labels(class_index), 1, tables.all_values[place])

        return Victims(
            sizes=np.ones(len(rows), np.int64),
            certainties=np.ones(len(rows)),
            describe=describe,
            among=target.rows,
            success=lambda told: (
                f"Both tables are in the same order, which discloses '{tables.column}' of {told}."
            ),
            failure="The order of the two tables links no row of one to a row of the other.",
        )
