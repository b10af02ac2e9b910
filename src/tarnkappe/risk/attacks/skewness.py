"""Skewness: a class has a rare value far more often than the table as a whole."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from tarnkappe.privacy.exact import decimal
from tarnkappe.privacy.model import Measure, entries_of
from tarnkappe.risk.attacks.attack import SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.schema import ExactShare, FromOne, param
from tarnkappe.table.classes import Mask


class Skewness(SensitiveAttack):
    """Learn that a person probably has a value that hardly anybody has.

    Victims are the members of the classes in which some value is at least `ratio` times as frequent as
    in the whole release and has at least the share `likely`. l-diversity does not stop it: a class half
    of which is ill is as diverse as can be, though only one in a hundred is ill elsewhere. t-closeness
    does: with equal distances it needs a distance of at least likely (1 - 1 / ratio).
    """

    name = "skewness"
    cites = ("li2007",)
    title = "Skewness"
    judges_classes_alone = False  # what is frequent overall depends on all of them
    knowledge = "What linking needs, and how frequent the values are overall."

    ratio: Annotated[FromOne, param("times as frequent as in the table that a value must be")] = 10.0
    likely: Annotated[
        ExactShare, param("the share of a class from which on a value is likely", kind="share")
    ] = 0.5

    @property
    def certain(self) -> bool:
        return False

    def succeeds(self, target: Target) -> Mask:
        ratios, shares = self._entries(target)
        distribution = self.values(target)
        found = np.zeros(distribution.num_classes, dtype=bool)
        found[distribution.class_of_entry[(ratios >= self.ratio) & (shares >= self._least_share)]] = True
        return found

    def certainties(self, target: Target) -> Measure:
        ratios, shares = self._entries(target)
        distribution = self.values(target)
        found = (ratios >= self.ratio) & (shares >= self._least_share)
        highest = np.zeros(distribution.num_classes)
        np.maximum.at(highest, distribution.class_of_entry[found], shares[found])
        return highest

    def learned(self, target: Target, class_index: int) -> str:
        distribution, totals = self.values(target), target.released_totals(self.column)
        rows, size = int(totals.sum()), int(distribution.sizes[class_index])
        ratio, code, share = max(
            (count * rows / (size * int(totals[code])), -code, count / size)
            for code, count in entries_of(distribution, class_index)
            if count / size >= self._least_share
        )
        label = distribution.column.labels[-code]
        return f"{label} ({100 * share:.0f} %, {ratio:.3g} times as often as overall)"

    def success(self, target: Target, victims: str) -> str:
        often = f"{self.ratio:g} times as frequent as overall"
        return f"A value of '{self.column}' is likely and at least {often} for {victims}."

    def failure(self, target: Target) -> str:
        return (
            f"No likely value of '{self.column}' is {self.ratio:g} times as frequent in a class as overall."
        )

    def evidence(self, target: Target) -> dict[str, Any]:
        ratios, shares = self._entries(target)
        kept = target.kept[self.values(target).class_of_entry]
        likely = kept & (shares >= self._least_share)
        return {"highest_ratio": float(ratios[likely].max(initial=0.0))}

    @property
    def _least_share(self) -> float:
        """Shares are quotients that are rounded once, as this is: equal ones are found equal."""
        return float(decimal(self.likely))

    def _entries(self, target: Target) -> tuple[Measure, Measure]:
        """For each entry of the distribution its risk ratio and its share of the class."""
        distribution = self.values(target)
        totals = target.released_totals(self.column)
        sizes = distribution.sizes[distribution.class_of_entry]
        # Whole numbers are multiplied before the one division, so that a ratio equal to the bound is
        # found equal (up to 90 million rows, beyond which the products themselves are rounded).
        expected = np.maximum(totals[distribution.codes] * sizes, 1)
        ratios = distribution.counts * totals.sum() / expected
        return np.asarray(ratios, dtype=np.float64), np.asarray(distribution.counts / sizes, dtype=np.float64)
