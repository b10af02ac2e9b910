"""Every time, amount of memory and ratio in README and docs comes from the book."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.book import PAGE, contents, markdown, pictures
from benchmarks.chapter import Chapter, Experiment, Size, Story
from benchmarks.chapters import CHAPTERS
from benchmarks.results import STORED, Result, write_result

from benchmarks import figures
from tarnkappe.privacy import MODELS
from tests.conftest import ROOT

PAGES = figures.pages()
BOOK = ROOT / "docs" / "book"

GIVEN = {
    "docs/explanation/promises.md": {"5 seconds", "256 megabytes", "8 megabytes", "10,000 times"},
    "docs/how-to/gate.md": {"99 times"},
    "docs/how-to/gate-clients.md": {"0.25 s", "50 ms", "5 seconds", "256 megabytes", "8 megabytes"},
    "docs/how-to/many-columns.md": {"60 seconds"},
    "docs/how-to/pseudonyms.md": {"72 hours"},
    "docs/how-to/service.md": {"200 ms", "20 seconds", "2 GB"},
    "docs/how-to/sql.md": {"3 times"},
}
"""What looks measured but is set: defaults and parameters."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_marked_figures_are_those_of_the_stored_results(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert figures.written(text) == text, "run: python -m benchmarks --render --store"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_measured_figure_is_without_a_mark(page: Path) -> None:
    found = set(figures.unmarked(page.read_text(encoding="utf-8")))
    assert found <= GIVEN.get(str(page.relative_to(ROOT)), set()), (
        "mark what was measured (benchmarks/figures.py); list here what is a parameter"
    )


@pytest.mark.parametrize(
    "text",
    [
        "it takes 2.5 s",
        "in 40 ms",
        "3 times as fast",
        "4.1 % above",
        "about 2 GB",
        "12× as much",
        "1,200 seconds",
    ],
)
def test_a_measured_figure_is_seen(text: str) -> None:
    assert figures.unmarked(text)
    marked = re.sub(r"(\d.*)", r"<!--book a/b c number-->\1<!--/book-->", text)
    assert figures.unmarked(marked) == []
    assert figures.unmarked(f"`{text}`") == [], "code is tested otherwise"


@pytest.mark.parametrize(
    "text", ["k = 5", "30,162 rows", "5 % suppression", "section 2", "3 sites", "l = 3.0"]
)
def test_other_numbers_are_left_alone(text: str) -> None:
    assert figures.unmarked(text) == []


def test_a_figure_is_looked_up_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = Chapter(
        "c", "C", "A.", (Experiment("e", "E", "S.", "R.", lambda *_: {}, lambda _: Story((), ".")),)
    )
    monkeypatch.setattr(figures, "CHAPTERS", (chapter,))
    stored = {"top": {"deep": 0.5}, "lines": [{"k": 3, "s": 1.0}, {"k": 5, "s": 2.0}], "list": [7]}
    write_result(chapter, "e", Result.now(Size.FULL, 1.0, stored), tmp_path)
    assert figures.look_up("c/e", "top.deep", tmp_path) == 0.5
    assert figures.look_up("c/e", "lines[k=5].s", tmp_path) == 2.0
    assert figures.look_up("c/e", "list.0", tmp_path) == 7
    assert (
        figures.written("x <!--book c/e top.deep share-->old<!--/book--> y", tmp_path)
        == "x <!--book c/e top.deep share-->50 %<!--/book--> y"
    )
    with pytest.raises(LookupError, match="has no figure 'nothing'"):
        figures.look_up("c/e", "nothing", tmp_path)
    with pytest.raises(LookupError, match="nothing is stored of 'c/other'"):
        figures.look_up("c/other", "x", tmp_path)


def test_the_stored_book_is_current() -> None:
    book = contents(CHAPTERS, STORED)
    assert (BOOK / PAGE).read_text(encoding="utf-8") == markdown(book), (
        "run: python -m benchmarks --render --store"
    )
    for name, svg in pictures(book).items():
        assert (BOOK / name).read_text(encoding="utf-8") == svg, name


def test_every_model_is_on_the_page_about_guarantees() -> None:
    page = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    assert [name for name in MODELS.names if f"`{name}`" not in page] == []
