"""Where the tables of a release go that has several."""

from __future__ import annotations

from pathlib import Path


def table_paths(path: str | Path, names: tuple[str, ...]) -> dict[str, Path]:
    """Where each table of a release goes: the first to the path itself, the others beside it.

    >>> [p.name for p in table_paths("out/release.csv", ("quasi-identifiers", "sensitive")).values()]
    ['release.csv', 'release-sensitive.csv']
    """
    path = Path(path)
    beside = {name: path.with_name(f"{path.stem}-{name}{path.suffix}") for name in names[1:]}
    return {names[0]: path, **beside}
