"""Which encoding a file has whose letters are not Latin: Cyrillic, Greek, Hebrew, Arabic, or of East Asia.

There, words are runs of bytes above 127, which Western text never has: its accented letters stand between
plain ones. Which of the encodings it is, the letters tell: read rightly, most of them are the frequent ones
of a language, or of the part of a character set that everyday writing uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

RUNS = 0.5
"""With so large a share of the high bytes in runs, text is in a script of its own."""
LIKELY = 0.45
"""So large a share of the letters must be frequent ones."""

_RUN = re.compile(rb"(?:[\x80-\xff][\x40-\x7e]?){3,}")
_HIGH = re.compile(rb"[\x80-\xff]")

FREQUENT: Mapping[str, str] = {
    "cp1251": "оеаинтсрвлкі",
    "koi8_r": "оеаинтсрвлк",
    "cp866": "оеаинтсрвлк",
    "cp1253": "αοιετσνηυρςάίό",
    "cp1255": "יוהלאתרבמש",
    "cp1256": "الينموترهةبد",
}
"""The most frequent letters of the languages that have an encoding of one byte a character."""


def _within(encoding: str, first: int, last: int) -> Callable[[str], bool]:
    """Whether a character is of the part of a set that everyday writing uses, by its first byte."""

    def is_common(character: str) -> bool:
        code = character.encode(encoding)
        return len(code) == 2 and first <= code[0] <= last

    return is_common


def _is_kana(character: str) -> bool:
    return "\u3041" <= character <= "\u30fe"


def _is_japanese(encoding: str, first: int, last: int) -> Callable[[str], bool]:
    common = _within(encoding, first, last)
    return lambda character: _is_kana(character) or common(character)


COMMON: Mapping[str, Callable[[str], bool]] = {
    "cp932": _is_japanese("cp932", 0x88, 0x97),
    "cp949": _within("cp949", 0xB0, 0xC8),
    "euc_jp": _is_japanese("euc_jp", 0xB0, 0xCF),
    "gb18030": _within("gb18030", 0xB0, 0xD7),
    "big5": _within("big5", 0xA4, 0xC6),
}
"""Encodings of two bytes a character, and which characters are common in each; where several fit, the first.

Korean syllables use the fewest first bytes, then Japanese, then Chinese: what fits into few is no
accident."""


def guess_script(sample: bytes) -> str | None:
    """The encoding of some text in a script of its own, or None if it is Latin, or nothing fits.

    >>> guess_script("Иванов;Москва".encode("cp1251")), guess_script("田中さん;東京都".encode("cp932"))
    ('cp1251', 'cp932')
    >>> guess_script("Müller;Köln".encode("cp1252")) is None
    True
    """
    high = len(_HIGH.findall(sample))
    in_runs = sum(len(_HIGH.findall(run)) for run in _RUN.findall(sample))
    if not high or in_runs < RUNS * high:
        return None
    shares = {encoding: _share(sample, encoding) for encoding in (*FREQUENT, *COMMON)}
    best = max(shares, key=lambda encoding: shares[encoding])
    return best if shares[best] >= LIKELY else None


def _share(sample: bytes, encoding: str) -> float:
    """The share of frequent letters among the characters above 127; 0 if bytes have no meaning."""
    text = None
    for cut in range(4):  # the sample may end within a character
        try:
            text = sample[: len(sample) - cut].decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    if text is None:
        return 0.0
    letters = [character for character in text if character > "\x7f"]
    if encoding in COMMON:
        return sum(map(COMMON[encoding], letters)) / max(len(letters), 1)
    fits = [
        letter.lower() in FREQUENT[encoding] and _fits_case(text, place) for place, letter in _placed(text)
    ]
    return sum(fits) / max(len(letters), 1)


def _placed(text: str) -> list[tuple[int, str]]:
    return [(place, letter) for place, letter in enumerate(text) if letter > "\x7f"]


def _fits_case(text: str, place: int) -> bool:
    """No capital stands after a small letter."""
    return not (text[place].isupper() and place > 0 and text[place - 1].islower())
