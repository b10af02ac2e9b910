"""Texts that reach a person: e-mail and web addresses, telephone numbers. No name of a column looks so."""

from __future__ import annotations

import re

_INTERNATIONAL = r"(?:\+|\b00)[1-9][0-9]{0,2}[ (./-][0-9 ()./-]{5,18}[0-9]|\+[1-9][0-9]{7,14}"
_AMERICAN = r"(?:\b1[ .-])?(?:\([0-9]{3}\) ?|\b[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}(?: ?x[0-9]+)?\b"
_WITH_AREA = r"\(0[0-9]{2,5}\) ?[0-9][0-9 -]{3,10}[0-9]|\b0[1-9][0-9]{1,4} ?[ /-] ?[1-9][0-9 -]{3,9}[0-9]\b"
_TWO_DIGITS = r"\([1-9][0-9]\) ?[0-9]{4,5}-[0-9]{4}\b"
"""An area of two digits, as in Brazil and Mexico."""
PHONE = f"(?:{_INTERNATIONAL}|{_AMERICAN}|{_WITH_AREA}|{_TWO_DIGITS})"

EMAIL = r"[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+"
WEB = r"(?i:(?:https?://|ftp://|www\.)\S+)"


def reaches_somebody(text: str) -> bool:
    """Whether a text is an e-mail address or a telephone number.

    >>> [reaches_somebody(text) for text in ("eva@mail.example", "+49 3641 123456", "mail", "2020-2021")]
    [True, True, False, False]
    """
    return re.fullmatch(rf"\s*(?:(?:mailto:)?{EMAIL}|{PHONE})\s*", text) is not None


def is_web_address(text: str) -> bool:
    """Whether a text is a web address.

    >>> is_web_address("https://eva.example/me"), is_web_address("site")
    (True, False)
    """
    return re.fullmatch(rf"\s*{WEB}\s*", text) is not None
