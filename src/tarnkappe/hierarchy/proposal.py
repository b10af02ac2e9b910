"""A sensible hierarchy for a column that nobody has described yet, with the reason for it."""

from __future__ import annotations

import dataclasses
import datetime
import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.hierarchy.builder import Builder, Domain, Labels
from tarnkappe.hierarchy.dates import DatesBuilder
from tarnkappe.hierarchy.frequent import Frequent
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.hierarchy.intervals import Intervals
from tarnkappe.hierarchy.masking import Masking
from tarnkappe.hierarchy.numbers import EXACT, floor_quotient, is_whole, number_text
from tarnkappe.hierarchy.root import RootOnly
from tarnkappe.table import Column

FEW_CATEGORIES = 8
FEW_NUMBERS = 4
MOST_INTERVALS = 20
MOST_LEVELS = 6
CROWDED = 0.8
"""With a larger share of the rows in one interval of level 1, fixed widths tell too little apart."""

_CODE = re.compile(r"(?=[^0-9]*[0-9])[\w./-]{2,16}")
_NAMED_CODE = re.compile(r"zip|plz|post|code|icd|iban|phone", re.IGNORECASE)
_YEARS = range(1850, 2101)


@dataclasses.dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy, the builder that makes it and why this one.

    `str(proposal.builder)` is the inline table that asks for it in a job file.
    """

    hierarchy: Hierarchy
    builder: Builder
    reason: str


def propose(column: Column) -> HierarchyProposal:
    """A default hierarchy, chosen by the type, the distinct values and the frequencies of a column.

    >>> from tarnkappe.table.encoding import encode_column
    >>> ages = encode_column("age", pa.chunked_array([list(range(17, 91))]))
    >>> str(propose(ages).builder)
    '{builder = "intervals", width = [5, 10, 20]}'
    """
    builder, reason = _choose(Domain.of(column))
    return HierarchyProposal(builder.build_column(column), builder, reason)


class AutoBuilder(Builder):
    """The builder that `propose` chooses for the values.

    >>> list(AutoBuilder().build(pa.array(["Male", "Female"])).rows())
    [('Female', '*'), ('Male', '*')]
    """

    name = "auto"

    @classmethod
    def examples(cls) -> tuple[AutoBuilder, ...]:
        """Instances for the common tests."""
        return (cls(),)

    @property
    def height(self) -> None:
        """It depends on the values."""
        return

    def generalize(self, domain: Domain) -> list[Labels]:
        """The levels of the chosen builder."""
        return _choose(domain)[0].generalize(domain)

    def root(self, domain: Domain) -> str:
        """The root of the chosen builder."""
        return _choose(domain)[0].root(domain)


def _choose(domain: Domain) -> tuple[Builder, str]:
    if not len(domain):
        return RootOnly(), "all values are missing"
    years = _date_years(domain)
    if years is not None:
        return _for_dates(
            *years, is_open=bool(domain.spelling and domain.spelling.date and domain.spelling.date.open)
        )
    numbers = domain.numbers
    finite = sorted(number for number in numbers if number is not None)
    spelled = domain.spelling is not None and domain.spelling.number is not None
    is_number = spelled or pa.types.is_floating(domain.values.type) or len(finite) == len(numbers)
    if is_number and len(finite) > FEW_NUMBERS and not _is_coded(domain):
        return _for_numbers(domain, finite)
    return _for_categories(domain, FEW_NUMBERS if is_number else FEW_CATEGORIES)


def _date_years(domain: Domain) -> tuple[int, int] | None:
    """The first and the last year of dates, or None if the values are no dates."""
    kind = domain.values.type
    if domain.moments is not None:
        known = [moment.time.year for moment in domain.moments if moment is not None]
        return (min(known), max(known)) if known else None
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        years = pc.min_max(pc.year(domain.values))
        return int(years["min"].as_py()), int(years["max"].as_py())
    if not pa.types.is_string(kind) or "-" not in domain.texts[0][:5]:
        return None
    try:
        found = [datetime.datetime.fromisoformat(text).year for text in domain.texts]
    except ValueError:
        return None
    return min(found), max(found)


def _for_dates(first: int, last: int, is_open: bool = False) -> tuple[Builder, str]:
    if is_open:
        levels = ["year", *(["five-years", "decade"] if last - first >= 10 else [])]
        return DatesBuilder(tuple(levels)), (
            f"the values are dates from {first} to {last}, of which only the years are sure (--dates decides)"
        )
    levels = ["month", "quarter", "year"] if last - first < 5 else ["month", "year"]
    if last - first >= 10:
        levels.append("decade")
    return DatesBuilder(tuple(levels)), f"the values are dates from {first} to {last}"


def _for_numbers(domain: Domain, finite: list[Decimal]) -> tuple[Builder, str]:
    least, greatest = finite[0], finite[-1]
    widths = _rounded_widths(least, greatest, whole=all(map(is_whole, finite)))
    span = f"{len(domain)} different numbers from {float(least):g} to {float(greatest):g}"
    builder = Intervals(width=tuple(_plain(width) for width in widths))
    rows: dict[str, int] = {}
    for label, count in zip(builder.generalize(domain)[0], domain.counts.tolist(), strict=True):
        rows[label] = rows.get(label, 0) + count
    crowd = max(rows.values()) / sum(rows.values())
    if crowd > CROWDED:
        return Intervals(quantiles=(8, 4, 2)), (
            f"{span}, but {crowd:.0%} of the rows lie in one interval of width {number_text(widths[0])}, so "
            "intervals with equally many rows tell more"
        )
    return builder, f"{span}: intervals of rounded widths, up to few intervals"


def _rounded_widths(least: Decimal, greatest: Decimal, whole: bool) -> list[Decimal]:
    """Widths of 1, 2 and 5 times powers of ten that nest, from the first that gives few enough intervals."""
    span = EXACT.subtract(greatest, least)
    exponent = span.adjusted() - 2
    candidates = [Decimal((0, (digit,), exponent + power)) for power in range(6) for digit in (1, 2, 5)]
    chosen: list[Decimal] = []
    for width in candidates:
        intervals = floor_quotient(greatest, width) - floor_quotient(least, width) + 1
        if not chosen:
            suits = intervals <= MOST_INTERVALS and (not whole or width >= 2)
        else:
            suits = intervals > 2 and not EXACT.remainder(width, chosen[-1])
        if suits:
            chosen.append(width)
    return chosen[:MOST_LEVELS]


def _plain(number: Decimal) -> int | float:
    return int(number) if is_whole(number) else float(number)


def _is_coded(domain: Domain) -> bool:
    """Whether digits are a code, such as a postcode, and not a quantity."""
    texts = domain.texts
    digits = all(text.isascii() and text.isdigit() for text in texts)
    lengths = {len(text) for text in texts}
    if not digits or max(lengths) < 4 or all(int(text[:5]) in _YEARS for text in texts):
        return False
    if _NAMED_CODE.search(domain.name):
        return True
    return pa.types.is_string(domain.values.type) and len(lengths) == 1


def _for_categories(domain: Domain, few: int) -> tuple[Builder, str]:
    texts, number = domain.texts, len(domain)
    if number <= few:
        return RootOnly(), f"it has only {number} different value{'s' if number > 1 else ''}"
    lengths = {len(text) for text in texts}
    if all(_CODE.fullmatch(text) for text in texts):
        step = -(-max(lengths) // MOST_LEVELS)
        form = f"of {min(lengths)} characters" if len(lengths) == 1 else f"of up to {max(lengths)} characters"
        return Masking(step=step), f"its {number} values are codes {form}, whose first characters tell most"
    if number > FEW_CATEGORIES and number > 0.9 * domain.counts.sum():
        return RootOnly(), (
            f"nearly every row has a value of its own ({number} values in {domain.counts.sum()} rows): it "
            "looks like an identifier"
        )
    keep = [min(32, number // 2)]
    while keep[-1] // 2 >= 3:
        keep.append(keep[-1] // 2)
    return Frequent(keep=tuple(keep)), (
        f"its {number} values have no visible structure: the frequent ones keep their names; groups by "
        "meaning would tell more"
    )
