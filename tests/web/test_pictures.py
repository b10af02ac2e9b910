"""The pictures of the tutorial are there, small, and all of them are shown."""

from __future__ import annotations

import re

from tests.conftest import ROOT

LARGEST = 150_000
IMAGES = ROOT / "docs" / "images"


def shown() -> set[str]:
    page = (ROOT / "docs" / "tutorial-web.md").read_text(encoding="utf-8")
    return set(re.findall(r"images/(web-[\w-]+\.png)", page))


def test_every_picture_of_the_tutorial_is_there_and_small() -> None:
    assert shown()
    for name in shown():
        assert (IMAGES / name).stat().st_size < LARGEST, name


def test_every_picture_of_the_tutorial_is_taken_by_a_test() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "web").glob("test_*.py"))
    taken = {f"{name}.png" for name in re.findall(r'picture\("(web-[\w-]+)"', tests)}
    assert shown() <= taken
