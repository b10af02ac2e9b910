"""Where the rows of a CSV file begin and what its columns are called: titles, header lines, odd names."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from tarnkappe.table.formats.csv_dialect import Dialect
from tarnkappe.table.formats.csv_first_line import Row, is_row
from tarnkappe.table.formats.csv_records import SOUND, UNFINISHED, find_records
from tarnkappe.table.spelling.contacts import reaches_somebody
from tarnkappe.table.spelling.marks import MARKS
from tarnkappe.table.spelling.quantities import MOSTLY_NUMBERS, is_quantity

MOST_TITLES = 10
"""So many lines above the header are looked at."""
ROWS_BELOW = 2
"""So many lines must have as many fields as the header before anything above it is a title."""
UNNAMED = 3
"""So many columns without a name make the line below a second header."""
NEW_WORDS = 0.8
NUMBERING = ("", "rownames", "index", "unnamed: 0")
ROW_NUMBER = "row number"


@dataclasses.dataclass(frozen=True)
class Header:
    """What the first lines say.

    Attributes:
        names: of the columns, each different.
        lines: how many lines name them: none, one or two.
        unnamed: the names that were made up.
        notes: what was decided, in words.
    """

    names: tuple[str, ...]
    lines: int
    unnamed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def titles_above(sample: bytes, complete: bool, delimiters: Sequence[str], quote: str) -> int:
    r"""How many bytes of titles stand above the header: lines with fewer than half of its fields.

    >>> titles_above(b"Report of May\n\na;b;c\n1;2;3\n4;5;6\n", True, ";", '"')
    14
    """
    for delimiter in delimiters:
        start = 0
        most = 0
        for _ in range(MOST_TITLES + 1):
            found = find_records(sample[start:], delimiter, quote, complete=complete)
            if found.records <= ROWS_BELOW or found.fault not in (SOUND, UNFINISHED):
                break
            if start and not found.odd_records and 2 * most < found.first_fields:
                return start
            most = max(most, found.first_fields)
            start += found.first_end
    return 0


def padded_titles(rows: Sequence[Row]) -> int:
    """How many lines above the header hold a title in their first field and nothing else.

    So spreadsheet programs write titles: with all fields. Names of columns are published and cells are not,
    so what follows must be names for sure: words alone, above some column of numbers or dates.

    >>> padded_titles([["Report", None], [None, None], ["name", "age"], ["Ann", "34"], ["Bob", "45"]])
    2
    >>> padded_titles([["name", None], ["Ann", "Ulm"], ["Bob", "Bonn"]])
    0
    """
    titles = 0
    for row in rows[:MOST_TITLES]:
        if any((cell or "").strip() for cell in row[1:]):
            break
        titles += 1
    if not titles or len(rows) < titles + 2:
        return 0
    names, below = rows[titles], rows[titles + 1 :]
    if _is_second_header(names, below, titled=True):
        names, below = below[0], below[1:]
    filled = [place for place, cell in enumerate(names) if (cell or "").strip()]
    if 2 * len(filled) <= len(names) or any(is_quantity(names[place] or "") for place in filled):
        return 0
    for place in filled:
        cells = [text for row in below if (text := row[place]) is not None]
        if cells and sum(map(is_quantity, cells)) >= MOSTLY_NUMBERS * len(cells):
            return titles
    return 0


def find_header(
    rows: Sequence[Row], quoted: Sequence[bool], stated: bool | None = None, *, titled: bool = False
) -> Header:
    """What the columns are called, from the first rows of a file.

    Args:
        rows: the first rows, the header among them.
        quoted: which fields of the first row stand in quotes that say that they are text.
        stated: whether there is a header, if the user says so.
        titled: whether titles stand above: then groups of columns may have names, too.
    """
    first, *others = rows
    if stated is False or (stated is None and is_row(first, quoted, others)):
        names = tuple(f"column {place}" for place in range(1, len(first) + 1))
        return Header(names, 0, frozenset(), ("the file has no header: its columns are numbered",))
    lines, given = 1, [name or "" for name in first]
    notes: list[str] = []
    if others and _is_second_header(first, others, titled=titled):
        lines, given = 2, _joined_names(first, others[0])
        notes.append("two header lines name the columns")
        others = others[1:]
    kept = quoted[0] and lines == 1
    chosen, made_up = _distinct(given, [] if kept else others, notes)
    return Header(tuple(chosen), lines, frozenset(made_up), tuple(notes))


def _is_second_header(first: Row, others: Sequence[Row], *, titled: bool = False) -> bool:
    """Whether the second line names what the first leaves open, in words that no row has.

    Below a title, where the first line is one of names for sure, one gap is enough if the second has none.
    """
    if len(others) < 2 or any(reaches_somebody(cell or "") for cell in others[0]):
        return False
    whole = all((cell or "").strip() and not is_quantity(cell or "") for cell in others[0])
    least = 1 if titled and whole else UNNAMED
    if sum(not (name or "").strip() for name in first) < least:
        return False
    new = texts = 0
    for place, cell in enumerate(others[0]):
        if cell is None or is_quantity(cell):
            continue
        texts += 1
        new += all(row[place] != cell for row in others[1:])
    return texts > 0 and new >= NEW_WORDS * texts


def _joined_names(first: Row, second: Row) -> list[str]:
    names, group = [], ""
    for one, two in zip(first, second, strict=True):
        group = (one or "").strip() or group
        names.append(": ".join(part for part in (group, (two or "").strip()) if part))
    return names


def _distinct(given: Sequence[str], rows: Sequence[Row], notes: list[str]) -> tuple[list[str], list[str]]:
    """A name of its own for every column; what was made up is told."""
    names: list[str] = []
    made_up: list[str] = []
    for place, name in enumerate(given, 1):
        if place == 1 and len(given) > 1 and name.strip().lower() in NUMBERING and _is_numbering(rows):
            chosen = ROW_NUMBER
            notes.append(f"the first column numbers the rows: it is called '{ROW_NUMBER}'")
        elif name.strip():
            chosen = name
        else:
            chosen = f"column {place}"
            made_up.append(chosen)
        free, number = chosen, 1
        while free in names or (free != name and free in given):
            number += 1
            free = f"{chosen} {number}"
        if number > 1:
            notes.append(f"the name '{name}' occurs again: column {place} is called '{free}'")
        if made_up and made_up[-1] == chosen:
            made_up[-1] = free
        names.append(free)
    if made_up:
        notes.append(f"{len(made_up)} column{'s have' if len(made_up) > 1 else ' has'} no name in the header")
    return names, made_up


def _is_numbering(rows: Sequence[Row]) -> bool:
    """Whether the first fields count 1, 2, 3, ... or 0, 1, 2, ..."""
    if len(rows) < 2 or rows[0][0] not in ("0", "1"):
        return False
    start = int(rows[0][0])
    return all(row[0] == str(start + place) for place, row in enumerate(rows))


def quoted_fields(record: bytes, dialect: Dialect) -> list[bool]:
    r"""Which fields of a record stand in quotes.

    >>> quoted_fields(b'a,"b, c",d\n', Dialect(",", '"'))
    [False, True, False]
    """
    text = record.decode("utf-8", "replace")
    if not dialect.quote:
        return [False] * (text.count(dialect.delimiter) + 1)
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    field = re.compile(
        f"({quote}(?:[^{quote}]|{quote}{quote})*{quote})?[^{delimiter}]*(?:{delimiter}|$)", re.DOTALL
    )
    found, place = [], 0
    while place <= len(text):
        match = field.match(text, place)
        assert match is not None
        found.append(match[1] is not None)
        if match.end() == len(text) and not text[match.start() : match.end()].endswith(dialect.delimiter):
            break
        place = match.end()
    return found


def quotes_needlessly(rows: bytes, dialect: Dialect) -> bool:
    r"""Whether some field stands in quotes although nothing in it asks for them, so that quotes mean nothing.

    >>> comma = Dialect(",", '"')
    >>> quotes_needlessly(b'"x","NA"\n', comma), quotes_needlessly(b'"x,y","NA"\n', comma)
    (True, False)
    """
    if not dialect.quote:
        return False
    quote, delimiter = re.escape(dialect.quote.encode()), re.escape(dialect.delimiter.encode())
    plain = re.compile(
        rb"(?:^|[\r\n]|" + delimiter + rb")" + quote + rb"([0-9A-Za-z][0-9A-Za-z_ ]*)" + quote
        + rb"(?=[\r\n]|$|" + delimiter + rb")"
    )  # fmt: skip
    return any(match[1].decode() not in MARKS for match in plain.finditer(rows))
