"""Models on the table as a whole: what counts are the sizes of all released classes together.

There is no violating class, only a violating table. It is repaired by suppressing the smallest classes,
as few as will do; classes of equal size are told apart by their labels, so that neither the order of the
columns nor that of the rows decides.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from tarnkappe.privacy.model import Measure, Model, ModelScope
from tarnkappe.table import Classes
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


def smallest_first(classes: Classes, kept: Mask) -> Counts:
    """The kept classes by size, those of equal size by their labels in the columns by name."""
    by_name = sorted(range(len(classes.quasi_identifiers)), key=lambda i: classes.quasi_identifiers[i].name)
    labels = [classes.label_codes(index).astype(np.int64) for index in reversed(by_name)]
    order = np.lexsort([*labels, classes.sizes])
    return order[kept[order]]


class TableModel(Model):
    """A model on the sizes of all released classes. A release without any class meets it.

    Every class is measured by the whole table it is in.
    """

    scope = ModelScope.TABLE

    @property
    def suppression_rule(self) -> str:
        return "classes are suppressed smallest first, equal ones by their labels"

    @abstractmethod
    def measure_sizes(self, sizes: Counts, num_rows: int) -> float:
        """The measured value of a release with classes of these sizes, of an input with so many rows."""

    @abstractmethod
    def sizes_hold(self, sizes: Counts, num_rows: int) -> bool:
        """Whether a release with classes of these sizes meets the model."""

    def measure(self, classes: Classes) -> Measure:
        """The value of the whole table, if nothing is suppressed."""
        return np.full(classes.num_classes, self.value(classes, classes.released))

    def holds(self, classes: Classes) -> Mask:
        """Whether the whole table meets the model if nothing is suppressed, for every class the same."""
        sizes = classes.sizes[classes.released]
        return np.full(classes.num_classes, len(sizes) == 0 or self.sizes_hold(sizes, classes.num_rows))

    def surely_enough(self, ascending: Counts) -> int:
        """How many of the smallest classes need to be suppressed at most, given the sizes in their order."""
        return len(ascending)

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        """Suppress the smallest classes, as few as will do, found by bisection.

        What is kept meets the model. Where suppressing more of the smallest classes never breaks the
        model again, it is also the most that can be kept (see the models).
        """
        ascending = np.sort(classes.sizes[kept])
        too_few, enough = -1, self.surely_enough(ascending)
        while enough - too_few > 1:
            tried = 0 if too_few < 0 else (too_few + enough) // 2
            if self.sizes_hold(ascending[tried:], classes.num_rows):
                enough = tried
            else:
                too_few = tried
        if enough == 0:
            return kept
        left = kept.copy()
        left[smallest_first(classes, kept)[:enough]] = False
        return left

    def size_weights(self, sizes: Counts) -> list[int] | None:
        """Whole numbers for classes of these sizes, if the model says that those of all kept classes add up
        to 0 at most; else None.
        """
        del sizes
        return None

    def value(self, classes: Classes, kept: Mask) -> float:
        """The measured value of what is kept."""
        sizes = classes.sizes[kept]
        return self.measure_sizes(sizes, classes.num_rows) if len(sizes) else float("nan")
