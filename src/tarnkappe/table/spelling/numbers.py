"""How a column spells its numbers: decimal mark, groups of thousands, currency or unit.

A value alone cannot say whether `1,449` is one or one thousand, so the column decides. Each of the two
readings (decimal point with commas between thousands, or the other way round) is tried on all values. The one
that reads more cells counts; where both read the same cells and differ, the spelling is open, and the rest of
the file decides.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

POINT, COMMA = ".", ","
FEET = "ft"
INCHES_IN_A_FOOT = 12
MOST_DIGITS = 15
"""With more digits before the decimal mark it is a code: no quantity is known so exactly."""
LONGEST = 60
EXACT_DIGITS = 28
"""Up to so many digits multiplying by one changes nothing."""

CURRENCIES = (
    "$", "€", "£", "¥", "₹", "₺", "₽", "CHF", "EUR", "USD", "GBP", "PLN", "SEK", "NOK", "DKK", "CZK", "HUF",
    "JPY", "INR", "CAD", "AUD", "BRL", "TRY", "RUB", "zł", "kr", "Kč", "Ft", "R$",
)  # fmt: skip
MULTIPLES = {"K": 1_000, "M": 1_000_000}

_UNITS = "|".join(re.escape(unit) for unit in CURRENCIES)
_BLANK = "[ \u00a0\u202f]"
_NUMBER = re.compile(
    rf"(?P<sign>[-\u2212]?)(?P<before>{_UNITS})?{_BLANK}?(?P<inner>[-\u2212]?)"
    rf"(?P<digits>[0-9.,'\u2019 \u00a0\u202f]*[0-9]|[0-9]+[.,])(?P<power>[eE][+-]?[0-9]{{1,3}})?"
    rf"(?:(?P<multiple>[KM])|{_BLANK}?(?P<after>{_UNITS}|%))?"
)
_SIMPLE = re.compile(r"(-?)([0-9]+(?:[.,][0-9]+)?)")
"""What nearly all numbers look like: the long pattern says the same of them, later."""
_HEIGHT = re.compile(r"""([0-9])' ?([0-9]{1,2})(?:"|'')?""")
_GROUPED = {
    POINT: re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]{0,2}(?:['\u2019 \u00a0\u202f][0-9]{3})+"),
    COMMA: re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+|[1-9][0-9]{0,2}(?:['\u2019 \u00a0\u202f][0-9]{3})+"),
}


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """How numbers are spelled.

    Attributes:
        decimal: the decimal mark, "." or ",".
        unit: a currency, "%", "ft" for feet and inches (which count in inches), or "".
        open: whether both decimal marks would explain the column and nothing in it decides.
    """

    decimal: str = POINT
    unit: str = ""
    open: bool = False

    def parse(self, text: str) -> Decimal | None:
        """The number that a text stands for, or None.

        >>> NumberFormat(",").parse("1.113,71"), NumberFormat(".", "$").parse("$56.7M")
        (Decimal('1113.71'), Decimal('56700000.0'))
        """
        if self.unit == FEET:
            return _inches(text)
        found = _parts(text)
        if found is None or found.unit not in ("", self.unit):
            return None
        return found.value(self.decimal)


class _Parts(NamedTuple):
    """A text cut into sign, digits with marks, exponent, unit and multiple."""

    sign: str
    digits: str
    power: str
    unit: str
    multiple: int

    def value(self, decimal: str) -> Decimal | None:
        whole, mark, fraction = self.digits.rpartition(decimal)
        if not mark:
            whole, fraction = self.digits, ""
        if mark and not fraction and not whole.isdigit():
            return None
        if fraction and not fraction.isdigit():
            return None
        if whole and not whole.isdigit():
            if self.power or not _GROUPED[decimal].fullmatch(whole):
                return None
            whole = re.sub(r"[^0-9]", "", whole)
        if (len(whole) > 1 and whole[0] == "0") or len(whole) > MOST_DIGITS:
            return None  # a code
        if not whole and not fraction:
            return None
        if self.multiple == 1 and not self.power and len(self.digits) <= EXACT_DIGITS:
            return Decimal(f"{self.sign}{whole}.{fraction}" if fraction else int(f"{self.sign}{whole}"))
        number = Decimal(f"{self.sign}{whole or '0'}.{fraction or '0'}{self.power}")
        return number * self.multiple if fraction or self.power else Decimal(int(number)) * self.multiple


def _parts(text: str) -> _Parts | None:
    if len(text) > LONGEST:
        return None
    text = text.strip(" \u00a0")
    simple = _SIMPLE.fullmatch(text)
    if simple is not None:
        return _Parts(simple[1], simple[2], "", "", 1)
    found = _NUMBER.fullmatch(text)
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    if found["multiple"] and not found["before"]:
        return None
    return _Parts(
        sign="-" if found["sign"] or found["inner"] else "",
        digits=found["digits"],
        power=found["power"] or "",
        unit=found["before"] or found["after"] or "",
        multiple=MULTIPLES[found["multiple"]] if found["multiple"] else 1,
    )


def _inches(text: str) -> Decimal | None:
    found = _HEIGHT.fullmatch(text)
    if found is None or int(found[2]) >= INCHES_IN_A_FOOT:
        return None
    return Decimal(int(found[1]) * INCHES_IN_A_FOOT + int(found[2]))


@dataclasses.dataclass(frozen=True)
class NumberEvidence:
    """What the distinct texts of a column say about its numbers.

    Attributes:
        format: the spelling that reads most cells.
        fitting: how many cells it reads.
        marked: whether some value has a mark at all, so that it matters which is the decimal one.
        codes: how many cells it does not read are digits all the same: leading zeros, a plus, too many
            digits.
        read: for each decimal mark that was tried, the numbers that texts stand for.
    """

    format: NumberFormat
    fitting: int
    codes: int
    marked: bool = True
    read: Mapping[str, Mapping[str, Decimal]] = dataclasses.field(
        default_factory=dict, repr=False, compare=False
    )


_CODE = re.compile(r"\+?[0-9]+|0[0-9]+[.,][0-9]+")


def find_numbers(counts: Mapping[str, int], decimal: str | None = None, least: float = 0.0) -> NumberEvidence:
    """How numbers are spelled in a column, from its distinct texts and how many cells have each.

    A decimal mark that is given is taken. Otherwise the one that reads more cells counts; if both read
    equally many and give other numbers, the format is `open` (and speaks of a decimal point). Where fewer
    than `least` cells can be numbers or codes, the rest is not looked at, and none is said to fit.

    >>> find_numbers({"1.113,71": 1, "5,0": 1}).format
    NumberFormat(decimal=',', unit='', open=False)
    >>> find_numbers({"1,449": 3}).format.open
    True
    """
    possible = sum(counts.values())
    heights = sum(count for text, count in counts.items() if "'" in text and _inches(text) is not None)
    if heights and 2 * heights > possible:
        return NumberEvidence(NumberFormat(POINT, FEET), heights, 0)
    parts: dict[str, _Parts] = {}
    for text, count in counts.items():
        cut = _parts(text)
        if cut is not None:
            parts[text] = cut
        elif _CODE.fullmatch(text.strip()) is None:
            possible -= count
            if possible < least:
                return NumberEvidence(NumberFormat(), 0, 0)
    unit = _unit(counts, parts)
    read = {
        mark: {
            text: value
            for text, found in parts.items()
            if found.unit in ("", unit) and (value := found.value(mark)) is not None
        }
        for mark in ((POINT, COMMA) if decimal is None else (decimal,))
    }
    fitting = {mark: sum(counts[text] for text in values) for mark, values in read.items()}
    best = max(fitting, key=lambda mark: (fitting[mark], mark == POINT))
    is_open = len(read) > 1 and fitting[POINT] == fitting[COMMA] and read[POINT] != read[COMMA]
    codes = sum(
        count for text, count in counts.items() if text not in read[best] and _CODE.fullmatch(text.strip())
    )
    marked = len(read) == 1 or read[POINT] != read[COMMA]
    return NumberEvidence(NumberFormat(best, unit, is_open), fitting[best], codes, marked, read)


def _unit(counts: Mapping[str, int], parts: Mapping[str, _Parts]) -> str:
    """The unit that most cells have, if any has one; one column has one unit."""
    units: dict[str, int] = {}
    for text, found in parts.items():
        if found.unit:
            units[found.unit] = units.get(found.unit, 0) + counts[text]
    return min(units, key=lambda unit: (-units[unit], unit)) if units else ""


def shows_decimal_mark(text: str, decimal: str) -> bool:
    """Whether a text can only be read with this decimal mark, so that it tells how its file writes numbers.

    >>> shows_decimal_mark("0,5", ","), shows_decimal_mark("1,449", ","), shows_decimal_mark("7", ",")
    (True, False, False)
    """
    found = _parts(text)
    if found is None:
        return False
    other = COMMA if decimal == POINT else POINT
    return found.value(decimal) is not None and found.value(other) is None
