"""Background knowledge: the attacker excludes some values until only one remains."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.distinct_diversity import distinct_values
from tarnkappe.privacy.model import entries_of, require_whole
from tarnkappe.risk.attacks.attack import SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.table import Distribution
from tarnkappe.table.classes import Mask


def exclusions_needed(distribution: Distribution) -> npt.NDArray[np.int64]:
    """How many values an attacker must exclude in each class to learn the value: all but one.

    A class that shows no value (all cells suppressed) gives -1: there is nothing to learn.
    """
    return distinct_values(distribution).astype(np.int64) - 1


def posterior(distribution: Distribution, class_index: int, excluded: Iterable[str]) -> dict[str, Fraction]:
    """How probable each value is for a member of a class once some values are known to be wrong."""
    wrong, labels = set(excluded), distribution.column.labels
    left = {
        label: n for code, n in entries_of(distribution, class_index) if (label := labels[code]) not in wrong
    }
    return {label: Fraction(n, sum(left.values())) for label, n in left.items()}


@dataclasses.dataclass(frozen=True)
class BackgroundKnowledge(SensitiveAttack):
    """Learn the sensitive value of a person by excluding a number of other values.

    Victims are the members of the classes in which that many exclusions are enough. l-diversity stops
    an attacker who can exclude at most l - 2 values. The evidence tells for every number of exclusions
    how many rows need exactly that many.
    """

    name = "background-knowledge"
    title = "Background knowledge"
    knowledge = "What linking needs, and some values that the person does not have."

    exclusions: int = 1

    def __post_init__(self) -> None:
        require_whole(self.name, "exclusions", self.exclusions, 0)

    @property
    def certain(self) -> bool:
        return self.exclusions == 0

    def succeeds(self, target: Target) -> Mask:
        needed = exclusions_needed(self.values(target))
        return (needed >= 0) & (needed <= self.exclusions)

    def learned(self, target: Target, class_index: int) -> str:
        distribution = self.values(target)
        labels = distribution.column.labels
        return " or ".join(sorted(labels[code] for code, _ in entries_of(distribution, class_index)))

    def success(self, target: Target, victims: str) -> str:
        return f"Whoever can exclude {self._excluded} learns the value of {victims}."

    def failure(self, target: Target) -> str:
        return f"Excluding {self._excluded} is not enough to learn the value of anybody."

    def evidence(self, target: Target) -> dict[str, Any]:
        needed = exclusions_needed(self.values(target))
        counted = target.kept & (needed >= 0)
        rows = np.bincount(needed[counted], weights=target.classes.sizes[counted])
        return {"rows_by_exclusions_needed": {int(n): int(rows[n]) for n in np.flatnonzero(rows)}}

    @property
    def _excluded(self) -> str:
        number = "one value" if self.exclusions == 1 else f"{self.exclusions} values"
        return f"{number} of '{self.column}'"
