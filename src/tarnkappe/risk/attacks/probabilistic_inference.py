"""Probabilistic inference: one value dominates a class, so guessing it is nearly always right."""

from __future__ import annotations

from typing import Annotated, Any

from tarnkappe.privacy.exact import percents
from tarnkappe.privacy.model import Measure
from tarnkappe.privacy.shares import every_share_at_most, largest_share
from tarnkappe.risk.attacks.attack import SensitiveAttack
from tarnkappe.risk.attacks.target import Target
from tarnkappe.risk.ranking import most_frequent
from tarnkappe.schema import ExactShare, param
from tarnkappe.table.classes import Mask


class ProbabilisticInference(SensitiveAttack):
    """Guess the most frequent value of the class and be right with more than the stated confidence.

    Distinct l-diversity does not stop it; entropy and recursive diversity limit it.
    """

    name = "probabilistic-inference"
    cites = ("machanavajjhala2007",)
    title = "Probabilistic inference"

    confidence: Annotated[
        ExactShare, param("the confidence from which on somebody is a victim", kind="share")
    ] = 0.8

    @property
    def certain(self) -> bool:
        return False

    def succeeds(self, target: Target) -> Mask:
        return ~every_share_at_most(self.values(target), self.confidence)

    def certainties(self, target: Target) -> Measure:
        return largest_share(self.values(target))

    def learned(self, target: Target, class_index: int) -> str:
        distribution = self.values(target)
        value, count = most_frequent(distribution, class_index)
        return f"{value} ({100 * count / distribution.sizes[class_index]:.0f} %)"

    def success(self, target: Target, victims: str) -> str:
        return f"'{self.column}' is guessed with more than {self._bound} certainty for {victims}."

    def failure(self, target: Target) -> str:
        return f"'{self.column}' is guessed with more than {self._bound} certainty for nobody."

    @property
    def _bound(self) -> str:
        return percents(self.confidence, "%")

    def evidence(self, target: Target) -> dict[str, Any]:
        shares = largest_share(self.values(target))[target.kept]
        return {"highest_confidence": float(shares.max(initial=0.0))}
