"""Catalogues of sentences: files of gettext's format with the code of a sentence as its context.

They are read as they are, without a compiled form: 2,000 sentences take a few milliseconds, once, and only
where somebody reads another language than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

ENTRY = re.compile(
    r'^((?:#.*\n)*)msgctxt "(.*)"\nmsgid "(.*)"\nmsgstr "(.*)"$',
    re.MULTILINE,
)
ESCAPED = re.compile(r"\\(.)")
MEANT = {"n": "\n", "t": "\t"}
PLACES = re.compile(r"(?<!\{)(?:\{\{)*(\{\w+(?:![rsa])?(?::[^{}]*)?\})")
"""Where a value is filled in, with how it is written."""


class Translated(NamedTuple):
    """A sentence of a catalogue."""

    code: str
    english: str
    translation: str
    is_fuzzy: bool


def read_po(text: str) -> Iterator[Translated]:
    r"""The sentences of a catalogue, each text of which stands on one line.

    >>> list(read_po('msgctxt "a.b"\nmsgid "no {x}"\nmsgstr "kein {x}"'))
    [Translated(code='a.b', english='no {x}', translation='kein {x}', is_fuzzy=False)]
    """
    for marks, *texts in ENTRY.findall(text):
        code, english, translation = (_plain(each) if "\\" in each else each for each in texts)
        yield Translated(code, english, translation, "fuzzy" in marks)


def _plain(text: str) -> str:
    return ESCAPED.sub(lambda found: MEANT.get(found[1], found[1]), text)
