"""Text that is no table, from a file whoever wrote it: unpacked and decoded as tables are."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.table.files import opened
from tarnkappe.table.formats.unicode import find_encoding, utf8_chunks


def read_text(path: Path) -> str:
    """The text of a file; what is no UTF-8 is read in the encoding in which its letters fit best."""
    with opened(path) as source:
        encoding = find_encoding(source)
        source.restart()
        chunks, _ = utf8_chunks(source, encoding)
        return b"".join(chunk for chunk, _ in chunks).decode("utf-8")
