"""How a CSV file is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tarnkappe.table.files import OpenFile
from tarnkappe.table.formats.csv_dialect import DELIMITERS, DelimiterStatement, Dialect
from tarnkappe.table.formats.csv_header import (
    Header,
)
from tarnkappe.table.formats.encoding_guess import DAMAGED, NAMES, UNDEFINED
from tarnkappe.table.formats.unicode import (
    Chunks,
    Encoding,
)


@dataclasses.dataclass(frozen=True)
class CsvOptions:
    """What the user says about a CSV file; what is None is found out.

    Attributes:
        encoding: how characters are written.
        delimiter: what stands between fields.
        quote: what stands around fields ("" for nothing).
        header: whether the first line names the columns.
        skip_bad_lines: whether lines with another number of fields are left out, if they are few.
    """

    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    skip_bad_lines: bool = False


@dataclasses.dataclass(frozen=True)
class CsvFile:
    """How a CSV file is written, and its rows.

    Attributes:
        encoding: of its characters.
        dialect: its delimiter and quote.
        header: its column names.
        statement: what its first line says about its delimiter, for Excel.
        line_end: what ends its lines.
        skipped: the numbers of the lines that were left out, filled while the rows are read.
    """

    source: OpenFile
    encoding: Encoding
    dialect: Dialect
    header: Header
    line_end: str
    titles: int
    quotes_mean_text: bool
    options: CsvOptions
    chunks: Chunks
    offset: int
    line: int
    statement: DelimiterStatement = dataclasses.field(default_factory=DelimiterStatement)
    skipped: list[int] = dataclasses.field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.header.names)

    @property
    def skip_blank_lines(self) -> bool:
        """Whether an empty line means nothing; in a single column it is a missing value."""
        return len(self.names) > 1

    @property
    def notes(self) -> list[str]:
        """What was guessed about the file, in words."""
        told = [*encoding_notes(self.encoding)]
        if self.statement.delimiter:
            name = DELIMITERS.get(self.statement.delimiter, repr(self.statement.delimiter))
            told.append(f"the first line (sep=) says that the delimiter is a {name}; it was left out")
        if self.titles:
            lines = "1 line" if self.titles == 1 else f"{self.titles} lines"
            told.append(f"left out above the header: {lines}")
        told += self.header.notes
        if self.skipped:
            told.append(
                f"lines with another number of fields were left out: {len(self.skipped)}, the first is line "
                f"{self.skipped[0]}"
            )
        return told


def encoding_notes(encoding: Encoding) -> Iterator[str]:
    """What was guessed about the encoding."""
    if encoding.errors == DAMAGED:
        yield "some bytes are no UTF-8: they were read as Windows-1252; --encoding changes it"
    elif encoding.errors == UNDEFINED:
        shown = f"{encoding.lines} line{'s show' if encoding.lines > 1 else ' shows'} it"
        yield f"read as {NAMES[encoding.name]}, since it is no UTF-8 ({shown}); --encoding changes it"
