"""Hierarchy files: one line a value, `value;label;...;*`, without a header (the format of ARX)."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import re
from pathlib import Path

from tarnkappe.errors import HierarchyError, InputError, ParameterError
from tarnkappe.hierarchy.hierarchy import Hierarchy
from tarnkappe.table.files import is_compressed, replace_atomically
from tarnkappe.table.formats.text_read import read_text

DELIMITERS = (";", "\t", ",")
_BYTE_ORDER_MARK = "\ufeff"

Lines = tuple[list[list[str]], list[int]]
"""The fields of every line that is not blank, and the number of each of these lines in the file."""


def read_hierarchy(path: str | os.PathLike[str], delimiter: str | None = None) -> Hierarchy:
    """Read a hierarchy from a file; every error names the file and, where it has one, the line.

    An empty first field stands for missing values. Fields may be quoted with `"`.

    Args:
        path: the file.
        delimiter: what separates the fields; without it one of ; tab , is recognized.
    """
    text = read_text(Path(path))
    try:
        return Hierarchy.from_rows(*(_recognize(text) if delimiter is None else _split(text, delimiter)))
    except (HierarchyError, InputError) as error:
        raise error.within(path) from None


def write_hierarchy(
    hierarchy: Hierarchy,
    path: str | os.PathLike[str],
    delimiter: str = DELIMITERS[0],
    *,
    replace: bool = False,
) -> None:
    """Write a hierarchy so that `read_hierarchy`, with the same delimiter, reads the same one.

    The file appears complete or not at all. One that this process has written is replaced in one step, any
    other only with `replace`.
    """
    content = format_hierarchy(hierarchy, delimiter).encode("utf-8")
    with replace_atomically(Path(path), replace=replace) as partial:
        partial.write_bytes(gzip.compress(content, mtime=0) if is_compressed(Path(path)) else content)


def format_hierarchy(hierarchy: Hierarchy, delimiter: str = DELIMITERS[0]) -> str:
    """The text of a hierarchy file."""
    needs_quotes = re.compile(f'[{re.escape(_character(delimiter))}"\r\n{_BYTE_ORDER_MARK}]')

    def field(text: str | None) -> str:
        if text is None or not needs_quotes.search(text):
            return text or ""
        return '"' + text.replace('"', '""') + '"'

    return "".join(delimiter.join(map(field, row)) + "\n" for row in hierarchy.rows())


def _split(text: str, delimiter: str) -> Lines:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_character(delimiter), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    start = 1
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            "hierarchy.line-cannot-read-check",
            "line {start} cannot be read ({error}): check its quotation marks",
            start=start,
            error=error,
        ) from None
    return rows, lines


def _recognize(text: str) -> Lines:
    """Split by the delimiter that makes all lines end in one root, else by the first that splits line 1."""
    for accepts in (_has_one_root, _has_labels):
        for delimiter in DELIMITERS:
            with contextlib.suppress(InputError):
                rows, lines = _split(text, delimiter)
                if accepts(rows):
                    return rows, lines
    return _split(text, DELIMITERS[0])


def _has_one_root(rows: list[list[str]]) -> bool:
    return _has_labels(rows) and all(len(row) == len(rows[0]) and row[-1] == rows[0][-1] for row in rows)


def _has_labels(rows: list[list[str]]) -> bool:
    return bool(rows) and len(rows[0]) > 1


def _character(delimiter: str) -> str:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ParameterError(
            "hierarchy.delimiter-hierarchy-file-must-character",
            "the delimiter of a hierarchy file must be one character, not {delimiter!r}",
            delimiter=delimiter,
        )
    return delimiter
