"""The class sizes of a sample as frequencies, and the functions that estimators compute with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

Numbers = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Frequencies:
    """The class sizes of a sample that occur, how many classes have them, and the size of the population."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    population: int

    @property
    def rows(self) -> int:
        """The number n of rows in the sample."""
        return sum(size * count for size, count in zip(self.sizes, self.counts, strict=True))

    @property
    def classes(self) -> int:
        """The number u of classes in the sample."""
        return sum(self.counts)

    def of_size(self, size: int) -> int:
        """The number of classes of one size."""
        return self.counts[self.sizes.index(size)] if size in self.sizes else 0

    @property
    def fraction(self) -> float:
        """The sampled fraction of the population."""
        return self.rows / self.population

    @property
    def arrays(self) -> tuple[Numbers, Numbers]:
        """The sizes and how many classes have them."""
        return np.array(self.sizes, dtype=np.float64), np.array(self.counts, dtype=np.float64)


def log_choose(n: Numbers | float, k: Numbers | float) -> Numbers:
    """The logarithm of a binomial coefficient."""
    return np.asarray(
        log_gamma(np.add(n, 1.0)) - log_gamma(np.add(k, 1.0)) - log_gamma(np.subtract(n, k) + 1.0)
    )


def log_gamma(x: Any) -> Any:
    """The logarithm of the gamma function."""
    return scipy.special.gammaln(x)


def digamma(x: Any) -> Any:
    """The derivative of the logarithm of the gamma function."""
    return scipy.special.digamma(x)


def trigamma(x: Any) -> Any:
    """The second derivative of the logarithm of the gamma function."""
    return scipy.special.zeta(2, x)


def root(function: Callable[[float], float], low: float, high: float, xtol: float = 2e-12) -> float:
    """Where a function that changes its sign between two places is 0."""
    return float(scipy.optimize.brentq(function, low, high, xtol=xtol))
