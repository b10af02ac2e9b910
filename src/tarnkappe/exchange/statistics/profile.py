"""What the statistics say of the values of a selection: how frequent each is, as far as that is known.

Statistics come in their own words (`40-49`), packages in others (`45`, `40-59`). A share is therefore known
between two bounds: everything that surely belongs to a label, and everything that may belong to it. A flag is
raised only where the bounds prove it, and what they do not decide counts as unknown, never as harmless.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tarnkappe.exchange.statistics.store import PopulationDistribution
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk.cells import Range, read_cell
from tarnkappe.table import MISSING, SUPPRESSED
from tarnkappe.table.encoding import Codes

Shares = npt.NDArray[np.float64]


class Fits(Enum):
    """How a value of the statistics relates to a label of a package."""

    INSIDE = "all people with the value have the label"
    OUTSIDE = "none of them has"
    PARTLY = "some of them may have"


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds:
    """The share of each label in the population, between two bounds."""

    low: Shares
    high: Shares


def bounds(distribution: PopulationDistribution, labels: Sequence[str], hierarchy: Hierarchy) -> Bounds:
    """How frequent each label of an attribute is, by the distribution of this attribute alone."""
    values = [value for (value,) in distribution.shares]
    shares = np.array(list(distribution.shares.values()))
    words = Words(hierarchy, values)
    low, high = np.zeros(len(labels)), np.zeros(len(labels))
    for place, label in enumerate(labels):
        fits = words.fits(label)
        inside, partly = ([each is kind for each in fits] for kind in (Fits.INSIDE, Fits.PARTLY))
        low[place] = shares[inside].sum() - distribution.margin * sum(inside)
        high[place] = shares[inside].sum() + shares[partly].sum()
        high[place] += distribution.margin * (sum(inside) + sum(partly))
        high[place] += 0.0 if label in words else distribution.unknown
    return Bounds(np.maximum(low, 0.0), np.minimum(high, 1.0))


def joint_bound(
    distribution: PopulationDistribution,
    labels: Mapping[str, Sequence[str]],
    hierarchies: Mapping[str, Hierarchy],
    codes: Mapping[str, Codes],
) -> Shares:
    """At most how frequent each combination of labels is, by a joint distribution of their attributes.

    Args:
        distribution: the joint distribution.
        labels: the labels of each of its attributes.
        hierarchies: how each generalizes.
        codes: for each attribute, the label of every combination, by its place among the labels.
    """
    keys, shares = list(distribution.shares), np.array(list(distribution.shares.values()))
    may_have = np.ones((len(keys), len(next(iter(codes.values())))), dtype=bool)
    for place, name in enumerate(distribution.attributes):
        values = list(dict.fromkeys(key[place] for key in keys))
        words = Words(hierarchies[name], values)
        fits = np.array([[f is not Fits.OUTSIDE for f in words.fits(label)] for label in labels[name]])
        rows = np.array([values.index(key[place]) for key in keys])
        may_have &= fits[:, rows].T[:, codes[name]]
    return np.minimum((shares + distribution.margin) @ may_have + distribution.unknown, 1.0)


def ratios(given: PopulationDistribution, everybody: PopulationDistribution) -> dict[str, float]:
    """How many times more frequent each value is under a condition than among everybody, at the least.

    What may be due to the margins of both is not counted.
    """
    return {
        value: _ratio(share, given.margin, everybody.shares[(value,)], everybody.margin)
        for (value,), share in given.shares.items()
        if everybody.shares.get((value,), 0) > everybody.margin
    }


def _ratio(share: float, off: float, usual: float, usual_off: float) -> float:
    more, less = (share - off) / (usual + usual_off), (share + off) / (usual - usual_off)
    return more if more > 1 else less if less < 1 else 1.0


class Words:
    """Understands the words of the statistics by the hierarchy of a column, or as numbers and ranges."""

    def __init__(self, hierarchy: Hierarchy, values: Sequence[str]) -> None:
        self._values = tuple(values)
        self._under: dict[str, set[int]] = {}
        for place, row in enumerate(hierarchy.rows()):
            for label in row[:-1]:
                self._under.setdefault(MISSING if label is None else label, set()).add(place)

    def __contains__(self, label: object) -> bool:
        return label in self._values

    def fits(self, label: str) -> list[Fits]:
        """How each value of the statistics relates to a label."""
        if label in self._values:  # the values of one distribution exclude each other
            return [Fits.INSIDE if value == label else Fits.OUTSIDE for value in self._values]
        return [self._fits(value, label) for value in self._values]

    def _fits(self, value: str, label: str) -> Fits:
        if label == SUPPRESSED:
            return Fits.INSIDE
        by_size = compared(value, label)
        if by_size is not None:
            return by_size
        inner, outer = self._under.get(value), self._under.get(label)
        if inner is None or outer is None:
            return Fits.PARTLY
        if inner <= outer:
            return Fits.INSIDE
        return Fits.PARTLY if inner & outer else Fits.OUTSIDE


def as_range(text: str) -> Range | None:
    """A number or a range of numbers, if it is one."""
    cell = read_cell(text)
    if cell.range is not None:
        return cell.range
    try:
        number = float(text)
    except ValueError:
        return None
    return Range(number, number)


@lru_cache(maxsize=1 << 16)
def compared(value: str, label: str) -> Fits | None:
    """How a value relates to a label, if both are numbers or ranges."""
    inner, outer = as_range(value), as_range(label)
    if inner is None or outer is None:
        return None
    common = inner.meet(outer)
    if common is None:
        return Fits.OUTSIDE
    return Fits.INSIDE if common == inner else Fits.PARTLY
