"""A sensible hierarchy for a column that nobody has described yet, with the reason for it."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.hierarchy.builder import Builder, Domain, Labels
from tarnkappe.hierarchy.code_systems import CodeSystem, System, is_known
from tarnkappe.hierarchy.dates import DatesBuilder
from tarnkappe.hierarchy.frequent import Frequent
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.hierarchy.intervals import Intervals
from tarnkappe.hierarchy.masking import Masking
from tarnkappe.hierarchy.numbers import EXACT, floor_quotient, is_whole
from tarnkappe.hierarchy.ordered import Ordered
from tarnkappe.hierarchy.ranges import Ranges, ranges_in_order
from tarnkappe.hierarchy.root import RootOnly
from tarnkappe.table import Column

FEW_CATEGORIES = 8
FEW_NUMBERS = 4
MOST_INTERVALS = 20
MOST_LEVELS = 6
CROWDED = 0.8
"""With a larger share of the rows in one interval of level 1, fixed widths tell too little apart."""
FAR = 20
"""Numbers so many times as large as the usual ones need intervals of their own widths."""
OFTEN = 0.05
"""A category with so large a share of the rows keeps its name."""
KNOWN = 0.95
"""Of a system are values of which it knows this share."""
OLDEST = 125
SYSTEMS = {
    System.CLOCK: "times of day",
    System.FEET: "heights in feet and inches",
    System.POSTCODES: "postcodes, whose first characters tell most",
    System.ICD_10: "codes of diagnoses (ICD-10), which have blocks and chapters",
    System.ISCO_08: "codes of occupations (ISCO-08)",
    System.US_STATES: "states of the USA, which have divisions and regions",
    System.GERMAN_STATES: "states of Germany",
    System.COUNTRIES: "countries, which have regions",
}
_POSTCODE = re.compile(
    r"zip|plz|postleit|post.?code|postal|pocztow|postn(?:umme)?r|postinumero|(?:^|[^a-z])(?:cap|cep|psc)(?:$|[^a-z])",
    re.IGNORECASE,
)
NAMED = {
    System.POSTCODES: _POSTCODE,
    System.ISCO_08: re.compile(r"isco|occupation|beruf|job", re.IGNORECASE),
}
"""Systems whose codes look like those of others: the header must speak of them."""

_CODE = re.compile(r"(?=[^0-9]*[0-9])[\w./-]{2,16}")
_NAMED_CODE = re.compile(r"zip|plz|post|code|icd|iban|phone", re.IGNORECASE)
_BIRTH = re.compile(r"birth|born|dob|geburt|geboren", re.IGNORECASE)
_AGE = re.compile(r"(?:^|[^a-z])(?:age|alter)(?:$|[^a-z])|alter$", re.IGNORECASE)
_YEAR = re.compile(r"year|jahr|yr", re.IGNORECASE)
_UNKNOWN = frozenset({"unknown", "Unknown", "other", "Other", "unbekannt", "keine Angabe"})
_YEARS = range(1850, 2101)


@dataclasses.dataclass(frozen=True)
class HierarchyProposal:
    """A hierarchy, the builder that makes it and why this one.

    `str(proposal.builder)` is the inline table that asks for it in a job file.
    """

    hierarchy: Hierarchy
    builder: Builder
    reason: str


def propose(column: Column, *, shared_by: int = 1) -> HierarchyProposal:
    """A default hierarchy, chosen by the type, the distinct values and the frequencies of a column.

    Args:
        column: the values.
        shared_by: how many rows a period of dates has on average at least, if a coarser one can be had. Who
            writes a group from the period of its first date to that of its last shows two people if every
            period is of one person.

    >>> from tarnkappe.table.encoding import encode_column
    >>> ages = encode_column("age", pa.chunked_array([list(range(17, 91))]))
    >>> str(propose(ages).builder)
    '{builder = "intervals", width = [5, 10, 20], top = 90}'
    """
    builder, reason = _choose(Domain.of(column), shared_by)
    return HierarchyProposal(builder.build_column(column), builder, reason)


def propose_builder(column: Column, *, shared_by: int = 1) -> Builder:
    """The builder that `propose` chooses, without the hierarchy that it would build."""
    return _choose(Domain.of(column), shared_by)[0]


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


def _choose(domain: Domain, shared_by: int = 1) -> tuple[Builder, str]:
    if not len(domain):
        return RootOnly(), "all values are missing"
    years = _date_years(domain)
    if years is not None:
        return _for_dates(domain, *years, shared_by)
    known = _of_a_system(domain)
    if known is not None:
        return known
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


def _for_dates(domain: Domain, first: int, last: int, shared_by: int) -> tuple[Builder, str]:
    """Periods of the calendar, each of which tells fewer values apart than the one before."""
    said = f"the values are dates from {first} to {last}"
    wanted: tuple[str, ...]
    if domain.spelling and domain.spelling.date and domain.spelling.date.open:
        wanted = ("year", "five-years", "decade")
        said += ", of which only the years are sure (--dates decides)"
    elif _BIRTH.search(domain.name):
        wanted = ("month", "year", "five-years", "decade")
    else:
        wanted = ("hour", "day", "month", "quarter", "year", "five-years", "decade")
    levels: list[str] = []
    below, rows = len(domain), int(domain.counts.sum())
    for period in wanted:
        different = len(set(DatesBuilder((period,)).generalize(domain)[0]))
        if 1 < different < below:
            if levels and rows < shared_by * below:
                levels.pop()
            levels.append(period)
            below = different
    return (DatesBuilder(tuple(levels[:MOST_LEVELS])) if levels else RootOnly()), said


def _of_a_system(domain: Domain) -> tuple[Builder, str] | None:
    """Values that are ranges, words of a scale, or of a system that everybody shares."""
    texts, number = domain.texts, len(domain)
    if not pa.types.is_string(domain.values.type):
        coded = _POSTCODE.search(domain.name) and pa.types.is_integer(domain.values.type)
        if not coded or not is_known(System.POSTCODES, texts, KNOWN):
            return None
        return CodeSystem(
            System.POSTCODES
        ), f"its {number} values are postcodes, whose first digits tell most"
    if number > 2 and ranges_in_order([text for text in texts if text not in _UNKNOWN]):
        return Ranges(), f"its {number} values are ranges, whose neighbours are joined"
    sizes = (2, *([2] if number > FEW_NUMBERS else []))
    order = () if domain.spelling is None else domain.spelling.order
    if number > 2 and {*texts} <= {*order}:
        return Ordered(size=sizes, order=order), f"its {number} values have codes, which give them an order"
    scale = _scale(texts)
    if scale is not None:
        return Ordered(size=sizes, order=scale), f"its {number} values are words of a scale in their order"
    if number <= 2:
        return None
    for system, what in SYSTEMS.items():
        named = system not in NAMED or NAMED[system].search(domain.name)
        if named and is_known(system, texts, KNOWN):
            return CodeSystem(system), f"its {number} values are {what}"
    return None


def _scale(texts: Sequence[str]) -> tuple[str, ...] | None:
    """The values in the order of a scale that has all of them, but for ranks before them (`1_good`)."""
    if len(texts) < 3:
        return None
    plain = {re.sub(r"^\d+[_ .)-]+", "", text).strip().casefold(): text for text in texts}
    for scale in _scales():
        if len(plain) == len(texts) and plain.keys() <= scale.keys():
            return tuple(plain[word] for word in sorted(plain, key=lambda word: scale[word]))
    return None


@cache
def _scales() -> tuple[dict[str, int], ...]:
    text = (files("tarnkappe.hierarchy") / "lists" / "ordered.txt").read_text(encoding="utf-8")
    lines = [line.split(", ") for line in text.splitlines() if line and not line.startswith("#")]
    return tuple({word: place for place, word in enumerate(words)} for words in lines)


def _for_numbers(domain: Domain, finite: list[Decimal]) -> tuple[Builder, str]:
    least, greatest = finite[0], finite[-1]
    whole = all(map(is_whole, finite))
    span = f"{len(domain)} different numbers from {float(least):g} to {float(greatest):g}"
    if whole and _AGE.search(domain.name) and least >= 0 and greatest <= OLDEST:
        top = 90 if greatest >= 90 else None
        return _widths((5, 10, 20), domain, top), f"{span}, which are ages"
    if whole and least in _YEARS and greatest in _YEARS and _YEAR.search(domain.name):
        return _widths((5, 10), domain), f"{span}, which are years"
    widths = _rounded_widths(least, greatest, whole=whole)
    builder = Intervals(width=tuple(_plain(width) for width in widths))
    if least >= 0 and _is_skewed(builder, domain):
        cuts = _telling(_log_cuts(finite, whole=whole), domain)
        if cuts:
            return Intervals(cuts=cuts), f"{span}, most of them small: intervals that widen with the numbers"
    kept = _widths(tuple(_plain(width) for width in widths), domain)
    return kept, f"{span}: intervals of rounded widths, up to few intervals"


def _widths(widths: Sequence[float], domain: Domain, top: float | None = None) -> Builder:
    """Intervals of those widths that tell fewer values apart than the width before; the root if none does."""
    kept, below = [], len(domain)
    for width in widths:
        different = len(set(Intervals(width=width, top=top).generalize(domain)[0]))
        if 1 < different < below:
            kept.append(width)
            below = different
    return Intervals(width=tuple(kept), top=top) if kept else RootOnly()


def _is_skewed(builder: Intervals, domain: Domain) -> bool:
    """Whether few large numbers leave most rows in one interval, or lie far beyond the usual ones."""
    rows: dict[str, int] = {}
    by_number: dict[Decimal, int] = {}
    counts = domain.counts.tolist()
    for label, number, count in zip(builder.generalize(domain)[0], domain.numbers, counts, strict=True):
        if number is not None:
            rows[label] = rows.get(label, 0) + count
            by_number[number] = by_number.get(number, 0) + count
    total = sum(rows.values())
    ascending, below = sorted(by_number), 0
    marks: list[Decimal] = []
    for share in (0.5, 0.99):
        below = 0
        for number in ascending:
            below += by_number[number]
            if below >= share * total:
                marks.append(number)
                break
    return max(rows.values()) > CROWDED * total or (marks[0] > 0 and marks[1] > FAR * marks[0])


def _log_cuts(finite: list[Decimal], *, whole: bool) -> list[tuple[float, ...]]:
    """Cuts at 0 and at 1, 2, 5 times powers of ten, then at powers of ten."""
    least = next((number for number in finite if number > 0), Decimal(1))
    first = 0 if whole else max(least.adjusted(), finite[-1].adjusted() - 5)
    powers = range(first, finite[-1].adjusted() + 1)
    fine = [Decimal((0, (digit,), power)) for power in powers for digit in (1, 2, 5)]
    coarse = [Decimal((0, (1,), power)) for power in powers]
    return [(0, *(_plain(cut) for cut in cuts if finite[0] < cut <= finite[-1])) for cuts in (fine, coarse)]


def _telling(levels: Sequence[tuple[float, ...]], domain: Domain) -> tuple[tuple[float, ...], ...]:
    """The levels of cuts that tell fewer values apart than the one before."""
    kept, below = [], len(domain)
    for cuts in levels:
        different = len(set(Intervals(cuts=cuts).generalize(domain)[0]))
        if 1 < different < below:
            kept.append(cuts)
            below = different
    return tuple(kept)


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
    if len(lengths) == 1 and all(_CODE.fullmatch(text) for text in texts):
        length = max(lengths)
        masked = Masking(step=-(-length // MOST_LEVELS))
        different = [number, *(len(set(labels)) for labels in masked.generalize(domain))]
        if all(fewer < more for more, fewer in itertools.pairwise(different)):
            return masked, (
                f"its {number} values are codes of {length} characters, whose first characters tell most"
            )
    if number > FEW_CATEGORIES and number > 0.9 * domain.counts.sum():
        return RootOnly(), (
            f"nearly every row has a value of its own ({number} values in {domain.counts.sum()} rows): it "
            "looks like an identifier"
        )
    often = int((domain.counts >= OFTEN * domain.counts.sum()).sum())
    return Frequent(keep=max(1, min(often, number - 2))), (
        f"its {number} values have no visible structure: the frequent ones keep their names; groups by "
        "meaning would tell more"
    )
