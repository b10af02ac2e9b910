"""One service for one folder: two would start the same jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from tarnkappe.errors import InputError
from tarnkappe.table.staging import try_lock


def claimed(folder: Path) -> TextIO:
    """A hold on a folder that lasts until it is closed, or its process ends.

    Raises:
        InputError: if another service has it.
    """
    hold = (folder / ".lock").open("w")
    if not try_lock(hold.fileno()):
        hold.close()
        raise InputError(
            "service.another-service-works-folder",
            "{folder}: another service works in this folder: end it, or choose another",
            folder=folder,
        )
    return hold
