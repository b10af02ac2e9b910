"""Ambiguity: for how many different original records a released record may stand.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tarnkappe.loss.leaves import Bits, bits_of_classes, bits_of_domain, mean_bits
from tarnkappe.loss.measure import Loss
from tarnkappe.native import compiled
from tarnkappe.table import ClassState, Column, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


class Ambiguity(Loss):
    """The mean over all rows of the number of combinations of original values that the row may stand for
    (Goldberger and Tassa 2010).

    A kept row stands for the product over the columns of the leaves under its labels, a suppressed row
    for the whole domain, which is the product of the leaves of all hierarchies. The mean is 1 for
    untouched data and the size of the domain when nothing is left.

    Monotone only without suppression: a label has no fewer leaves than those under it, but with
    suppression a generalization may save rows that stood for the whole domain.

    Lower bound: the mean while every row is kept. A suppressed row stands for no fewer combinations, and
    a generalization leaves none for which a row stood before. From the levels alone: a mean is no less
    than the geometric mean, and that of a product is the product over the columns.
    """

    name = "ambiguity"
    cites = ("goldberger2010",)
    considers_suppression = True

    @property
    def measures_cells(self) -> bool:
        return True

    def __call__(self, state: ClassState) -> float:
        classes = state.classes
        combinations = _combinations(classes.sizes, bits_of_classes(classes), state.kept)
        if state.suppressed_rows:
            domain = np.exp2(bits_of_domain(classes.tuples, classes.quasi_identifiers))
            combinations += state.suppressed_rows * float(domain)
        return combinations / classes.num_rows

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        classes = state.classes
        return _combinations(classes.sizes, bits_of_classes(classes), classes.released) / classes.num_rows

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        bits = (mean_bits(tuples, c.name, level) for c, level in zip(columns, levels, strict=True))
        return float(np.exp2(math.fsum(bits)))


@compiled
def _combinations(sizes: Counts, bits: Bits, kept: Mask) -> float:
    # The bits of a class are the sum over its columns; only their power is a number of records, and it is
    # added as a float, since a product over columns passes 64 bits. Classes are added in their order: another
    # order rounds otherwise, and results would depend on the engine.
    total = 0.0
    for index in range(len(sizes)):
        if kept[index]:
            total += sizes[index] * np.exp2(bits[index])
    return total
