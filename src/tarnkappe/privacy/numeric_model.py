"""Models on the numbers of a sensitive column within each class."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.model import SensitiveModel
from tarnkappe.table import Column, Distribution, Tuples
from tarnkappe.table.grouping import Codes, Counts

Numbers = npt.NDArray[np.float64]


class NumericModel(SensitiveModel):
    """A model on one sensitive column of numbers (or dates); missing values are no numbers."""

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse a column that does not hold numbers."""
        super().check(tuples, quasi_identifiers)
        if tuples.columns[self.column].numbers is None:
            raise ColumnError(
                "privacy.column-not-hold-numbers",
                "{model}: the column '{column}' does not hold numbers",
                model=self,
                column=self.column,
            )


@dataclasses.dataclass(frozen=True)
class ClassNumbers:
    """The numbers in each class, without the missing ones.

    Attributes:
        numbers: the number of each entry.
        counts: how often it occurs in its class.
        class_of_entry: the class of each entry.
        num_classes: how many classes there are.
    """

    numbers: Numbers
    counts: Counts
    class_of_entry: Codes
    num_classes: int

    @classmethod
    def of(cls, distribution: Distribution) -> ClassNumbers:
        """The numbers that a distribution counts."""
        numbers = numbers_of(distribution.column)[distribution.codes]
        there = ~np.isnan(numbers)
        return cls(
            numbers[there],
            distribution.counts[there],
            distribution.class_of_entry[there],
            distribution.num_classes,
        )

    def least(self) -> Numbers:
        """The smallest number of each class; infinite where there is none."""
        least = np.full(self.num_classes, np.inf)
        np.minimum.at(least, self.class_of_entry, self.numbers)
        return least

    def greatest(self) -> Numbers:
        """The largest number of each class; minus infinite where there is none."""
        greatest = np.full(self.num_classes, -np.inf)
        np.maximum.at(greatest, self.class_of_entry, self.numbers)
        return greatest


def numbers_of(column: Column) -> Numbers:
    """The distinct values of a column as numbers."""
    if column.numbers is None:
        raise ColumnError(
            "privacy.numeric-model-column-not-hold-numbers",
            "the column '{column}' does not hold numbers",
            column=column.name,
        )
    return column.numbers
