"""Makes the documentation a web site: `make site`.

The pages of `docs` and the papers of the root link to each other and to the sources. A site has only pages,
so they are copied with links that fit there; a link to a source becomes its name. MkDocs then checks every
link, and any that leads nowhere is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAPERS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
PARTS = {
    "": "Begin",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    "book": "Measurements",
}
FIRST = ("index.md", "all-pages.md", "tutorial.md", "tutorial-web.md")
CHECKED = ("not_found", "anchors", "absolute_links", "unrecognized_links")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)


def stage(folder: Path) -> list[Path]:
    """Copy all pages and pictures into a folder of the site; gives the pages, as they are called there."""
    pages = {path: path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs").rglob("*.md"))}
    pages |= {ROOT / name: Path(name).with_suffix(".md") for name in PAPERS}
    pages |= {ROOT / "README.md": Path("index.md"), ROOT / "docs" / "index.md": Path("all-pages.md")}
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "*.md", "__pycache__"))
    for source, name in pages.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        if source.suffix != ".md":
            text = f"# {source.name.capitalize()}\n\n```text\n{text}\n```\n"
        target.write_text(relinked(text, source, name, pages), encoding="utf-8")
    return sorted(pages.values())


def relinked(text: str, source: Path, name: Path, pages: dict[Path, Path]) -> str:
    """A page with links that lead to the same pages of the site; code stays as it is."""

    def link(found: re.Match[str]) -> str:
        picture, words, target, place = found.groups()
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        aim = (source.parent / target).resolve()
        if aim not in pages and not aim.is_relative_to(ROOT / "docs"):
            return words if picture or "\0" in words else f"`{words}`"  # a source: it is no page
        there = pages.get(aim) or aim.relative_to(ROOT / "docs")
        return f"{picture}[{words}]({os.path.relpath(there, name.parent)}{place or ''})"

    pieces = CODE.split(text)
    return _joined_links(pieces, link)


def _joined_links(pieces: list[str], link: Callable[[re.Match[str]], str]) -> str:
    """Links may have code among their words, so code is put away as one sign while links are looked for."""
    hidden: list[str] = []
    shown = ""
    for number, piece in enumerate(pieces):
        if number % 2:
            shown += f"\0{len(hidden)}\0"
            hidden.append(piece)
        else:
            shown += piece
    linked = LINK.sub(link, shown)
    return re.sub("\0(\\d+)\0", lambda found: hidden[int(found[1])], linked)


def configuration(pages: list[Path], folder: Path, output: Path) -> dict[str, object]:
    """What MkDocs is told: pages by folder, nothing loaded from other hosts, links checked."""
    sections: dict[str, list[str]] = {part: [] for part in PARTS}
    for page in pages:
        sections[page.parts[0] if len(page.parts) > 1 else ""].append(page.as_posix())
    first = [name for name in FIRST if name in sections[""]]
    sections[""] = [*first, *(name for name in sections[""] if name not in first)]
    return {
        "site_name": "Tarnkappe",
        "site_description": "Use personal tabular data without exposing the person.",
        "docs_dir": str(folder),
        "site_dir": str(output),
        "theme": {
            "name": "material",
            "font": False,  # those of the reader's machine: no other host is asked
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default", "toggle": _toggle("night")},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "toggle": _toggle("sunny")},
            ],
            "features": ["navigation.tabs", "navigation.top", "search.highlight", "content.code.copy"],
        },
        "plugins": ["search"],
        "markdown_extensions": ["tables", "attr_list", "pymdownx.superfences", {"toc": {"permalink": True}}],
        "validation": {"links": dict.fromkeys(CHECKED, "warn")},
        "nav": [{title: sections[part]} for part, title in PARTS.items() if sections[part]],
    }


def _toggle(name: str) -> dict[str, str]:
    return {"icon": f"material/weather-{name}", "name": "Dark or light"}


def build(output: Path, mkdocs: list[str]) -> int:
    """Write the site; the exit code of MkDocs, which is not 0 if a link leads nowhere."""
    work = output.with_name(f"{output.name}.pages")
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    told = work.with_suffix(".json")
    told.write_text(json.dumps(configuration(stage(work), work, output)), encoding="utf-8")
    try:
        return subprocess.run(  # noqa: S603
            [*mkdocs, "build", "--strict", "--quiet", "--config-file", str(told)],
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},  # a notice about another program
            check=False,
        ).returncode
    finally:
        shutil.rmtree(work, ignore_errors=True)
        told.unlink()


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve(), sys.argv[2:]))
