"""Exact numbers: 0.3 lies in [0.3, 0.4), which binary fractions would deny."""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable
from decimal import Decimal

from tarnkappe.errors import ParameterError

EXACT = decimal.Context(prec=2000)
"""Sums, differences and whole quotients of any two numbers that `parse_number` accepts are exact here."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_LARGEST_EXPONENT = 400
_LONGEST = 400


def parse_number(text: str) -> Decimal | None:
    """The number that a text stands for, or None if it is no finite decimal number.

    >>> parse_number("-1.50"), parse_number("1e3"), parse_number("12a"), parse_number("nan")
    (Decimal('-1.50'), Decimal('1E+3'), None, None)
    """
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if abs(number.adjusted()) <= _LARGEST_EXPONENT else None


def parse_numbers(texts: Iterable[str]) -> list[Decimal] | None:
    """The numbers that texts stand for, or None if one of them is no number."""
    numbers = []
    for text in texts:
        number = parse_number(text)
        if number is None:
            return None
        numbers.append(number)
    return numbers


def exact_parameter(owner: str, parameter: str, number: object) -> Decimal:
    """A number given as a parameter, as it was written; anything else is refused."""
    if isinstance(number, int | float | Decimal) and not isinstance(number, bool):
        exact = parse_number(str(number))
        if exact is not None:
            return exact
    raise ParameterError(
        "hierarchy.needs-number",
        "{owner} needs a number for {parameter}, not {number!r}",
        owner=owner,
        parameter=parameter,
        number=number,
    )


def is_whole(number: Decimal) -> bool:
    """Whether a number has no fractional part."""
    return number == number.to_integral_value(context=EXACT)


def floor_quotient(number: Decimal, width: Decimal) -> int:
    """How often a positive width fits into a number, rounded down also below zero.

    >>> floor_quotient(Decimal("0.3"), Decimal("0.1")), floor_quotient(Decimal(-1), Decimal(5))
    (3, -1)
    """
    quotient = int(EXACT.divide_int(number, width))
    return quotient - 1 if number < 0 and EXACT.remainder(number, width) else quotient


def number_text(number: Decimal) -> str:
    """A number as a reader would write it; different numbers have different texts.

    >>> number_text(Decimal("20.50")), number_text(Decimal("2E+1")), number_text(Decimal("1E+40"))
    ('20.5', '20', '1E+40')
    """
    shortest = EXACT.plus(number).normalize(context=EXACT)
    return format(shortest, "f") if abs(shortest.adjusted()) <= 15 else str(shortest)
