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
        """A random permutation: the rows in the order of their keys.

        Sorting numbers takes less than half the time of sorting places by them. So the high bits of a key
        stand before the place in one number, and rows that agree in those are put in order by their whole
        keys: the result is that of sorting by the keys.
        """
        keys = self.keys(number)
        bits = np.uint64(max(number - 1, 1).bit_length())
        packed = (keys >> bits << bits) | np.arange(number, dtype=np.uint64)
        packed.sort()
        order = (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
        packed >>= bits
        tied = np.flatnonzero(packed[1:] == packed[:-1])
        for run in np.split(tied, np.flatnonzero(np.diff(tied) > 1) + 1) if len(tied) else ():
            equal = slice(int(run[0]), int(run[-1]) + 2)
            order[equal] = order[equal][np.argsort(keys[order[equal]], kind="stable")]
        return order

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
