"""Random choices that a promise rests on: from the operating system, or from a seed for tests."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from tarnkappe.table.encoding import Codes, Counts


class Chance:
    """A source of random orders.

    >>> Chance(seed=1).order(4).tolist() == Chance(seed=1).order(4).tolist()
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seeded = None if seed is None else np.random.default_rng(seed)

    def keys(self, number: int) -> npt.NDArray[np.uint64]:
        """Random numbers of 64 bits; sorting by them is a fair shuffle."""
        raw = os.urandom(8 * number) if self._seeded is None else self._seeded.bytes(8 * number)
        return np.frombuffer(raw, dtype=np.uint64)

    def order(self, number: int) -> Counts:
        """A random permutation."""
        return np.argsort(self.keys(number)).astype(np.int64)

    def order_within(self, groups: Codes) -> Counts:
        """Rows by group, and inside each group in a random order."""
        return np.lexsort((self.keys(len(groups)), groups)).astype(np.int64)

    def trade_within(self, groups: Codes) -> Counts:
        """For each row a row of the same group: in every group a uniform random permutation.

        >>> Chance(seed=2).trade_within(np.array([0, 1, 0, 1, 1], np.int32)).tolist()[1] in (1, 3, 4)
        True
        """
        traded = np.empty(len(groups), np.int64)
        traded[np.argsort(groups, kind="stable")] = self.order_within(groups)
        return traded
