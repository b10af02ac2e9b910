"""Average class size: into how many groups the rows still fall."""

from __future__ import annotations

import dataclasses
from typing import Self

from tarnkappe.loss.class_size import ClassSizeLoss, num_released
from tarnkappe.privacy.model import require_number
from tarnkappe.table import State


@dataclasses.dataclass(frozen=True)
class AverageClassSize(ClassSizeLoss):
    """m / (p x groups), where all suppressed rows together form one group.

    It is 1 / p for untouched data without duplicates and m / p when all rows look the same. The first
    suppressed class costs nothing, every further one a group. The kept classes and one for the
    suppressed rows are no more than all classes: monotonicity and bounds are those of `ClassSizeLoss`.

    Attributes:
        p: the least class size that the privacy model asks for (k, or l).
    """

    name = "aecs"

    p: float = 1

    def __post_init__(self) -> None:
        require_number(self.name, "p", self.p, 1)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(), cls(3))

    @property
    def needed_size(self) -> float:
        return self.p

    def groups(self, state: State) -> int:
        return state.num_kept + (state.num_kept < num_released(state.classes))
