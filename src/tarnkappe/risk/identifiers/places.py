"""Places smaller than a state: postcodes, streets, towns, coordinates."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import numpy as np

from tarnkappe.risk.identifiers.detector import (
    MOSTLY,
    Detector,
    IdentifierFinding,
    IdentifierKind,
    ShapeDetector,
    percent,
    phrases,
)
from tarnkappe.risk.identifiers.safe_harbor import safe_postcode
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS, TOWNS
from tarnkappe.table import Role

_FIVE = re.compile(r"[0-9]{5}(?:-[0-9]{4})?")
_LETTERED = re.compile(
    r"[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|(?:A|D|CH)-[0-9]{4,5}|"
    r"[1-9][0-9]{3} ?[A-Z]{2}"
)
_SOME_CODE = re.compile(r"[0-9]{4,6}|[0-9]{2,5}[ -][0-9]{2,4}|(?=.*[0-9])(?=.*[A-Z])[0-9A-Z][0-9A-Z -]{3,7}")
_MASKED = re.compile(r"([0-9]{1,5})[*xX]{1,4}")


@dataclasses.dataclass(frozen=True)
class Postcodes(Detector):
    """Postcodes of five digits (also with four more), British, Canadian and masked ones.

    The first three digits of a ZIP code may stay if more than 20,000 people live in their area. Whole
    numbers of five digits are postcodes if the header says so or if they are not rounded as amounts are.

    Attributes:
        areas: how many people live where ZIP codes begin with these three digits; if not given, the areas
            known to be small are used.
    """

    areas: Mapping[str, int] | None = None

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Codes first, then numbers, then masked codes that show too much."""
        named = self.named(column)
        if not named and (column.about("id") or column.numbers_people):
            return None
        text = column.numbers is None
        share = column.share_of(lambda value: bool(_FIVE.fullmatch(value)))
        if share >= MOSTLY and (named or column.distinct >= 5) and (named or text or self._unrounded(column)):
            return self._found(column, share, f"{percent(share)} of the values are codes of five digits")
        found = self.guess(column)
        if found is not None:
            return found
        share = column.share_of(lambda value: bool(_LETTERED.fullmatch(value)))
        if share >= MOSTLY:
            return self._found(column, share, f"{percent(share)} of the values are postcodes")
        return self._masked(column, named)

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Whatever other countries write, as the four digits of Austria, if the header says so."""
        share = column.share_of(lambda value: bool(_SOME_CODE.fullmatch(value)))
        if not self.named(column) or share < MOSTLY:
            return None
        return self._found(column, share, "the header speaks of postcodes, and the values may be")

    def _found(self, column: ColumnView, share: float, reason: str) -> IdentifierFinding:
        tail = "" if self.named(column) else ": they may be postcodes, whatever the header says"
        return self.finding(column, round(share * column.filled), reason + tail)

    @staticmethod
    def _unrounded(column: ColumnView) -> bool:
        """Whether numbers are of one length and end in any digit; amounts of money are often round."""
        numbers = column.numbers
        if numbers is None or not column.is_whole or numbers.min() < 1000 or numbers.max() > 99_999:
            return False
        return float(np.mean(numbers % 100 == 0)) < 0.05 and column.rarefied_share < 0.9

    def _masked(self, column: ColumnView, named: bool) -> IdentifierFinding | None:
        """Masked codes with more than three digits, or with three whose area is small."""

        def shows_too_much(value: str) -> bool:
            match = _MASKED.fullmatch(value) or (re.fullmatch(r"([0-9]{3})", value) if named else None)
            if match is None:
                return False
            digits = match.group(1)
            small = digits != "000" and safe_postcode(digits, self.areas) == "000"
            return len(digits) > 3 or (len(digits) == 3 and small)

        share = column.share_of(shows_too_much)
        if not share:
            return None
        return self.finding(
            column, max(1, round(share * column.filled)), "masked postcodes still show an area of few people"
        )


@dataclasses.dataclass(frozen=True)
class Towns(Detector):
    """Towns: many of the values are names of large ones."""

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """By known towns."""
        if column.numbers is not None or not column.distinct:
            return None
        known = sum(_town(text) in TOWNS for text in column.sample)
        share = known / len(column.sample)
        if known >= 3 and share >= 0.3:
            return self.finding(column, column.filled, f"{percent(share)} of the values are known towns")
        return None

    def guess(self, column: ColumnView) -> IdentifierFinding | None:
        """Words under a header that speaks of towns."""
        letters = column.share_of(lambda text: bool(re.fullmatch(r"[^\d_]{2,40}", text)))
        if not self.named(column) or letters < MOSTLY or column.distinct < 2:
            return None
        return self.finding(column, column.filled, "the header speaks of towns or districts")


def _town(text: str) -> str:
    return text.split(",")[0].strip().lower()


_STREET_WORDS = (
    "St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Parkway|"
    "Pkwy|Circle|Highway|Hwy"
)
_NUMBERED = r"[0-9]{1,6}[A-Za-z]? (?:[A-Z][\w'.-]* ?){1,4}(?:,? ?(?:Apt|Suite|Unit|#)\.? ?[0-9A-Z]+)?(?:,.*)?"
_STREET = r"(?:straße|strasse|str\.|gasse|allee)"
_GERMAN = rf"[A-ZÄÖÜ][\wäöüß. -]*(?:{_STREET}|weg|platz|ring|damm|ufer) ?[0-9]+[a-z0-9 /-]*(?:,.*)?"
_OF = (
    r"(?:(?:de la|de los|de las|du|des|de|del|della|dello|dei|da|das|do|dos|la|le|les|van|den|der|św\.|gen\.|"
    r"ks\.) |[dl]['’]| )*"
)
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĄĆČĎĘĚŁŃŇÓŘŚŠŤŹŻŽİŞĞА-ЯІЇЄ]"
_NAMED = rf"{_OF}{_CAPITAL}[\w'’.-]+"
_ROMANCE = (
    "[Cc]alle|[Aa]venida|[Aa]vda\\.?|[Pp]aseo|[Rr]ua|[Tt]ravessa|[Pp]iazza|[Vv]iale|Via|[Cc]orso|[Vv]icolo|"
    "[Ss]trada|[Bb]ulevardul|str\\."
)
_SLAVIC = "[Uu]l\\.|[Uu]lica|[Uu]licy|[Aa]leja|os\\.|[Уу]л\\.|[Уу]лица|[Вв]ул\\."
_NUMBER = r"(?:n[.º°]{1,2} ?|nr\.? ?|д\. ?)?[0-9]{1,4}\b"
_POSTCODE = r"(?:[A-Z]{1,2}-)?(?:[0-9]{5}|[0-9]{2}-[0-9]{3}|[0-9]{3} [0-9]{2})"
_IN_TEXT = "|".join(
    (
        rf"\b[0-9]{{1,5}} (?:[A-Z][a-z]+ ){{1,3}}(?:{_STREET_WORDS})\b",
        rf"{_CAPITAL}[a-zäöüß]+{_STREET} [0-9]+",
        r"\b[0-9]{1,4} ?(?:bis|ter|[A-Ca-c])?,? (?:[Rr]ue|[Aa]venue|[Aa]v\.|[Bb]oulevard|[Bb]d\.?|[Aa]llée|"
        rf"[Cc]hemin|[Ii]mpasse|[Qq]uai|[Rr]oute|[Ff]aubourg) {_NAMED}",
        rf"\b(?:{_ROMANCE}|{_SLAVIC}) ?{_NAMED}(?: \w+){{0,3}},? {_NUMBER}",
        rf"\b[Vv]ia {_NAMED}(?: \w+){{0,2}}, [0-9]{{1,4}}\b",
        rf"{_CAPITAL}\w+(?:straat|laan|gracht|kade|plein|singel|gatan|vägen|gade|vej|veien|gata|katu) \d+\b",
        rf"{_CAPITAL}\w+ (?:utca|út|útja|körút|Sokak|Sok\.|Caddesi|Cad\.)(?: No:?)? ?[0-9]{{1,4}}\b",
        rf"{_CAPITAL}\w{{2,}}(?:weg|platz|ring|damm|ufer) [0-9]+ ?[a-z]?, ?(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}}\b",
        rf"{_CAPITAL}[\w.'’-]{{2,}} [0-9]{{1,4}} ?[a-z]?,? {_POSTCODE} {_CAPITAL}[a-z]\w*",
    )
)
"""A street and the number of a house in a text, or a number, a postcode and a town, as Europe writes them."""
_NO_TOWN = frozenset(
    phrases("units, unit, einheiten, euro, dollar, tabletten, tablets, schritte, steps, points")
)
_LETTERS_AND_DIGITS = r"\pL.*\s.*[0-9]|[0-9].*\s.*\pL|(?:l|os|str|ул)\.\p{Lu}"
_INSIDE = re.compile(_IN_TEXT)


def has_address(text: str) -> bool:
    """Whether a text has a street with the number of a house, or with a postcode and a town.

    >>> has_address("habite 12 rue de la Paix, 75002 Paris"), has_address("Heparin 5000, 10000 Units")
    (True, False)
    """
    return any(found.group().split()[-1].lower() not in _NO_TOWN for found in _INSIDE.finditer(text))


@dataclasses.dataclass(frozen=True)
class Streets(ShapeDetector):
    """Streets with the number of a house, also inside texts."""

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Whole cells first, then any one cell with an address."""
        found = super().look(column)
        return found or self.inside_text(column, column.cells_where(_LETTERS_AND_DIGITS, has_address))


PLACES = (
    Postcodes(
        "postcode", (IdentifierKind.PLACE,), "postcodes", HEADER_WORDS["postcode"], Role.QUASI_IDENTIFIER
    ),
    Streets(
        "street",
        (IdentifierKind.PLACE,),
        "street addresses",
        HEADER_WORDS["street"],
        shape=f"{_NUMBERED}|(?i:{_GERMAN})",
        plausible=r"(?=.*[A-Za-z])(?=.*[0-9]).{5,}",
        distinct=0.3,
    ),
    Towns(
        "town",
        (IdentifierKind.PLACE,),
        "towns",
        HEADER_WORDS["town"],
        Role.QUASI_IDENTIFIER,
    ),
    ShapeDetector(
        "coordinates",
        (IdentifierKind.PLACE,),
        "coordinates",
        HEADER_WORDS["coordinates"],
        shape=r"\(?[-+]?[0-9]{1,2}\.[0-9]{3,}[,; ]+[-+]?[0-9]{1,3}\.[0-9]{3,}\)?|[0-9]{1,3}°.*[NSEWO]",
        plausible=r"[-+]?[0-9]{1,3}\.[0-9]{2,}",
        decimals=True,
    ),
)
