"""Average class size over the released classes."""

from __future__ import annotations

from typing import Annotated, Self

from tarnkappe.loss.class_size import ClassSizeLoss
from tarnkappe.schema import FromOne, param
from tarnkappe.table import ClassState


class AverageReleasedClassSize(ClassSizeLoss):
    """m / (p x released classes); infinite if nothing is released.

    It differs from `aecs` in that the suppressed rows form no group. They still count as rows, so every
    suppressed class costs something. Monotonicity and bounds are those of `ClassSizeLoss`.
    """

    name = "aecs-released"
    cites = ("lefevre2006",)

    p: Annotated[
        FromOne, param("the least class size that the privacy model asks for (k, or l)", unit="rows")
    ] = 1

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(), cls(3))

    @property
    def needed_size(self) -> float:
        return self.p

    def groups(self, state: ClassState) -> int:
        return state.num_kept
