"""What a command that goes on running has told of itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any


def announced(process: subprocess.Popen[str], log: Path | None = None) -> dict[str, Any]:
    """The JSON object that a command prints when it is ready; its errors if it ends before.

    Args:
        process: the command, whose output is a pipe.
        log: where its errors are written, unless they are a pipe, too.
    """
    assert process.stdout is not None
    told = ""
    while not told.endswith("}\n"):
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8") if log else process.communicate()[1]
        told += line
    told_object: dict[str, Any] = json.loads(told)
    return told_object
