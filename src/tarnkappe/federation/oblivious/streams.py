"""Key streams: random words that two parties expand from a common key, each stream once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES128
from cryptography.hazmat.primitives.ciphers.modes import CTR

from tarnkappe.errors import ProtocolError

Words = npt.NDArray[np.uint64]

KEY_SIZE = 16
NUMBER_SIZE, BLOCK_SIZE = 4, 16
WORD_SIZE = 8


class KeyStream:
    """AES-128 in counter mode; the counter is the number of the stream (4 bytes) and of the block (12).

    Two secrets under one stream would tell their difference, so each number is greater than the one before.

    >>> KeyStream(bytes(range(16))).words(0, 4).tobytes().hex()
    'c6a13b37878f5b826f4f8162a1c8d8797346139595c0b41e497bbde365f42d0a'

    Args:
        key: 16 secret bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = AES128(key)
        self._last = -1

    def words(self, number: int, count: int) -> Words:
        """So many words of a stream; a stream that was used before is refused."""
        if not self._last < number < 1 << 8 * NUMBER_SIZE:
            raise ProtocolError(
                "federation.stream-random-bits-would-used",
                "a stream of random bits would be used twice: the run ends",
            )
        self._last = number
        start = number.to_bytes(NUMBER_SIZE) + bytes(BLOCK_SIZE - NUMBER_SIZE)
        stream = Cipher(self._key, CTR(start)).encryptor()
        found = np.frombuffer(stream.update(bytes(count * WORD_SIZE)), "<u8")
        return found.astype(np.uint64, copy=False)
