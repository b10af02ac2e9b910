"""Every example in the documentation runs.

Python examples are doctests. Shell examples are `console` blocks: each line that starts with `$ ` is run
in a fresh folder and must print what follows it (`...` stands for anything). A block that names a file
after its language (```toml job.toml) is written to that folder first. A command ends with exit code 0, unless a
comment says otherwise (`# exit code 1`) or an error is shown.
"""

from __future__ import annotations

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FIRST_PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "how-to" / "check.md"]
"""Their shell examples run in `make test`, all others in `make test-all`: each starts a process."""
FENCE = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


FIRST_RUN = "compiling kernels, once: later runs start at once\n"
"""What the first run on a machine says besides."""


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block with what they should print."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
    return found


@pytest.mark.parametrize(
    "page",
    [page if page in FIRST_PAGES else pytest.param(page, marks=pytest.mark.slow) for page in PAGES],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_shell_examples_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    for language, file, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if file:
            (tmp_path / file).write_text(block, encoding="utf-8")
        if language != "console":
            continue
        for command, expected in commands(block):
            if command.startswith(("make ", "git ", "cd ", ".venv/bin/")):
                continue  # from the root of a clone; the other pages show the same commands at work
            run = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            printed = (run.stdout + run.stderr).replace(FIRST_RUN, "")
            said = re.search(r"# exit code (\d+)$", command)
            codes = {int(said[1])} if said else {1, 2} if "error:" in expected else {0}
            assert run.returncode in codes, printed
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert doctest.OutputChecker().check_output(expected or "...", printed or "...", flags), (
                f"{command}\n--- expected\n{expected}\n--- printed\n{printed}"
            )


def test_the_generated_reference_is_current() -> None:
    """`make docs` writes these pages from the registries."""
    script = runpy.run_path(str(ROOT / "docs" / "reference" / "generate.py"))
    for name, text in script["pages"]().items():
        assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == text, (
            f"run make docs ({name})"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
