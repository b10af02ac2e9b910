"""Pohlig-Hellman: raising to powers modulo a safe prime, in the subgroup of squares."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import ClassVar

from tarnkappe.federation.ciphers.batch import in_pieces
from tarnkappe.federation.ciphers.group import Group
from tarnkappe.federation.ciphers.long_numbers import is_square, mpz, pi_bits, powers

EXPONENT_BITS = 256
"""Keys are short: with a safe prime the best attack on an exponent of 2n bits takes 2^n steps."""

EXTRA_BITS = 128
"""A hash is this much longer than the prime, so that its remainder is as good as uniform."""


@lru_cache
def safe_prime(bits: int, constant: int) -> mpz:
    """A prime of RFC 3526, made from the digits of pi so that nobody could choose it to his liking.

    >>> hex(safe_prime(1536, 741804))[:18]
    '0xffffffffffffffff'
    """
    return mpz(2) ** bits - mpz(2) ** (bits - 64) - 1 + mpz(2) ** 64 * (pi_bits(bits - 130) + constant)


class PohligHellman(Group):
    """The squares modulo a safe prime p: a group of prime order (p - 1) / 2.

    A hash is squared on its way into the group; squares stay squares under every power, so the Legendre
    symbol is 1 everywhere and tells nothing.
    """

    bits: ClassVar[int]
    constant: ClassVar[int]

    @cached_property
    def prime(self) -> mpz:
        """The modulus p."""
        return safe_prime(self.bits, self.constant)

    @cached_property
    def order(self) -> mpz:
        """How many squares there are."""
        return (self.prime - 1) // 2

    def new_key(self) -> bytes:
        """A random exponent other than 0."""
        return self._bytes(mpz(secrets.randbelow(2**EXPONENT_BITS - 1) + 1))

    def invert(self, key: bytes) -> bytes:
        """The inverse modulo the order of the group."""
        return self._bytes(pow(mpz(int.from_bytes(key)), -1, self.order))

    def into(self, digest: bytes) -> bytes:
        """The square of a hash that is stretched to the length of the prime."""
        stretched = hashlib.shake_256(digest).digest((self.bits + EXTRA_BITS) // 8)
        return self._bytes(mpz(int.from_bytes(stretched)) ** 2 % self.prime)

    def is_element(self, element: bytes) -> bool:
        """Whether it is a square other than 0 and 1."""
        number = mpz(int.from_bytes(element))
        return bool(1 < number < self.prime and is_square(number, self.prime))

    def apply(self, key: bytes, elements: Sequence[bytes]) -> list[bytes]:
        """Raise every element to the power of the key."""
        exponent, prime = mpz(int.from_bytes(key)), self.prime

        def work(piece: Sequence[bytes]) -> list[bytes]:
            bases = [mpz(int.from_bytes(element)) for element in piece]
            return [self._bytes(power) for power in powers(bases, exponent, prime)]

        return in_pieces(work, elements)

    def _bytes(self, number: mpz) -> bytes:
        return int(number).to_bytes(self.size)


class PohligHellman3072(PohligHellman):
    """Group 15 of RFC 3526: 128 bits of security."""

    name = "pohlig-hellman-3072"
    cites = ("pohlig1978",)
    bits, constant, size = 3072, 1690314, 384


class PohligHellman2048(PohligHellman):
    """Group 14 of RFC 3526: 112 bits of security."""

    name = "pohlig-hellman-2048"
    cites = ("pohlig1978",)
    bits, constant, size = 2048, 124476, 256


class PohligHellman1536(PohligHellman):
    """Group 5 of RFC 3526: below current recommendations, to compare with published figures."""

    name = "pohlig-hellman-1536"
    cites = ("pohlig1978",)
    bits, constant, size = 1536, 741804, 192
    comparison_only = True
