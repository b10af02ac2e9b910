"""The documentation as a site: every page is there, and every link leads to one of its pages or pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.site import CODE, PAPERS, configuration, relinked, stage

from tests.conftest import ROOT

LINKS = re.compile(r"\]\(([^)\s#]+)")


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    folder = tmp_path_factory.mktemp("site") / "pages"
    return folder, stage(folder)


def test_every_page_is_in_the_site_and_its_menu(staged: tuple[Path, list[Path]]) -> None:
    folder, pages = staged
    there = set((ROOT / "docs").rglob("*.md"))
    assert len(pages) == len(there) + len(PAPERS)
    menu = configuration(pages, folder, folder / "html")["nav"]
    assert isinstance(menu, list)
    assert sorted(name for part in menu for names in part.values() for name in names) == sorted(
        map(str, pages)
    )


def test_every_link_of_the_site_leads_to_a_page_or_picture_of_it(staged: tuple[Path, list[Path]]) -> None:
    folder, pages = staged
    for page in pages:
        prose = "".join(CODE.split((folder / page).read_text(encoding="utf-8"))[::2])
        for target in LINKS.findall(prose):
            if "://" not in target and not target.startswith("mailto:"):
                assert ((folder / page).parent / target).is_file(), f"{page} links to {target}"


def test_the_first_page_is_the_readme(staged: tuple[Path, list[Path]]) -> None:
    folder, _ = staged
    assert (folder / "index.md").read_text(encoding="utf-8").startswith("# Tarnkappe\n")


def test_a_link_to_a_source_becomes_its_name_and_code_stays_as_it_is() -> None:
    source = ROOT / "docs" / "reference" / "page.md"
    pages = {source: Path("reference/page.md"), ROOT / "README.md": Path("index.md")}
    text = "[`recount`](../../tests/x.py), [rows](../../tests/y.py), [home](../../README.md#begin), `[a](../../b)`"
    assert relinked(text, source, Path("reference/page.md"), pages) == (
        "`recount`, `rows`, [home](../index.md#begin), `[a](../../b)`"
    )


def test_a_site_asks_no_other_host(staged: tuple[Path, list[Path]]) -> None:
    folder, pages = staged
    assert configuration(pages, folder, folder / "html")["theme"]["font"] is False  # type: ignore[index]
