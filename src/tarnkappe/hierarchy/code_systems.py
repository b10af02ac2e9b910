"""Values of a known system: countries, states, postcodes, diagnoses, occupations, times of day, heights."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Annotated

from tarnkappe.hierarchy.builder import Builder, Domain, Labels
from tarnkappe.schema import param

Steps = tuple[str, ...]
"""The labels of a value, from level 1 to below the root."""


class System(StrEnum):
    """A system of codes or names that everybody shares."""

    COUNTRIES = "countries"
    """ISO 3166 codes and names; sub-regions and regions of the United Nations (M49)."""
    US_STATES = "us-states"
    """States of the USA; divisions and regions of the Census Bureau."""
    GERMAN_STATES = "german-states"
    """States of Germany; north, east, south, west."""
    ICD_10 = "icd-10"
    """Diagnoses; three characters, blocks, chapters."""
    ISCO_08 = "isco-08"
    """Occupations; three, two and one digit."""
    POSTCODES = "postcodes"
    """Of Germany, Austria, Switzerland, the USA, Great Britain, Canada, the Netherlands and Poland."""
    CLOCK = "times-of-day"
    """Times such as 8:15, 20:15:30 and 8:15 PM; hours, quarters of the day."""
    FEET = "feet-inches"
    """Body heights such as 5'10\"; two, four and twelve inches."""


LISTS = {
    System.COUNTRIES: "countries.txt",
    System.US_STATES: "us_states.txt",
    System.GERMAN_STATES: "german_states.txt",
}
POSTCODE_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], Steps]], ...] = (
    (re.compile(r"\d{5}-\d{4}"), lambda t: (t[:5], f"{t[:3]}**", f"{t[:1]}****")),
    (re.compile(r"\d{5}"), lambda t: (t, f"{t[:3]}**", f"{t[:1]}****")),
    (re.compile(r"\d{4}"), lambda t: (f"{t[:2]}**", f"{t[:2]}**", f"{t[:1]}***")),
    (
        re.compile(r"[A-Z]{1,2}\d[A-Z0-9]? ?\d[A-Z]{2}"),
        lambda t: (t[:-3].strip(), t[:-3].strip(), re.match(r"[A-Z]+", t)[0]),  # type: ignore[index]
    ),
    (re.compile(r"[A-Z]\d[A-Z] ?\d[A-Z]\d"), lambda t: (t[:3], t[:3], t[0])),
    (re.compile(r"\d{4} ?[A-Z]{2}"), lambda t: (t[:4], t[:4], t[:2])),
    (re.compile(r"\d{2}-\d{3}"), lambda t: (f"{t[:2]}-***", f"{t[:2]}-***", f"{t[:1]}*-***")),
)
"""How postcodes of a form are shortened; the first form that fits decides."""
GERMAN_POSTCODE = re.compile(r"\d{5}")
ICD = re.compile(r"([A-TV-Z][0-9][0-9AB])(?:\.?[0-9A-TV-Z]{1,4})?[+*!-]?")
FEET = re.compile(r"([3-8])\s?(?:'|ft\.?|feet)\s?(\d{1,2})?\s?(?:\"|''|in\.?)?")
INCHES = (2, 4, 12)
TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?([AaPp])\.?[Mm]\.?)?")
QUARTER = 6
"""Hours of a quarter of the day: night, morning, afternoon, evening."""


class CodeSystem(Builder):
    """Codes and names of a known system are lifted along its own groups.

    What the system does not know keeps its own label below the root.

    >>> import pyarrow as pa
    >>> countries = pa.array(["DE", "FR", "PL", "JP"])
    >>> for row in CodeSystem("countries").build(countries).rows(): print(*row, sep=";")
    DE;Western Europe;Europe;*
    FR;Western Europe;Europe;*
    JP;Eastern Asia;Asia;*
    PL;Eastern Europe;Europe;*
    """

    name = "code-system"

    system: Annotated[System, param("which system the values are of", start="countries")]

    @classmethod
    def examples(cls) -> tuple[CodeSystem, ...]:
        """Instances for the common tests."""
        return tuple(cls(system) for system in System)

    @property
    def height(self) -> None:
        """Levels on which nothing changes are left out."""
        return

    def generalize(self, domain: Domain) -> list[Labels]:
        """The groups of the system that tell fewer values apart than the level below."""
        found = [steps_of(self.system, text) for text in domain.texts]
        if self.system is System.POSTCODES and _is_german(domain):
            found = [
                (f"{t[:3]}**", f"{t[:2]}***", f"{t[:1]}****") if GERMAN_POSTCODE.fullmatch(t) else steps
                for t, steps in zip(domain.texts, found, strict=True)
            ]
        number = max((len(steps) for steps in found if steps), default=0)
        levels: list[Labels] = []
        below = len(set(domain.texts))
        for level in range(number):
            labels = [
                text if not steps else steps[min(level, len(steps) - 1)]
                for text, steps in zip(domain.texts, found, strict=True)
            ]
            if 1 < len(set(labels)) < below:
                levels.append(labels)
                below = len(set(labels))
        return levels


