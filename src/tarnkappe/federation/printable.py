"""Names and texts of others on a screen: what is no plain character is shown as its number.

A column may be called anything, and an error may come from a party that cheats. A line break, a terminal code
or a character that turns the direction of writing could put a sentence into a contract that nobody has
promised.
"""

from __future__ import annotations

import unicodedata

PLAIN = frozenset(" _-.,:;/()'\"`*+=%<>[]{}?!&#@|~^$≤≥×–—…„“”‘’°€§")
LONGEST_NAME = 64


def printable(text: object) -> str:
    r"""A text without line breaks, terminal codes, combining and bidirectional characters.

    >>> printable("zip\npromise: nobody sees anything"), printable("Größe (cm)")
    ('zip\\u{a}promise: nobody sees anything', 'Größe (cm)')
    """
    return "".join(
        each if each in PLAIN or (each.isalnum() and _is_simple(each)) else f"\\u{{{ord(each):x}}}"
        for each in str(text)
    )


def printable_name(text: object) -> str:
    """A name as it is shown: cut where it is long, so that it cannot fill a screen."""
    whole = str(text)
    shown = printable(whole[:LONGEST_NAME])
    return shown if len(whole) <= LONGEST_NAME else f"{shown}… ({len(whole)} characters)"


def _is_simple(character: str) -> bool:
    """Whether a letter or digit stands alone and is written from left to right, whatever is beside it."""
    return (
        unicodedata.bidirectional(character) in ("L", "EN")
        and unicodedata.combining(character) == 0
        and unicodedata.normalize("NFKC", character) == character
    )
