"""Keyed randomness: what an engine draws at random is a hash, under a key that nobody else has.

An engine's own `random()` is predictable after a few outputs, differs from run to run of the same statement
and is not the same in any two engines. Here every cell that is noised and every row that is permuted has its
own number between 0 and 1: the SHA-256 of a secret and the row's id, read as a binary fraction of 256 digits.
The secret is derived (HMAC) from the key of the release for one operator of the plan and one purpose, so two
operators, two columns and two releases draw independently. Whoever lacks the key can tell a drawn number from
a true random one only by breaking the hash.

Engines compare the number with probabilities as texts of 64 hexadecimal digits, which compare as the numbers
do: there is no rounding but that of the 256 digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tarnkappe.errors import ParameterError

if TYPE_CHECKING:  # only a query that draws needs them, and they take longer to load than all else
    from tarnkappe.recoding.randomness import Chance
    from tarnkappe.state.key import Key

KEY_BYTES = 32
BITS = 256
DIGITS = BITS // 4
SECRET_DIGITS = 32
"""Of a derived secret: 128 bits. With an id behind it, it fits into one block of the hash."""

Path = tuple[int, ...]
"""Where an operator stands in a plan: which child, from the root down."""


class Randomness:
    """All chance of one release, from its key; without a key, a fresh one of the operating system."""

    def __init__(self, key: bytes | None = None) -> None:
        self._given = key
        if key is not None and len(key) != KEY_BYTES:
            raise ParameterError(
                "algebra.key-release-bytes",
                "the key of a release has {key_bytes} bytes, not {key}",
                key_bytes=KEY_BYTES,
                key=len(key),
            )

    @cached_property
    def _key(self) -> Key:
        from tarnkappe.state.key import Key

        return Key.new() if self._given is None else Key(self._given)

    def secret(self, path: Path, purpose: str) -> str:
        """What the hashes of one operator and one purpose (a column, a set of columns) begin with."""
        return self._key.derived("algebra", ".".join(map(str, path)), purpose).hex()[:SECRET_DIGITS]

    def chance(self, purpose: str) -> Chance:
        """Draws outside of the engine: from a given key, or else from the operating system."""
        from tarnkappe.recoding.randomness import Chance

        if self._given is None:
            return Chance()
        return Chance(int.from_bytes(self._key.derived("algebra", purpose), "big"))


def id_text(ids: Sequence[int]) -> str:
    """A row's id as it is hashed: numbers with dots between them."""
    return ".".join(map(str, ids))


def threshold(share: Fraction) -> str | None:
    """The digits below which a hash stands for a number less than a share; None for 1, as all are.

    >>> threshold(Fraction(1, 2))[:4], threshold(Fraction(1, 3))[-4:], threshold(Fraction(1))
    ('8000', '5556', None)
    """
    least = math.ceil(share * 2**BITS)
    return None if least >= 2**BITS else f"{least:0{DIGITS}x}"
