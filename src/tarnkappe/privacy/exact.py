"""Exact decisions where floating point would be wrong.

Measured values are computed in floating point. Where one lies so close to the bound that rounding
could decide, the comparison is made again in exact arithmetic, with the bound read as the decimal
number that the user wrote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

TOLERANCE = 1e-9
WRITTEN_DIGITS = 14
"""A longer floating point number, its mark included, is taken for a computed one."""
LARGEST_DENOMINATOR = 1_000_000


Exact = float | str | Fraction
"""A number that may also be written as a fraction, such as '1/3', which no decimal number is."""


@lru_cache(maxsize=1024)
def decimal(number: Exact) -> Fraction:
    """The number as the user wrote it: 0.1 is one tenth, not its nearest binary fraction.

    A floating point number of more digits than anybody writes was computed, as 1 / 6 is: it is the simplest
    fraction that rounds to it, where there is one with a denominator that data have.

    >>> decimal(0.1), decimal("2/3"), decimal(1 / 6)
    (Fraction(1, 10), Fraction(2, 3), Fraction(1, 6))
    """
    written = Fraction(str(number))
    if isinstance(number, float) and math.isfinite(number) and len(repr(number)) > WRITTEN_DIGITS:
        simple = written.limit_denominator(LARGEST_DENOMINATOR)
        return simple if float(simple) == number else written
    return written


def shown(number: Exact) -> str:
    """A number for a sentence: a fraction as a fraction, a decimal number as a decimal number.

    >>> shown(0.25), shown("1/3"), shown(1 / 3)
    ('0.25', '1/3', '1/3')
    """
    exact = decimal(number)
    return f"{float(exact):g}" if Fraction(f"{float(exact):g}") == exact else str(exact)


def percents(share: Exact, sign: str = "percent") -> str:
    """A share in words: as a percentage where that is exact, else as the fraction that it is.

    >>> percents(0.125), percents("2/3")
    ('12.5 percent', '2/3')
    """
    hundredfold = shown(100 * decimal(share))
    return str(decimal(share)) if "/" in hundredfold else f"{hundredfold} {sign}"


def share_of(share: float, total: int) -> int:
    """The whole rows in a share: the floor of share x total, exactly."""
    return math.floor(decimal(share) * total)


def sql_ratio(number: Exact) -> tuple[str, str]:
    """Numerator and denominator of a number as written, as 128-bit whole numbers of SQL."""
    ratio = decimal(number)
    return f"{ratio.numerator}::HUGEINT", f"{ratio.denominator}::HUGEINT"


def at_least(
    measured: npt.NDArray[np.float64], bound: float, exactly: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Where the measured values reach the bound; `exactly` decides the ties by index."""
    return _compare(measured >= bound, measured, bound, exactly)


def at_most(
    measured: npt.NDArray[np.float64], bound: float, exactly: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Where the measured values do not exceed the bound; `exactly` decides the ties by index."""
    return _compare(measured <= bound, measured, bound, exactly)


def less_than(
    measured: npt.NDArray[np.float64], bound: float, exactly: Callable[[int], bool]
) -> npt.NDArray[np.bool_]:
    """Where the measured values stay below the bound; `exactly` decides the ties by index."""
    return _compare(measured < bound, measured, bound, exactly)


def _compare(
    holds: npt.NDArray[np.bool_],
    measured: npt.NDArray[np.float64],
    bound: float,
    exactly: Callable[[int], bool],
) -> npt.NDArray[np.bool_]:
    near = np.flatnonzero(np.abs(measured - bound) <= TOLERANCE * max(1.0, abs(bound)))
    for index in near:
        holds[index] = exactly(int(index))
    return holds


def sign_of_logarithms(terms: Sequence[tuple[Fraction | int, int]], constant: Fraction | int = 0) -> int:
    """The sign of constant + the sum of coefficient x ln(argument), exactly; the arguments are positive.

    With D the common denominator of the coefficients, D times the sum of logarithms is ln R for a
    rational R. With a constant other than 0 the whole is never 0, because e to a rational power other
    than 0 is irrational. Without one it is 0 just if R = 1, that is if every factor cancels out. Whatever
    is not 0 shows its sign with enough digits.

    >>> sign_of_logarithms([(3, 2), (-1, 8)]), sign_of_logarithms([(1, 3)], Fraction(-11, 10))
    (0, -1)
    """
    if constant == 0 and _cancel_out(terms):
        return 0
    digits = 40
    while True:
        with localcontext(prec=digits):
            summands = [_as_decimal(constant), *(_as_decimal(c) * Decimal(a).ln() for c, a in terms)]
            total, magnitude = sum(summands, Decimal()), sum(map(abs, summands), Decimal())
            if abs(total) > magnitude * (len(summands) + 2) * Decimal(10) ** (2 - digits):
                return 1 if total > 0 else -1
        digits *= 2


def _as_decimal(number: Fraction | int) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _cancel_out(terms: Sequence[tuple[Fraction | int, int]]) -> bool:
    """Whether the product of argument^coefficient is 1: every factor's exponents must sum to 0."""
    return all(
        sum(coefficient * _exponent(factor, argument) for coefficient, argument in terms) == 0
        for factor in _coprime_factors([argument for _, argument in terms])
    )


def _coprime_factors(numbers: Sequence[int]) -> list[int]:
    """Pairwise coprime numbers above 1 of which all given numbers are products of powers."""
    factors: list[int] = []
    pending = list(numbers)
    while pending:
        number = pending.pop()
        if number == 1:
            continue
        for index, factor in enumerate(factors):
            common = math.gcd(number, factor)
            if common > 1:  # number x factor is now smaller by `common`, so this comes to an end
                del factors[index]
                pending += [common, number // common, factor // common]
                break
        else:
            factors.append(number)
    return factors


def _exponent(factor: int, number: int) -> int:
    exponent = 0
    while number % factor == 0:
        number //= factor
        exponent += 1
    return exponent
