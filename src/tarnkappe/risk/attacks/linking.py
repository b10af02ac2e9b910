"""Linking: rows are matched with a register that has names, by the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.model import Measure
from tarnkappe.risk.attacks.attack import ClassAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.ranking import Key
from tarnkappe.schema import MANY_ROWS, param
from tarnkappe.table.classes import Mask


class Linking(ClassAttack):
    """Find the row of a person who is known to be in the table (the prosecutor).

    Victims are the rows in classes of fewer than k. With k = 2 these are the unique rows, whose person
    is found with certainty; otherwise the attacker is right with a probability above 1/k. k-anonymity
    stops the attack.
    """

    name = "linking"
    cites = ("sweeney2002",)
    title = "Linking with a register"

    k: Annotated[
        int,
        param("people among whom somebody is no victim any more", ge=2, le=MANY_ROWS, unit="people"),
    ] = 2

    @property
    def certain(self) -> bool:
        return self.k == 2

    def succeeds(self, target: Target) -> Mask:
        return target.classes.sizes < self.k

    def certainties(self, target: Target) -> Measure:
        return 1 / np.maximum(target.classes.sizes, 1)

    def order(self, target: Target) -> Sequence[Key]:
        return [target.classes.sizes]

    def learned(self, target: Target, class_index: int) -> str:
        size = int(target.classes.sizes[class_index])
        return "which row is theirs" if size == 1 else f"that one of {size} rows is theirs"

    def success(self, target: Target, victims: str) -> str:
        found = "exactly one row" if self.k == 2 else f"fewer than {self.k} rows"
        return f"Knowing {_known(target)} leads to {found} for {victims}."

    def failure(self, target: Target) -> str:
        others = "others" if self.k == 2 else f"at least {self.k - 1} others"
        return f"Knowing {_known(target)} singles out nobody: everybody shares them with {others}."


def _known(target: Target) -> str:
    names = [column.name for column in target.classes.quasi_identifiers]
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more columns"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "nothing"
