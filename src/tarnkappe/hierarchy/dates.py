"""Dates: days become weeks, or months, quarters, years and longer periods."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import Builder, Domain, Labels, ValueKind
from tarnkappe.schema import NO_NUL, Listed, Problem, param, rule
from tarnkappe.table.spelling import DatePrecision, Moment

if TYPE_CHECKING:
    Period = str
else:
    Period = Literal[
        "minute", "hour", "day", "week", "month", "quarter", "year", "five-years", "decade", "century"
    ]
Days = npt.NDArray[np.int64]
"""Days since 1970-01-01."""

Seconds = npt.NDArray[np.int64]
"""Seconds since 1970-01-01."""

DAY = 86_400


class DatesBuilder(Builder):
    """Dates, points in time and texts of them become periods of the calendar.

    Minutes, hours, days, months, quarters, years, five years, decades and centuries nest in this order. A
    week can lie partly in one month and partly in the next, so weeks can only follow days and stand below the
    root. A point in time with a time zone counts as the day that it is in that zone.

    >>> import pyarrow as pa
    >>> dates = DatesBuilder(levels=["month", "year", "five-years", "decade"])
    >>> births = dates.build(pa.array(["1964-07-31"]))
    >>> for row in births.rows(): print(*row, sep=";")
    1964-07-31;1964-07;1964;1960-1964;1960-1969;*
    """

    name = "dates"
    kinds = frozenset({ValueKind.DATES})

    levels: Annotated[
        Listed[Period],
        param(
            "the periods, from short to long", min_length=1, max_length=10, start=("month", "year", "decade")
        ),
    ] = ("month", "year", "decade")
    format: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_NUL)] | None,
        param("how texts write a date, as strptime does (%d.%m.%Y), if not seen from the file"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """The periods go from short to long, and nothing follows weeks."""
        order = [*CLOCK, *PERIODS]
        for shorter, longer in itertools.pairwise(self.levels):
            if order.index(shorter) >= order.index(longer):
                yield rule(
                    "dates.order",
                    "dates needs levels from short to long, each once: '{longer}' cannot follow '{shorter}'",
                    "levels",
                    longer=longer,
                    shorter=shorter,
                )
            elif shorter == "week":
                raise HierarchyError(
                    "hierarchy.weeks-not-nest-level",
                    "weeks do not nest in the level '{longer}': a week can lie partly in one and partly in "
                    "the next; leave one of the two levels out",
                    longer=longer,
                )

    @classmethod
    def examples(cls) -> tuple[DatesBuilder, ...]:
        """Instances for the common tests."""
        return (
            cls(),
            cls(levels=("day", "week")),
            cls(levels=("minute", "hour", "day", "year")),
            cls(levels=("day", "month", "quarter", "year", "five-years", "decade", "century")),
        )

    @property
    def height(self) -> int:
        """One level for each period, and the root."""
        return len(self.levels) + 1

    @property
    def looks_at_data(self) -> bool:
        """Without a format, how texts write a date is seen from all of them."""
        return self.format is None

    def generalize(self, domain: Domain) -> list[Labels]:
        """The period that each date lies in.

        A text that says only the month or the year keeps that label on finer levels; one that is no date
        keeps itself.
        """
        moments = self._moments(domain)
        if moments is not None:
            return [self._spelled_labels(period, domain) for period in self.levels]
        seconds = self._seconds(domain)
        return [_labels(period, seconds) for period in self.levels]

    def _moments(self, domain: Domain) -> list[Moment | None] | None:
        """The moments that texts stand for in the format of this builder or the spelling of the file."""
        if self.format is not None or domain.moments is None:
            return None
        if domain.spelling and domain.spelling.date and domain.spelling.date.open:
            unknown = [period for period in self.levels if SAYS[period] is not DatePrecision.YEAR]
            if unknown:
                raise HierarchyError(
                    "hierarchy.not-tell-day-month",
                    "{owner} does not tell day and month apart, so it has no level '{unknown}': say which "
                    "comes first with --dates dmy or mdy, or begin with year",
                    owner=domain.owner,
                    unknown=unknown[0],
                )
        return domain.moments

    def _spelled_labels(self, period: str, domain: Domain) -> Labels:
        """The labels of a level, no finer than each text is."""
        labels = list(domain.texts)
        for precision, places in domain.places_by_precision.items():
            exact = FINENESS.index(precision) >= FINENESS.index(SAYS[period])
            some = _labels(period if exact else COARSEST[precision], domain.seconds[places])
            if len(places) == len(labels):
                return some
            for place, label in zip(places.tolist(), some, strict=True):
                labels[place] = label
        return labels

    def _seconds(self, domain: Domain) -> Seconds:
        kind = domain.values.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            local = pc.local_timestamp(domain.values) if getattr(kind, "tz", None) else domain.values
            if pa.types.is_date(kind):
                return np.asarray(pc.cast(pc.cast(local, pa.date32()), pa.int32()), dtype=np.int64) * DAY
            whole = pc.cast(pc.floor_temporal(local, unit="second"), pa.timestamp("s"))
            return np.asarray(pc.cast(whole, pa.int64()), dtype=np.int64)
        if not pa.types.is_string(kind):
            raise HierarchyError(
                "hierarchy.dates-needs-dates-but-holds",
                "dates needs dates, but {owner} holds {kind} values",
                owner=domain.owner,
                kind=kind,
            )
        return np.array([self._second(text, domain) for text in domain.texts], dtype=np.int64)

    def _second(self, text: str, domain: Domain) -> int:
        try:
            if self.format is None:
                moment = datetime.datetime.fromisoformat(text)
            else:
                moment = datetime.datetime.strptime(text, self.format)
        except ValueError:
            form = "ISO form such as 1980-01-31" if self.format is None else f"the format {self.format}"
            raise HierarchyError(
                "hierarchy.dates-needs-dates-but-value",
                "dates needs dates in {form}, but {owner} has the value '{text}': correct it or set format,"
                ' such as format = "%d.%m.%Y"',
                form=form,
                owner=domain.owner,
                text=text,
            ) from None
        days = moment.toordinal() - _EPOCH
        return days * DAY + moment.hour * 3600 + moment.minute * 60 + moment.second


_EPOCH = datetime.date(1970, 1, 1).toordinal()


def _years(days: Days) -> Days:
    return days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970


def _months(days: Days) -> Days:
    """Months since January of the year 0."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) + 1970 * 12


