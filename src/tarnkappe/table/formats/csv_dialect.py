"""Finding out how a CSV file is written, and refusing to guess where two answers fit equally well."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import re
from pathlib import Path

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.files import suffix_of
from tarnkappe.table.formats.csv_records import (
    NUL_BYTE,
    SOUND,
    TEXT_AFTER_QUOTE,
    UNCLOSED_QUOTE,
    UNFINISHED,
    CsvRecords,
    find_records,
)
from tarnkappe.table.spelling.quantities import MOSTLY_NUMBERS, is_quantity

MOST_ROWS = 1000
"""So many rows are looked at where their cells decide."""

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
"""The delimiters that are looked for."""

QUOTES = ('"', "'")

NO_DELIMITER = "\x1f"
"""Taken where a file has one column only, so that nothing in its lines divides them."""

_STATEMENT = re.compile(rb'(?i:"?sep=(?P<mark>[\t -!#-/:-@\[-`{-~])"?)(?:\r\n|\r|\n)')

SAMPLE = 2**20
"""So many bytes at the beginning decide."""


@dataclasses.dataclass(frozen=True)
class Dialect:
    """How a file is written: the character between fields and the one around them ("" for none)."""

    delimiter: str
    quote: str
    detected: bool = True

    @property
    def hint(self) -> str:
        """What to try when a file does not fit the dialect."""
        if not self.detected:
            return ""
        name = DELIMITERS.get(self.delimiter)
        told = f"the delimiter looks like a {name}" if name else "no delimiter was found"
        return f" ({told}: --delimiter and --quote change that)"


@dataclasses.dataclass(frozen=True)
class DelimiterStatement:
    """A first line like `sep=;`, which tells Excel the delimiter ("" if there is none), and where it ends."""

    delimiter: str = ""
    end: int = 0

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return int(self.end > 0)


def stated_delimiter(beginning: bytes) -> DelimiterStatement:
    r"""The delimiter that the first line of a file states, and nothing else.

    >>> stated_delimiter(b"sep=;\r\na;b\r\n"), stated_delimiter(b"sep=;x\n").lines
    (DelimiterStatement(delimiter=';', end=7), 0)
    """
    found = _STATEMENT.match(beginning)
    return DelimiterStatement(found["mark"].decode(), found.end()) if found else DelimiterStatement()


@dataclasses.dataclass(frozen=True)
class _Look:
    """What a sample looks like in one dialect."""

    dialect: Dialect
    found: CsvRecords

    @property
    def consistent(self) -> bool:
        """Whether all lines have as many fields as the first."""
        return self.found.fault in (SOUND, UNFINISHED) and not self.found.odd_records

    @property
    def divides(self) -> bool:
        """Whether the first line has several fields."""
        return self.found.first_fields > 1

    @property
    def explains(self) -> bool:
        """Whether it explains the sample; an apostrophe that is around no field is no quote."""
        used = self.dialect.quote != "'" or self.found.quoted_fields > 0
        return self.consistent and self.divides and used

    @property
    def clean(self) -> bool:
        """Whether quotes stand only where they belong."""
        return self.consistent and not self.found.stray_quotes

    @property
    def agreement(self) -> float:
        """The share of lines that have as many fields as the first."""
        return 1 - self.found.odd_records / self.found.records if self.found.records else 0.0


def find_dialect(
    path: Path, sample: bytes, complete: bool, *, delimiter: str | None = None, quote: str | None = None
) -> Dialect:
    r"""Find out how a file is written from its beginning; what the caller states is taken as stated.

    A delimiter explains a file if it divides every line into the same number of fields, two or more.
    When several do, one that needs no quotes in the middle of fields wins, then the one that gives more
    columns of numbers and dates; when several are equally good, the file is refused. An apostrophe is taken
    for the quote only if the file begins with one or nothing else explains it, so that no apostrophe is lost
    that belongs to the data.

    >>> find_dialect(Path("f.csv"), b"a;b\n1,5;2\n", True).delimiter
    ';'
    """
    check_stated(delimiter, quote)
    if delimiter is not None and quote is not None:
        return Dialect(delimiter, quote, detected=False)
    delimiters = tuple(DELIMITERS) if delimiter is None else (delimiter,)
    quotes = (quote,) if quote is not None else QUOTES
    if quote is None and sample.startswith(b"'"):
        quotes = quotes[::-1]
    looks = {
        mark: [
            _look(sample, complete, Dialect(character, mark, delimiter is None)) for character in delimiters
        ]
        for mark in quotes
    }
    for mark in quotes:
        explaining = [look for look in looks[mark] if look.explains]
        if explaining:
            clean = [look for look in explaining if look.clean] or explaining
            return _only_one(path, clean, sample, complete)
    return _least_bad(path, looks[quotes[0] if quote is not None else '"'], delimiter, sample, complete)


def _look(sample: bytes, complete: bool, dialect: Dialect) -> _Look:
    found = find_records(sample, dialect.delimiter, dialect.quote, complete=complete)
    return _Look(dialect, found)


def _only_one(path: Path, looks: list[_Look], sample: bytes, complete: bool) -> Dialect:
    by_delimiter = {look.dialect.delimiter: look.dialect for look in looks}
    if len(by_delimiter) > 1 and "\t" in by_delimiter and suffix_of(path) == ".tsv":
        return by_delimiter["\t"]
    if len(by_delimiter) > 1:
        typed = [_typed_columns(sample, complete, look) for look in looks]
        if typed.count(max(typed)) == 1:
            return looks[typed.index(max(typed))].dialect
        counts = " and ".join(
            f"{DELIMITERS[look.dialect.delimiter]} ({look.found.first_fields} columns)" for look in looks
        )
        raise InputError(
            "table.delimiter-cannot-told-explain",
            "{path}: the delimiter cannot be told: {counts} explain the file equally well: --delimiter says "
            "which it is",
            path=path,
            counts=counts,
        )
    return looks[0].dialect


def _typed_columns(sample: bytes, complete: bool, look: _Look) -> int:
    """How many columns hold numbers or dates, below the first line."""
    dialect = look.dialect
    end = find_records(sample, dialect.delimiter, dialect.quote, complete=complete).end
    text = sample[look.found.first_end : end].decode("utf-8", "replace")
    options = {"quotechar": dialect.quote} if dialect.quote else {"quoting": csv.QUOTE_NONE}
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter, **options)
    try:
        rows = [row for row in itertools.islice(lines, MOST_ROWS) if len(row) == look.found.first_fields]
    except csv.Error:
        return 0
    columns = [[cell for cell in column if cell] for column in zip(*rows, strict=True)]
    return sum(
        bool(cells) and sum(map(is_quantity, cells)) >= MOSTLY_NUMBERS * len(cells) for cells in columns
    )


def _least_bad(
    path: Path, looks: list[_Look], delimiter: str | None, sample: bytes, complete: bool
) -> Dialect:
    """No delimiter divides all lines alike: the file has one column, or a mistake that is yet to be found."""
    dividing = [look for look in looks if look.divides]
    if delimiter is not None:
        return looks[0].dialect
    if not dividing:
        return Dialect(NO_DELIMITER, looks[0].dialect.quote)
    best = max(look.agreement for look in dividing)
    return _only_one(path, [look for look in dividing if look.agreement == best], sample, complete)


def check_stated(delimiter: str | None, quote: str | None) -> None:
    """Refuse delimiters and quotes that no file can have."""
    for name, character in (("delimiter", delimiter), ("quote", quote or None)):
        if character is not None and (
            len(character) != 1 or not character.isascii() or character in "\0\r\n"
        ):
            raise ParameterError(
                "table.must-ascii-character-no-line",
                "`{name}` must be one ASCII character and no line break, not {character!r}",
                name=name,
                character=character,
            )
    if delimiter is not None and delimiter == quote:
        raise ParameterError(
            "table.delimiter-quote-both-must-differ",
            "`delimiter` and `quote` are both {delimiter!r}: they must differ",
            delimiter=delimiter,
        )


def refuse_malformed(path: Path, found: CsvRecords, first_line: int, fields: int, dialect: Dialect) -> None:
    """Refuse text in which something is wrong, naming the line; cells are never shown."""
    faults = {
        UNCLOSED_QUOTE: f"a quote ({dialect.quote}) is opened and never closed",
        TEXT_AFTER_QUOTE: f"text follows a closing quote ({dialect.quote}): write quotes within twice",
        NUL_BYTE: "there is a NUL byte: this is no text, or its encoding is another, which --encoding says",
    }
    if found.odd_records:
        raise InputError(
            "table.line-expected-field-found",
            "{path}, line {first_line}: expected {fields} field{what}, found {odd_fields}{hint}",
            path=path,
            first_line=first_line + found.odd_line,
            fields=fields,
            what="s" if fields != 1 else "",
            odd_fields=found.odd_fields,
            hint=f"{dialect.hint}; --bad-lines skip leaves out such lines, up to one in a hundred",
        )
    if found.fault in faults:
        raise InputError(
            "table.path-first-line-faults-line",
            "{path}, line {first_line}: {faults}",
            path=path,
            first_line=first_line + found.fault_line,
            faults=faults[found.fault],
        )
