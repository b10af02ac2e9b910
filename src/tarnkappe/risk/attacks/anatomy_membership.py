"""Anatomy membership: exact quasi-identifiers tell who is in the table."""

from __future__ import annotations

import numpy as np

from tarnkappe.risk.attacks.anatomy_tables import AnatomyTables
from tarnkappe.risk.attacks.attack import Attack, VictimClass, Victims
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target


class AnatomyMembership(Attack):
    """Learn that a person is in an Anatomy release, and which values her group has.

    Anatomy publishes exact quasi-identifiers, so whoever is the only one with them is seen to be there.
    Victims are the rows whose quasi-identifiers occur once; if people are known, only those that fit one
    person among them, whose presence is then certain.
    """

    name = "anatomy-membership"
    cites = ("xiao2006anatomy",)
    title = "Membership in an Anatomy release"
    needs = (AttackNeed.RELEASE, AttackNeed.ROWS, AttackNeed.SENSITIVE_TABLE)
    repaired_by = ("generalize",)
    knowledge = "The exact quasi-identifiers of a person."

    def find(self, target: Target, shown: int | None) -> Victims:
        tables = AnatomyTables(target)
        classes, knows_people = target.classes, target.has(AttackNeed.PEOPLE)
        single = target.kept & (classes.sizes == 1)
        if knows_people:
            single &= target.fit.class_sizes == 1
        victims = np.flatnonzero(single)
        row_of = np.zeros(classes.num_classes, np.int64)
        row_of[classes.ids[: len(tables.groups)]] = np.arange(len(tables.groups))

        def describe(place: int) -> VictimClass:
            index = int(victims[place])
            values = " or ".join(tables.values(tables.groups[int(row_of[index])]))
            who = target.fit.surely_in(index) if knows_people else ()
            return VictimClass(
                classes.labels(index), 1, f"is in the table, with {tables.column} {values}", 1.0, who
            )

        return Victims(
            sizes=np.ones(len(victims), np.int64),
            certainties=np.ones(len(victims)),
            describe=describe,
            among=target.rows,
            success=lambda told: f"Exact quasi-identifiers that occur once show the presence of {told}.",
            failure="Nobody is shown to be in the table by quasi-identifiers that occur once.",
            evidence={
                "share_of_unique_rows": float((classes.sizes == 1)[target.kept].sum() / max(target.rows, 1))
            },
            certain=knows_people,
        )
