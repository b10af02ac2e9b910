"""Finding out how the columns of a file are spelled, and reading them so.

First every column is looked at by itself. Then what is open in one (is `1,449` a thousand? is `03/04/2020` in
March?) is decided as the other columns of the file say. No text is changed, with two exceptions: words for
missing values become missing, and texts that stand for the same number, date or answer become the most
frequent of them, so that the same value is not counted as two.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table.formats.exact_types import TEXT, exactly_typed, typed_values
from tarnkappe.table.spelling.booleans import truths
from tarnkappe.table.spelling.converting import (
    QUOTED_MARK,
    _is_plain,
    _new_texts,
    _plain,
    _stays_plain,
    _with_texts,
)
from tarnkappe.table.spelling.dates import DATED, DateEvidence, DateFormat, find_dates, with_order
from tarnkappe.table.spelling.marks import AMONG_NUMBERS, always_missing, most_frequent
from tarnkappe.table.spelling.moments import DateOrder
from tarnkappe.table.spelling.numbers import COMMA, POINT, NumberEvidence, find_numbers, shows_decimal_mark
from tarnkappe.table.spelling.spelling import Spelling, SpellingKind

NEARLY_ALL = 0.99
"""A column is of a kind if so large a share of its filled cells is."""


GLANCE = 64
"""So many rows are looked at first, since most columns of numbers show at once what they are."""

_EIGHT_DIGITS = re.compile(r"(?:18[5-9]|19[0-9]|20[0-9])[0-9]{5}")
_THREE_AFTER_POINT = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")

Counts = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Stated:
    """What the user says about the spelling of a file; what is None is found out.

    Attributes:
        decimal: the decimal mark.
        dates: the order of day and month where years come last.
        missing: the words for missing values, instead of the usual ones.
        types: of some columns: text, number, code, date, or date:FORMAT with a format of strptime.
        semicolons: whether the fields of the file stand between semicolons, as where the decimal mark is a
            comma.
    """

    decimal: str | None = None
    dates: DateOrder | None = None
    missing: tuple[str, ...] | None = None
    types: Mapping[str, str] = dataclasses.field(default_factory=dict)
    semicolons: bool = False


@dataclasses.dataclass
class _Look:
    """One column of text while it is looked at."""

    name: str
    counts: Counts
    missing: Counts
    stated: str | None
    numbers: NumberEvidence | None = None
    dates: DateEvidence | None = None

    @property
    def filled(self) -> int:
        return sum(self.counts.values())

    def fits(self, evidence: NumberEvidence | DateEvidence | None) -> bool:
        return evidence is not None and bool(self.counts) and evidence.fitting >= NEARLY_ALL * self.filled


def spell(table: pa.Table, stated: Stated, *, convert: bool = True) -> tuple[pa.Table, dict[str, Spelling]]:
    """The columns as they are spelled.

    Args:
        table: columns of text, or of numbers, dates and times that were written plainly.
        stated: what the user says.
        convert: whether words for missing values become missing and texts become numbers where they are
            written plainly; without it only the kinds are told.
    """
    _refuse_unknown(table.column_names, stated)
    looks = {name: _look(table, name, stated, convert) for name in table.column_names}
    found = _decided(looks, {name: table.column(name).type for name in looks}, stated)
    columns, spellings = {}, {}
    for name, look in looks.items():
        column, spelling = table.column(name), found[name]
        if look is not None and convert:
            column, spelling = _converted(column, look, spelling)
        columns[name], spellings[name] = column, spelling
    return pa.table(columns), spellings


def spell_texts(
    counts: Mapping[str, Counts], stated: Stated
) -> tuple[dict[str, Spelling], dict[str, dict[str, str | None]]]:
    """The spellings of columns whose rows are not in memory, and the texts that become others, or missing.

    Args:
        counts: for each column its distinct texts and how many cells have each.
        stated: what the user says.
    """
    _refuse_unknown(counts, stated)
    looks: dict[str, _Look | None] = {}
    kinds: dict[str, pa.DataType] = {}
    for name, texts in counts.items():
        typed = typed_values(pa.array(list(texts), pa.string()))
        kinds[name] = TEXT if typed is None else typed.type
        kind = stated.types.get(name)
        plain = typed is not None and kind is None and not _is_ambiguous(name, kinds[name], texts)
        looks[name] = None if plain else _looked_at(name, dict(texts), kind, stated)
    found = _decided(looks, kinds, stated)
    changes: dict[str, dict[str, str | None]] = {}
    for name, look in looks.items():
        if look is not None and kinds[name] != TEXT and _stays_plain(look, found[name]):
            found[name] = _plain(kinds[name])
        elif look is not None:
            changes[name] = _new_texts(look, found[name])
    return found, changes


def _decided(
    looks: Mapping[str, _Look | None], kinds: Mapping[str, pa.DataType], stated: Stated
) -> dict[str, Spelling]:
    """The spelling of every column, where it is open as the others say."""
    shown = stated.decimal or _shown_decimal_mark(kinds, looks)
    decimal = shown or (COMMA if stated.semicolons else POINT)
    order = stated.dates or _order(looks, stated.semicolons or decimal == COMMA)
    found = {}
    for name, look in looks.items():
        # Semicolons alone do not make a thousand of 1.449: many programs write them beside decimal points.
        mark = decimal if kinds[name] == TEXT else shown or POINT
        found[name] = _plain(kinds[name]) if look is None else _spelling(look, mark, order)
    return found


def _refuse_unknown(columns: Collection[str], stated: Stated) -> None:
    for name, kind in stated.types.items():
        if name not in columns:
            raise ColumnError(
                "table.no-column-type",
                "there is no column '{name}' whose type could be {kind}",
                name=name,
                kind=kind,
            )
        if kind.partition(":")[0] not in ("text", "number", "code", "date") or (
            ":" in kind and kind[:5] != "date:"
        ):
            raise ParameterError(
                "table.type-text-number-code",
                "the type of '{name}' is text, number, code, date or date:FORMAT, not {kind!r}",
                name=name,
                kind=kind,
            )


def _look(table: pa.Table, name: str, stated: Stated, convert: bool) -> _Look | None:
    """What a column looks like, or None if it is plainly what its type says."""
    column, kind = table.column(name), stated.types.get(name)
    if column.type != TEXT:
        counts = _ambiguous(name, column, kind) if convert else None
    else:
        counts = _counted(column.chunk(0)) if column.num_chunks == 1 else None  # over 2 GB of distinct text
    return None if counts is None else _looked_at(name, counts, kind, stated)


def _looked_at(name: str, counts: Counts, kind: str | None, stated: Stated) -> _Look:
    marks = always_missing(counts) if stated.missing is None else stated.missing
    missing = {mark: counts.pop(mark) for mark in marks if mark in counts}
    look = _Look(name, counts, missing, kind)
    if kind in ("text", "code"):
        return look
    rest = {text: count for text, count in counts.items() if text not in AMONG_NUMBERS}
    among = sum(counts.values()) - sum(rest.values()) if stated.missing is None else 0
    if not _may_be_numbers(rest if among else counts):
        return look
    wanted = rest if among else counts
    least = NEARLY_ALL * sum(wanted.values())
    if kind is None or kind == "date":
        look.dates = find_dates(wanted, name, this_year(), stated.dates, 0.0 if kind else least)
    # What nearly all cells write as dates shows no decimal mark: marked dates are no numbers.
    if kind == "number" or (kind is None and not (look.dates and look.dates.fitting >= least)):
        look.numbers = find_numbers(wanted, stated.decimal, 0.0 if kind else least)
    if (
        among
        and wanted
        and max(e.fitting for e in (look.numbers, look.dates) if e) >= NEARLY_ALL * sum(wanted.values())
    ):
        look.missing |= {mark: counts[mark] for mark in AMONG_NUMBERS if mark in counts}
        look.counts = rest
    return look


def this_year() -> int:
    """The year in which a file is read: a birth is not after it."""
    return datetime.datetime.now(datetime.UTC).year


def _counted(column: pa.DictionaryArray) -> Counts:
    size = len(column.dictionary)
    numbers = np.bincount(column.indices.drop_null().to_numpy(zero_copy_only=False), minlength=size)
    texts = column.dictionary.to_pylist()
    return {text: count for text, count in zip(texts, numbers.tolist(), strict=True) if count}


def _may_be_numbers(counts: Counts) -> bool:
    """Whether nearly all cells have a digit: without one, nothing is a number or a date."""
    texts = pa.array(list(counts), pa.string())
    digits = pc.match_substring_regex(texts, "[0-9]").to_numpy(zero_copy_only=False)
    numbers = np.fromiter(counts.values(), np.int64, len(counts))
    return bool(len(counts)) and int(numbers[digits].sum()) >= NEARLY_ALL * int(numbers.sum())


def _ambiguous(name: str, column: pa.ChunkedArray, stated: str | None) -> Counts | None:
    """The texts of numbers that were written plainly and may be something else; else None."""
    may_be = pa.types.is_floating(column.type) or (pa.types.is_integer(column.type) and DATED.search(name))
    if stated is None and not may_be:
        return None
    if (
        stated is None
        and len(column) > GLANCE
        and not _is_ambiguous(name, column.type, _texts(column[:GLANCE]))
    ):
        return None
    texts = _texts(column)
    return texts if stated is not None or _is_ambiguous(name, column.type, texts) else None


def _is_ambiguous(name: str, kind: pa.DataType, texts: Counts) -> bool:
    """Whether plain numbers may be days without marks, or thousands with a point."""
    if pa.types.is_integer(kind):
        return bool(texts) and DATED.search(name) is not None and all(map(_EIGHT_DIGITS.fullmatch, texts))
    return pa.types.is_floating(kind) and bool(texts) and all(map(_THREE_AFTER_POINT.fullmatch, texts))


def _texts(column: pa.ChunkedArray) -> Counts:
    counted = column.cast(pa.string()).value_counts().to_pylist()
    return {each["values"]: each["counts"] for each in counted if each["values"] is not None}


def _shown_decimal_mark(kinds: Mapping[str, pa.DataType], looks: Mapping[str, _Look | None]) -> str | None:
    """The decimal mark that some column shows and none contradicts."""
    shown = {mark: any(look and _shows(look, mark) for look in looks.values()) for mark in (POINT, COMMA)}
    shown[POINT] |= any(looks[name] is None and pa.types.is_floating(kind) for name, kind in kinds.items())
    if shown[POINT] == shown[COMMA]:
        return None
    return POINT if shown[POINT] else COMMA


def _shows(look: _Look, mark: str) -> bool:
    if look.numbers is None or look.numbers.format.open or not look.fits(look.numbers):
        return False
    return look.numbers.format.decimal == mark and any(shows_decimal_mark(text, mark) for text in look.counts)


def _order(looks: Mapping[str, _Look | None], day_first: bool) -> DateOrder:
    """What the file says where the order of day and month is open."""
    told = {look.dates.known for look in looks.values() if look and look.dates and look.fits(look.dates)} - {
        None
    }
    if len(told) == 1:
        (order,) = told
        assert order is not None
        return order
    return DateOrder.DAY_FIRST if day_first else DateOrder.OPEN


def _spelling(look: _Look, decimal: str, order: DateOrder) -> Spelling:
    """The spelling of one column, with what the file says where it is open."""
    marks = tuple(sorted(look.missing, key=lambda mark: (-look.missing[mark], mark)))
    written: dict[str, Any] = {"missing": marks, "mark": most_frequent(look.missing)}
    if look.stated in ("text", "code"):
        return Spelling(SpellingKind(look.stated), **written)
    if look.stated is not None and look.stated.startswith("date:"):
        dates = DateFormat((), this_year(), pattern=look.stated.removeprefix("date:"))
        fitting = sum(count for text, count in look.counts.items() if dates.parse(text) is not None)
        return Spelling(SpellingKind.DATE, date=dates, unread=_share(look, fitting), **written)
    if look.dates is not None and (look.stated == "date" or look.fits(look.dates)) and look.dates.fitting:
        dates = with_order(look.dates.format, order) if look.dates.format.open else look.dates.format
        return Spelling(SpellingKind.DATE, date=dates, unread=_share(look, look.dates.fitting), **written)
    numbers = look.numbers
    if numbers is not None and (look.stated == "number" or look.fits(numbers)) and numbers.fitting:
        form = numbers.format
        if form.open or not numbers.marked:
            form = dataclasses.replace(form, decimal=decimal, open=False)
        return Spelling(SpellingKind.NUMBER, number=form, unread=_share(look, numbers.fitting), **written)
    if numbers is not None and look.counts and numbers.fitting + numbers.codes >= NEARLY_ALL * look.filled:
        return Spelling(SpellingKind.CODE, **written)
    is_answer = truths(look.counts, look.name) is not None
    return Spelling(SpellingKind.BOOLEAN if is_answer else SpellingKind.TEXT, **written)


def _share(look: _Look, fitting: int) -> float:
    return (look.filled - fitting) / look.filled if look.filled else 0.0


def as_written(column: pa.ChunkedArray, missing: Collection[str]) -> pa.ChunkedArray:
    """A column of text with some words as missing values, all others as text, typed where nothing is lost."""
    if column.type != TEXT or column.num_chunks != 1:
        return column
    chunk = column.chunk(0)
    texts = chunk.dictionary.to_pylist()
    new = [None if text in missing else text.removeprefix(QUOTED_MARK) for text in texts]
    if new == texts:
        return column
    return pa.chunked_array([exactly_typed(_with_texts(chunk, new))])


def _converted(column: pa.ChunkedArray, look: _Look, spelling: Spelling) -> tuple[pa.ChunkedArray, Spelling]:
    """The column with its missing values, one text for each value, and numbers where they are plain."""
    if column.type != TEXT:
        if _stays_plain(look, spelling):
            return column, _plain(column.type)
        column = pa.chunked_array([column.cast(pa.string()).combine_chunks().dictionary_encode()])
    chunk = column.chunk(0)
    new = _new_texts(look, spelling)
    changed = [new.get(text, text) for text in chunk.dictionary.to_pylist()]
    if changed != chunk.dictionary.to_pylist():
        chunk = _with_texts(chunk, changed)
    if look.missing and look.stated not in ("text", "code") and _is_plain(spelling):
        typed = exactly_typed(chunk)
        if typed.type != TEXT:
            plain = _plain(typed.type)
            return pa.chunked_array([typed]), dataclasses.replace(
                spelling, kind=plain.kind, number=None, date=None
            )
    return pa.chunked_array([chunk]), spelling
