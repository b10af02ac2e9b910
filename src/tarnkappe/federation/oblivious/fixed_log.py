"""The logarithm to base 2 of shared numbers, in units of 2^-40, and E = F log2 F that entropy is made of."""

from __future__ import annotations

import numpy as np

from tarnkappe.federation.oblivious.computer import Computer, Shared, Steps
from tarnkappe.federation.oblivious.gates import (
    bits_of,
    either,
    select,
    square,
    widened,
)

FRACTION = 40
"""Bits behind the point."""
MANTISSA = 51
"""Bits of the number that is squared. An error in the j-th squaring counts 2^-j, so that the result is off by
less than 1.001 units (tried for 1 to 3,000 and larger numbers)."""


def log2_bits(greatest: int) -> int:
    """How many bits the logarithm of numbers up to this one has."""
    return bits_of(bits_of(greatest) - 1) + FRACTION


def log2_fixed(c: Computer, x: Shared) -> Steps[Shared]:
    """The logarithm of every number; of 0 it is 0.

    The place of the highest one is the whole part. The number, shifted to one place, is squared again and
    again; whether it then reaches 2 is the next bit of the fraction.
    """
    bits = x.shape[1]
    reached = x.copy()  # whether a bit or one above it is set, by parallel prefix
    distance = 1
    while distance < bits:
        found = yield from either(c, reached[:, :-distance], reached[:, distance:])
        reached = np.concatenate([found, reached[:, -distance:]], axis=1)
        distance *= 2
    highest = reached.copy()
    highest[:, :-1] ^= reached[:, 1:]
    whole = np.zeros((2, bits_of(bits - 1), *x.shape[2:]), np.uint64)
    for place in range(bits):
        for bit in range(whole.shape[1]):
            if place >> bit & 1:
                whole[:, bit] ^= highest[:, place]
    places, below = np.tril_indices(bits)
    products = yield from c.both(highest[:, places], x[:, below])
    mantissa = np.zeros((2, MANTISSA, *x.shape[2:]), np.uint64)
    for item, target in enumerate(MANTISSA - 1 - (places - below)):
        mantissa[:, target] ^= products[:, item]
    fraction = []
    for _ in range(FRACTION):
        squared = yield from square(c, mantissa, 2 * MANTISSA)
        kept = squared[:, MANTISSA - 1 :]  # the square without its 50 lowest bits
        carry = kept[:, MANTISSA]
        mantissa = yield from select(c, carry, kept[:, 1:], kept[:, :MANTISSA])
        fraction.append(carry)
    return np.concatenate([np.stack(fraction[::-1], axis=1), widened(whole, whole.shape[1])], axis=1)
