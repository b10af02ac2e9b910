"""The book: every chapter is told from stored figures, in Markdown and HTML, without measuring."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from benchmarks.alone import alone
from benchmarks.bars import draw_bars
from benchmarks.book import HTML_PAGE, PAGE, contents, html_page, markdown, pictures, write_book
from benchmarks.chapter import Chapter, Experiment, Figures, Grid, Size, Story
from benchmarks.chapters import CHAPTERS
from benchmarks.results import STORED, Result, read_results, write_result

from benchmarks import __main__ as program

EVERY = [(chapter, experiment) for chapter in CHAPTERS for experiment in chapter.experiments]


def measure(size: Size, progress: object) -> Figures:
    del progress
    return {"rows": size.pick(10, 1000), "seconds": 0.5, "bad": 3.0}


def tell(figures: Figures) -> Story:
    table = Grid("A | caption", ("what", "figure"), (("a<b> | c", "1,000"), ("rows", str(figures["rows"]))))
    picture = draw_bars("Bars & more", {"one": {"": figures["seconds"]}, "none": {"": None}}, "s")
    return Story((table,), "It means `something`.", ("It is <other>.",), picture)


EXPERIMENT = Experiment(
    "e", "An experiment", "A setting.", "Nothing.", measure, tell, {"bad": 2.0, "gone": 1.0}
)
CHAPTER = Chapter("c", "A chapter", "About it.", (EXPERIMENT,))


def stored(folder: Path, size: Size = Size.FULL) -> None:
    write_result(CHAPTER, "e", Result.now(size, 1.5, measure(size, None)), folder)


class Strict(HTMLParser):
    """Every tag that is opened is closed."""

    VOID = frozenset({"meta", "br", "link", "rect", "circle", "polyline"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID or tag in ("rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_names_are_unique_and_can_be_typed() -> None:
    names = [f"{chapter.name}/{experiment.name}" for chapter, experiment in EVERY]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z-]+/[a-z0-9-]+", name) for name in names)


@pytest.mark.parametrize(("chapter", "experiment"), EVERY, ids=lambda x: x.name)
def test_every_experiment_says_what_is_done_and_what_is_reported(
    chapter: Chapter, experiment: Experiment
) -> None:
    assert chapter.about.endswith(".")
    for text in (experiment.setting, experiment.reported):
        assert text.rstrip(")").endswith("."), text


@pytest.mark.parametrize(("chapter", "experiment"), EVERY, ids=lambda x: x.name)
def test_every_stored_result_can_be_told_without_measuring(chapter: Chapter, experiment: Experiment) -> None:
    results = read_results(chapter, STORED)
    if experiment.name not in results:
        pytest.skip("nothing is stored of it yet")
    story = experiment.tell(results[experiment.name].figures)
    assert story.meaning.endswith(".")
    assert story.tables
    for table in story.tables:
        assert all(len(row) == len(table.header) for row in table.rows), table.caption
    assert all(text.endswith(".") for text in story.differs)
    if story.picture is not None:
        assert story.picture.to_svg().startswith("<svg")


def test_the_page_has_setting_figures_picture_meaning_and_what_differs(tmp_path: Path) -> None:
    stored(tmp_path)
    book = contents([CHAPTER], tmp_path)
    text = markdown(book)
    for part in (
        "A setting.",
        "Nothing.",
        "| a<b> \\| c | 1,000 |",
        "**It means",
        "It is <other>.",
        "c-e.svg",
    ):
        assert part in text
    assert "python -m benchmarks c/e`" in text
    assert set(pictures(book)) == {"c-e.svg"}


def test_the_html_page_is_whole_escaped_and_without_links_to_elsewhere(tmp_path: Path) -> None:
    stored(tmp_path)
    page = html_page(contents([CHAPTER], tmp_path))
    parser = Strict()
    parser.feed(page)
    assert parser.open == []
    assert "a&lt;b&gt;" in page
    assert "It is &lt;other&gt;." in page
    assert "<code>something</code>" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)


def test_a_limit_that_is_exceeded_is_shown_and_one_without_a_figure_is_not(tmp_path: Path) -> None:
    stored(tmp_path)
    text = markdown(contents([CHAPTER], tmp_path))
    assert "| bad | 2 | 3 | exceeded |" in text
    assert "gone" not in text
    stored(tmp_path, Size.SHORT)
    assert "exceeded" not in markdown(contents([CHAPTER], tmp_path)), "small runs are held to nothing"


def test_a_result_is_kept_beside_the_others_and_numbers_are_plain(tmp_path: Path) -> None:
    other = Experiment("f", "Another", "A setting.", "Nothing.", measure, tell)
    both = Chapter("c", "A chapter", "About it.", (EXPERIMENT, other))
    write_result(both, "f", Result.now(Size.SHORT, 1.0, {"x": float("nan"), "y": (1, 2.123456789)}), tmp_path)
    write_result(both, "e", Result.now(Size.FULL, 2.0, {"z": True}), tmp_path)
    raw = json.loads((tmp_path / "c.json").read_text())
    assert list(raw) == ["e", "f"], "in the order of the chapter"
    found = read_results(both, tmp_path)
    assert found["f"].figures == {"x": None, "y": [1, 2.12346]}
    assert found["e"].size is Size.FULL
    assert read_results(CHAPTER, tmp_path).keys() == {"e"}, "what there is no more is left out"


def test_an_experiment_that_fails_does_not_cost_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(size: Size, progress: object) -> Figures:
        raise ValueError("no luck")

    bad = Experiment("bad", "Bad", "A setting.", "Nothing.", broken, tell)
    both = Chapter("c", "A chapter", "About it.", (bad, EXPERIMENT))
    assert program.measure([(both, bad), (both, EXPERIMENT)], Size.FULL, tmp_path) == 1
    printed = capsys.readouterr()
    assert "FAILED" in printed.out
    assert "no luck" in printed.err
    assert "bad is 3, the limit is 2" in printed.out
    assert read_results(both, tmp_path).keys() == {"e"}


def test_chapters_and_experiments_can_be_run_alone() -> None:
    chapter = CHAPTERS[0]
    assert [e for _, e in program.choose([chapter.name])] == list(chapter.experiments)
    first = chapter.experiments[0]
    assert program.choose([f"{chapter.name}/{first.name}"]) == [(chapter, first)]
    assert program.choose([]) == EVERY


def test_an_unknown_chapter_is_refused_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["nonsense"]) == 2
    assert "there is no chapter or experiment 'nonsense'" in capsys.readouterr().err


def test_the_book_is_written_again_without_measuring(tmp_path: Path) -> None:
    stored(tmp_path / "results")
    paths = write_book([CHAPTER], tmp_path / "results", tmp_path)
    assert [path.name for path in paths] == [PAGE, HTML_PAGE]
    assert (tmp_path / "c-e.svg").is_file()


def test_work_in_a_process_of_its_own_has_its_own_memory() -> None:
    def work() -> int:
        return len(bytearray(80_000_000))

    first, second = alone(work), alone(work)
    assert first.outcome == 80_000_000
    assert first.seconds > 0
    for each in (first, second):
        assert 60 < each.megabytes < 200, "what the first took is not there in the second"


def test_work_that_fails_in_a_process_of_its_own_is_told() -> None:
    def work() -> None:
        raise ValueError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        alone(work)


@pytest.mark.slow
def test_the_short_book_is_made_in_a_few_minutes(tmp_path: Path) -> None:
    """Every chapter but that of the other tools, which may have to be installed first."""
    chosen = [(c, e) for c, e in EVERY if c.name != "peers"]
    before = sum(os.times()[:4])  # of this process and of those that it waited for
    assert program.measure(chosen, Size.SHORT, tmp_path) == 0
    spent = sum(os.times()[:4]) - before
    book = contents(CHAPTERS, tmp_path)
    assert sum(len(sections) for _, sections in book) == len(chosen)
    assert "## Local search" in markdown(book)
    assert spent < 900, f"{spent:.0f} s of processor time"
