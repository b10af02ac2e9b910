"""Places smaller than a state: postcodes, streets, towns, coordinates."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import numpy as np

from tarnkappe.risk.identifiers.detector import MOSTLY, Detector, Finding, Kind, Shape, percent
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

    def look(self, column: ColumnView) -> Finding | None:
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

    def guess(self, column: ColumnView) -> Finding | None:
        """Whatever other countries write, as the four digits of Austria, if the header says so."""
        share = column.share_of(lambda value: bool(_SOME_CODE.fullmatch(value)))
        if not self.named(column) or share < MOSTLY:
            return None
        return self._found(column, share, "the header speaks of postcodes, and the values may be")

    def _found(self, column: ColumnView, share: float, reason: str) -> Finding:
        tail = "" if self.named(column) else ": they may be postcodes, whatever the header says"
        return self.finding(column, round(share * column.filled), reason + tail)

    @staticmethod
    def _unrounded(column: ColumnView) -> bool:
        """Whether numbers are of one length and end in any digit; amounts of money are often round."""
        numbers = column.numbers
        if numbers is None or not column.is_whole or numbers.min() < 1000 or numbers.max() > 99_999:
            return False
        return float(np.mean(numbers % 100 == 0)) < 0.05 and column.rarefied_share < 0.9

    def _masked(self, column: ColumnView, named: bool) -> Finding | None:
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

    def look(self, column: ColumnView) -> Finding | None:
        """By known towns."""
        if column.numbers is not None or not column.distinct:
            return None
        known = sum(_town(text) in TOWNS for text in column.sample)
        share = known / len(column.sample)
        if known >= 3 and share >= 0.3:
            return self.finding(column, column.filled, f"{percent(share)} of the values are known towns")
        return None

    def guess(self, column: ColumnView) -> Finding | None:
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
_IN_TEXT = (
    rf"\b[0-9]{{1,5}} (?:[A-Z][a-z]+ ){{1,3}}(?:{_STREET_WORDS})\b|\b[A-ZÄÖÜ][a-zäöüß]+{_STREET} [0-9]+"
)

PLACES = (
    Postcodes("postcode", (Kind.PLACE,), "postcodes", HEADER_WORDS["postcode"], Role.QUASI_IDENTIFIER),
    Shape(
        "street",
        (Kind.PLACE,),
        "street addresses",
        HEADER_WORDS["street"],
        shape=f"{_NUMBERED}|(?i:{_GERMAN})",
        inside=_IN_TEXT,
        plausible=r"(?=.*[A-Za-z])(?=.*[0-9]).{5,}",
        distinct=0.3,
    ),
    Towns(
        "town",
        (Kind.PLACE,),
        "towns",
        HEADER_WORDS["town"],
        Role.QUASI_IDENTIFIER,
    ),
    Shape(
        "coordinates",
        (Kind.PLACE,),
        "coordinates",
        HEADER_WORDS["coordinates"],
        shape=r"\(?[-+]?[0-9]{1,2}\.[0-9]{3,}[,; ]+[-+]?[0-9]{1,3}\.[0-9]{3,}\)?|[0-9]{1,3}°.*[NSEWO]",
        plausible=r"[-+]?[0-9]{1,3}\.[0-9]{2,}",
        decimals=True,
    ),
)
