"""Divergence: how far the distribution that a release tells is from that of the data.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tarnkappe.loss.entropy import entropy_of_column
from tarnkappe.loss.leaves import Bits, bits_of_classes, bits_of_domain, mean_bits
from tarnkappe.loss.measure import Loss
from tarnkappe.loss.remembered import remembered
from tarnkappe.native import compiled
from tarnkappe.table import ClassState, Column, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


@remembered
def entropy_of_rows(tuples: Tuples, names: tuple[str, ...]) -> float:
    """The entropy, in bits, of the combinations of values in the input."""
    sizes = tuples.classes(names).sizes
    shares = sizes[sizes > 0] / tuples.num_rows
    return float(-(shares * np.log2(shares)).sum())


class KLDivergence(Loss):
    """The Kullback-Leibler divergence, in bits, of the input from what the release tells of it (Kifer and
    Gehrke 2006).

    p(x) is the share of the input rows with the combination x of original values of the
    quasi-identifiers. q(x) is what a reader of the release may expect: each kept row is spread evenly
    over the combinations that it may stand for, each suppressed row over the whole domain. So, with V(E)
    the combinations that class E stands for, V those of the whole domain and E the class of x,

        q(x) = ( |E| / V(E) if E is kept else 0 ) / m + u / (V m),
        loss = sum over x of p(x) log2 (p(x) / q(x)).

    It is 0 exactly when the release tells the distribution of the input, as untouched data do.

    Lower bound: the divergence while every class is kept. Let the state have levels g. The q of any
    generalization, whatever is suppressed, is a distribution that is constant on the set of combinations
    that each label combination of g stands for, since labels only merge and suppressed rows spread over
    everything. Among all distributions that are constant on those sets, the divergence from p is least
    for the one that gives each set its share of the input rows (Gibbs), and that is the q of g while
    every class is kept. From the levels alone: that divergence is the mean of log2 V(E) minus the entropy of
    a row given its class. The latter is at most the sum over the columns of the entropy of a value given
    its label, which is the `entropy` of the column / m. So the mean of log2 leaves minus entropy / m, summed
    over the columns, is no more than the divergence.

    So it is monotone without suppression. With it, a generalization may save rows that were spread over
    the whole domain, and it is not.
    """

    name = "kl-divergence"
    cites = ("kifer2006",)
    considers_suppression = True

    @property
    def suppression_may_pay(self) -> bool:
        """A further suppressed row may bring what is told of all suppressed ones nearer to the input."""
        return True

    def __call__(self, state: ClassState) -> float:
        return self._divergence(state, state.kept, state.suppressed_rows)

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        return self._divergence(state, state.classes.released, 0)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return math.fsum(
            max(
                mean_bits(tuples, c.name, level) - entropy_of_column(tuples, c.name, level) / tuples.num_rows,
                0,
            )
            for c, level in zip(columns, levels, strict=True)
        )

    def _divergence(self, state: ClassState, kept: Mask, suppressed: int) -> float:
        classes = state.classes
        names = tuple(column.name for column in classes.quasi_identifiers)
        domain = bits_of_domain(classes.tuples, classes.quasi_identifiers)
        bits = bits_of_classes(classes)
        surprise = _surprise(classes.sizes, bits, kept, suppressed, domain, classes.num_rows)
        return max(surprise - entropy_of_rows(classes.tuples, names), 0.0)


@compiled
def _surprise(sizes: Counts, bits: Bits, kept: Mask, suppressed: int, domain: float, rows: int) -> float:
    """The sum of p(x) log2 1/q(x): all combinations of a class have the same q."""
    # All combinations of a class have the same q, so one logarithm for each class is enough. Suppressed rows
    # may be anywhere in the domain and add their part to every q, which must happen before its logarithm is
    # taken.
    total = 0.0
    for index in range(len(sizes)):
        if kept[index]:
            expected = float(sizes[index])
            if suppressed > 0:
                expected += suppressed * np.exp2(bits[index] - domain)
            total += sizes[index] * (np.log2(rows / expected) + bits[index])
    if suppressed > 0:
        total += suppressed * (np.log2(rows / suppressed) + domain)
    return total / rows
