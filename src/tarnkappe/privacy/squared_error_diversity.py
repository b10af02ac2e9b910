"""Squared-error diversity: the numbers of every class are far enough from their mean."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import TOLERANCE, at_least, decimal
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.numeric_model import ClassNumbers, NumericModel
from tarnkappe.schema import NotNegative, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


def squared_errors(numbers: ClassNumbers) -> Measure:
    """The sum of the squared distances of each class's numbers from their mean.

    The smallest number of the class is taken off first: the sum stays the same, and large numbers that
    differ by little lose no digits.
    """
    classes = numbers.class_of_entry
    above = numbers.numbers - numbers.least()[classes]
    totals = np.bincount(classes, numbers.counts, numbers.num_classes)
    sums = np.bincount(classes, numbers.counts * above, numbers.num_classes)
    means = np.divide(sums, totals, out=np.zeros(numbers.num_classes), where=totals > 0)
    errors = np.bincount(classes, numbers.counts * (above - means[classes]) ** 2, numbers.num_classes)
    return errors.astype(np.float64)


def squared_error(numbers: Sequence[tuple[Fraction, int]]) -> Fraction:
    """The same for one class of numbers with counts, exactly: the sum of squares less the squared sum / n."""
    total = sum(n for _, n in numbers)
    if total == 0:
        return Fraction(0)
    zero = Fraction(0)
    return sum((x * x * n for x, n in numbers), zero) - sum((x * n for x, n in numbers), zero) ** 2 / total


class SquaredErrorDiversity(NumericModel):
    """In every class the squared distances of the numbers from their mean sum to at least `error`.

    LeFevre, DeWitt and Ramakrishnan 2006. A large error still only rules out that all numbers are equal.

    Why it is monotone with suppression too: the squared error of a union is the sum of the squared errors
    of the parts and of the squared distances of their means from the common mean, so it is at least the
    squared error of each part.
    """

    name = "squared-error-diversity"
    cites = ("lefevre2006workload",)
    direction = Direction.AT_LEAST

    error: Annotated[
        NotNegative, param("the least squared error of whoever guesses the numbers of a class", start=10.0)
    ]

    @classmethod
    def examples(cls) -> tuple[SquaredErrorDiversity, ...]:
        return (cls("income", 20000), cls("income", 5000, given=("treatment",)))

    @property
    def promise(self) -> str:
        return (
            f"Whoever takes the mean of '{self.column}' for everybody who looks the same "
            f"is wrong by a squared error of at least {self.error:g} in sum."
        )

    @property
    def bound(self) -> float:
        return self.error

    @property
    def monotonicity(self) -> Monotonicity:
        reason = "The squared error of a merged class is at least the sum of those of its parts."
        if self.given:
            reason += " A division of a class can however be spoiled by a class that was suppressed."
        return Monotonicity(True, not self.given, reason)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        own = SquaredErrorDiversity(self.column, self.error)
        if self.error == 0:
            return (own,)
        return (own, *DistinctDiversity(self.column, 2).sub_criteria(tuples))

    def measure_values(self, distribution: Distribution) -> Measure:
        return squared_errors(ClassNumbers.of(distribution))

    def values_hold(self, distribution: Distribution) -> Mask:
        error = decimal(self.error)
        numbers = ClassNumbers.of(distribution)

        def exactly(index: int) -> bool:
            entries = np.flatnonzero(numbers.class_of_entry == index)
            pairs = [(decimal(numbers.numbers[e]), int(numbers.counts[e])) for e in entries]
            return squared_error(pairs) >= error

        return at_least(squared_errors(numbers), self.error, exactly)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        tolerance = TOLERANCE * max(1.0, self.error)
        return f"""
            WITH numbers AS (
                SELECT class, counts.n, number,
                    sum(counts.n * number) OVER (PARTITION BY class)
                        / sum(counts.n) OVER (PARTITION BY class) AS mean
                FROM counts JOIN totals USING (value) WHERE number IS NOT NULL),
            errors AS (SELECT class, sum(n * (number - mean) ** 2) AS error FROM numbers GROUP BY class)
            SELECT class, coalesce(error, 0) AS value, value >= {self.error - tolerance!r} AS holds
            FROM (SELECT DISTINCT class FROM counts) LEFT JOIN errors USING (class)"""
