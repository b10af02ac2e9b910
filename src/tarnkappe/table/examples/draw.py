"""Random draws that are the same on every platform.

Every column of an example has a stream of its own (PCG64, whose output numpy keeps stable), and a row
takes one number of it. So the data do not depend on the size of the batches in which they are made.
Values are chosen by comparing integers: nothing rests on the last bit of a floating point number.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Uniform = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float64]

RESOLUTION = 2**32


class Streams:
    """Independent streams of uniform random numbers, one per name.

    >>> whole, parts = Streams(7, "demo"), Streams(7, "demo")
    >>> joined = np.concatenate([parts.uniform("age", 2), parts.uniform("age", 3)])
    >>> bool((whole.uniform("age", 5) == joined).all())
    True
    """

    def __init__(self, seed: int, family: str) -> None:
        self._seed = seed
        self._family = family
        self._generators: dict[str, np.random.Generator] = {}

    def uniform(self, name: str, rows: int) -> Uniform:
        """The next numbers of a stream, each at least 0 and below 1."""
        if name not in self._generators:
            entropy = [self._seed, zlib.crc32(f"{self._family}/{name}".encode())]
            self._generators[name] = np.random.Generator(np.random.PCG64(entropy))
        return self._generators[name].random(rows)


class Choice:
    """Chooses one of several values with given weights, which may depend on a context.

    A value of weight 0 is never chosen.

    >>> by_sex = Choice([[0.0, 1.0], [1.0, 1.0]])
    >>> by_sex.draw(np.array([0.3, 0.3, 0.9]), np.array([0, 1, 1])).tolist()
    [1, 0, 1]
    """

    def __init__(self, weights: Sequence[float] | Sequence[Sequence[float]] | Weights) -> None:
        matrix = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        sums = np.cumsum(matrix, axis=1)
        parts = np.rint(sums / sums[:, -1:] * RESOLUTION).astype(np.int64)
        contexts = np.arange(len(matrix), dtype=np.int64)[:, np.newaxis]
        self._num_values = matrix.shape[1]
        self._bounds = (parts + contexts * RESOLUTION).ravel()

    def draw(self, uniform: Uniform, context: npt.NDArray[np.integer] | None = None) -> Codes:
        """One value per number, in the context of its row."""
        keys = (uniform * RESOLUTION).astype(np.int64)
        contexts = np.zeros_like(keys) if context is None else context.astype(np.int64)
        found = np.searchsorted(self._bounds, keys + contexts * RESOLUTION, side="right")
        return np.asarray(found - contexts * self._num_values, dtype=np.int32)


def zipf(count: int, exponent: float) -> Weights:
    """Weights that fall with the rank, as sizes of towns and frequencies of names do.

    >>> zipf(4, 1.0).round(2).tolist()
    [1.0, 0.5, 0.33, 0.25]
    """
    return np.arange(1, count + 1, dtype=np.float64) ** -exponent
