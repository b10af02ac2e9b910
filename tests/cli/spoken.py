"""What the command line says on stderr."""

from __future__ import annotations

WAITING = ("compiling kernels", "Rechenkerne werden")
"""How the line begins that says why the first run ever takes longer."""


def lines_of(stderr: str) -> list[str]:
    """The lines of stderr, apart from the one about the first run."""
    return [line for line in stderr.strip().splitlines() if not line.startswith(WAITING)]
