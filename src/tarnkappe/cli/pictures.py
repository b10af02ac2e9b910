"""Writing pictures: the suffix of the file tells the format."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.drawing import Drawing
from tarnkappe.errors import ParameterError
from tarnkappe.table.files import replace_atomically, writable


def check_picture(path: Path) -> None:
    """Refuse, before any work, a place where no picture can be drawn."""
    if writable(path).suffix.lower() not in {".svg", ".png"}:
        raise ParameterError(
            "cli.picture-drawn-svg-png", "{path}: a picture is drawn as .svg or .png", path=path
        )


def write_picture(drawing: Drawing, path: Path) -> None:
    """Draw a picture into a file."""
    drawn = drawing.to_png() if path.suffix.lower() == ".png" else drawing.to_svg().encode()
    with replace_atomically(path) as partial:
        partial.write_bytes(drawn)
