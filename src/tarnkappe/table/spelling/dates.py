"""How a column spells its dates: up to three shapes, and one order of day and month for each.

No cell is judged by itself: `03/04/05` says nothing, and a day over 12 in another row says it for all. What
nothing in the column tells is left open, and the rest of the file may decide.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from functools import cached_property

from tarnkappe.table.spelling.moments import (
    COMPACT,
    SERIAL,
    YEAR,
    YEARS,
    DateOrder,
    Moment,
    WrittenMoment,
    by_pattern,
    written,
)

MOST_SHAPES = 3
CLEARLY = 20
"""So many times as frequent an order must be to outweigh cells that contradict it."""
COMPANY = 0.2
"""This share of the cells must be dates of another shape before plain digits count as Excel's days."""

BIRTH = re.compile(r"birth|born|geb|dob\b|naiss|nacim", re.IGNORECASE)
DATED = re.compile(
    r"date|datum|day\b|tag\b|birth|born|geb|dob\b|time\b|zeit|fecha|naiss|nacim|dtc\b|_dt\b|^dt\b|beginn|admission",
    re.IGNORECASE,
)
"""Names of columns that hold dates: only there digits without marks are days."""


@dataclasses.dataclass(frozen=True)
class DateFormat:
    """How dates are spelled.

    Attributes:
        orders: the shapes that occur ("Y-m-d", "a.b.Y", ...), each with the order of day and month.
        latest_year: the last year that two digits stand for.
        pattern: instead of shapes, a format of strptime that the user has stated.
    """

    orders: tuple[tuple[str, DateOrder], ...]
    latest_year: int
    pattern: str = ""

    @property
    def open(self) -> bool:
        """Whether some shape leaves open which number is the day."""
        return any(order is DateOrder.OPEN for _, order in self.orders)

    @cached_property
    def _order_of(self) -> dict[str, DateOrder]:
        return dict(self.orders)

    def parse(self, text: str) -> Moment | None:
        """When it was, or None if the text is no date of this spelling.

        >>> str(DateFormat((("a.b.Y", DateOrder.DAY_FIRST),), 2027).parse("31.12.1980").time.date())
        '1980-12-31'
        """
        if self.pattern:
            return by_pattern(text, self.pattern)
        found = written(text)
        return self.moment(found) if found is not None else None

    def moment(self, found: WrittenMoment) -> Moment | None:
        """When a text of some shape was, or None."""
        order = self._order_of.get(found.shape)
        if order is None:
            return None
        moment = found.moment(order, self.latest_year)
        plain = found.shape in (COMPACT, YEAR)
        return None if plain and moment is not None and moment.time.year not in YEARS else moment


@dataclasses.dataclass(frozen=True)
class DateEvidence:
    """What the distinct texts of a column say about its dates.

    Attributes:
        format: the spelling.
        fitting: how many cells it reads.
        known: the order that the cells themselves tell, which other columns may follow.
        read: when the texts were that fit.
    """

    format: DateFormat
    fitting: int
    known: DateOrder | None
    read: Mapping[str, Moment] = dataclasses.field(default_factory=dict, repr=False, compare=False)


def find_dates(
    counts: Mapping[str, int],
    name: str,
    this_year: int,
    stated: DateOrder | None = None,
    least: float = 0.0,
) -> DateEvidence:
    """How dates are spelled in a column, from its distinct texts and how many cells have each.

    Where fewer than `least` cells can be dates, the rest is not looked at, and none is said to fit.

    >>> [str(order) for _, order in find_dates({"07-10-1983": 1, "09/19/88": 1}, "d", 2026).format.orders]
    ['mdy', 'mdy']
    """
    shapes: dict[str, dict[str, WrittenMoment]] = {}
    possible = sum(counts.values())
    for text, count in counts.items():
        found = written(text)
        if found is not None:
            shapes.setdefault(found.shape, {})[text] = found
        else:
            possible -= count
            if possible < least:
                return DateEvidence(DateFormat((), this_year), 0, None)
    cells = {shape: sum(counts[text] for text in texts) for shape, texts in shapes.items()}
    chosen = _chosen(cells, name, sum(counts.values()))
    told = {shape: stated or _order(shapes[shape], counts) for shape in chosen if shape[0] == "a"}
    chosen = [shape for shape in chosen if told.get(shape, DateOrder.OPEN) is not None]
    clear = [
        order for shape, order in told.items() if order not in (None, DateOrder.OPEN) and "." not in shape
    ]
    orders: dict[str, DateOrder] = {}
    for shape in chosen:
        orders[shape] = told.get(shape) or DateOrder.DAY_FIRST
        if orders[shape] is DateOrder.OPEN:
            orders[shape] = DateOrder.DAY_FIRST if "." in shape else next(iter(clear), DateOrder.OPEN)
    format_ = DateFormat(tuple(orders.items()), this_year if BIRTH.search(name) else this_year + 1)
    read = {
        text: moment
        for shape in chosen
        for text, found in shapes[shape].items()
        if (moment := format_.moment(found)) is not None
    }
    fitting = sum(counts[text] for text in read)
    known = next((order for order in told.values() if order not in (None, DateOrder.OPEN)), None)
    return DateEvidence(format_, fitting, known, read)


def with_order(format_: DateFormat, order: DateOrder) -> DateFormat:
    """The same spelling, with an order where it was open."""
    orders = tuple((shape, order if said is DateOrder.OPEN else said) for shape, said in format_.orders)
    return DateFormat(orders, format_.latest_year)


def _chosen(cells: Mapping[str, int], name: str, total: int) -> list[str]:
    """The shapes that count, at most three; digits alone need company or a name that speaks of dates."""
    marked = {shape: number for shape, number in cells.items() if shape not in (COMPACT, YEAR, SERIAL)}
    company = sum(marked.values()) >= COMPANY * total and bool(marked)
    chosen = dict(marked)
    if COMPACT in cells and (DATED.search(name) or company):
        chosen[COMPACT] = cells[COMPACT]
    for shape in (YEAR, SERIAL):
        if shape in cells and company:
            chosen[shape] = cells[shape]
    return sorted(chosen, key=lambda shape: (-chosen[shape], shape))[:MOST_SHAPES]


def _order(texts: Mapping[str, WrittenMoment], counts: Mapping[str, int]) -> DateOrder | None:
    """Which number is the day: the one that is over 12 somewhere. None if the cells contradict each other."""
    first = second = 0
    for text, found in texts.items():
        numbers = found.numbers
        assert numbers is not None
        first += counts[text] if numbers[0] > 12 else 0
        second += counts[text] if numbers[1] > 12 else 0
    if not first and not second:
        return DateOrder.OPEN
    if first >= CLEARLY * second:
        return DateOrder.DAY_FIRST
    return DateOrder.MONTH_FIRST if second >= CLEARLY * first else None
