"""Summary statistics of a column by its scale, of the original and of a release as its reader takes it.

A reader spreads a generalized cell over the values that it may stand for, so a column of a release is a
distribution over the values of its domain. Its variance is that of the expected values of the rows plus the
mean variance within cells. On exact values every figure is the usual one.
"""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa

from tarnkappe.utility.domain import ColumnDomain, Weights
from tarnkappe.utility.view import ReleaseReader


class Scale(StrEnum):
    """What may be said of the values of a column: each scale allows all that those before it do."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


@dataclasses.dataclass(frozen=True)
class Summary:
    """What summarizes a column; what its scale does not allow is None.

    Attributes:
        mode: the place of the most frequent value in the domain.
        distinct: how many different words there are.
        median: and the quartiles and ends, with linear interpolation; dates in seconds since 1970.
        variance: of the rows as a sample; `population_variance` takes them for everybody.
        skewness: and `kurtosis` (0 for a normal distribution), both corrected for the number of rows.
        geometric_mean: where all numbers are above 0.
    """

    mode: int
    distinct: int
    least: float | None = None
    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    greatest: float | None = None
    range: float | None = None
    mean: float | None = None
    variance: float | None = None
    population_variance: float | None = None
    deviation: float | None = None
    skewness: float | None = None
    kurtosis: float | None = None
    geometric_mean: float | None = None


def scale_of(domain: ColumnDomain) -> Scale:
    """The scale of a column: dates have an order, numbers above 0 ratios; anything else is nominal."""
    numbers = domain.numbers
    if numbers is None:
        return Scale.NOMINAL
    if pa.types.is_temporal(domain.column.values.type) or not domain.summable:
        return Scale.ORDINAL
    return Scale.RATIO if bool((numbers[~np.isnan(numbers)] > 0).all()) else Scale.INTERVAL


def summary(view: ReleaseReader, name: str) -> Summary:
    """What summarizes a column of a view."""
    domain, counts = view.domains[name], view.marginal(name)
    scale = scale_of(domain)
    found = Summary(int(counts.argmax()), len(np.unique(view.cells[name].words)))
    numbers = domain.numbers
    if numbers is None:
        return found
    there = ~np.isnan(numbers) & (counts > 0)
    values, counts = numbers[there], counts[there]
    if not len(values):
        return found
    least, lower, median, upper, greatest = (quantile(values, counts, q) for q in (0, 0.25, 0.5, 0.75, 1))
    found = dataclasses.replace(
        found, least=least, lower_quartile=lower, median=median, upper_quartile=upper, greatest=greatest
    )
    if scale is Scale.ORDINAL:
        return found
    moments = _moments(values, counts)
    found = dataclasses.replace(found, range=greatest - least, **moments)
    if scale is Scale.RATIO:
        mean_log = float(counts @ np.log(values)) / float(counts.sum())
        found = dataclasses.replace(found, geometric_mean=math.exp(mean_log))
    return found


def quantile(values: Weights, counts: Weights, share: float) -> float:
    """A quantile of values that occur so often, with linear interpolation between neighbours.

    >>> quantile(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    reached, place = np.cumsum(counts[order]), share * max(float(counts.sum()) - 1, 0.0)
    last = len(values) - 1
    below = min(int(np.searchsorted(reached, math.floor(place) + 1e-9, "right")), last)
    above = min(int(np.searchsorted(reached, math.ceil(place) + 1e-9, "right")), last)
    low, high = float(values[order[below]]), float(values[order[above]])
    return low + (high - low) * (place - math.floor(place))


def _moments(values: Weights, counts: Weights) -> dict[str, Any]:
    number = float(counts.sum())
    mean = float(counts @ values) / number
    off = values - mean
    second, third, fourth = (float(counts @ off**power) / number for power in (2, 3, 4))
    sample = second * number / (number - 1) if number > 1 else None
    found: dict[str, Any] = {
        "mean": mean,
        "variance": sample,
        "population_variance": second,
        "deviation": None if sample is None else math.sqrt(sample),
        "skewness": None,
        "kurtosis": None,
    }
    if second > 0 and number > 2:
        found["skewness"] = third / second**1.5 * math.sqrt(number * (number - 1)) / (number - 2)
    if second > 0 and number > 3:
        excess = fourth / second**2 - 3
        found["kurtosis"] = ((number + 1) * excess + 6) * (number - 1) / ((number - 2) * (number - 3))
    return found
