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
from tarnkappe.hierarchy.builder import Builder, Domain, Kind, Labels
from tarnkappe.schema import NO_NUL, Listed, Problem, param, rule

if TYPE_CHECKING:
    Period = str
else:
    Period = Literal["day", "week", "month", "quarter", "year", "five-years", "decade", "century"]
Days = npt.NDArray[np.int64]
"""Days since 1970-01-01."""


class Dates(Builder):
    """Dates, points in time and ISO texts become periods of the calendar.

    Days, months, quarters, years, five years, decades and centuries nest in this order. A week can lie
    partly in one month and partly in the next, so weeks can only follow days and stand below the root.
    A point in time with a time zone counts as the day that it is in that zone.

    >>> import pyarrow as pa
    >>> births = Dates(levels=["month", "year", "five-years", "decade"]).build(pa.array(["1964-07-31"]))
    >>> for row in births.rows(): print(*row, sep=";")
    1964-07-31;1964-07;1964;1960-1964;1960-1969;*
    """

    name = "dates"
    kinds = frozenset({Kind.DATES})

    levels: Annotated[
        Listed[Period],
        param(
            "the periods, from short to long", min_length=1, max_length=8, start=("month", "year", "decade")
        ),
    ] = ("month", "year", "decade")
    format: Annotated[
        Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_NUL)] | None,
        param("how texts write a date if not in ISO form, as strptime does (%d.%m.%Y)"),
    ] = None

    def rules(self) -> Iterator[Problem]:
        """The periods go from short to long, and nothing follows weeks."""
        order = list(PERIODS)
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
                    f"weeks do not nest in the level '{longer}': a week can lie partly in one and partly in "
                    "the next; leave one of the two levels out"
                )

    @classmethod
    def examples(cls) -> tuple[Dates, ...]:
        """Instances for the common tests."""
        return (
            cls(),
            cls(levels=("day", "week")),
            cls(levels=("day", "month", "quarter", "year", "five-years", "decade", "century")),
        )

    @property
    def height(self) -> int:
        """One level for each period, and the root."""
        return len(self.levels) + 1

    def generalize(self, domain: Domain) -> list[Labels]:
        """The period that each date lies in."""
        days, day_of_value = np.unique(self._days(domain), return_inverse=True)
        levels = []
        for period in self.levels:
            labels = np.array(PERIODS[period](days), dtype=object)
            levels.append(labels[day_of_value].tolist())
        return levels

    def _days(self, domain: Domain) -> Days:
        kind = domain.values.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            local = pc.local_timestamp(domain.values) if getattr(kind, "tz", None) else domain.values
            return np.asarray(pc.cast(pc.cast(local, pa.date32()), pa.int32()), dtype=np.int64)
        if not pa.types.is_string(kind):
            raise HierarchyError(f"dates needs dates, but {domain.owner} holds {kind} values")
        return np.array([self._day(text, domain) for text in domain.texts], dtype=np.int64)

    def _day(self, text: str, domain: Domain) -> int:
        try:
            if self.format is None:
                moment = datetime.datetime.fromisoformat(text)
            else:
                moment = datetime.datetime.strptime(text, self.format)
        except ValueError:
            form = "ISO form such as 1980-01-31" if self.format is None else f"the format {self.format}"
            raise HierarchyError(
                f"dates needs dates in {form}, but {domain.owner} has the value '{text}': correct it or set "
                'format, such as format = "%d.%m.%Y"'
            ) from None
        return moment.toordinal() - _EPOCH


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
