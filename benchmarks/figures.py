"""Figures in the documentation come from the book: they are marked, and written anew from its results.

A figure in a page stands between two marks that no reader sees:

    <!--book searches/practical-monotonicity diversity.tests number-->576<!--/book-->

The first names the experiment, the figure in its result and how it is written (a function of `texts`).
`[key=value]` takes the entry of a list with that value: `lines[setup=2,k=3].seconds`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks import texts
from benchmarks.chapters import CHAPTERS
from benchmarks.results import STORED, read_results
from tarnkappe.table.files import replace_atomically

ROOT = Path(__file__).parent.parent
MARKED = re.compile(r"<!--book (\S+) (\S+) (\w+)-->(.*?)<!--/book-->", re.DOTALL)
MEASURED = re.compile(
    r"(?<![\w.])\d[\d.,]*\s*(?:ms|s|seconds?|minutes?|min|hours?|times|×|MB|GB|megabytes?|gigabytes?)(?![\w])"
    r"|(?<![\w.])\d[\d.,]*\s*% (?:faster|slower|above|below|more|less|fewer|better|worse)\b"
)
"""What looks like a time, an amount of memory or a ratio."""


def pages() -> list[Path]:
    """The pages whose figures are written: all but the book itself and what is made from docstrings."""
    docs = [
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name not in ("book", "reference")
    ]
    return [ROOT / "README.md", *docs]


def written(text: str, folder: Path = STORED) -> str:
    """A page with every marked figure as the stored results have it."""

    def figure(found: re.Match[str]) -> str:
        experiment, path, how, _ = found.groups()
        value = look_up(experiment, path, folder)
        return f"<!--book {experiment} {path} {how}-->{getattr(texts, how)(value)}<!--/book-->"

    return MARKED.sub(figure, text)


def look_up(experiment: str, path: str, folder: Path = STORED) -> Any:
    """A figure of a stored result."""
    chapter_name, name = experiment.split("/")
    chapter = next((each for each in CHAPTERS if each.name == chapter_name), None)
    if chapter is None or name not in (results := read_results(chapter, folder)):
        raise LookupError(f"nothing is stored of '{experiment}': python -m benchmarks {experiment} --store")
    value: Any = results[name].figures
    try:
        for key, chosen in re.findall(r"([^.\[\]]+)(?:\[([^\]]*)\])?\.?", path):
            value = value[int(key)] if isinstance(value, list) else value[key]
            if chosen:
                wanted = dict(part.split("=", 1) for part in chosen.split(","))
                value = next(each for each in value if all(str(each.get(k)) == v for k, v in wanted.items()))
    except (LookupError, StopIteration, ValueError):
        raise LookupError(f"'{experiment}' has no figure '{path}'") from None
    return value


def unmarked(text: str) -> list[str]:
    """What looks like a measured figure in the prose of a page but is not marked."""
    prose = MARKED.sub("", text)
    prose = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->", "", prose, flags=re.DOTALL)
    return [" ".join(found.group().split()) for found in MEASURED.finditer(prose)]


def update() -> list[Path]:
    """Write every marked figure anew; the pages that changed."""
    changed = []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = written(before)
        if after != before:
            with replace_atomically(page, replace=True) as partial:
                partial.write_text(after, encoding="utf-8")
            changed.append(page)
    return changed
