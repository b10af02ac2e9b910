"""The pages of a utility report: one that may leave, and one that must not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tarnkappe.report.pages import page_environment
from tarnkappe.table.files import replace_atomically
from tarnkappe.table.ownership import UTILITY_FORMAT
from tarnkappe.utility import UtilityReport

BANNER = (
    "Internal: computed from the original. These figures tell sums, extremes and errors of the data. They "
    "stay with those who may publish it, and are not sent with the release."
)
INTERNAL = ".utility.internal"
"""How the names of internal files go on after that of the release."""


def internal_paths(release: Path) -> tuple[Path, Path]:
    """Where the internal part of the report of a release goes, as JSON and as a page.

    >>> [path.name for path in internal_paths(Path("out/people.release.csv"))]
    ['people.release.utility.internal.json', 'people.release.utility.internal.html']
    """
    stem = release.name[: -len(release.suffix)] if release.suffix else release.name
    return release.with_name(f"{stem}{INTERNAL}.json"), release.with_name(f"{stem}{INTERNAL}.html")


def write_public(report: UtilityReport, path: Path) -> None:
    """Write the page that may leave: the public part, and the shared one if there is one."""
    with replace_atomically(path) as partial:
        partial.write_text(render_public(report), encoding="utf-8")


def write_internal(report: UtilityReport, document: Path, page: Path) -> None:
    """Write the internal part for its owner alone to read."""
    # In one line, the first: it shows that a later report may take this one's place.
    text = json.dumps({"format": UTILITY_FORMAT, **report.to_dict(internal=True)}, ensure_ascii=False)
    for path, content in ((document, text + "\n"), (page, render_internal(report))):
        with replace_atomically(path) as partial, _for_the_owner(partial):
            partial.write_text(content, encoding="utf-8")


@contextmanager
def _for_the_owner(path: Path) -> Iterator[None]:
    """A file that nobody else could read at any moment."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    path.chmod(0o600)
    yield


def render_public(report: UtilityReport) -> str:
    """What may leave, as one page."""
    shared = [] if report.shared is None else list(lines_of(report.shared))
    return _render("Utility of a release", "", {"": list(lines_of(report.public))}, shared)


def render_internal(report: UtilityReport) -> str:
    """What must not leave, as one page."""
    internal = report.internal or {}
    sections = {name.replace("_", " "): list(lines_of({name: part})) for name, part in internal.items()}
    return _render("Utility of a release: internal", BANNER, sections, [])


def _render(
    title: str,
    banner: str,
    sections: Mapping[str, Sequence[tuple[str, dict[str, Any]]]],
    shared: Sequence[tuple[str, dict[str, Any]]],
) -> str:
    return (
        page_environment()
        .get_template("utility.html.j2")
        .render(
            title=title,
            banner=banner,
            sections=sections,
            shared=shared,
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            version=version("tarnkappe"),
        )
    )


def lines_of(part: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The leaves of a part with the way to each: figures of release and original, or a text.

    >>> list(lines_of({"rows": {"value": 3}, "promise": ["k = 5"]}))
    [('rows', {'value': 3}), ('promise', {'text': 'k = 5'})]
    """
    if isinstance(part, Mapping):
        figures = {
            key: part[key] for key in ("value", "release", "original", "prior", "share") if key in part
        }
        if figures and not any(isinstance(each, Mapping | list | tuple) for each in figures.values()):
            named = [str(part[key]) for key in ("measure",) if key in part]
            if "columns" in part:
                named = [" and ".join(part["columns"]), *named]
            yield ", ".join([name, *named]) if named else name, figures
            return
        prefix = _named(part, name)
        for key, own in part.items():
            if key not in ("columns", "words", "classifier", "target", "roc") or isinstance(own, Mapping):
                yield from lines_of(own, f"{prefix} · {key}" if prefix else str(key))
    elif isinstance(part, list | tuple):
        for number, own in enumerate(part, 1):
            yield from lines_of(own, name if isinstance(own, str) else f"{name} {number}")
    elif part is not None:
        yield name, {"text": str(part)}


def _named(part: Mapping[str, Any], name: str) -> str:
    """The way to a part that says itself what it is about."""
    columns = part.get("columns")
    about = [" and ".join(columns)] if isinstance(columns, list) else []
    about += [str(part[key]) for key in ("target", "classifier") if key in part]
    return " · ".join(filter(None, [name, *about]))
