"""Average class size over the released classes."""

from __future__ import annotations

from tarnkappe.loss.aecs import AverageClassSize
from tarnkappe.table import ClassState


class AverageReleasedClassSize(AverageClassSize):
    """m / (p x released classes); infinite if nothing is released.

    It differs from `aecs` in that the suppressed rows form no group. They still count as rows, so every
    suppressed class costs something. Monotonicity and bounds are those of `ClassSizeLoss`.
    """

    name = "aecs-released"

    def groups(self, state: ClassState) -> int:
        return state.num_kept
