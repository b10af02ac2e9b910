"""Ways to reach a person: telephone, fax, e-mail, web and network addresses."""

from __future__ import annotations

import dataclasses
import re

from tarnkappe.risk.identifiers.checks import digits_of, ip_address, telephone
from tarnkappe.risk.identifiers.dates import without_days
from tarnkappe.risk.identifiers.detector import IdentifierFinding, IdentifierKind, ShapeDetector
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS, INSIDE_WORDS
from tarnkappe.table.spelling.contacts import EMAIL, PHONE

PHONE_WORDS = HEADER_WORDS["phone"]
FAX_WORDS = ("fax", "telefax", "facsimile")

_EXTENSION = r"(?: ?(?:x|ext\.?) ?[0-9]{1,6})?"

_DIGITS = "[+(]?[0-9][0-9 ()./\xa0-]{4,20}[0-9]"
_GROUPED = re.compile(
    r"(?<![\w.,:/+-])(?<![0-9] )\(?(?:\+[1-9][0-9]{0,2}|0[0-9]{1,4})\)?"
    "(?:[ \xa0./-]{1,3}[0-9]{2,8}){1,5}(?![\\w,:]|[.-][0-9])"
)
"""A number that begins with 0 or +, in groups: nothing else is written so."""
_FEWEST, _MOST = 9, 13
_AFTER_WORD = re.compile(rf"(?<![\w.,:/-]){_DIGITS}(?![\w,:%]|[.-][0-9])")
"""Beside a word for telephones any number counts that is long enough."""
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST_BESIDE_A_WORD = 6
_NEAR = 5
"""So many words may stand between a word for telephones and the number."""
_CELL = re.compile(
    rf"(?i)\b(?:cell|ph|kom|t|p|m)[.:] ?{_DIGITS}|\bcell (?:(?:no\.?|number|phone):? )?{_DIGITS}"
)


def has_telephone(text: str) -> bool:
    """Whether a text has a telephone number of some country, beside a word that says so or by its shape.

    >>> [has_telephone(text) for text in ("rappeler au 06 12 34 56 78", "tel. 601 234 567", "0.5 / 100 mg")]
    [True, True, False]
    """
    if text[0].isdigit() and text[0] != "0" and not _WORD.search(text):
        return False
    text = without_days(text)
    for found in _GROUPED.finditer(text):
        is_code = found.group() == text and "-" in text and not set(text) & set(" /.(+")
        if not is_code and _FEWEST <= len(digits_of(found.group())) <= _MOST:
            return True
    cell = _CELL.search(text)
    if cell is not None and len(digits_of(cell.group())) >= _FEWEST:
        return True
    for found in _AFTER_WORD.finditer(text):
        if len(digits_of(found.group())) >= _FEWEST_BESIDE_A_WORD:
            before = [word.lower() for word in _WORD.findall(text[: found.start()])][-_NEAR:]
            if not INSIDE_WORDS["telephone"].isdisjoint(before):
                return True
    return False


@dataclasses.dataclass(frozen=True)
class Phones(ShapeDetector):
    """Telephone and fax numbers look the same: only a header, or a word beside them, can tell."""

    def look(self, column: ColumnView) -> IdentifierFinding | None:
        """Whole cells first, then any one cell with a number of some country."""
        found = super().look(column)
        return found or self.inside_text(column, column.cells_where(_DIGITS, has_telephone))

    def finding(self, column: ColumnView, cells: int, reason: str) -> IdentifierFinding:
        """The kind is narrowed down where a header or a word beside the numbers names it."""
        found = super().finding(column, cells, reason)
        if column.says(FAX_WORDS) or column.cells_with(r"(?i)\b(?:tele)?fax\b", lambda _: True):
            return dataclasses.replace(found, kinds=(IdentifierKind.FAX,))
        return (
            dataclasses.replace(found, kinds=(IdentifierKind.PHONE,)) if column.says(PHONE_WORDS) else found
        )


CONTACTS = (
    ShapeDetector(
        "e-mail",
        (IdentifierKind.EMAIL,),
        "e-mail addresses",
        (
            "email",
            "e mail",
            "mail",
            "emails",
            "correo",
            "courriel",
            "mel",
            "posta",
            "e post",
            "epost",
            "eposta",
        ),
        shape=rf"(?:mailto:)?{EMAIL}",
        inside=EMAIL,
    ),
    ShapeDetector(
        "web-address",
        (IdentifierKind.URL,),
        "web addresses",
        (
            "url",
            "website",
            "homepage",
            "web",
            "link",
            "webseite",
            "site web",
            "linkedin",
            "twitter",
            "facebook",
        ),
        shape=r"(?i)(?:https?://|ftp://|www\.)\S+|[\w.-]+\.(?:com|org|net|de|at|ch|edu|gov|io|info)(?:/\S*)?",
        inside=r"(?i)\b(?:https?://|ftp://|www\.)[^\s]+",
    ),
    ShapeDetector(
        "ip-address",
        (IdentifierKind.IP_ADDRESS,),
        "IP addresses",
        ("ip",),
        shape=r"[0-9a-fA-F:.]+",
        valid=ip_address,
        inside=r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b",
    ),
    Phones(
        "telephone",
        (IdentifierKind.PHONE, IdentifierKind.FAX),
        "telephone or fax numbers",
        (*PHONE_WORDS, *FAX_WORDS),
        shape=rf"(?i)(?:(?:tele)?(?:fax|fon|phone)|tel|mobile)?\.?:? ?{PHONE}{_EXTENSION}",
        valid=telephone,
        inside=rf"(?:^|[^\w.-]){PHONE}(?:$|[^\w-])",
        plausible=r"[+(]{0,2}[0-9][0-9 ()./-]{5,18}[0-9]",
    ),
)
