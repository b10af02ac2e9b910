"""What the command line says on stderr."""

from __future__ import annotations


def lines_of(stderr: str) -> list[str]:
    """The lines of stderr, apart from the one that says why the first run ever takes longer."""
    return [line for line in stderr.strip().splitlines() if not line.startswith("compiling kernels")]
