"""Dates and times as texts write them: their shapes, and what they say under an order of day and month."""

from __future__ import annotations

import dataclasses
import datetime
import re
from enum import StrEnum
from functools import lru_cache

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
            "january jan januar jänner janvier janv enero ene januari gennaio gen janeiro",
            "february feb februar février févr fév febrero februari febbraio fevereiro fev",
            "march mar märz mrz mär mars marzo maart mrt março",
            "april apr avril avr abril abr aprile",
            "may mai mayo mei maggio mag maio",
            "june jun juni juin junio giugno giu junho",
            "july jul juli juillet juil julio luglio lug julho",
            "august aug août agosto ago augustus",
            "september sep sept septembre septiembre settembre set setembro",
            "october oct oktober okt octobre octubre ottobre ott outubro out",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
"""Names of months in English, German, French, Spanish, Italian, Portuguese and Dutch."""
WEEKDAYS = frozenset(
    word
    for line in (
        "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday",
        "sat saturday sun sunday",
        "mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
    )
    for word in line.split()
)
"""Days of the week, which say nothing that the date does not say."""

_CLOCK = (
    r"(?:(?:[T ]|, ?)(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?(?:[0-9]{2})?))?)?"
)
_YEAR, _YY = r"(?P<year>[0-9]{4})", r"(?P<yy>[0-9]{2})"
_DAY, _MONTH, _NAME = r"(?P<day>[0-9]{1,2})", r"(?P<month>[0-9]{1,2})", r"(?P<name>[^\W\d_]{3,10})\.?"
_MARK, _AGAIN = r"(?P<mark>\. ?|[-/])", r"(?P=mark)"
_NUMBERS = r"(?P<first>[0-9]{1,2})" + _MARK + r"(?P<second_>[0-9]{1,2})" + _AGAIN
_WEEKDAY = re.compile(r"(?P<weekday>[^\W\d_]{2,10})\.?,? +")
_SHAPES = {
    shape: re.compile(pattern)
    for shape, pattern in {
        "Y{0}m{0}d": _YEAR + _MARK + _MONTH + _AGAIN + _DAY + _CLOCK,
        "a{0}b{0}Y": _NUMBERS + _YEAR + r"\.?" + _CLOCK,
        "a{0}b{0}y": _NUMBERS + _YY + _CLOCK,
        "Y{0}m": _YEAR + r"(?P<mark>[-/])" + _MONTH,
        "d{0}B{0}Y": _DAY + r"(?P<mark>\. ?|[ /-]|)" + _NAME + r"(?:,? |[/-]|)" + _YEAR + _CLOCK,
        "d{0}B{0}y": _DAY + r"(?P<mark>\. ?|[ /-]|)" + _NAME + r"(?:,? |[/-]|)" + _YY + _CLOCK,
        "B{0}d{0}Y": _NAME + r"(?P<mark> |-)" + _DAY + r"(?:st|nd|rd|th)?(?:, ?| |-)" + _YEAR + _CLOCK,
        "B{0}d t Y": _NAME
        + r"(?P<mark> )(?P<day>[ 0-3]?[0-9])"
        + _CLOCK.removesuffix("?")
        + r" (?P<year>[0-9]{4})",
        "B{0}Y": _NAME + r"(?P<mark> |-|, )" + _YEAR,
        "Ymd": r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
        r"(?:T(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?P<second>[0-9]{2})?(?P<zone>Z)?)?",
        "Y": _YEAR,
    }.items()
}
COMPACT, YEAR = "Ymd", "Y"
SERIAL = "serial"
"""Shapes that are dates only in company: digits alone may be anything."""

