"""The curve P-192 as the first implementation of the protocols had it: to compare with its figures only.

Only the first coordinate of a point travels: multiples of a point and of its negative have the same one, so
each party may choose the second anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from tarnkappe.federation.ciphers.batch import in_pieces
from tarnkappe.federation.ciphers.group import Group
from tarnkappe.federation.ciphers.long_numbers import is_square, mpz

PRIME = mpz(2) ** 192 - mpz(2) ** 64 - 1
B = mpz(0x64210519E59C80E70FA7E9AB72243049FEB8DEECC146B9B1)
ORDER = mpz(0xFFFFFFFFFFFFFFFFFFFFFFFF99DEF836146BC9B1B4D22831)
TRIES = 256
"""A hash is tried with so many endings until one is the first coordinate of a point."""

HASH_SIZE = 20

Jacobian = tuple[mpz, mpz, mpz]
"""A point (X / Z², Y / Z³); Z = 0 is the neutral element."""


class Curve192(Group):
    """ANSI X9.62 prime192v1: 96 bits of security, below current recommendations."""

    name = "p-192"
    size = 24
    comparison_only = True

    def new_key(self) -> bytes:
        """A random number other than 0, modulo the order."""
        return (secrets.randbelow(int(ORDER) - 1) + 1).to_bytes(self.size)

    def invert(self, key: bytes) -> bytes:
        """The inverse modulo the order of the group."""
        return int(pow(mpz(int.from_bytes(key)), -1, ORDER)).to_bytes(self.size)

    def into(self, digest: bytes) -> bytes:
        """Trappe and Washington's encoding: the least ending that makes a hash a first coordinate."""
        start = mpz(int.from_bytes(digest[:HASH_SIZE])) * TRIES
        found = next(
            start + ending for ending in range(TRIES) if is_square(_right_side(start + ending), PRIME)
        )
        return int(found).to_bytes(self.size)

    @staticmethod
    def hash_of(element: bytes) -> bytes:
        """The hash that was encoded."""
        return (int.from_bytes(element) // TRIES).to_bytes(HASH_SIZE)

    def is_element(self, element: bytes) -> bool:
        """Whether it is the first coordinate of a point."""
        x = mpz(int.from_bytes(element))
        return bool(1 < x < PRIME and is_square(_right_side(x), PRIME))

    def apply(self, key: bytes, elements: Sequence[bytes]) -> list[bytes]:
        """Multiply the point of every first coordinate by the key."""
        digits = non_adjacent_form(int.from_bytes(key))

        def work(piece: Sequence[bytes]) -> list[bytes]:
            return [int(_multiplied(mpz(int.from_bytes(e)), digits)).to_bytes(self.size) for e in piece]

        return in_pieces(work, elements)


def non_adjacent_form(number: int) -> list[int]:
    """Digits -1, 0 and 1, the lowest first, of which no two neighbours differ from 0.

    >>> non_adjacent_form(7)
    [-1, 0, 0, 1]
    """
    digits = []
    while number:
        digit = 2 - number % 4 if number % 2 else 0
        digits.append(digit)
        number = (number - digit) // 2
    return digits


def _right_side(x: mpz) -> mpz:
    return (x * x * x - 3 * x + B) % PRIME


def _multiplied(x: mpz, digits: Sequence[int]) -> mpz:
    y = pow(_right_side(x), (PRIME + 1) // 4, PRIME)
    point: Jacobian = (mpz(1), mpz(1), mpz(0))
    for digit in reversed(digits):
        point = _doubled(point)
        if digit:
            point = _plus(point, x, y if digit > 0 else -y)
    return point[0] * pow(point[2], -2, PRIME) % PRIME


def _doubled(point: Jacobian) -> Jacobian:
    x, y, z = point
    if not z:
        return point
    zz, yy = z * z % PRIME, y * y % PRIME
    slope, middle = 3 * (x - zz) * (x + zz) % PRIME, 4 * x * yy % PRIME
    x3 = (slope * slope - 2 * middle) % PRIME
    return x3, (slope * (middle - x3) - 8 * yy * yy) % PRIME, 2 * y * z % PRIME


def _plus(point: Jacobian, x: mpz, y: mpz) -> Jacobian:
    """A point plus one whose Z is 1."""
    x1, y1, z1 = point
    if not z1:
        return x, y % PRIME, mpz(1)
    zz = z1 * z1 % PRIME
    run, rise = (x * zz - x1) % PRIME, (y * z1 * zz - y1) % PRIME
    if not run:
        return _doubled(point) if not rise else (mpz(1), mpz(1), mpz(0))
    square = run * run % PRIME
    cube, middle = run * square % PRIME, x1 * square % PRIME
    x3 = (rise * rise - cube - 2 * middle) % PRIME
    return x3, (rise * (middle - x3) - y1 * cube) % PRIME, z1 * run % PRIME
