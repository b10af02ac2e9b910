"""Models that are the conjunction of simpler ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from tarnkappe.privacy.evaluate import keep_all
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask


class CompositeModel(Model):
    """A model that holds where all its parts hold; what it measures is how many of them do.

    It is monotone where all parts are: without suppression because nothing else is asked; with
    suppression because the parts are then met by every union of kept classes (see
    `tarnkappe.privacy.evaluate.monotone`). What every part implies, the whole implies.
    """

    direction = Direction.AT_LEAST

    @property
    @abstractmethod
    def parts(self) -> tuple[Model, ...]:
        """The models whose conjunction this one is."""

    @property
    def bound(self) -> float:
        return len(self.parts)

    @property
    def monotonicity(self) -> Monotonicity:
        stated = [part.monotonicity for part in self.parts]
        return Monotonicity(
            all(part.without_suppression for part in stated),
            all(part.with_suppression for part in stated),
            " ".join(dict.fromkeys(part.reason for part in stated)),
        )

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return tuple(dict.fromkeys(names for part in self.parts for names in part.distributions))

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return tuple(dict.fromkeys(c for part in self.parts for c in part.sub_criteria(tuples)))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        for part in self.parts:
            part.check(tuples, quasi_identifiers)

    def measure(self, classes: Classes) -> Measure:
        return np.asarray(np.sum([part.holds(classes) for part in self.parts], axis=0), dtype=np.float64)

    def holds(self, classes: Classes) -> Mask:
        return np.asarray(self.measure(classes) == len(self.parts))

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        return keep_all(classes, kept, self.parts)

    def value(self, classes: Classes, kept: Mask) -> float:
        return float(sum(np.array_equal(part.keep(classes, kept), kept) for part in self.parts))

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        raise TypeError(f"{self} is verified part by part")
