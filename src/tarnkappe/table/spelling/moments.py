"""Dates and times as texts write them: their shapes, and what they say under an order of day and month."""

from __future__ import annotations

import dataclasses
import datetime
import re
from enum import StrEnum

LONGEST = 48


class DateOrder(StrEnum):
    """Which of the first two numbers of a date is the day."""

    DAY_FIRST = "dmy"
    MONTH_FIRST = "mdy"
    OPEN = "open"
    """Nothing tells. The year is the same either way, so it is all that is known."""


class DatePrecision(StrEnum):
    """How exactly a text says when."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    TIME = "time"


@dataclasses.dataclass(frozen=True)
class Moment:
    """When something was, without zone (in UTC if the text has one), and how exactly that is known."""

    time: datetime.datetime
    precision: DatePrecision


MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar jänner janvier janv enero ene",
            "february feb februar février févr fév febrero",
            "march mar märz mrz mär mars marzo",
            "april apr avril avr abril abr",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet juil julio",
            "august aug août agosto ago",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre déc diciembre dic",
        ),
        1,
    )
    for name in names.split()
}
"""Names of months in English, German, French and Spanish."""

_CLOCK = (
    r"(?:(?:[T ]|, ?)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?))?)?"
)
_YEAR, _YY = r"(?P<year>[0-9]{4})", r"(?P<yy>[0-9]{2})"
_DAY, _MONTH, _NAME = r"(?P<day>[0-9]{1,2})", r"(?P<month>[0-9]{1,2})", r"(?P<name>[^\W\d_]{3,10})\.?"
_MARK, _AGAIN = r"(?P<mark>[-/.])", r"(?P=mark)"
_NUMBERS = r"(?P<first>[0-9]{1,2})" + _MARK + r"(?P<second_>[0-9]{1,2})" + _AGAIN
_SHAPES = {
    shape: re.compile(pattern)
    for shape, pattern in {
        "Y{0}m{0}d": _YEAR + _MARK + _MONTH + _AGAIN + _DAY + _CLOCK,
        "a{0}b{0}Y": _NUMBERS + _YEAR + _CLOCK,
        "a{0}b{0}y": _NUMBERS + _YY + _CLOCK,
        "Y{0}m": _YEAR + r"(?P<mark>[-/])" + _MONTH,
        "d{0}B{0}Y": _DAY + r"(?P<mark>\. ?| |-)" + _NAME + r"(?:,? |-)" + _YEAR + _CLOCK,
        "d{0}B{0}y": _DAY + r"(?P<mark>\. ?| |-)" + _NAME + r"(?:,? |-)" + _YY + _CLOCK,
        "B{0}d{0}Y": _NAME + r"(?P<mark> |-)" + _DAY + r"(?:st|nd|rd|th)?(?:, ?| |-)" + _YEAR + _CLOCK,
        "B{0}Y": _NAME + r"(?P<mark> |-|, )" + _YEAR,
        "Ymd": r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})",
        "Y": _YEAR,
    }.items()
}
COMPACT, YEAR = "Ymd", "Y"
SERIAL = "serial"
"""Shapes that are dates only in company: digits alone may be anything."""

_SERIAL = re.compile(r"[2-5][0-9]{4}(?:\.[0-9]{1,12})?|60000")
_FIRST_SERIAL = datetime.datetime(1899, 12, 30)
YEARS = range(1850, 2101)
"""Digits without marks are a date only within these."""


@dataclasses.dataclass(frozen=True)
class WrittenMoment:
    """A text that has the shape of a date."""

    shape: str
    match: re.Match[str]

    @property
    def numbers(self) -> tuple[int, int] | None:
        """The two numbers of which one is the day and the other the month, if that must be told."""
        return (int(self.match["first"]), int(self.match["second_"])) if self.shape[0] == "a" else None

    def moment(self, order: DateOrder, latest_year: int) -> Moment | None:
        """When it was, or None if there was no such day.

        Args:
            order: of day and month.
            latest_year: the last that two digits stand for; greater ones were a century before.
        """
        said = {key: value for key, value in self.match.groupdict().items() if value is not None}
        if self.shape == SERIAL:
            time = _FIRST_SERIAL + datetime.timedelta(days=float(self.match[0]))
            return Moment(
                time.replace(microsecond=0), DatePrecision.TIME if "." in self.match[0] else DatePrecision.DAY
            )
        year = (
            int(said["year"])
            if "year" in said and "yy" not in said
            else _century(int(said["yy"]), latest_year)
        )
        month, day, precision = self._month_and_day(said, order)
        clock = _clock(said)
        if month is None or clock is None or not 1 <= year <= 9998:
            return None
        try:
            time = datetime.datetime(year, month, day) + clock[0]
        except ValueError:
            return None
        if clock[1] and precision is DatePrecision.DAY:
            precision = DatePrecision.TIME
        return Moment(time, precision)

    def _month_and_day(self, said: dict[str, str], order: DateOrder) -> tuple[int | None, int, DatePrecision]:
        numbers = self.numbers
        if numbers is not None:
            if order is DateOrder.OPEN:  # either way it must be a day; only the year is told
                return (1 if max(numbers) <= 12 and min(numbers) >= 1 else None), 1, DatePrecision.YEAR
            day, month = numbers if order is DateOrder.DAY_FIRST else numbers[::-1]
            return month, day, DatePrecision.DAY
        if "name" in said:
            named = MONTHS.get(said["name"].lower())
            return named, int(said.get("day", 1)), DatePrecision.DAY if "day" in said else DatePrecision.MONTH
        if "month" not in said:
            return 1, 1, DatePrecision.YEAR
        return (
            int(said["month"]),
            int(said.get("day", 1)),
            DatePrecision.DAY if "day" in said else DatePrecision.MONTH,
        )


def written(text: str) -> WrittenMoment | None:
    """The shape of a date that a text has, or None.

    >>> [written(text).shape for text in ("31.12.1980", "2010-04-30 23:29", "Jan 2010")]
    ['a.b.Y', 'Y-m-d', 'B Y']
    """
    if len(text) > LONGEST or not any(character.isdigit() for character in text):
        return None
    for shape, pattern in _SHAPES.items():
        found = pattern.fullmatch(text)
        if found is not None and text.isascii() | ("B" in shape):
            mark = found.groupdict().get("mark")
            return WrittenMoment(shape.format((mark or "").strip() or mark), found)
    found = _SERIAL.fullmatch(text)
    return WrittenMoment(SERIAL, found) if found else None


def _century(year: int, latest_year: int) -> int:
    """The year that two digits stand for: the last one that is not after the latest.

    >>> _century(12, 2027), _century(88, 2027), _century(27, 2026)
    (2012, 1988, 1927)
    """
    return latest_year - (latest_year - year) % 100


def _clock(said: dict[str, str]) -> tuple[datetime.timedelta, bool] | None:
    """The time of day, in UTC if a zone is given, and whether there is one; None if no clock shows it."""
    if "hour" not in said:
        return datetime.timedelta(), False
    hour, minute, second = int(said["hour"]), int(said["minute"]), int(said.get("second", 0))
    if "half" in said:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if said["half"].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    part = datetime.timedelta(microseconds=int(said.get("part", "0")[:6].ljust(6, "0")))
    time = datetime.timedelta(hours=hour, minutes=minute, seconds=second) + part
    zone = said.get("zone", "Z")
    if zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        away = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        time = time - away if zone[0] == "+" else time + away
    return time, True


def by_pattern(text: str, pattern: str) -> Moment | None:
    """The moment that a text says in a format of strptime, or None.

    >>> by_pattern("1980/31/12", "%Y/%d/%m").time.month
    12
    """
    try:
        time = datetime.datetime.strptime(text, pattern)
    except ValueError:
        return None
    if time.tzinfo is not None:
        time = time.astimezone(datetime.UTC).replace(tzinfo=None)
    finest = [DatePrecision.TIME, DatePrecision.DAY, DatePrecision.MONTH, DatePrecision.YEAR]
    signs = {DatePrecision.TIME: "HIMSfcXT", DatePrecision.DAY: "djxD", DatePrecision.MONTH: "mbB"}
    said = {
        precision
        for precision, letters in signs.items()
        if any(f"%{letter}" in pattern for letter in letters)
    }
    return Moment(time, next((precision for precision in finest if precision in said), DatePrecision.YEAR))
