"""Names as different people write them: in one spelling, and as they sound."""

from __future__ import annotations

import re
import unicodedata

LEFT_OUT = (
    "dr prof med phil dipl ing mag herr frau mr mrs ms von vom van zu zum zur der den de la le di da del "
    "dos das el al bin ibn"
)
"""Titles and particles, which one source writes and the other does not."""

_LEFT_OUT = frozenset(LEFT_OUT.split())
_SPELLED = str.maketrans({"ß": "ss", "ø": "o", "æ": "a", "œ": "o", "ł": "l", "đ": "d", "ı": "i", "ð": "d"})
_UMLAUT = re.compile("([aou])e")
_WORDS = re.compile(r"[^\W\d_]+")


def spelled(name: str) -> str:
    """A name in one spelling: small letters, no accents, umlauts however they are written, no titles.

    >>> spelled("Dr. Müller"), spelled("MUELLER"), spelled("Muller"), spelled("von der Heide-Groß")
    ('muller', 'muller', 'muller', 'heide gross')
    """
    small = unicodedata.normalize("NFKD", name.casefold().translate(_SPELLED))
    words = _WORDS.findall("".join(letter for letter in small if not unicodedata.combining(letter)))
    kept = [word for word in words if word not in _LEFT_OUT] or words
    return " ".join(_UMLAUT.sub(r"\1", word) for word in kept)


def sound(name: str) -> str:
    """How a German name sounds (Cologne phonetics): names that are taken for each other share it.

    >>> [sound(name) for name in ("Wikipedia", "Breschnew", "Müller", "Miller", "Heinz Classen")]
    ['3412', '17863', '657', '657', '068 4586']
    """
    return " ".join(_word_sound(word) for word in spelled(name).split())


_ALWAYS = {
    **dict.fromkeys("aeijouy", "0"),
    "b": "1",
    **dict.fromkeys("fvw", "3"),
    **dict.fromkeys("gkq", "4"),
    "l": "5",
    **dict.fromkeys("mn", "6"),
    "r": "7",
    **dict.fromkeys("sz", "8"),
}


def _word_sound(word: str) -> str:
    digits = ""
    for place, letter in enumerate(word):
        before = word[place - 1] if place else ""
        digits += _letter_sound(letter, before, word[place + 1 : place + 2])
    short = "".join(digit for place, digit in enumerate(digits) if digits[place - 1 : place] != digit)
    return short[:1] + short[1:].replace("0", "")


def _letter_sound(letter: str, before: str, after: str) -> str:
    if letter == "h":
        return ""
    if letter == "p":
        return "3" if after == "h" else "1"
    if letter in "dt":
        return "8" if after and after in "csz" else "2"
    if letter == "x":
        return "8" if before and before in "ckq" else "48"
    if letter == "c":
        hard = "ahkloqrux" if not before else "ahkoqux"
        return "4" if after and after in hard and not (before and before in "sz") else "8"
    return _ALWAYS.get(letter, "")
