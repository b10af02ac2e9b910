"""Shares of values in classes, compared with bounds exactly.

A bound is the decimal number or the fraction ('1/3') that the user wrote. Shares are quotients of counts,
so that every comparison is made in whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tarnkappe.privacy.exact import Exact, decimal
from tarnkappe.privacy.model import Measure, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.table import Distribution
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts, sum_by_group

MAX_INT64 = 2**63 - 1
SHARES_OF_MERGED_GROUPS = Monotonicity(
    True,
    False,
    "The share of a value in a merged group lies between its shares in the parts; "
    "but a class that was suppressed can spoil the group it is merged with.",
)
"""What a model that bounds shares in groups of people says of itself."""


def require_share(model: str, parameter: str, number: object, *, above_zero: bool = False) -> None:
    """Refuse anything but a number from 0 to 1, a fraction such as '1/3' included."""
    try:
        share = decimal(number) if isinstance(number, int | float | str | Fraction) else None
    except (ValueError, ZeroDivisionError):
        share = None
    good = share is not None and not isinstance(number, bool) and 0 <= share <= 1
    require(
        good,
        "privacy.needs-0-1-fraction",
        "{model} needs a {parameter} from 0 to 1 (a fraction like '1/3' will do), not {number!r}",
        model=model,
        parameter=parameter,
        number=number,
    )
    require(
        not above_zero or share != 0,
        "privacy.needs-above-0",
        "{model} needs a {parameter} above 0",
        model=model,
        parameter=parameter,
    )


def ratios_at_most(parts: Counts, wholes: Counts, bound: Exact) -> Mask:
    """Where part / whole is at most the bound, in whole numbers; nothing of nothing always is.

    >>> ratios_at_most(np.array([1, 2, 0]), np.array([3, 3, 0]), "1/3").tolist()
    [True, False, True]
    """
    return _at_most(parts, decimal(bound).denominator, wholes, decimal(bound).numerator)


def ratios_at_least(parts: Counts, wholes: Counts, bound: Exact) -> Mask:
    """Where part / whole is at least the bound, in whole numbers; nothing of nothing always is."""
    return _at_most(wholes, decimal(bound).numerator, parts, decimal(bound).denominator)


def _at_most(left: Counts, left_factor: int, right: Counts, right_factor: int) -> Mask:
    """Where left x left_factor <= right x right_factor, whatever the size of the products."""
    largest = max(int(left.max(initial=0)) * left_factor, int(right.max(initial=0)) * right_factor)
    if largest <= MAX_INT64:
        return np.asarray(left * left_factor <= right * right_factor, dtype=bool)
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return np.array([a * left_factor <= b * right_factor for a, b in pairs], dtype=bool)


def quotients(parts: Counts, wholes: Counts) -> Measure:
    """Part / whole as floating point; nothing of nothing is 0."""
    return np.divide(parts, wholes, out=np.zeros(len(parts)), where=wholes > 0)


def size_of_entry(distribution: Distribution) -> Counts:
    """For each entry of a distribution the number of visible values in its class."""
    return distribution.sizes[distribution.class_of_entry]


def largest_share(distribution: Distribution, among: Mask | None = None) -> Measure:
    """The share of the most frequent value of each class, of all values or some; 0 if there is none."""
    chosen = _chosen(distribution, among)
    largest = np.zeros(distribution.num_classes)
    shares = quotients(distribution.counts[chosen], size_of_entry(distribution)[chosen])
    np.maximum.at(largest, distribution.class_of_entry[chosen], shares)
    return largest


def every_share_at_most(distribution: Distribution, bound: Exact, among: Mask | None = None) -> Mask:
    """The classes in which the share of every value, or of some values, is at most the bound."""
    chosen = _chosen(distribution, among)
    good = ratios_at_most(distribution.counts[chosen], size_of_entry(distribution)[chosen], bound)
    return no_entry(distribution, chosen[~good])


def no_entry(distribution: Distribution, entries: Counts) -> Mask:
    """The classes to which none of the entries belongs."""
    classes = np.ones(distribution.num_classes, dtype=bool)
    classes[distribution.class_of_entry[entries]] = False
    return classes


def counts_of(distribution: Distribution, label: str) -> Counts:
    """How often one value occurs in each class."""
    codes = [code for code, known in enumerate(distribution.column.labels) if known == label]
    entries = np.isin(distribution.codes, codes)
    return sum_by_group(
        distribution.class_of_entry[entries], distribution.counts[entries], distribution.num_classes
    )


def codes_of(distribution: Distribution, labels: tuple[str, ...]) -> Mask | None:
    """Which codes of the column stand for the given values; None, for all, if none are given."""
    if not labels:
        return None
    return np.array([label in labels for label in distribution.column.labels], dtype=bool)


def _chosen(distribution: Distribution, among: Mask | None) -> Counts:
    if among is None:
        return np.arange(len(distribution.codes))
    return np.flatnonzero(among[distribution.codes])