def is_known(system: System, texts: list[str], least: float) -> bool:
    """Whether a system knows this share of some values at least; it stops where that cannot be any more."""
    known = len(texts)
    for text in texts:
        if steps_of(system, text) is None:
            known -= 1
            if known / len(texts) < least:
                return False
    return bool(texts)


def steps_of(system: System, text: str) -> Steps | None:
    """The labels of a value from level 1 on; None if the system does not know it.

    >>> steps_of(System.ICD_10, "J45.0"), steps_of(System.COUNTRIES, "Schweiz")
    (('J45', 'J40-J47', 'chapter X (J00-J99)'), ('Western Europe', 'Europe'))
    """
    text = text.strip()
    if system in LISTS:
        return _places(system).get(text.casefold())
    if system is System.ICD_10:
        return _icd(text)
    if system is System.ISCO_08:
        return (text[:3], text[:2], text[:1]) if re.fullmatch(r"[0-9]\d{3}", text) else None
    if system is System.FEET:
        return _feet(text)
    if system is System.CLOCK:
        return _clock(text)
    return next((shorten(text) for form, shorten in POSTCODE_FORMS if form.fullmatch(text)), None)


def _is_german(domain: Domain) -> bool:
    """Whether postcodes are of Germany: five digits, and none has the form of another country.

    Five digits are also those of the USA; there two of them name nothing, so nothing is lost by this step.
    """
    return all(GERMAN_POSTCODE.fullmatch(text.strip()) for text in domain.texts)


@cache
def _places(system: System) -> dict[str, Steps]:
    """The sub-region and region of each code and name, in small letters."""
    lines = (files("tarnkappe.hierarchy") / "lists" / LISTS[system]).read_text(encoding="utf-8").splitlines()
    places: dict[str, Steps] = {}
    steps: Steps = ()
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        if ": " in line:
            region, _, part = line.partition(": ")
            steps = (part,) if part == region else (part, region)
            continue
        two, three, names = line.split(" ", 2)
        for name in (two, three, *names.split(", ")):
            places.setdefault(name.casefold(), steps)
    return places


def _icd(text: str) -> Steps | None:
    found = ICD.fullmatch(text.upper())
    if found is None:
        return None
    for chapter, first, last in _chapters():
        if first <= found[1] <= last:
            block = next((f"{a}-{b}" for a, b in _blocks() if a <= found[1] <= b), found[1])
            return found[1], block, f"chapter {chapter} ({first}-{last})"
    return found[1], found[1][0]


@cache
def _chapters() -> tuple[tuple[str, str, str], ...]:
    text = (files("tarnkappe.hierarchy") / "lists" / "icd10_chapters.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return tuple((chapter, first, last) for chapter, first, last in lines)


@cache
def _blocks() -> tuple[tuple[str, str], ...]:
    text = (files("tarnkappe.hierarchy") / "lists" / "icd10_blocks.txt").read_text(encoding="utf-8")
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    return tuple((first, last) for first, _, last in (word.partition("-") for word in words))


def _clock(text: str) -> Steps | None:
    found = TIME.fullmatch(text)
    if found is None or int(found[2]) > 59:
        return None
    hour = int(found[1])
    if found[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[3] in "Pp" else 0)
    if hour > 23:
        return None
    first = hour // QUARTER * QUARTER
    return f"{hour:02d}h", f"{first:02d}h-{first + QUARTER - 1:02d}h"


def _feet(text: str) -> Steps | None:
    found = FEET.fullmatch(text)
    if found is None or int(found[2] or 0) > 11:
        return None
    inches = 12 * int(found[1]) + int(found[2] or 0)
    return tuple(_between(inches // width * width, width) for width in INCHES)


def _between(low: int, width: int) -> str:
    last = low + width - 1
    return f"{low // 12}'{low % 12}\"-{last // 12}'{last % 12}\""
