"""Names of people, in columns of their own and in free text."""

from __future__ import annotations

import dataclasses
import re

from tarnkappe.risk.identifiers.detector import Detector, IdentifierFinding, IdentifierKind, percent
from tarnkappe.risk.identifiers.people import MAYBE, has_title, is_written_as_name, names_somebody
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS, REGIONS, WORD_LISTS
from tarnkappe.risk.identifiers.words import NAMES as KNOWN_NAMES

_LETTERS = r"[^\W\d_]"
_NEXT = rf"(?:[.'’-]?[ ,]*{_LETTERS}++\.?)"
_LOOKS = re.compile(rf"{_LETTERS}++{_NEXT}{{0,5}}|{_LETTERS}{{2,}}+\.{_NEXT}{{0,4}}")
"""Up to six words, with what stands between words of names. No word is tried in pieces: that would take a
time that grows with the fifth power of a text's length."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TITLES = (
    "Mr|Mrs|Ms|Miss|Master|Sir|Dr|Prof|Rev|Sheriff|Herr|Herrn|Frau|Hr|Fr|Mme|Mlle|Monsieur|Madame|Sra|Sr|Señor|"
    "Señora|Sig|Signora|Dhr|Mevr|Pan|Pani"
)
_TITLED = re.compile(rf"\b(?:{_TITLES})\.? [A-ZÄÖÜÉÁÓÍŠŽĆČŁ][a-zäöüßéèáóíñçšžćčł]+")
_CODED = re.compile(r"(?=.*[0-9])(?!.*[a-zäöüß]{2})\S*")
"""A code: a digit, no blank, and no word in small letters."""

_INITIALED = re.compile(
    r"(?:[A-ZÄÖÜ]\.[ -]?){1,3}[A-ZÄÖÜŠŽÅØ][^\W\d_]+(?:[ '’-][^\W\d_]+)?|"
    r"[A-ZÄÖÜŠŽÅØ][^\W\d_]+(?:[ '’-][^\W\d_]+)?,? (?:[A-ZÄÖÜ]\.[ -]?){1,3}"
)
"""Initials and a family name, or the other way round: hardly anything else is written so."""
_LISTED = re.compile(
    r"[A-ZÄÖÜŠŽÅØ][\w'’-]+(?: [A-Z][\w'’-]+)?, (?P<given>[A-ZÄÖÜŠŽÅØ][\w'’-]+)(?: [A-Z]\.?)?"
)
"""A family name, a comma, a given name."""
_PERSON_IN_CHINESE = re.compile(r"[\u4e00-\u9fff]+(?:人|者|员|員|师|師)")
"""Headers in Chinese and Japanese that end in a sign for a person: who receives, applies, signs."""

LOOKS = 0.8
LOOKS_NAMED = 0.7
KNOWN = 0.35
FEW_KNOWN = 0.1
DIFFERENT_NAMES = 4
MANY_NAMES = 8
MANY_VALUES = 10
DIFFERENT = 0.3
HAS_LETTERS = 0.5
ALL_DIFFERENT = 0.9
VARIOUS = 0.8
LONG_WORD = 5
LEAST_OF_A_NAME = 3
"""A single value of fewer letters under a header of names is a mark."""
AGENTS = ("er", "or", "ant", "ist", "ee", "eur", "euse", "erin", "orin")
"""How words for people who do something end."""
WORDS_OF_NAMES = 3.5
EXPLAINED = ("known", "sensitive", "thing", "place", "town", "group", "date")
"""Lists of words of headers that say what the values are, if not names."""
UNDER_THINGS = 0.75
"""So large a share must be known names where the header speaks of things: firms have names of people, too."""
MOSTLY_DIFFERENT = 0.5
IN_FULL = HEADER_WORDS["unmistakable"]
"""Headers that leave no doubt."""


WHOM = HEADER_WORDS["whom"]


@dataclasses.dataclass(frozen=True)
class NamesDetector(Detector):
    """Names: words of letters, many of them known given or family names.

    A column counts if a third of its cells or of its different values contain a known name. A tenth is
    enough if these are many different names, or if nearly all values are two or more capitalized words and
    most are different. In free text a title with a name counts, or a given name beside a family name.
    """

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Whole columns of names first, then names in text."""
        if column.is_numeric:
            return self._in_text(column)
        titled = column.share_of(lambda text: bool(_TITLED.search(text)), MOSTLY_DIFFERENT)
        if titled >= MOSTLY_DIFFERENT and column.rarefied_share >= DIFFERENT and column.words < MANY_NAMES:
            reason = f"{percent(titled)} of the values are names with a title"
            return self.finding(column, column.filled, reason)
        written = column.share_of(_is_written_as_names, LOOKS)
        if written >= LOOKS and column.distinct >= DIFFERENT_NAMES and not column.about("place", "town"):
            reason = f"{percent(written)} of the values are written as names: with initials, or turned round"
            return self.finding(column, column.filled, reason)
        looks = looks_like_names(column)
        known, number = self._known(column) if looks >= LOOKS else (0.0, 0)
        if (column.about("place", "thing") or column.names_things) and known < UNDER_THINGS:
            known = 0.0
        many = number >= MANY_NAMES and column.rarefied_share >= DIFFERENT
        several = column.share_of(_has_two_capitals, 0.9) >= 0.9
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
        if column.is_numeric:
            return None
        if column.distinct == 1 and column.filled < column.rows:
            return self._only_one(column)
        if not self.named(column):
            return self._unexplained(column)
        letters = column.share_of(lambda text: bool(re.search(_LETTERS, text)))
        if column.says(IN_FULL) and letters >= LOOKS and column.distinct >= 2 and not column.about("thing"):
            return self.finding(column, column.filled, "the header speaks of names of people")
        if column.about("thing") or column.names_things:
            return None
        looks = looks_like_names(column)
        some = column.rarefied_share >= DIFFERENT or self._known(column)[0] >= FEW_KNOWN
        some = some or column.share_of(_has_two_capitals, LOOKS) >= LOOKS
        some = some or (column.says(WHOM) and column.distinct >= MANY_NAMES)  # kinds of people are fewer
        if looks >= LOOKS_NAMED and column.distinct >= DIFFERENT_NAMES and some:
            return self.finding(column, column.filled, "the header speaks of names, and the values may be")
        # Whatever the cells look like: a digit or a sign in a name does not make it another's.
        many = column.distinct >= MANY_VALUES and column.rarefied_share >= MOSTLY_DIFFERENT
        few = column.distinct >= DIFFERENT_NAMES and column.rarefied_share >= ALL_DIFFERENT
        codes = column.share_of(lambda text: bool(_CODED.fullmatch(text))) >= LOOKS_NAMED
        if letters >= HAS_LETTERS and (many or few) and _says_name(column) and not codes:
            reason = "the header speaks of names, and most rows have a value of their own"
            return self.finding(column, column.filled, reason)
        return None

    def _unexplained(self, column: ColumnView) -> IdentifierFinding | None:
        """Two or three words with capitals, most of them different, of which nothing says what they are.

        They may be names of firms or films; that they may be names of people is reason enough. Under one
        word for somebody who does something (a rider, an adjuster) they may repeat, and somewhat where the
        file has no headers, so that not even silence says anything.
        """
        agent = _is_agent(column)
        least = DIFFERENT_NAMES if agent else MANY_VALUES
        if column.about(*EXPLAINED) or column.distinct < least or column.names_things:
            return None
        various = DIFFERENT if column.is_numbered else VARIOUS
        if column.rarefied_share < (0.0 if agent else various):
            return None
        if looks_like_names(column) < ALL_DIFFERENT:
            return None
        if column.share_of(_has_two_capitals, ALL_DIFFERENT) < ALL_DIFFERENT:
            return None
        if column.words > WORDS_OF_NAMES:
            return None
        return self.finding(column, column.filled, "the values look like names, and nothing says whose")

    def _only_one(self, column: ColumnView) -> IdentifierFinding | None:
        """One value and blanks: a mark, unless it is written as a full name is, or a header says name."""
        [text] = column.sample
        if column.about("thing") or not _LOOKS.fullmatch(text):
            return None
        single = column.says(IN_FULL) and len(text) >= LEAST_OF_A_NAME
        if self.named(column) and (single or is_written_as_name(text)):
            return self.finding(column, column.filled, "the header speaks of names, and the values may be")
        if is_written_as_name(text) and not column.about(*EXPLAINED) and not column.names_things:
            return self.finding(column, column.filled, "the values look like names, and nothing says whose")
        return None

    def named(self, column: ColumnView) -> bool:
        """Whether the header speaks of names, or of a person and of nothing that people have."""
        if column.about("name") or _PERSON_IN_CHINESE.fullmatch(column.name.strip()):
            return True
        if any(f" {phrase} " in column.header for phrase in WORD_LISTS["whom"].phrases):
            return True
        rest = [word for word in column.header_words if word not in WORD_LISTS["whom"].words]
        return column.says(WHOM) and not any(WORD_LISTS[name].last_in(rest) for name in EXPLAINED)

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
        """Somebody in any one cell, whatever the others hold."""
        firms = column.names_things or (column.about("name") and column.about("thing"))
        if column.words < MANY_NAMES and firms:
            return self.inside_text(column, column.cells_where(MAYBE, has_title))  # called after people
        places = column.about("place", "town", "thing")
        found = column.cells_where(MAYBE, lambda text: names_somebody(text, of_places=places))
        return self.inside_text(column, found)


def looks_like_names(column: ColumnView) -> float:
    """The share of the values that look like names; nobody asks how small it is if it is under the least."""
    return column.share_of(lambda text: len(text) <= 60 and bool(_LOOKS.fullmatch(text)), LOOKS_NAMED)


def _is_written_as_names(text: str) -> bool:
    if _INITIALED.fullmatch(text):
        return True
    listed = _LISTED.fullmatch(text)
    return listed is not None and listed["given"].lower() not in REGIONS


def _is_agent(column: ColumnView) -> bool:
    words = column.header_words
    return len(words) == 1 and len(words[0]) >= LONG_WORD and bool(words[0].endswith(AGENTS))


def _says_name(column: ColumnView) -> bool:
    """Whether a whole word of the header is one for names, or the end of one."""
    return column.says((*HEADER_WORDS["name"], *WHOM)) or any(
        word.endswith(("name", "namen", "naam")) for word in column.header_words
    )


def _has_two_capitals(text: str) -> bool:
    return sum(str(word)[0].isupper() for word in _WORD.findall(text)) >= 2


NAMES = (
    NamesDetector(
        "name",
        (IdentifierKind.NAME,),
        "names of people",
        (*HEADER_WORDS["name"], *WHOM),
    ),
)
