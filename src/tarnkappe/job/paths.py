"""Where the files of a release go."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.table.files import is_compressed, suffix_of
from tarnkappe.table.formats.address import local_file


def table_paths(path: str | Path, names: tuple[str, ...]) -> dict[str, Path]:
    """Where each table of a release goes: the first to the path itself, the others beside it.

    >>> [p.name for p in table_paths("out/release.csv", ("quasi-identifiers", "sensitive")).values()]
    ['release.csv', 'release-sensitive.csv']
    """
    path = Path(path)
    beside = {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names[1:]}
    return {names[0]: path, **beside}


def is_plain_csv(name: str | None) -> bool:
    """Whether a name is that of a CSV file, not compressed: these the checker of certificates can read."""
    path = local_file(name) if name else None
    return path is not None and suffix_of(Path(path)) == ".csv" and not is_compressed(Path(path))
