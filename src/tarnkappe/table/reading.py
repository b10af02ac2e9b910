"""The reading of a file: everything that turned its bytes into a table, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from tarnkappe.drawing import html_table
from tarnkappe.errors import ParameterError
from tarnkappe.table.spelling.moments import DateOrder
from tarnkappe.table.spelling.numbers import COMMA, POINT
from tarnkappe.table.spelling.spelling import Spelling, SpellingKind

DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
ENCODING_NAMES = {"cp1252": "Windows-1252", "utf-8": "UTF-8", "mac_roman": "Mac Roman", "cp850": "DOS (850)"}


@dataclasses.dataclass(frozen=True)
class Reading:
    """How a file was read.

    Attributes:
        format: of the file: CSV, Excel, ...
        encoding: of the characters of a CSV file, as Python calls it.
        misfits: whether some bytes are no characters of this encoding. Who states it is refused such bytes;
            they are read again where the encoding is found again.
        mark: whether a CSV file begins with a byte order mark.
        compression: how it is compressed, or None.
        delimiter: what stands between the fields of a CSV file ("" if it has one column).
        quote: what stands around them.
        line_end: what ends its lines.
        header: how many lines name the columns.
        sheet: the sheet of a workbook, or the file of an archive.
        decimal: the decimal mark of the file, or None if no number shows it.
        columns: the spelling of each column.
        skipped_lines: the lines that were left out, since they have another number of fields.
        notes: what was guessed, a sentence for each.
    """

    format: str
    encoding: str | None = None
    misfits: bool = False
    mark: bool = False
    compression: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    line_end: str | None = None
    header: int = 1
    sheet: str | None = None
    decimal: str | None = None
    columns: Mapping[str, Spelling] = dataclasses.field(default_factory=dict)
    skipped_lines: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def spelling(self, name: str) -> Spelling | None:
        """How a column is spelled, if that is known."""
        return self.columns.get(name)

    @property
    def summary(self) -> str:
        """In one line: `Windows-1252, semicolon, decimal comma, dates like 31.12.1980`."""
        return ", ".join(self.parts)

    @property
    def parts(self) -> list[str]:
        """What the summary lists."""
        parts = [self.format]
        if self.encoding is not None:
            parts = [ENCODING_NAMES.get(self.encoding, self.encoding)]
        if self.compression is not None:
            parts.append(self.compression)
        if self.delimiter:
            parts.append(DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter)))
        if self.decimal is not None:
            parts.append("decimal comma" if self.decimal == COMMA else "decimal point")
        dates = {
            spelling.description.partition(", missing")[0]
            for spelling in self.columns.values()
            if spelling.kind is SpellingKind.DATE and spelling.date is not None
        }
        return [*parts, *sorted(dates)]

    def _repr_html_(self) -> str:
        rows = [(name, spelling.description) for name, spelling in self.columns.items()]
        return html_table((self.summary, ""), [*rows, *(("note", note) for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """The reading as JSON or TOML would hold it; it names no cell."""
        content = {
            field.name: value
            for field in dataclasses.fields(self)
            if field.name not in ("columns", "notes", "skipped_lines")
            and (value := getattr(self, field.name)) is not None
        }
        if self.skipped_lines:
            content["skipped_lines"] = list(self.skipped_lines)
        content["columns"] = {name: spelling.to_dict() for name, spelling in self.columns.items()}
        content["notes"] = list(self.notes)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Reading:
        """The reading that `to_dict` wrote."""
        plain = {
            key: value for key, value in content.items() if key not in ("columns", "notes", "skipped_lines")
        }
        return cls(
            **plain,
            columns={name: Spelling.from_dict(said) for name, said in content.get("columns", {}).items()},
            notes=tuple(content.get("notes", ())),
            skipped_lines=tuple(content.get("skipped_lines", ())),
        )


def stated_header(said: bool | str | None) -> bool | None:
    """Whether there is a header, as a flag or a job file says it: yes or no."""
    if said is None or isinstance(said, bool):
        return said
    if said not in ("yes", "no"):
        raise ParameterError("table.header-yes", "`header` is yes or no, not {said!r}", said=said)
    return said == "yes"


def stated_decimal(said: str | None) -> str | None:
    """The decimal mark: a point or a comma."""
    if said not in (None, POINT, COMMA):
        raise ParameterError("table.decimal-not", "`decimal` is '.' or ',', not {said!r}", said=said)
    return said


def stated_dates(said: str | None) -> DateOrder | None:
    """The order of day and month: dmy or mdy."""
    if said not in (None, "dmy", "mdy"):
        raise ParameterError(
            "table.dates-dmy-day-first",
            "`dates` is dmy (day first) or mdy (month first), not {said!r}",
            said=said,
        )
    return None if said is None else DateOrder(said)


def stated_missing(said: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The words for missing values."""
    if said is None:
        return None
    words = (said,) if isinstance(said, str) else tuple(said)
    if not all(isinstance(word, str) for word in words):
        raise ParameterError(
            "table.missing-word-list-words",
            "`missing` is a word, or a list of words, that stand for a missing value",
        )
    return words


def stated_bad_lines(said: str | None) -> bool:
    """Whether lines with another number of fields are skipped."""
    if said not in (None, "refuse", "skip"):
        raise ParameterError(
            "table.bad-lines-refuse-skip", "`bad_lines` is refuse or skip, not {said!r}", said=said
        )
    return said == "skip"
