"""Similarity: the values of a class differ, but all of them mean the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import HierarchyError
from tarnkappe.risk.attacks.attack import Attack, SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table import Distribution, Levels
from tarnkappe.table.classes import Mask


class Similarity(SensitiveAttack):
    """Learn the category of a person's value: all values of the class fall into one.

    The categories are those of the sensitive column's hierarchy, below its root (at the root all values
    are similar). The most specific category is reported. l-diversity does not stop the attack,
    t-closeness with hierarchical distances limits it.
    """

    name = "similarity"
    cites = ("li2007",)
    title = "Similarity"
    knowledge = "What linking needs, and what the values mean."

    @classmethod
    def usual(cls, target: Target) -> Sequence[Attack]:
        return [cls(c) for c in target.sensitive if target.distribution(c).column.levels is not None]

    def succeeds(self, target: Target) -> Mask:
        return self._category_levels(target) > 0

    def learned(self, target: Target, class_index: int) -> str:
        distribution, levels = self._with_levels(target)
        level = int(self._category_levels(target)[class_index])
        code = distribution.codes[distribution.offsets[class_index]]
        return levels.labels[level][int(levels.maps[level][code])]

    def success(self, target: Target, victims: str) -> str:
        return f"All values of '{self.column}' that remain possible are of one category for {victims}."

    def failure(self, target: Target) -> str:
        return f"No class has all its values of '{self.column}' in one category."

    def _category_levels(self, target: Target) -> npt.NDArray[np.int32]:
        """The lowest level on which all values of a class fall into one category, or 0."""
        distribution, levels = self._with_levels(target)
        found = np.zeros(distribution.num_classes, np.int32)
        shown = np.diff(distribution.offsets) > 0
        first = distribution.codes[distribution.offsets[:-1][shown]]
        for level in range(levels.height, 0, -1):
            labels = levels.maps[level]
            below_root = levels.leaves[level] < levels.domain_size
            category = np.full(distribution.num_classes, -1, np.int32)
            category[shown] = labels[first]
            other = labels[distribution.codes] != category[distribution.class_of_entry]
            alike = shown.copy()
            alike[distribution.class_of_entry[other]] = False
            alike[shown] &= below_root[category[shown]]
            found[alike] = level
        return found

    def _with_levels(self, target: Target) -> tuple[Distribution, Levels]:
        distribution = self.values(target)
        if distribution.column.levels is None:
            raise HierarchyError(
                "risk.similarity-needs-hierarchy-names",
                "similarity needs a hierarchy of '{column}' that names the categories",
                column=self.column,
            )
        return distribution, distribution.column.levels
