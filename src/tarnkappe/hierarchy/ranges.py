"""Ranges that are values already, such as `18-29` or `$25,000 - $49,999`: neighbours are joined."""

from __future__ import annotations

import dataclasses
import itertools
import re
from decimal import Decimal

from tarnkappe.errors import HierarchyError
from tarnkappe.hierarchy.builder import Builder, Domain, Labels
from tarnkappe.hierarchy.numbers import parse_number

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
BEFORE, AFTER = r"(?P<before>(?:\d+_)?[$€£]?\s?)", r"(?P<after>\s?(?:%|[A-Za-zäöüß]+)?)"
FORMS = (
    re.compile(rf"{BEFORE}(?P<low>{NUMBER})(?P<middle>\s?(?:-|–|to|bis)\s?)[$€£]?(?P<high>{NUMBER}){AFTER}"),
    re.compile(
        rf"{BEFORE}(?P<low>{NUMBER})\s?(?:\+|and over|and above|or more|und mehr|und älter){AFTER}", re.I
    ),
    re.compile(
        rf"(?:>=?|greater than|more than|over|above|über|mehr als)\s?{BEFORE}(?P<low>{NUMBER}){AFTER}", re.I
    ),
    re.compile(rf"(?:<=?|less than|under|below|unter|weniger als)\s?{BEFORE}(?P<high>{NUMBER}){AFTER}", re.I),
)
FEWEST = 2
"""With so many joined ranges left, the next step is the root."""


@dataclasses.dataclass(frozen=True)
class WrittenRange:
    """A range as it is written.

    Attributes:
        low: its lower end; None if it is open.
        high: its upper end; None if it is open.
        text: how it is written.
        before: what stands before the lower end: a currency.
        low_text: the lower end as it is written.
        rest: what stands from the upper end on, with what is between the ends.
    """

    low: Decimal | None
    high: Decimal | None
    text: str
    before: str = ""
    low_text: str = ""
    rest: str = ""

    def joined(self, last: WrittenRange) -> str:
        """The range from this one to another one, in the same style."""
        if self.low is None and last.high is None:
            return "any"
        if self.low is None:
            return f"up to {last.rest.strip(' -–')}"
        if last.high is None:
            return f"{self.before}{self.low_text}+"
        return f"{self.before}{self.low_text}{last.rest}"


def parse_range(text: str) -> WrittenRange | None:
    """The range that a text is, or None.

    >>> found = parse_range("$25,000 - $49,999")
    >>> found.low, found.high
    (Decimal('25000'), Decimal('49999'))
    >>> parse_range("> 60").low, parse_range("John") is None
    (Decimal('60'), True)
    """
    for form in FORMS:
        found = form.fullmatch(text.strip())
        if found is None:
            continue
        parts = found.groupdict()
        low, high = (_number(parts.get(end)) for end in ("low", "high"))
        if low is not None and high is not None and low > high:
            return None
        before = re.sub(r"^\d+_", "", parts["before"])
        rest = text.strip()[found.end("low") :] if low is not None and high is not None else ""
        if low is None:
            rest = text.strip()[found.start("high") :]
        return WrittenRange(low, high, text, before, parts.get("low") or "", rest)
    return None


def _number(text: str | None) -> Decimal | None:
    return None if text is None else parse_number(text.replace(",", ""))


def ranges_in_order(texts: list[str]) -> list[WrittenRange] | None:
    """The ranges that texts are, in their order; None if one is none or two overlap."""
    ranges = []
    for text in texts:
        found = parse_range(text)
        if found is None:
            return None
        ranges.append(found)
    if not ranges:
        return None
    ranges.sort(key=lambda each: (each.low is not None, each.low or Decimal(0), each.high is None))
    for one, other in itertools.pairwise(ranges):
        if one.high is None or other.low is None or one.high > other.low:
            return None
    return ranges


class Ranges(Builder):
    """Values that are ranges are joined with their neighbours, two by two from the bottom.

    An odd last one joins the pair before it. What is no range keeps its own label below the root.

    >>> import pyarrow as pa
    >>> for row in Ranges().build(pa.array(["18-29", "30-44", "45-60", "> 60"])).rows(): print(*row, sep=";")
    18-29;18-44;*
    30-44;18-44;*
    45-60;45+;*
    > 60;45+;*
    """

    name = "ranges"

    @classmethod
    def examples(cls) -> tuple[Ranges, ...]:
        """Instances for the common tests."""
        return (cls(),)

    @property
    def height(self) -> None:
        """It depends on how many ranges there are."""
        return

    def generalize(self, domain: Domain) -> list[Labels]:
        """Ever fewer, ever wider ranges."""
        own = [text for text in domain.texts if parse_range(text) is not None]
        ranges = ranges_in_order(own) if own else []
        if ranges is None:
            raise HierarchyError(
                "hierarchy.ranges-needs-ranges-not-overlap",
                "ranges needs ranges that do not overlap, but those of {owner} do",
                owner=domain.owner,
            )
        parts = [[each] for each in ranges]
        levels = []
        while len(parts) > FEWEST:
            parts = _paired(parts)
            labels = {
                each.text: part[0].text if len(part) == 1 else part[0].joined(part[-1])
                for part in parts
                for each in part
            }
            levels.append([labels.get(text, text) for text in domain.texts])
        return levels


def _paired(parts: list[list[WrittenRange]]) -> list[list[WrittenRange]]:
    """Neighbours joined two by two; an odd last one joins the pair before it."""
    pairs = [parts[n] + (parts[n + 1] if n + 1 < len(parts) else []) for n in range(0, len(parts), 2)]
    if len(parts) % 2 and len(pairs) > 1:
        last = pairs.pop()
        pairs[-1] = pairs[-1] + last
    return pairs
