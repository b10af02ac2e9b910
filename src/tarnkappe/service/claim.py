"""One service for one folder: two would start the same jobs."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import TextIO

from tarnkappe.errors import InputError


def claimed(folder: Path) -> TextIO:
    """A hold on a folder that lasts until it is closed, or its process ends.

    Raises:
        InputError: if another service has it.
    """
    hold = (folder / ".lock").open("w")
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        hold.close()
        raise InputError(
            f"{folder}: another service works in this folder: end it, or choose another"
        ) from None
    return hold
