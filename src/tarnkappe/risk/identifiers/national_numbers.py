"""Numbers by which countries know their people: the form of each, and the check digits that prove it.

Each scheme is judged by itself: of random digits one in ten passes a check digit, so that many schemes
together would prove nothing.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

from tarnkappe.risk.identifiers.checks import digits_of, luhn
from tarnkappe.risk.identifiers.detector import Finding, Shape, percent
from tarnkappe.risk.identifiers.view import ColumnView

_SPANISH = "TRWAGMYFPDXBNJZSQVHLCKE"
_FINNISH = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_ITALIAN_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_CHINESE = "10X98765432"
_POLISH_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
_ROMANIAN_WEIGHTS = (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)
_CHINESE_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def _is_day(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def german_tax(text: str) -> bool:
    """Eleven digits, the last by ISO 7064, MOD 11,10.

    >>> german_tax("86095742719"), german_tax("86095742718")
    (True, False)
    """
    digits, product = digits_of(text), 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return digits[0] != 0 and (11 - product) % 10 == digits[10]


def spanish(text: str) -> bool:
    """Eight digits, or a letter of foreigners and seven, and a letter by the remainder modulo 23.

    >>> spanish("12345678Z"), spanish("X1234567L"), spanish("12345678A")
    (True, True, False)
    """
    plain = re.sub(r"[ -]", "", text).upper()
    number = plain[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return _SPANISH[int(number) % 23] == plain[-1]


def italian(text: str) -> bool:
    """Sixteen letters and digits, the last by two tables.

    >>> italian("RSSMRA85T10A562S"), italian("RSSMRA85T10A562T")
    (True, False)
    """
    plain = text.upper()
    summed = 0
    for place, character in enumerate(plain[:15]):
        value = int(character) if character.isdigit() else ord(character) - ord("A")
        summed += _ITALIAN_ODD[value] if place % 2 == 0 else value
    return chr(ord("A") + summed % 26) == plain[15]


def french(text: str) -> bool:
    """Thirteen digits and a key of two, by the remainder modulo 97.

    >>> french("2 55 08 14 168 025 38"), french("2 55 08 14 168 025 39")
    (True, False)
    """
    plain = re.sub(r"\D", "", text)
    return 97 - int(plain[:13]) % 97 == int(plain[13:])


def polish(text: str) -> bool:
    """Eleven digits that begin with a birthday (PESEL).

    >>> polish("44051401359"), polish("44051401358")
    (True, False)
    """
    digits = digits_of(text)
    day, month = 10 * digits[4] + digits[5], (10 * digits[2] + digits[3]) % 20
    return _is_day(day, month) and (10 - _weighted(digits, _POLISH_WEIGHTS) % 10) % 10 == digits[10]


def swedish(text: str) -> bool:
    """A birthday, three digits and Luhn's check digit.

    >>> swedish("811228-9874"), swedish("811228-9873")
    (True, False)
    """
    digits = digits_of(text)[-10:]
    day, month = 10 * digits[4] + digits[5], 10 * digits[2] + digits[3]
    return _is_day(day, month) and luhn("".join(map(str, digits)))


def finnish(text: str) -> bool:
    """A birthday, three digits and a character by the remainder modulo 31.

    >>> finnish("131052-308T"), finnish("131052-308U")
    (True, False)
    """
    number = int(text[:6] + text[7:10])
    return _is_day(int(text[:2]), int(text[2:4])) and _FINNISH[number % 31] == text[10].upper()


def romanian(text: str) -> bool:
    """Thirteen digits with a birthday and a check digit.

    >>> romanian("1800101221144"), romanian("1800101221145")
    (True, False)
    """
    digits = digits_of(text)
    day, month = 10 * digits[5] + digits[6], 10 * digits[3] + digits[4]
    check = _weighted(digits, _ROMANIAN_WEIGHTS) % 11
    return _is_day(day, month) and (1 if check == 10 else check) == digits[12]


def brazilian(text: str) -> bool:
    """Nine digits and two check digits (CPF).

    >>> brazilian("111.444.777-35"), brazilian("111.444.777-36")
    (True, False)
    """
    digits = digits_of(text)
    first, second = (
        _weighted(digits[:length], range(length + 1, 1, -1)) * 10 % 11 % 10 for length in (9, 10)
    )
    return len(set(digits)) > 1 and [first, second] == digits[9:]


def chinese(text: str) -> bool:
    """Seventeen digits with a birthday, and a check character.

    >>> chinese("11010519491231002X"), chinese("110105194912310021")
    (True, False)
    """
    check = _CHINESE[_weighted(digits_of(text[:17]), _CHINESE_WEIGHTS) % 11]
    return _is_day(int(text[12:14]), int(text[10:12])) and check == text[17].upper()


def british_health(text: str) -> bool:
    """Ten digits, the last by the remainder modulo 11 (NHS number).

    >>> british_health("943 476 5919"), british_health("943 476 5918")
    (True, False)
    """
    digits = digits_of(text)
    return (11 - _weighted(digits[:9], range(10, 1, -1)) % 11) % 11 == digits[9]


def dutch(text: str) -> bool:
    """Nine digits whose weighted sum is divisible by 11 (BSN).

    >>> dutch("111222333"), dutch("111222334")
    (True, False)
    """
    digits = digits_of(text)
    return (_weighted(digits[:8], range(9, 1, -1)) - digits[8]) % 11 == 0 and any(digits)


def belgian(text: str) -> bool:
    """A birthday, three digits and two more by the remainder modulo 97.

    >>> belgian("85.07.30-033 28"), belgian("85.07.30-033 29")
    (True, False)
    """
    plain = re.sub(r"\D", "", text)
    return int(plain[9:]) in (97 - int(plain[:9]) % 97, 97 - int("2" + plain[:9]) % 97)


def turkish(text: str) -> bool:
    """Eleven digits, the last two by sums of the others.

    >>> turkish("10000000146"), turkish("10000000145")
    (True, False)
    """
    digits = digits_of(text)
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[0] != 0 and tenth == digits[9] and sum(digits[:10]) % 10 == digits[10]


@dataclasses.dataclass(frozen=True)
class NumberScheme:
    """How one country numbers people: the form of a number, and what proves it."""

    form: str
    check: Callable[[str], bool]

    def holds(self, text: str) -> bool:
        """Whether a text is such a number."""
        return re.fullmatch(self.form, text) is not None and self.check(text)


PROVED_ALONE = (
    NumberScheme(r"[0-9]{8}-?[A-Z]|[XYZ]-?[0-9]{7}-?[A-Z]", spanish),
    NumberScheme(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", italian),
    NumberScheme(r"[12] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", french),
    NumberScheme(r"(?:[0-9]{2})?[0-9]{6}[-+][0-9]{4}", swedish),
    NumberScheme(r"[0-9]{6}[-+A][0-9]{3}[0-9A-Y]", finnish),
    NumberScheme(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", brazilian),
    NumberScheme(r"[1-9][0-9]{16}[0-9X]", chinese),
    NumberScheme(r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}[. ][0-9]{2}", belgian),
)
"""Of these a single one counts inside a text: form and check digit leave little to chance."""
PROVED_TOGETHER = (
    NumberScheme(r"[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", german_tax),
    NumberScheme(r"[0-9]{11}", polish),
    NumberScheme(r"(?:[0-9]{2})?[0-9]{10}", swedish),
    NumberScheme(r"[1-8][0-9]{12}", romanian),
    NumberScheme(r"[0-9]{11}", brazilian),
    NumberScheme(r"[0-9]{3} ?[0-9]{3} ?[0-9]{4}", british_health),
    NumberScheme(r"[0-9]{9}", dutch),
    NumberScheme(r"[0-9]{11}", belgian),
    NumberScheme(r"[0-9]{11}", turkish),
)
"""Plain digits: only a whole column of them proves anything."""

INSIDE = "|".join(rf"\b(?:{scheme.form})\b" for scheme in PROVED_ALONE)


def national_number(text: str) -> bool:
    """Whether a text is a number of a person that is proved by itself."""
    return any(scheme.holds(text) for scheme in PROVED_ALONE)


@dataclasses.dataclass(frozen=True)
class NationalNumbers(Shape):
    """Numbers of people in their countries: a column by the rules of one of them, or one in a text."""

    def look(self, column: ColumnView) -> Finding | None:
        """By each scheme alone, then by the shapes of others."""
        numbers = self._share(column, lambda text: 9 <= len(text) <= 21 and any(map(str.isdigit, text)))
        for scheme in (*PROVED_ALONE, *PROVED_TOGETHER) if numbers >= self.most else ():
            share = self._share(column, scheme.holds)
            if share >= self.most:
                reason = f"{percent(share)} of the values are {self.what}{self._doubt(column)}"
                return self.finding(column, round(share * column.filled), reason)
        return super().look(column)
