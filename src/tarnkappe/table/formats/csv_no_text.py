"""Files that are named like a table of text and hold none: pictures, documents, programs, blank lines."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.errors import InputError

LOOKED_AT = 4096
"""So many bytes show whether a file is text."""
MOST_CONTROLS = 0.05
"""No long text has so large a share of control characters; a table of few cells may hold some."""
CONTROLS = bytes(byte for byte in range(1, 32) if byte not in b"\t\n\v\f\r\x1a\x1c\x1d\x1e\x1f")
"""Those that stand in no text; who writes tables divides them by the last four."""
PICTURES = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"%PDF-",
    b"\x7fELF",
    b"RIFF",
    b"II*\0",
    b"MM\0*",
)
"""How pictures, documents, programs and recordings begin."""


def refuse_no_text(path: Path, beginning: bytes, last: bool) -> None:
    """Refuse what is no text, or has no line that says something, before anything is guessed about it.

    Args:
        path: of the file.
        beginning: its first bytes, as UTF-8.
        last: whether these are all of it.
    """
    if last and beginning and not beginning.strip():
        raise InputError(
            "table.file-only-blank-lines", "{path}: there are only blank lines in this file", path=path
        )
    looked = beginning[:LOOKED_AT]
    controls = len(looked) - len(looked.translate(None, CONTROLS))
    begins = looked.startswith(_AS_TEXT)
    if begins or (len(looked) == LOOKED_AT and controls > MOST_CONTROLS * LOOKED_AT):
        raise InputError(
            "table.file-no-text",
            "{path}: this is no text, so no table that could be read: it may be a picture, a document or a "
            "program under another name; --encoding says how it is written if it is text after all",
            path=path,
        )


_AS_TEXT = tuple({*PICTURES, *(each.decode("cp1252", "replace").encode() for each in PICTURES)})
"""The same where the bytes were taken for letters of Windows-1252 before."""
