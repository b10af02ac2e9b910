"""Exact numbers of plans as text: decimals where they end, quotients where they do not.

>>> number_text(Fraction("0.1600")), number_text(Fraction(1, 3))
('0.16', '1/3')
>>> read_number("0.16") == Fraction(4, 25)
True
"""

from __future__ import annotations

import re
from fractions import Fraction

from tarnkappe.algebra.expressions import MOST_DIGITS
from tarnkappe.errors import ParameterError

_DIGITS = f"[0-9]{{1,{MOST_DIGITS}}}"
_NUMBER = re.compile(
    rf"-?({_DIGITS}(\.({_DIGITS})?)?|\.{_DIGITS})([eE][+-]?[0-9]{{1,2}})?(/[1-9][0-9]{{0,{MOST_DIGITS}}})?"
)


def read_number(text: str) -> Fraction:
    """The number that a text says exactly, as a decimal (0.16) or a quotient (1/3)."""
    if not _NUMBER.fullmatch(text.strip()):
        raise ParameterError(
            "algebra.not-number-like-0", "'{text}' is not a number like 0.16 or 1/3.", text=text[:20]
        )
    numerator, _, denominator = text.strip().partition("/")
    return Fraction(numerator) / Fraction(denominator or 1)


def number_text(number: Fraction) -> str:
    """The shortest decimal that is exactly the number, or else the quotient of two whole numbers."""
    rest, places = number.denominator, 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for factor in (2, 5):
        while rest % factor == 0:
            rest, places = rest // factor, places + 1
    if rest != 1:
        return f"{number.numerator}/{number.denominator}"
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole, fraction = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if number < 0 else "") + (f"{whole}.{fraction}" if fraction else whole)
