"""Cells as values of the type that was found."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

import pyarrow as pa

from tarnkappe.table.spelling.booleans import truths
from tarnkappe.table.spelling.numbers import POINT, shows_decimal_mark
from tarnkappe.table.spelling.spelling import Spelling, SpellingKind

if TYPE_CHECKING:
    from tarnkappe.table.spelling.columns import _Look


QUOTED_MARK = "\0"
"""Before a word for missing values in quotes, in a file that quotes nothing needlessly: it is text."""


def _plain(kind: pa.DataType) -> Spelling:
    """The spelling of a column whose values are written as Arrow writes them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return Spelling(SpellingKind.BOOLEAN)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Spelling(SpellingKind.DATE)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return Spelling(SpellingKind.NUMBER if is_number else SpellingKind.TEXT)


def _with_texts(chunk: pa.DictionaryArray, texts: list[str | None]) -> pa.DictionaryArray:
    """The same cells with other texts, each once."""
    again = pa.array(texts, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        again.indices.take(chunk.indices).cast(pa.int32()), again.dictionary
    )


def _stays_plain(look: _Look, spelling: Spelling) -> bool:
    """Whether numbers that were written plainly are what they seem to be."""
    if spelling.number is not None:
        return spelling.number.decimal == POINT
    return look.stated is None and spelling.kind is not SpellingKind.DATE


def _is_plain(spelling: Spelling) -> bool:
    return spelling.number is None or (spelling.number.decimal == POINT and not spelling.number.unit)


def _new_texts(look: _Look, spelling: Spelling) -> dict[str, str | None]:
    """What becomes of texts that are not kept as they are: missing ones, and other ways to write a value."""
    new: dict[str, str | None] = dict.fromkeys(look.missing)
    for text in look.counts:
        if text.startswith(QUOTED_MARK):
            new[text] = text.removeprefix(QUOTED_MARK)
    key = _value(look, spelling)
    if key is None:
        return new
    same: dict[Hashable, list[str]] = {}
    for text in look.counts:
        value = key(text)
        if value is not None:
            same.setdefault(value, []).append(text)
    for texts in same.values():
        if len(texts) > 1:
            kept = min(texts, key=lambda text: (not _tells(text, spelling), -look.counts[text], text))
            new |= {text: kept for text in texts if text != kept}
    return new


def _tells(text: str, spelling: Spelling) -> bool:
    """Whether a text shows the decimal mark: what is written back must be read in the same way."""
    return spelling.number is not None and shows_decimal_mark(text, spelling.number.decimal)


def _value(look: _Look, spelling: Spelling) -> Callable[[str], Hashable] | None:
    """What a text stands for, or None if every text stands for itself."""
    if spelling.number is not None:
        known = None if look.numbers is None else look.numbers.read.get(spelling.number.decimal)
        if known is None or look.numbers is None or look.numbers.format.unit != spelling.number.unit:
            return spelling.number.parse
        return known.get
    if spelling.date is not None and not spelling.date.open:
        if look.dates is not None and look.dates.format == spelling.date:
            return look.dates.read.get
        return spelling.date.parse
    if spelling.kind is SpellingKind.BOOLEAN:
        return (truths(look.counts, look.name) or {}).get
    return None
