"""Long whole numbers: by gmpy2 where it is installed, in plain Python where it is not, with equal results.

Plain Python is an order of magnitude slower and keeps its lock, so that threads do not help. It is there for
machines for which gmpy2 has no package.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

try:
    import gmpy2
    from gmpy2 import mpz
except ImportError:  # pragma: no cover - tested in a process of its own
    gmpy2 = None
    mpz = int

__all__ = [
    "is_prime",
    "is_square",
    "mpz",
    "pi_bits",
    "plain_is_prime",
    "plain_jacobi",
    "plain_powers",
    "powers",
]

ROUNDS = 40
"""A number that is not prime passes so many rounds with a probability below 4^-40."""


def powers(bases: Sequence[mpz], exponent: mpz, modulus: mpz) -> list[mpz]:
    """Every base to the same power; with gmpy2 other threads may run meanwhile."""
    if gmpy2 is None:
        return plain_powers(bases, exponent, modulus)
    with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
        return list(gmpy2.powmod_base_list(list(bases), exponent, modulus))


def is_prime(number: mpz) -> bool:
    """Whether a number is prime, but for an incredible chance."""
    return plain_is_prime(number) if gmpy2 is None else bool(gmpy2.is_prime(number, ROUNDS))


def is_square(number: mpz, prime: mpz) -> bool:
    """Whether a number other than 0 has a square root modulo an odd prime."""
    return plain_jacobi(number, prime) == 1 if gmpy2 is None else gmpy2.jacobi(number, prime) == 1


def plain_powers(bases: Sequence[mpz], exponent: mpz, modulus: mpz) -> list[mpz]:
    """What `powers` computes, in plain Python."""
    return [pow(base, exponent, modulus) for base in bases]


def plain_is_prime(number: int) -> bool:
    """Miller and Rabin's test."""
    if number < 4:
        return number > 1
    if number % 2 == 0:
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, secrets.randbelow(int(number) - 3) + 2, odd, twos) for _ in range(ROUNDS))


def _passes(number: int, witness: int, odd: int, twos: int) -> bool:
    power = pow(witness, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def plain_jacobi(number: int, odd: int) -> int:
    """Jacobi's symbol, by quadratic reciprocity."""
    number, symbol = number % odd, 1
    while number:
        while number % 2 == 0:
            number //= 2
            symbol = -symbol if odd % 8 in (3, 5) else symbol
        number, odd = odd, number
        symbol = -symbol if number % 4 == odd % 4 == 3 else symbol
        number %= odd
    return symbol if odd == 1 else 0


def pi_bits(bits: int) -> int:
    """The number pi times 2^bits, rounded down: 4 (4 arctan(1/5) - arctan(1/239)).

    >>> pi_bits(4), hex(pi_bits(32))
    (50, '0x3243f6a88')
    """
    guard = 64
    unit = 1 << (bits + guard)
    return 4 * (4 * _arctan(5, unit) - _arctan(239, unit)) >> guard


def _arctan(inverse: int, unit: int) -> int:
    term = total = unit // inverse
    divisor, sign = 1, 1
    while term:
        term //= inverse * inverse
        divisor, sign = divisor + 2, -sign
        total += sign * (term // divisor)
    return total