_SERIAL = re.compile(r"[1-5][0-9]{4}(?:\.[0-9]{1,12})?|60000")
"""From May 1927 to 2064: people who were born before 1954 have days of birth below 20000."""
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
        if self.shape == SERIAL:
            time = _FIRST_SERIAL + datetime.timedelta(days=float(self.match[0]))
            return Moment(
                time.replace(microsecond=0), DatePrecision.TIME if "." in self.match[0] else DatePrecision.DAY
            )
        said = self.match.groupdict()
        short = said.get("yy")
        year = int(said["year"]) if short is None else _century(int(short), latest_year)
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

    def _month_and_day(
        self, said: dict[str, str | None], order: DateOrder
    ) -> tuple[int | None, int, DatePrecision]:
        numbers = self.numbers
        if numbers is not None:
            if order is DateOrder.OPEN:  # either way it must be a day; only the year is told
                return (1 if max(numbers) <= 12 and min(numbers) >= 1 else None), 1, DatePrecision.YEAR
            day, month = numbers if order is DateOrder.DAY_FIRST else numbers[::-1]
            return month, day, DatePrecision.DAY
        name, month_, day_ = said.get("name"), said.get("month"), said.get("day")
        if name is None and month_ is None:
            return 1, 1, DatePrecision.YEAR
        known = MONTHS.get(name.lower()) if name is not None else int(month_ or 0)
        return (known, 1, DatePrecision.MONTH) if day_ is None else (known, int(day_), DatePrecision.DAY)


def written(text: str) -> WrittenMoment | None:
    """The shape of a date that a text has, or None.

    >>> [written(text).shape for text in ("31.12.1980", "2010-04-30 23:29", "Jan 2010")]
    ['a.b.Y', 'Y-m-d', 'B Y']
    """
    if len(text) > LONGEST or _DIGIT.search(text) is None:
        return None
    found = _shaped(text)
    if found is None:  # `Mar` alone is also a month, so the whole text is tried first
        named = _WEEKDAY.match(text)
        if named is not None and named["weekday"].lower() in WEEKDAYS:
            found = _shaped(text[named.end() :])
    if found is not None:
        return found
    serial = _SERIAL.fullmatch(text)
    return WrittenMoment(SERIAL, serial) if serial else None


def _shaped(text: str) -> WrittenMoment | None:
    for shape, pattern in _possible(text.translate(_ZEROS)):
        found = pattern.fullmatch(text)
        if found is not None and ("B" in shape or text.isascii()):
            mark = found["mark"] if "mark" in pattern.groupindex else None
            return WrittenMoment(_marked(shape, mark), found)
    return None


_DIGIT = re.compile("[0-9]")
_ZEROS = str.maketrans("123456789", "0" * 9)


@lru_cache(maxsize=4096)
def _possible(outline: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The shapes that texts of an outline (every digit a zero) may have, in their order.

    Wherever a pattern takes a digit it also takes a zero, so a text has no shape that its outline has not. A
    column has few outlines, and most outlines have one shape or none.
    """
    return tuple((shape, pattern) for shape, pattern in _SHAPES.items() if pattern.fullmatch(outline))


@lru_cache(maxsize=256)
def _marked(shape: str, mark: str | None) -> str:
    return shape.format((mark or "").strip() or mark)


def _century(year: int, latest_year: int) -> int:
    """The year that two digits stand for: the last one that is not after the latest.

    >>> _century(12, 2027), _century(88, 2027), _century(27, 2026)
    (2012, 1988, 1927)
    """
    return latest_year - (latest_year - year) % 100


_NO_CLOCK = (datetime.timedelta(), False)


def _clock(said: dict[str, str | None]) -> tuple[datetime.timedelta, bool] | None:
    """The time of day, in UTC if a zone is given, and whether there is one; None if no clock shows it."""
    if said.get("hour") is None:
        return _NO_CLOCK
    hour, minute, second = (int(said.get(part) or 0) for part in ("hour", "minute", "second"))
    half = said.get("half")
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    part = datetime.timedelta(microseconds=int((said.get("part") or "0")[:6].ljust(6, "0")))
    time = datetime.timedelta(hours=hour, minutes=minute, seconds=second) + part
    zone = said.get("zone") or "Z"
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
