"""A program on the newcomer's machine, and the files she has."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Program:
    """What she starts, and where her files are."""

    words: tuple[str, ...]
    folder: Path
    people: Path
    job: Path

    def run(self, *words: str | Path, seconds: float = 600) -> subprocess.CompletedProcess[str]:
        """Start it in her folder and wait for its end."""
        return subprocess.run(
            [*self.words, *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of what went wrong."""
    return (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
