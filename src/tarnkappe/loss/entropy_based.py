"""Entropy-based loss: which share of what a row told is left open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from tarnkappe.loss.factor import FACTOR, prices
from tarnkappe.loss.leaves import bits_of_classes, bits_of_domain, mean_bits
from tarnkappe.loss.measure import Loss
from tarnkappe.schema import Share, param
from tarnkappe.table import Classes, ClassState, Column, Tuples


def shares_left_open(classes: Classes) -> npt.NDArray[np.float64]:
    """For each class, the share of what its rows told that is left open: 0 if nothing, 1 if all is.

    A label with L leaves leaves log L open of the log D that a column of D leaves tells; the share is the sum
    of log L over the columns / the sum of log D.
    """
    domain = bits_of_domain(classes.tuples, classes.quasi_identifiers)
    return bits_of_classes(classes) / domain if domain else np.zeros(classes.num_classes)


def mean_share_left_open(tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
    """The mean of this share over all rows, which the levels alone tell: logarithms add up."""
    domain = bits_of_domain(tuples, columns)
    open_bits = (mean_bits(tuples, column.name, at) for column, at in zip(columns, levels, strict=True))
    return sum(open_bits) / domain if domain else 0.0


class EntropyBased(Loss):
    """The sum over all rows of the share of their information that is lost (Wan et al. 2015,
    https://doi.org/10.1371/journal.pone.0120592); a suppressed row loses all, so it counts 1.

    With L leaves under a label and D in its hierarchy, a kept row loses the sum over the columns of log L /
    the sum of log D. A `factor` f multiplies kept rows by g = min(1, 2 - 2f) and suppressed ones by
    s = min(1, 2f).

    Monotone only without suppression: a label has no fewer leaves than those under it, but with suppression
    a generalization may save rows that counted fully.

    Lower bound: the sum of min(g x share, s), since a row is charged one of the two and generalization lowers
    no share. From the levels: min(g, s) x the sum of the shares, which is no more, since no share exceeds 1.
    """

    name = "entropy-based"
    cites = ("wan2015",)
    considers_suppression = True

    factor: Annotated[Share | None, param(FACTOR, kind="share")] = None

    @classmethod
    def examples(cls) -> tuple[Self, ...]:
        return (cls(), cls(factor=0.25), cls(factor=0.75))

    @property
    def measures_cells(self) -> bool:
        return True

    @property
    def may_prefer_suppression(self) -> bool:
        of_suppression, of_generalization = prices(self.factor)
        return of_suppression < of_generalization

    def __call__(self, state: ClassState) -> float:
        of_suppression, of_generalization = prices(self.factor)
        kept = float((state.classes.sizes * shares_left_open(state.classes)) @ state.kept)
        return of_generalization * kept + of_suppression * state.suppressed_rows

    def monotone(self, *, criterion_monotone: bool, suppression: bool) -> bool:
        return not suppression

    def lower_bound(self, state: ClassState, *, least_size: int = 1) -> float:
        del least_size
        of_suppression, of_generalization = prices(self.factor)
        least = np.minimum(of_generalization * shares_left_open(state.classes), of_suppression)
        return float(state.classes.sizes @ least)

    def lower_bound_at(self, tuples: Tuples, columns: Sequence[Column], levels: Sequence[int]) -> float:
        return min(prices(self.factor)) * tuples.num_rows * mean_share_left_open(tuples, columns, levels)
