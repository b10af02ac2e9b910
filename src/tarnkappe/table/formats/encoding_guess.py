"""Which encoding a file that is no UTF-8 has, by how its letters fit their neighbours.

Detectors for prose count letters over pages of one language; a table has two umlauts. So only the characters
above 127 are judged, each by the two beside it: a lower-case accented letter within a lower-case word is what
a right decoding gives, a capital in the middle of a word or a box-drawing sign is what a wrong one gives.
"""

from __future__ import annotations

import codecs
import re

from tarnkappe.table.formats.script_guess import guess_script

USUAL = "cp1252"
OTHERS = ("mac_roman", "cp850", "cp1250", "cp1251")
GOOD = 0.5
"""With this score the usual encoding is right, whatever others have."""
BETTER = 0.4
"""Another encoding must be better by more than this."""

NAMES = {
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252",
    "mac_roman": "Mac Roman",
    "cp850": "DOS (850)",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp866": "DOS (866)",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp932": "Shift JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
}
"""What encodings are called by people."""

UNDEFINED = "tarnkappe.as_latin_1"
"""How bytes that an encoding leaves undefined are read: as Latin-1 does, like browsers."""

DAMAGED = "tarnkappe.as_cp1252"
"""How single bytes that are no UTF-8 are read in a file that is UTF-8 otherwise."""

_TYPOGRAPHY = frozenset("’–“”")
_SIGNS = frozenset("€£°²³µ—‘…®©½·§")
_ACCENTED = re.compile("[À-ÖØ-öø-ÿĀ-İĲ-ž]")


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode(USUAL, UNDEFINED), error.end


codecs.register_error(UNDEFINED, _as_latin_1)
codecs.register_error(DAMAGED, _as_cp1252)


def guess_encoding(sample: bytes) -> str:
    """The encoding of some text that is not UTF-8.

    >>> guess_encoding("Müller;Köln".encode("cp1252")), guess_encoding("Müller;Köln".encode("mac_roman"))
    ('cp1252', 'mac_roman')
    """
    script = guess_script(sample)
    if script is not None:
        return script
    usual = score(sample.decode(USUAL, UNDEFINED))
    if usual >= GOOD:
        return USUAL
    scores = {encoding: score(sample.decode(encoding, UNDEFINED)) for encoding in OTHERS}
    best = max(scores, key=lambda encoding: scores[encoding])
    return best if scores[best] - usual > BETTER else USUAL


def score(text: str) -> float:
    """How well the characters above 127 fit where they stand, from -1 to 1.

    >>> score("Müller"), score("5 m\N{SUPERSCRIPT THREE}"), score("M\N{SUPERSCRIPT THREE}ller")
    (1.0, 0.2, -1.0)
    """
    points = [
        _points(character, text[place - 1] if place else "", text[place + 1 : place + 2])
        for place, character in enumerate(text)
        if character > "\x7f"
    ]
    return sum(points) / len(points) if points else 0.0


def _points(character: str, before: str, after: str) -> float:
    if _ACCENTED.match(character):
        if character.islower():
            if before.islower() or after.islower():
                return 1.0
            return 0.5 if before.isalpha() or after.isalpha() else -1.0
        starts = not before.isalpha() and after.islower()
        shouted = before.isupper() and not after.islower()
        return 1.0 if starts or shouted else -0.5
    if character in _TYPOGRAPHY:
        return 0.5
    if character in _SIGNS:
        within = before.isalpha() and after.isalpha()
        return -1.0 if within or (character == "£" and after.isalpha()) else 0.2
    if character.isalpha():
        near = [letter for letter in (before, after) if letter.isalpha()]
        return 0.3 if any(letter.islower() == character.islower() for letter in near) else -0.5
    return -1.0
