"""An array that grows at its end (and shrinks again), with its rows in one block of memory."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


class Growing(Generic[Scalar]):
    """A list of rows as one contiguous array; adding a row costs constant time on average."""

    def __init__(self, dtype: type[Scalar], columns: int | None = None) -> None:
        self._block: NDArray[Scalar] = np.zeros((0,) if columns is None else (0, columns), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> NDArray[Scalar]:
        """The rows so far, without copying; valid until the next row is added."""
        return self._block[: self._size]

    def add(self, rows: NDArray[np.generic]) -> None:
        """Add rows at the end."""
        size = self._size + len(rows)
        if size > len(self._block):
            block = np.zeros((max(size, 2 * self._size, 16), *self._block.shape[1:]), dtype=self._block.dtype)
            block[: self._size] = self.rows
            self._block = block
        self._block[self._size : size] = cast("NDArray[Scalar]", rows)
        self._size = size

    def cut(self, size: int) -> None:
        """Drop all rows after the first so many."""
        self._size = min(self._size, size)
