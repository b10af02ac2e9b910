"""Value range: the numbers of every class are spread over a range of at least e."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import TOLERANCE, at_least, decimal
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.numeric_model import ClassNumbers, NumericModel
from tarnkappe.schema import NotNegative, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class ValueRange(NumericModel):
    """In every class the largest and the smallest number differ by at least e.

    The range of a union is at least the range of each part, so the model is monotone with suppression
    too. Within the range the numbers may still be close together.
    """

    name = "value-range"
    cites = ("zhang2007",)
    direction = Direction.AT_LEAST

    e: Annotated[
        NotNegative,
        param("the least difference between the largest and the smallest number of a class", start=10.0),
    ]

    @classmethod
    def examples(cls) -> tuple[ValueRange, ...]:
        return (cls("income", 200), cls("income", 100, given=("treatment",)))

    @property
    def promise(self) -> str:
        return (
            f"For everybody in the release the possible values of '{self.column}' "
            f"are spread over a range of at least {self.e:g}."
        )

    @property
    def bound(self) -> float:
        return self.e

    @property
    def monotonicity(self) -> Monotonicity:
        reason = "Merging classes never makes the range of their numbers smaller."
        if self.given:
            reason += " A division of a class can however be spoiled by a class that was suppressed."
        return Monotonicity(True, not self.given, reason)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (ValueRange(self.column, self.e),)

    def measure_values(self, distribution: Distribution) -> Measure:
        numbers = ClassNumbers.of(distribution)
        return np.maximum(numbers.greatest() - numbers.least(), 0)

    def values_hold(self, distribution: Distribution) -> Mask:
        e = decimal(self.e)
        numbers = ClassNumbers.of(distribution)
        least, greatest = numbers.least(), numbers.greatest()

        def exactly(index: int) -> bool:
            there = np.isfinite(least[index])
            return there and decimal(greatest[index]) - decimal(least[index]) >= e

        return at_least(np.maximum(greatest - least, 0), self.e, exactly)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        tolerance = TOLERANCE * max(1.0, self.e)
        return f"""
            SELECT class, coalesce(max(number) - min(number), 0) AS value,
                coalesce(max(number) - min(number), 0) >= {self.e - tolerance!r} AS holds
            FROM counts LEFT JOIN totals USING (value) GROUP BY class"""
