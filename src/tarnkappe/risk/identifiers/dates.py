"""Dates more exact than a year, and ages over 89."""

from __future__ import annotations

import dataclasses
import datetime
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.risk.identifiers.checks import calendar_day
from tarnkappe.risk.identifiers.detector import (
    MOSTLY,
    Detector,
    IdentifierFinding,
    IdentifierKind,
    percent,
    phrases,
)
from tarnkappe.risk.identifiers.safe_harbor import OLDEST, safe_age, safe_birth_year
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.table import Role
from tarnkappe.table.spelling import SpellingKind
from tarnkappe.table.spelling.moments import COMPACT, SERIAL, YEAR, YEARS, DateOrder, written

AGE_WORDS = phrases("age, alter, lebensalter, years old, jahre, edad, eta, idade, leeftijd, wiek, yas, vek")
BIRTH_WORDS = phrases(
    "birth, born, geburt, geburtsjahr, yob, jahrgang, birthyear, naissance, nacimiento, nascita, nascimento, "
    "geboorte, geboortejaar, urodzenia"
)
ELEMENT_WORDS = ("month", "monat", "day", "tag", "weekday", "wochentag")
QUANTITY_WORDS = phrases(
    "score, hours, stunden, percent, prozent, rate, pressure, weight, gewicht, bmi, pulse, puls, "
    "temperature, count, price, number, anzahl, days, tage, minutes, height, dose, level, index, "
    "value, points, punkte, heart, blood, saturation, quantity, week, groesse, größe"
)

LATEST = 2050
"""The last year that two digits stand for."""

SOME = 0.2
"""With so large a share of dates alone in their cells, a column is one of dates with exceptions."""

_MONTH = r"(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)[a-zäöü]*\.?"
_DAY = (
    r"(?:1[89]|20)[0-9]{2}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12][0-9]|3[01])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[./-](?:0?[1-9]|[12][0-9]|3[01])[./-](?:(?:1[89]|20)[0-9]{2}|[0-9]{2})"
    rf"|(?:[0-9]{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?)?{_MONTH} (?:[0-9]{{1,2}}(?:st|nd|rd|th)?,? )?"
    r"(?:1[89]|20)[0-9]{2}"
)
_CLOCK = r"(?:[T ,]+[0-9]{1,2}:[0-9]{2}.*)?"
_WHOLE = re.compile(f"(?:{_DAY}){_CLOCK}|(?:1[89]|20)[0-9]{{2}}[-/](?:0[1-9]|1[0-2])|[0-9]{{8}}")
_INSIDE = rf"(?:^|[^\w./-])(?:{_DAY})(?:$|[^\w/-])"
_IN_TEXT = re.compile(_INSIDE)
_OPEN = re.compile(r"(?:>=?|≥|over|above|ab|über)?\s*([0-9]{1,3})\s*(?:\+|and over|or older|und älter)?")
_SPAN = re.compile(r"[\[(]?\s*([0-9]{1,3})\s*(?:-|–|,|to|bis)\s*([0-9]{1,3})\s*[\])\[]?")
_A_DAY = re.compile(rf"(?<![\w./-])(?:{_DAY})(?![\w/-]|\.[0-9])")


def without_days(text: str) -> str:
    """A text without the days that are written in it.

    >>> without_days("seen on 03/04/2019, 0664/123 45 67")
    'seen on ;, 0664/123 45 67'
    """
    return _A_DAY.sub(";", text)


_PERIOD = (
    rf"(?:{_DAY})(?:[T ][0-9]{{2}}(?::[0-9]{{2}})*(?:\.[0-9]+)?h?)?|"
    r"(?:1[89]|20)[0-9]{2}(?:-(?:[01][0-9]|Q[1-4]|W[0-5][0-9]))?"
)
_PERIODS = re.compile(
    r"(?:1[89]|20)[0-9]{2}-(?:Q[1-4]|W[0-5][0-9])|(?:1[89]|20)[0-9]{2}-[01][0-9]-[0-3][0-9] [0-2][0-9]h|"
    rf"[\[{{(](?:{_PERIOD})(?:, (?:{_PERIOD}))+[\])}}]|(?:{_PERIOD}) (?:to|bis|–|-) (?:{_PERIOD})"
)


def is_period(text: str) -> bool:
    """Whether a text is a period longer than a day, an hour, or several joined, as a release writes them.

    >>> is_period("[2023-05-05, 2023-05-07]"), is_period("2023-Q1"), is_period("from 2023-05-05 on")
    (True, True, False)
    """
    return bool(_PERIODS.fullmatch(text))


