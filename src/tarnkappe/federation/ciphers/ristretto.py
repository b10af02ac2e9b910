"""The group ristretto255: prime order, elements of 32 bytes, 128 bits of security."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import rbcl

from tarnkappe.federation.ciphers.batch import in_pieces
from tarnkappe.federation.ciphers.group import Group

NEUTRAL = bytes(32)

# rbcl writes libsodium into a new temporary file on every import and leaves it there; once it is loaded,
# nobody needs its name (but Windows, which keeps a loaded file anyway).
with suppress(OSError, AttributeError):
    Path(sys.modules["rbcl._sodium"].lib_path).unlink()


class Ristretto255(Group):
    """Hamburg's group over Curve25519 (RFC 9496), as libsodium computes it.

    >>> group = Ristretto255()
    >>> mine, yours = group.new_key(), group.new_key()
    >>> (value,) = group.embed(b"age", [b"34"])
    >>> group.apply(mine, group.apply(yours, [value])) == group.apply(yours, group.apply(mine, [value]))
    True
    """

    name = "ristretto255"
    cites = ("hamburg2023",)
    size = 32

    def new_key(self) -> bytes:
        """A random scalar other than 0."""
        return bytes(rbcl.crypto_core_ristretto255_scalar_random())

    def invert(self, key: bytes) -> bytes:
        """The multiplicative inverse modulo the order of the group."""
        return bytes(rbcl.crypto_core_ristretto255_scalar_invert(key))

    def into(self, digest: bytes) -> bytes:
        """Elligator twice, as the standard prescribes."""
        return bytes(rbcl.crypto_core_ristretto255_from_hash(digest))

    def is_element(self, element: bytes) -> bool:
        """Whether the bytes are the one encoding of an element."""
        return element != NEUTRAL and bool(rbcl.crypto_core_ristretto255_is_valid_point(element))

    def apply(self, key: bytes, elements: Sequence[bytes]) -> list[bytes]:
        """Multiply every element by the key."""
        multiply = rbcl.crypto_scalarmult_ristretto255

        def work(piece: Sequence[bytes]) -> list[bytes]:
            return [multiply(key, element) for element in piece]

        return in_pieces(work, elements)
