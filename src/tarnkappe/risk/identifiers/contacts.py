"""Ways to reach a person: telephone, fax, e-mail, web and network addresses."""

from __future__ import annotations

import dataclasses

from tarnkappe.risk.identifiers.checks import ip_address, telephone
from tarnkappe.risk.identifiers.detector import IdentifierFinding, IdentifierKind, ShapeDetector
from tarnkappe.risk.identifiers.view import ColumnView
from tarnkappe.risk.identifiers.words import HEADER_WORDS
from tarnkappe.table.spelling.contacts import EMAIL, PHONE

PHONE_WORDS = HEADER_WORDS["phone"]
FAX_WORDS = ("fax", "telefax", "facsimile")

_EXTENSION = r"(?: ?(?:x|ext\.?) ?[0-9]{1,6})?"


@dataclasses.dataclass(frozen=True)
class Phones(ShapeDetector):
    """Telephone and fax numbers look the same: only a header, or a word beside them, can tell."""

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
