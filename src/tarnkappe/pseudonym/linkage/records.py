"""The people of all sources, prepared to be compared."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ParameterError
from tarnkappe.pseudonym.identity import Identity
from tarnkappe.pseudonym.linkage.names import sound, spelled

NAMES = ("surname", "given")
KINDS = (*NAMES, "born", "sex", "postcode")
"""The fields of an identity that can be compared, by their names."""

NAME_LENGTH = 24
CODE_LENGTH = 10

Letters = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.int64]

_DATE = re.compile(
    r"(?P<y>\d{4})-?(?P<m>\d{2})-?(?P<d>\d{2})|(?P<d2>\d{1,2})[./](?P<m2>\d{1,2})[./](?P<y2>\d{4})"
)


@dataclasses.dataclass(frozen=True, eq=False)
class LinkageField:
    """One field of all people.

    Attributes:
        kind: which of `KINDS` it is.
        texts: the values in one spelling; empty where missing.
        letters: the same as a matrix of characters, filled up with zeros.
        codes: equal just where the texts are; -1 where missing.
        sounds: equal just where names sound alike; for other fields the codes.
        shares: by code, how frequent a value is.
    """

    kind: str
    texts: Sequence[str]
    letters: Letters
    codes: Numbers
    sounds: Numbers
    shares: npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class LinkageRecords:
    """Distinct identities with the sources (as bits) in which each occurs."""

    people: Sequence[Identity]
    sources: Numbers
    fields: Sequence[LinkageField]

    def field(self, kind: str) -> LinkageField | None:
        """The field of a kind, if there is one."""
        return next((field for field in self.fields if field.kind == kind), None)


def records(sources: Sequence[Sequence[Identity]], fields: Sequence[str]) -> LinkageRecords:
    """The people of some sources; an identity that occurs in several is one record."""
    known = [kind for kind in KINDS if kind in fields]
    if "born" not in known or not set(NAMES) & set(known):
        raise ParameterError(
            "pseudonym.spelling-tolerant-linkage-needs",
            "spelling-tolerant linkage needs the fields 'born' and 'surname' or 'given'; it also compares "
            "{kinds}",
            kinds=", ".join(kind for kind in KINDS if kind not in ("born", *NAMES)),
        )
    if len(sources) > 62:
        raise ParameterError(
            "pseudonym.most-62-sources-can-linked", "at most 62 sources can be linked at once"
        )
    bits: dict[Identity, int] = {}
    for number, people in enumerate(sources):
        for person in people:
            bits[person] = bits.get(person, 0) | 1 << number
    people = list(bits)
    columns = [_field(kind, [person[fields.index(kind)] for person in people]) for kind in known]
    return LinkageRecords(people, np.array(list(bits.values()), dtype=np.int64), columns)


def _field(kind: str, values: Sequence[str | None]) -> LinkageField:
    write = {"born": _date, "sex": _sex, "postcode": _code}.get(kind, spelled)
    once = {value: write(value) for value in set(values) if value is not None}
    texts = ["" if value is None else once[value] for value in values]
    width = NAME_LENGTH if kind in NAMES else CODE_LENGTH
    letters = np.array(texts, dtype=f"U{width}")[:, np.newaxis].view(np.uint32).reshape(len(texts), width)
    codes = _codes(texts)
    counts = np.bincount(codes[codes >= 0]) if (codes >= 0).any() else np.zeros(1)
    sounds = codes
    if kind in NAMES:
        heard = {text: sound(text) or text for text in set(texts)}
        sounds = _codes([heard[text] for text in texts])
    return LinkageField(kind, texts, letters, codes, sounds, counts / max(counts.sum(), 1))


def _codes(texts: Sequence[str]) -> Numbers:
    numbers: dict[str, int] = {}
    return np.array(
        [-1 if not text else numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64
    )


def _date(text: str) -> str:
    """Year, month and day as eight digits, whether or not there is such a day; empty if it is no date."""
    found = _DATE.search(text)
    if found is None:
        return ""
    year, month, day = (found[part] or found[f"{part}2"] for part in "ymd")
    return f"{year}{int(month):02}{int(day):02}"


def _sex(text: str) -> str:
    first = text.casefold()[:1]
    return {"w": "f"}.get(first, first)


def _code(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
