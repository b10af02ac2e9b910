"""Average class size: into how many groups the rows still fall."""

from __future__ import annotations

from typing import Annotated, Any, Self

from tarnkappe.loss.class_size import ClassSizeLoss, num_released
from tarnkappe.loss.factor import FACTOR, prices
from tarnkappe.schema import FromOne, Share, param
from tarnkappe.table import ClassState


class AverageClassSize(ClassSizeLoss):
    """m / (p x groups), where all suppressed rows together form one group.

    It is 1 / p for untouched data without duplicates and m / p when all rows look the same. The first
    suppressed class costs nothing, every further one a group. The kept classes and one for the
    suppressed rows are no more than all classes: monotonicity and bounds are those of `ClassSizeLoss`.

    With a `factor` f, s = min(1, 2f) and g = min(1, 2 - 2f), a kept class counts s and the group of the
    suppressed rows g: the two are exchanged in ARX's definition, too. G groups count at most
    s G + max(0, g - s), and below 0.5 the loss may fall if a class is suppressed.
    """

    name = "aecs"
    cites = ("lefevre2006",)

    p: Annotated[
        FromOne, param("the least class size that the privacy model asks for (k, or l)", unit="rows")
    ] = 1

    factor: Annotated[Share | None, param(FACTOR, kind="share")] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(), cls(3), cls(factor=0.25), cls(factor=0.75))

    @property
    def needed_size(self) -> float:
        return self.p

    @property
    def may_prefer_suppression(self) -> bool:
        s, g = prices(self.factor)
        return s < g

    def groups(self, state: ClassState) -> float:
        s, g = prices(self.factor)
        return s * state.num_kept + (g if state.num_kept < num_released(state.classes) else 0)

    def counted(self, groups: Any) -> Any:
        if self.factor is None:
            return groups
        s, g = prices(self.factor)
        return s * groups + max(0.0, g - s)
