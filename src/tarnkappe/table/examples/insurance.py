"""Insurance numbers: a letter, nine digits and a check digit.

Real German numbers have one digit less, so none of these can be anybody's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.table.examples.draw import Streams

Numbers = npt.NDArray[np.uint64]

LETTERS = 26
DIGITS = 9
NUMBERS = LETTERS * 10**DIGITS
LOW = 10**5
HIGH = NUMBERS // LOW
LENGTH = 1 + DIGITS + 1


class InsuranceNumbers:
    """Different numbers for different rows, in no visible order.

    The number of a row is a permutation of its place: the two halves of the place are in turn shifted
    by a mix of the other half (a Feistel network), and each such step can be undone. So the numbers
    repeat only after all 26 billion of them.
    """

    def __init__(self, streams: Streams) -> None:
        self._keys = (streams.uniform("insurance", 6) * 2**32).astype(np.uint64)

    def numbers(self, start: int, rows: int) -> pa.Array:
        """The numbers of a stretch of rows."""
        letters, rest = np.divmod(self._shuffled(start, rows), np.uint64(10**DIGITS))
        digits = np.empty((rows, 2 + DIGITS), dtype=np.uint8)
        digits[:, 0], digits[:, 1] = np.divmod(letters + np.uint64(1), np.uint64(10))
        for place in reversed(range(2, 2 + DIGITS)):
            rest, digits[:, place] = np.divmod(rest, np.uint64(10))
        text = np.empty((rows, LENGTH), dtype=np.uint8)
        text[:, 0] = ord("A") + letters.astype(np.uint8)
        text[:, 1:-1] = ord("0") + digits[:, 2:]
        text[:, -1] = ord("0") + check_digits(digits)
        offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(LENGTH)
        return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text))

    def _shuffled(self, start: int, rows: int) -> Numbers:
        places = (np.uint64(start) + np.arange(rows, dtype=np.uint64)) % np.uint64(NUMBERS)
        high, low = np.divmod(places, np.uint64(LOW))
        for key_of_low, key_of_high in self._keys.reshape(-1, 2):
            high = (high + _mixed(low, key_of_low)) % np.uint64(HIGH)
            low = (low + _mixed(high, key_of_high)) % np.uint64(LOW)
        return high * np.uint64(LOW) + low


def _mixed(values: Numbers, key: np.uint64) -> Numbers:
    return (values + key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(36)


def check_digits(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The check digit of each row of digits; the letter stands as its place in the alphabet, 01 to 26.

    The digits are multiplied by 1 and 2 in turn. The digits of the products are summed; the last
    digit of the sum is the check digit.

    >>> check_digits(np.array([[0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 7]], dtype=np.uint8)).tolist()
    [7]
    """
    products = digits * np.resize(np.array([1, 2], dtype=np.uint8), digits.shape[1])
    sums = (products // 10 + products % 10).sum(axis=1)
    return np.asarray(sums % 10, dtype=np.uint8)
