"""How large the classes are: the distribution of their sizes and what it means for the people in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BEGINS = (1, 2, 3, 5, *(step * 10**power for power in range(1, 13) for step in (1, 2, 5)))
"""Where the bins of the histogram begin."""


@dataclasses.dataclass(frozen=True)
class SizeBin:
    """The classes with `least` to `most` rows."""

    least: int
    most: int
    classes: int
    rows: int


@dataclasses.dataclass(frozen=True)
class ClassSizes:
    """The sizes of the classes of a table.

    Attributes:
        smallest: k, the size of the smallest class.
        largest: the size of the largest class.
        average: rows per class.
        quantiles: the size that this share of the classes does not exceed.
        histogram: classes and rows by size; the first and the last bin are not empty.
        uniques: rows that share their combination of values with nobody.
        prosecutor_max: the highest chance to find the row of a person who is known to be in the table.
        prosecutor_mean: the same chance on average over all rows.
    """

    smallest: int
    largest: int
    average: float
    quantiles: Mapping[float, int]
    histogram: tuple[SizeBin, ...]
    uniques: int
    prosecutor_max: float
    prosecutor_mean: float


def class_sizes(sizes: npt.NDArray[np.int64]) -> ClassSizes:
    """Describe the sizes of the classes, all of them at least 1.

    >>> described = class_sizes(np.array([1, 1, 4]))
    >>> described.smallest, described.average, described.uniques, described.prosecutor_mean
    (1, 2.0, 2, 0.5)
    >>> [(bin.least, bin.most, bin.classes, bin.rows) for bin in described.histogram]
    [(1, 1, 2, 2), (2, 2, 0, 0), (3, 4, 1, 4)]
    """
    rows = int(sizes.sum())
    quantiles = np.quantile(sizes, QUANTILES, method="inverted_cdf")
    return ClassSizes(
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        average=rows / len(sizes),
        quantiles={share: int(size) for share, size in zip(QUANTILES, quantiles, strict=True)},
        histogram=_histogram(sizes),
        uniques=int(np.count_nonzero(sizes == 1)),
        prosecutor_max=1 / int(sizes.min()),
        # Every class adds one to the sum over its rows of 1 / size.
        prosecutor_mean=len(sizes) / rows,
    )


def _histogram(sizes: npt.NDArray[np.int64]) -> tuple[SizeBin, ...]:
    place = np.searchsorted(BEGINS, sizes, side="right") - 1
    classes = np.bincount(place)
    rows = np.bincount(place, weights=sizes)
    return tuple(
        SizeBin(BEGINS[i], BEGINS[i + 1] - 1, int(classes[i]), int(rows[i]))
        for i in range(int(place.min()), int(place.max()) + 1)
    )