@dataclasses.dataclass(frozen=True)
class DatesDetector(Detector):
    """Days and months: columns of type date or time, dates in text, and eight digits that are days."""

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """By the type of the column, by its values, then inside its values."""
        spelled = column.spelling is not None and column.spelling.kind is SpellingKind.DATE
        if spelled or pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            return (
                self.finding(column, column.filled, "the values are dates with day and month")
                if column.filled
                else None
            )
        share, alone = column.shares_of(_is_date)
        if share >= MOSTLY:
            return self.finding(
                column,
                round(share * column.filled),
                f"{percent(share)} of the values are dates with day or month",
            )
        cells = column.cells_where(_INSIDE, lambda text: bool(_IN_TEXT.search(text)) and not is_period(text))
        if alone >= SOME and cells <= round(alone * column.filled):  # none stands within a text
            reason = f"{percent(alone)} of the values are dates with day or month, the others are not"
            return self.finding(column, cells, reason)
        return self.inside_text(column, cells)

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Days and months that stand in columns of their own."""
        numbers = column.numbers
        if not column.says(ELEMENT_WORDS) or numbers is None or not column.is_whole:
            return None
        if numbers.min() < 1 or numbers.max() > 31:
            return None
        return self.finding(column, column.filled, "the header speaks of days or months of dates")


def _is_date(text: str) -> bool:
    if _WHOLE.fullmatch(text):
        return not (text.isdigit() and len(text) == 8) or calendar_day(text)
    if is_period(text):
        return True
    found = written(text)
    if found is None or found.shape in (COMPACT, YEAR, SERIAL):
        return False
    moments = (found.moment(order, LATEST) for order in (DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST))
    return any(moment is not None and moment.time.year in YEARS for moment in moments)


@dataclasses.dataclass(frozen=True)
class Ages(Detector):
    """Ages over 89, also as groups that tell them apart, and years of birth that show them.

    Without a header that says so, whole numbers count as ages if they are spread as ages are: from the
    young to a few over 89 and none above 120, without a value that stands out.
    """

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Numbers first, then groups."""
        if column.numbers is not None:
            return self._numbers(column)
        if not self.named(column) and not column.says(AGE_WORDS):
            return None
        cells = sum(_shows_age(text) for text in column.sample)
        return self.finding(column, cells, "age groups tell ages over 89 apart") if cells else None

    def _numbers(self, column: ColumnView) -> IdentifierFinding | None:
        numbers = column.numbers
        if numbers is None or not len(numbers) or not column.is_whole:
            return None
        counts = column.number_counts
        year = datetime.datetime.now(datetime.UTC).year
        if numbers.min() >= year - 125 and numbers.max() <= year:
            old = np.array([safe_birth_year(int(number), year) is None for number in numbers])
            born = column.says(BIRTH_WORDS) or (not column.says(QUANTITY_WORDS) and len(numbers) >= 20)
            if old.any() and born and numbers.min() >= 1850:
                return self.finding(column, int(counts[old].sum()), "years of birth show ages over 89")
        old = np.array([0 <= n <= 125 and safe_age(int(n)) != str(int(n)) for n in numbers])
        if not old.any() or numbers.min() < 0 or numbers.max() > 125:
            return None
        other = column.says(QUANTITY_WORDS) or column.about("id") or column.numbers_people
        if column.says(AGE_WORDS) or (not other and _spread_like_ages(numbers, counts)):
            tail = "" if column.says(AGE_WORDS) else ", as the spread of the values tells"
            cells = int(counts[old].sum())
            return self.finding(column, cells, f"{cells:,} ages are over 89{tail}")
        return None


def _spread_like_ages(numbers: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> bool:
    rows = int(counts.sum())
    old, common = counts[numbers > OLDEST].sum() / rows, counts.max() / rows
    median = np.median(np.repeat(numbers, counts))
    few = max(0.15, 3 / rows)
    return bool(
        rows >= 10
        and counts.max() > 1  # numbers from 1 to 100, each once, are running numbers
        and len(numbers) >= min(20, rows / 2)
        and numbers.min() <= 40
        and 20 <= median <= 80
        and old < few
        and common < few
    )


def _shows_age(text: str) -> bool:
    """Whether an age group tells apart ages over 89: its lower end is 91 or more, or it ends after 90."""
    span = _SPAN.fullmatch(text)
    if span:
        return int(span.group(2)) > OLDEST + 1
    single = _OPEN.fullmatch(text)
    return (
        single is not None
        and int(single.group(1)) > OLDEST
        and (int(single.group(1)) > OLDEST + 1 or text.strip().isdigit())
    )


DATES = (
    DatesDetector(
        "date",
        (IdentifierKind.DATE,),
        "dates with day and month",
        ("date", "datum", "day", "tag", "dob", "birthday"),
        Role.QUASI_IDENTIFIER,
    ),
    Ages(
        "age-over-89",
        (IdentifierKind.DATE,),
        "ages over 89",
        (*AGE_WORDS, *BIRTH_WORDS),
        Role.QUASI_IDENTIFIER,
    ),
)
