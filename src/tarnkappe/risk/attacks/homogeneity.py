"""Homogeneity: all members of a class share one sensitive value, so nobody need be singled out."""

from __future__ import annotations

import numpy as np

from tarnkappe.risk.attacks.attack import SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table.classes import Mask


class Homogeneity(SensitiveAttack):
    """Learn the sensitive value of a person from a class that shows only one value.

    k-anonymity does not stop it, l-diversity with l of at least 2 does. Suppressed cells hide nothing
    here: beside them the one value that is shown is taken for everybody's.
    """

    name = "homogeneity"
    cites = ("machanavajjhala2007",)
    title = "Homogeneity"

    def succeeds(self, target: Target) -> Mask:
        return np.asarray(np.diff(self.values(target).offsets) == 1)

    def learned(self, target: Target, class_index: int) -> str:
        distribution = self.values(target)
        return distribution.column.labels[int(distribution.codes[distribution.offsets[class_index]])]

    def success(self, target: Target, victims: str) -> str:
        return f"'{self.column}' is the same for all who share their known values, for {victims}."

    def failure(self, target: Target) -> str:
        return f"No class gives away '{self.column}': at least two values remain possible for everybody."
