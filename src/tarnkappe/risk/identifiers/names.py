"""Names of people, in columns of their own and in free text."""

from __future__ import annotations

import dataclasses
import re

from tarnkappe.risk.identifiers.detector import Detector, IdentifierFinding, IdentifierKind, percent, phrases
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import GIVEN_NAMES, HEADER_WORDS
from tarnkappe.risk.identifiers.words import NAMES as KNOWN_NAMES

_LETTERS = r"[^\W\d_]"
_LOOKS = re.compile(rf"{_LETTERS}[^\W\d_.'’-]*(?:[.'’-]?[ ,]*{_LETTERS}[^\W\d_'’-]*\.?){{0,5}}")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TITLED = r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Herrn|Frau|Hr|Fr)\.? [A-ZÄÖÜ][a-zäöüß]+"
_PAIR = re.compile(r"\b([A-ZÄÖÜ][a-zäöüß]+),? ([A-ZÄÖÜ][a-zäöüß'’-]+)\b")

LOOKS = 0.8
LOOKS_NAMED = 0.7
KNOWN = 0.35
FEW_KNOWN = 0.1
DIFFERENT_NAMES = 4
MANY_NAMES = 8
MANY_VALUES = 10
DIFFERENT = 0.3
MOSTLY_DIFFERENT = 0.5
IN_FULL = phrases(
    "first name, last name, given name, family name, middle name, maiden name, full name, surname, forename, "
    "firstname, lastname, middlename, vorname, nachname, familienname, prenom, apellido, name first, "
    "name last, name given"
)
"""Headers that leave no doubt."""


@dataclasses.dataclass(frozen=True)
class NamesDetector(Detector):
    """Names: words of letters, many of them known given or family names.

    A column counts if a third of its cells or of its different values contain a known name. A tenth is
    enough if these are many different names, or if nearly all values are two or more capitalized words and
    most are different. In free text a title with a name counts, or a given name beside a family name.
    """

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Whole columns of names first, then names in text."""
        if column.numbers is not None:
            return None
        looks = _looks_like_names(column)
        elsewhere = column.speaks_of(HEADER_WORDS["place"]) and not self.named(column)
        known, number = self._known(column) if looks >= LOOKS and not elsewhere else (0.0, 0)
        many = number >= MANY_NAMES and column.rarefied_share >= DIFFERENT
        several = column.share_of(lambda text: len(re.findall(r"\b[A-ZÄÖÜ]", text)) >= 2) >= 0.9
        different = several and column.rarefied_share >= MOSTLY_DIFFERENT
        if known >= KNOWN or (known >= FEW_KNOWN and (many or different)):
            return self.finding(
                column,
                column.filled,
                f"{percent(looks)} of the values look like names, and many are known ones",
            )
        return self._in_text(column)

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Words under a header that speaks of names of people, if they differ or some are known."""
        if column.numbers is not None or not self.named(column):
            return None
        letters = column.share_of(lambda text: bool(re.search(_LETTERS, text)) and not re.search(r"\d", text))
        if column.says(IN_FULL) and letters >= LOOKS and column.distinct >= 2:
            return self.finding(column, column.filled, "the header speaks of names of people")
        if column.speaks_of(HEADER_WORDS["thing"]):
            return None
        looks = _looks_like_names(column)
        some = column.rarefied_share >= DIFFERENT or self._known(column)[0] >= FEW_KNOWN
        may_be = looks >= LOOKS_NAMED and column.distinct >= DIFFERENT_NAMES and some
        if not may_be and not (
            column.distinct >= MANY_VALUES and column.rarefied_share >= MOSTLY_DIFFERENT and letters >= LOOKS
        ):
            return None
        return self.finding(column, column.filled, "the header speaks of names, and the values may be")

    def _known(self, column: ColumnView) -> tuple[float, int]:
        """The share of the cells with a known name, and how many names; 0 if always the same few."""
        found: set[str] = set()

        def has_name(text: str) -> bool:
            words = {word.lower() for word in _WORD.findall(text)} & KNOWN_NAMES
            found.update(words)
            return bool(words)

        share = column.share_of(has_name)
        enough = len(found) >= min(DIFFERENT_NAMES, len(column.sample))
        return (share if enough else 0.0), len(found)

    def _in_text(self, column: ColumnView) -> IdentifierFinding | None:
        if column.words < 2:
            return None
        cells = column.cells_with(_TITLED, lambda _: True)
        return self.inside_text(column, max(cells, column.cells_with(_PAIR.pattern, _is_full_name)))


def _looks_like_names(column: ColumnView) -> float:
    return column.share_of(lambda text: len(text) <= 60 and bool(_LOOKS.fullmatch(text)))


def _is_full_name(text: str) -> bool:
    first, last = (word.lower().strip(",") for word in text.split(" ", 1))
    return first in KNOWN_NAMES and last in KNOWN_NAMES and (first in GIVEN_NAMES or last in GIVEN_NAMES)


NAMES = (
    NamesDetector(
        "name",
        (IdentifierKind.NAME,),
        "names of people",
        HEADER_WORDS["name"],
    ),
)
