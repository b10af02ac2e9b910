"""What is public in Python is written down, so that nothing of it changes unsaid."""

from __future__ import annotations

import subprocess
import sys

from tools.public_names import PAGE, page, vars_of_class

import tarnkappe
from tests.conftest import ROOT


def test_the_page_of_public_names_is_current() -> None:
    """Whoever changes a public name says so in the changelog, then writes the page by `make docs`."""
    assert PAGE.read_text(encoding="utf-8") == page(), "say it in CHANGELOG.md, then run make docs"


def test_every_public_name_is_there_and_told() -> None:
    text = page()
    for name in tarnkappe.__all__:
        section = text.split(f"\n## `{name}`\n\n")[1]
        assert section.split("\n")[0].endswith((".", ":", "?")), f"{name} has no first sentence"


def test_a_name_that_is_inherited_counts() -> None:
    class Mine(tarnkappe.TarnkappeError):
        """One of a user."""

        code_of_mine = 1

    assert set(vars_of_class(tarnkappe.TarnkappeError)) <= set(vars_of_class(Mine))


def test_the_page_does_not_depend_on_the_run() -> None:
    """No address in memory, no order of a set: another process writes the same."""
    command = [sys.executable, "-c", "from tools.public_names import page; print(page(), end='')"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == page()
