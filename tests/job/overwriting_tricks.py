"""Ways to name a file so that it does not look like another, which it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

TRICKS: dict[str, Callable[[Path, Path], Path]] = {
    "the same name": lambda path, _: path,
    "dots": lambda path, _: path.parent / "." / ".." / path.parent.name / path.name,
    "a link": lambda path, new: (new.symlink_to(path), new)[1],
    "a link to a link": lambda path, new: (
        new.symlink_to(path),
        new.with_name(f"2{new.name}").symlink_to(new),
        new.with_name(f"2{new.name}"),
    )[2],
    "a hard link": lambda path, new: (os.link(path, new), new)[1],
    "a folder that is a link": lambda path, new: (
        new.symlink_to(path.parent, target_is_directory=True),
        new / path.name,
    )[1],
}
