"""The group ristretto255: prime order, elements of 32 bytes, 128 bits of security."""

from __future__ import annotations

from collections.abc import Sequence

import rbcl

from tarnkappe.federation.ciphers.batch import in_pieces
from tarnkappe.federation.ciphers.group import Group

NEUTRAL = bytes(32)


class Ristretto255(Group):
    """Hamburg's group over Curve25519 (RFC 9496), as libsodium computes it.

    >>> group = Ristretto255()
    >>> mine, yours = group.new_key(), group.new_key()
    >>> (value,) = group.embed(b"age", [b"34"])
    >>> group.apply(mine, group.apply(yours, [value])) == group.apply(yours, group.apply(mine, [value]))
    True
    """

    name = "ristretto255"
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
