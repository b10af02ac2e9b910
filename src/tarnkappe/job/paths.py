"""Where the files of a release go."""

from __future__ import annotations

from pathlib import Path

from tarnkappe.errors import ParameterError
from tarnkappe.table.files import is_compressed, suffix_of
from tarnkappe.table.formats.address import local_file
from tarnkappe.table.written_format import written_format


def default_outputs(source: str | Path) -> tuple[Path, Path]:
    """Where the release of a file and its report go, if nobody says it: beside it.

    >>> [path.name for path in default_outputs("data/people.csv.gz")]
    ['people.release.csv.gz', 'people.report.html']
    >>> [path.name for path in default_outputs("survey.sav")]
    ['survey.release.csv', 'survey.report.html']
    >>> [path.name for path in default_outputs("ward.csv.zip")]
    ['ward.release.csv', 'ward.report.html']
    """
    path = Path(source)
    suffix = suffix_of(path)
    zipped = path.suffix if is_compressed(path) else ""
    stem = path.name[: len(path.name) - len(suffix) - len(zipped)]
    try:
        written_format(path)
        kept = path.name[len(stem) :]
    except ParameterError:  # a format that is read and never written
        kept = ".csv"
    return path.with_name(f"{stem}.release{kept}"), path.with_name(f"{stem}.report.html")


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