def _day_labels(days: Days) -> Labels:
    return [str(day) for day in days.astype("datetime64[D]")]


def _week_labels(days: Days) -> Labels:
    """Weeks from Monday to Sunday; a week belongs to the year of its Thursday (ISO 8601)."""
    thursdays = days - (days + 3) % 7 + 3
    years = _years(thursdays)
    new_year = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
    weeks = (thursdays - new_year) // 7 + 1
    return [f"{year:04d}-W{week:02d}" for year, week in zip(years.tolist(), weeks.tolist(), strict=True)]


def _month_labels(days: Days) -> Labels:
    return [f"{month // 12:04d}-{month % 12 + 1:02d}" for month in _months(days).tolist()]


def _quarter_labels(days: Days) -> Labels:
    return [f"{month // 12:04d}-Q{month % 12 // 3 + 1}" for month in _months(days).tolist()]


def _year_labels(days: Days) -> Labels:
    return [f"{year:04d}" for year in _years(days).tolist()]


def _years_labels(length: int) -> Callable[[Days], Labels]:
    def labels(days: Days) -> Labels:
        first = _years(days) // length * length
        return [f"{year:04d}-{year + length - 1:04d}" for year in first.tolist()]

    return labels


PERIODS: dict[str, Callable[[Days], Labels]] = {
    "day": _day_labels,
    "week": _week_labels,
    "month": _month_labels,
    "quarter": _quarter_labels,
    "year": _year_labels,
    "five-years": _years_labels(5),
    "decade": _years_labels(10),
    "century": _years_labels(100),
}
"""The periods from short to long, each with the labels of some days."""


def _minute_labels(seconds: Seconds) -> Labels:
    return [
        str(moment).replace("T", " ") for moment in seconds.astype("datetime64[s]").astype("datetime64[m]")
    ]


def _hour_labels(seconds: Seconds) -> Labels:
    hours = seconds.astype("datetime64[s]").astype("datetime64[h]")
    return [str(moment).replace("T", " ") + "h" for moment in hours]


CLOCK: dict[str, Callable[[Seconds], Labels]] = {"minute": _minute_labels, "hour": _hour_labels}
"""The periods that are shorter than a day."""

FINENESS = (DatePrecision.YEAR, DatePrecision.MONTH, DatePrecision.DAY, DatePrecision.TIME)
SAYS = {
    **dict.fromkeys(CLOCK, DatePrecision.TIME),
    "day": DatePrecision.DAY,
    "week": DatePrecision.DAY,
    "month": DatePrecision.MONTH,
    "quarter": DatePrecision.MONTH,
    **dict.fromkeys(("year", "five-years", "decade", "century"), DatePrecision.YEAR),
}
"""How exactly a date must be known for each period."""
COARSEST = {DatePrecision.YEAR: "year", DatePrecision.MONTH: "month", DatePrecision.DAY: "day"}
"""The label of a date that is not known so exactly."""


def _labels(period: str, seconds: Seconds) -> Labels:
    """The label of each moment; each different minute, hour, or day is written once."""
    unit = {"minute": 60, "hour": 3600}.get(period, DAY)
    units, place = np.unique(seconds // unit, return_inverse=True)
    labels = CLOCK[period](units * unit) if period in CLOCK else PERIODS[period](units)
    return [labels[number] for number in place.tolist()]
