"""Normalized average class size: how much larger the classes are than they need to be."""

from __future__ import annotations

from typing import Annotated, Self

from tarnkappe.loss.class_size import ClassSizeLoss
from tarnkappe.schema import Rows, param
from tarnkappe.table import ClassState


class NormalizedClassSize(ClassSizeLoss):
    """C_AVG = (m / released classes) / k (LeFevre et al. 2006); infinite if nothing is released.

    In a k-anonymous release 1 is the best that can be: every class has just k rows and none is suppressed.
    The value is that of `aecs-released` with p = k, which here must be given. Monotonicity and bounds
    are those of `ClassSizeLoss`.
    """

    name = "normalized-class-size"
    cites = ("lefevre2006",)

    k: Annotated[Rows, param("the size that every class must have", unit="rows", start=5)]

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(2),)

    @property
    def needed_size(self) -> float:
        return self.k

    def groups(self, state: ClassState) -> int:
        return state.num_kept
