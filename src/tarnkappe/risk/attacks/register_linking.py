"""Linking with a register: rows are matched with people who are known by name."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tarnkappe.privacy.model import Measure, entries_of
from tarnkappe.risk.attacks.attack import ClassAttack
from tarnkappe.risk.attacks.background import AttackNeed
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import MANY_ROWS, param
from tarnkappe.table.classes import Mask


class RegisterLinking(ClassAttack):
    """Find out whose row it is, with a register that everybody in the table is in (the journalist).

    Victims are the rows that fit fewer than k people of the register; with k = 2 the person is found with
    certainty. k-map for this register stops the attack, and so does k-anonymity.
    """

    name = "register-linking"
    cites = ("sweeney2002",)
    title = "Linking with this register"
    needs = (AttackNeed.RELEASE, AttackNeed.PEOPLE)
    knowledge = "A register with the quasi-identifiers of everybody in the table, and of others."

    k: Annotated[
        int,
        param("people among whom somebody is no victim any more", ge=2, le=MANY_ROWS, unit="people"),
    ] = 2

    @property
    def certain(self) -> bool:
        return self.k == 2

    def succeeds(self, target: Target) -> Mask:
        people = target.fit.class_sizes
        # More rows than people: the register lacks somebody, so that no row can be told to be whose.
        return np.asarray((people > 0) & (people < self.k) & (people >= target.classes.sizes))

    def certainties(self, target: Target) -> Measure:
        return 1 / np.maximum(target.fit.class_sizes, 1)

    def who(self, target: Target, class_index: int) -> tuple[str, ...]:
        pairs = target.fit.pairs
        return target.people.names(pairs.left[pairs.right == class_index].tolist())

    def learned(self, target: Target, class_index: int) -> str:
        shown = []
        for column in target.sensitive:
            distribution = target.distribution(column)
            labels = distribution.column.labels
            values = sorted(labels[code] for code, _ in entries_of(distribution, class_index))
            shown.append(f"{column} {' or '.join(values) or 'suppressed'}")
        return ", ".join(["which row is theirs", *shown])

    def success(self, target: Target, victims: str) -> str:
        found = "exactly one person" if self.k == 2 else f"fewer than {self.k} people"
        return f"The register has {found} for the row of {victims}."

    def failure(self, target: Target) -> str:
        return f"Every row fits at least {self.k} people of the register, or nobody."
