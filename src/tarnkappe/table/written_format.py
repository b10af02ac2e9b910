"""The format in which a file of a name is written; fewer are written than read."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.errors import ParameterError
from tarnkappe.table.compression import compression_of
from tarnkappe.table.files import READ_ONLY, STDIN, SUFFIXES, Format, format_of, suffix_of


def written_format(path: Path) -> Format:
    """The format in which a file of this name is written."""
    written = ", ".join(suffix for suffix, form in SUFFIXES.items() if form not in READ_ONLY)
    if str(path) in STDIN:
        raise ParameterError(
            "table.release-needs-a-file",
            "{path}: what is written is a file with others beside it, and goes into no pipe: name a file "
            "that ends in one of {suffixes}",
            path=path,
            suffixes=written,
        )
    if suffix_of(path) not in SUFFIXES:
        raise ParameterError(
            "table.suffix-stands-no-written",
            "{path}: the suffix '{suffix}' stands for no format that is written: use one of {suffixes}",
            path=path,
            suffix=suffix_of(path),
            suffixes=written,
        )
    form = format_of(path)
    if form in READ_ONLY:
        raise ParameterError(
            "table.format-read-but-not-written",
            "{path}: this format is read but not written: use one of {suffixes}",
            path=path,
            suffixes=written,
        )
    if compression_of(path) not in (None, "gzip"):
        raise ParameterError(
            "table.what-written-compressed-gzip",
            "{path}: what is written is compressed by gzip only: end the name in .gz",
            path=path,
        )
    return form
