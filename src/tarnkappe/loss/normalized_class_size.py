"""Normalized average class size: how much larger the classes are than they need to be."""

from __future__ import annotations

import dataclasses
from typing import Self

from tarnkappe.loss.class_size import ClassSizeLoss
from tarnkappe.privacy.model import require_whole
from tarnkappe.table import State


@dataclasses.dataclass(frozen=True)
class NormalizedClassSize(ClassSizeLoss):
    """C_AVG = (m / released classes) / k (LeFevre et al. 2006); infinite if nothing is released.

    In a k-anonymous release 1 is the best that can be: every class has just k rows and none is suppressed.
    The value is that of `aecs-released` with p = k, which here must be given. Monotonicity and bounds
    are those of `ClassSizeLoss`.

    Attributes:
        k: the size that every class must have.
    """

    name = "normalized-class-size"

    k: int

    def __post_init__(self) -> None:
        require_whole(self.name, "k", self.k)

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(2),)

    @property
    def needed_size(self) -> float:
        return self.k

    def groups(self, state: State) -> int:
        return state.num_kept
