"""Average class size: into how many groups the rows still fall."""

from __future__ import annotations

from typing import Annotated, Self

from tarnkappe.loss.class_size import ClassSizeLoss, num_released
from tarnkappe.schema import FromOne, param
from tarnkappe.table import ClassState


class AverageClassSize(ClassSizeLoss):
    """m / (p x groups), where all suppressed rows together form one group.

    It is 1 / p for untouched data without duplicates and m / p when all rows look the same. The first
    suppressed class costs nothing, every further one a group. The kept classes and one for the
    suppressed rows are no more than all classes: monotonicity and bounds are those of `ClassSizeLoss`.
    """

    name = "aecs"

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
        return state.num_kept + (state.num_kept < num_released(state.classes))
