"""Words that tell names, towns and regions, and what headers speak of.

They are lists beside this file, which anybody can extend. A name that is also an ordinary word (Brown, Baker,
May, Rose, Jordan) is no evidence of a name.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from itertools import chain

from tarnkappe.table.examples.lists import names

LONG_ENOUGH = 4
"""A word of a list is also found at the ends of longer words if it has so many letters."""

_UNDIVIDED = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "ł": "l", "đ": "d", "ı": "i", "ð": "d", "þ": "th"}
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_WRITTEN_OUT = _UMLAUTS | _UNDIVIDED
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0981-\u0983"
    "\u09bc-\u09cd\u0a3c-\u0a4d\u0abc-\u0acd\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbc-\u0ccd\u0d3e-\u0d4d\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e"
)
"""Signs that stand at letters and are none, as the vowels of Hindi and Thai: they do not end a word."""
_LETTERS = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{_MARKS}])*")
_TURKISH = str.maketrans("ýþðÝÞÐ", "ışğİŞĞ")
"""Turkish letters in Windows-1254 where a file was read as Windows-1252."""
_CASES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^A-Za-z]+")


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath("lists", f"{name}.txt").read_text(encoding="utf-8")
    return [line.strip().lower() for line in text.splitlines() if not line.startswith("#")]


def _words(name: str, *further: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for text in chain(_lines(name), *further) for word in text.split())


ORDINARY = _words("ordinary_words")
_FOREIGN = [text for women, men, _ in names().origins.values() for text in (women, men)]

GIVEN_NAMES = (
    _words("given_names", _lines("given_names_by_country"), names().women, names().men, _FOREIGN) - ORDINARY
)
_LOCAL = (names().families, *(families for _, _, families in names().origins.values()))
FAMILY_NAMES = _words("family_names", _lines("family_names_by_country"), _LOCAL) - ORDINARY
NAMES = GIVEN_NAMES | FAMILY_NAMES
TOWNS = frozenset(_lines("towns"))
REGIONS = frozenset(word.strip() for word in " ".join(_lines("regions")).split(","))


def folded(text: str) -> str:
    """A text without accents: ä, ö, ü and ß as German writes them without, the others dropped.

    >>> folded("Straße"), folded("Prénom"), folded("GRÖSSE"), folded("Größe")
    ('Strasse', 'Prenom', 'GROESSE', 'Groesse')
    """
    plain = unicodedata.normalize("NFC", text)
    if plain.isascii():
        return plain
    made = []
    for place, character in enumerate(plain):
        if character.isascii():
            made.append(character)
            continue
        instead = _WRITTEN_OUT.get(character.lower())
        if instead is None:
            made.append(_base(character))
        elif character.isupper():
            loud = (plain[place + 1 : place + 2] or plain[place - 1 : place]).isupper()
            made.append(instead.upper() if loud else instead.capitalize())
        else:
            made.append(instead)
    return "".join(made)


@lru_cache(maxsize=4096)
def _base(character: str) -> str:
    """A character without its accent; `_UMLAUTS` and `_UNDIVIDED` are asked before."""
    return "".join(p for p in unicodedata.normalize("NFKD", character) if not unicodedata.combining(p))


@dataclasses.dataclass(frozen=True)
class WordList:
    """Words of headers that speak of the same.

    Attributes:
        words: single words, found as they are.
        phrases: several words in a row.
        ends: words that are also found at the ends of longer ones.
    """

    words: frozenset[str]
    phrases: tuple[str, ...]
    ends: tuple[str, ...]

    @classmethod
    def of(cls, entries: Iterable[str]) -> WordList:
        """The list of some entries; a word with `=` before it is found as it is only."""
        said = [folded(entry.strip()) for entry in entries]
        plain = [entry.removeprefix("=") for entry in said]
        return cls(
            frozenset(entry for entry in plain if " " not in entry),
            tuple(entry for entry in plain if " " in entry),
            tuple(
                entry for entry in said if len(entry) >= LONG_ENOUGH and entry[0] != "=" and " " not in entry
            ),
        )

    def has(self, word: str) -> bool:
        """Whether a word is one of them, or begins or ends with a longer one of them."""
        if word in self.words:
            return True
        return word not in WHOLE and any(word.startswith(end) or word.endswith(end) for end in self.ends)

    def last_in(self, header: list[str]) -> int:
        """The place of the last word of a header that the list has, from 1; 0 if there is none."""
        text = f" {' '.join(header)} "
        ends = [
            text[: text.index(f" {phrase} ") + len(phrase) + 1].count(" ")
            for phrase in self.phrases
            if f" {phrase} " in text
        ]
        return max((place for place, word in enumerate(header, 1) if self.has(word)), default=0) or max(
            ends, default=0
        )


def _entries(name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    text = " ".join(_lines(name))
    for match in re.finditer(r"(\w+): ([^:]*)(?=\s\w+:|$)", text):
        found[match[1]] = tuple(word.strip() for word in match[2].split(","))
    return found


_ENTRIES = _entries("header_words")
_ENTRIES["name"] += _ENTRIES["unmistakable"]
WHOLE = frozenset(_ENTRIES["whole"])
"""Words that merely end or begin like one of a list."""
HEADER_WORDS = {name: tuple(word.removeprefix("=") for word in words) for name, words in _ENTRIES.items()}
"""What words of a header speak of: names, things that have names, identifiers, groups, dates, what others
know, what people keep to themselves, places, notes."""
WORD_LISTS = {name: WordList.of(words) for name, words in _ENTRIES.items()}
"""The same, ready to be looked up."""
INSIDE_WORDS = {name: frozenset(words) for name, words in _entries("inside_words").items()}
"""What tells a person inside a text, and what tells that it is none."""


def words_of(name: str) -> list[str]:
    """The words of a header, whatever separates them, without accents.

    A word such as `userid` that is put together from one for a person and one for a number or a name is two.
    Turkish words that were read with another code page are known, too.

    >>> words_of("patientPhone_No2"), words_of("SSN"), words_of("Straße"), words_of("Имя"), words_of("userid")
    (['patient', 'phone', 'no'], ['ssn'], ['strasse'], ['имя'], ['user', 'id'])
    >>> words_of("Adý Soyadý"), words_of("नाम")
    (['adi', 'soyadi'], ['नाम'])
    """
    words = _split(name)
    turkish = name.translate(_TURKISH)
    if turkish == name:
        return words
    others = _split(turkish)
    if len(others) != len(words):
        return words
    return [
        other if other in _LISTED and word not in _LISTED else word
        for word, other in zip(words, others, strict=True)
    ]


def _split(name: str) -> list[str]:
    return [
        part
        for word in _LETTERS.findall(folded(name))
        for piece in _CASES.findall(word)
        for part in _parts(piece.lower())
    ]


def _parts(word: str) -> list[str]:
    return [word] if word in _LISTED else divided(word)


def divided(word: str) -> list[str]:
    """A word that is put together from one for a person and one for a number or a name, as two.

    >>> divided("kundennummer"), divided("mitgliedsnummer"), divided("hausnummer")
    (['kunden', 'nummer'], ['mitglied', 'nummer'], ['hausnummer'])
    """
    for end in ("name", "code", "nummer", "number", "key", "id", "nr", "no"):
        first = word.removesuffix(end)
        if first != word and (
            own := next((one for one in (first, first.removesuffix("s")) if one in _PEOPLE), "")
        ):
            return [own, end]
    return [word]


_PEOPLE = frozenset(folded(word) for word in (*HEADER_WORDS["person"], *HEADER_WORDS["whom"]))
_LISTED = frozenset(word for listed in WORD_LISTS.values() for word in listed.words)
