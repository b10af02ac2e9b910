"""What the sensitive values of a group of people must keep, asked of their counts.

A cohort or a group tells the multiset of its values and no more. So every condition is one on counts: how
many values there are, how the most frequent one compares with the others, and how far the shares are from
those of everybody. The conditions are those of `privacy/`, where each has its paper: distinct, entropy and
recursive diversity (Machanavajjhala et al. 2007, doi:10.1145/1217299.1217302), closeness (Li et al. 2007,
doi:10.1109/ICDE.2007.367856).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tarnkappe.exchange.policy import ValueLimits
from tarnkappe.table.classes import Mask

Counts = npt.NDArray[np.int64]

ROUNDING = 1e-9


def keeps(counts: Counts, limits: ValueLimits, everybody: Counts, *, ordered: bool = False) -> Mask:
    """Which groups keep the limits; one without people does.

    >>> limits = ValueLimits(l=2, share=0.8)
    >>> keeps(np.array([[99, 1], [8, 2], [5, 0], [0, 0]]), limits, np.array([60, 40])).tolist()
    [False, True, False, True]

    Args:
        counts: for each group, how many people have each value.
        limits: what must be kept.
        everybody: the same of everybody, which closeness compares with.
        ordered: whether the values are numbers in their order.
    """
    counts = np.atleast_2d(np.asarray(counts, dtype=np.int64))
    people = counts.sum(axis=1)
    held = ((counts > 0).sum(axis=1) >= limits.l) & (
        counts.max(axis=1, initial=0) <= limits.share * people + ROUNDING
    )
    if limits.diversity == "entropy":
        held &= effective_values(counts) >= limits.l - ROUNDING
    elif limits.diversity.startswith("recursive"):
        falling = -np.sort(-counts, axis=1)
        held &= falling[:, 0] < limits.recursive * falling[:, limits.l - 1 :].sum(axis=1)
    if limits.closeness:
        held &= distances(counts, everybody, ordered=ordered) <= limits.closeness + ROUNDING
    return np.asarray(held | (people == 0))


def effective_values(counts: Counts) -> npt.NDArray[np.float64]:
    """The exponential of the entropy of each group: as many equally frequent values would have it.

    >>> effective_values(np.array([[99, 1]])).round(4).tolist()
    [1.0576]
    """
    shares = _shares(counts)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(np.exp(-(shares * logs).sum(axis=1)))


def distances(counts: Counts, everybody: Counts, *, ordered: bool) -> npt.NDArray[np.float64]:
    """How far the shares of each group are from everybody's, by the Earth Mover's distance.

    >>> distances(np.array([[1, 0, 0]]), np.array([1, 1, 2]), ordered=False).tolist()
    [0.75]
    >>> distances(np.array([[1, 0, 0]]), np.array([1, 1, 2]), ordered=True).tolist()
    [0.625]
    """
    gaps = _shares(counts) - _shares(np.atleast_2d(everybody))
    if not ordered:
        return np.asarray(np.abs(gaps).sum(axis=1) / 2)
    return np.asarray(np.abs(np.cumsum(gaps, axis=1)).sum(axis=1) / max(counts.shape[1] - 1, 1))


def _shares(counts: Counts) -> npt.NDArray[np.float64]:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def to_hide(conspicuous: int, others: int, cover: float) -> int:
    """How many other cells of a group are hidden beside the conspicuous ones.

    >>> to_hide(3, 10, 0.5), to_hide(2, 10, 0.25), to_hide(3, 2, 0.5), to_hide(0, 5, 0.5)
    (3, 6, 2, 0)
    """
    return min(others, math.ceil(conspicuous * (1 - cover) / cover - 1e-9))
