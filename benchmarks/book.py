"""The book: all results as one Markdown page with pictures beside it, and as one HTML page."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.chapter import Chapter, Experiment, Grid, Size, Story
from benchmarks.results import Result, read_results
from benchmarks.texts import listed, number, seconds
from tarnkappe.report.pages import page_environment
from tarnkappe.table.files import replace_atomically

PAGE, HTML_PAGE = "book.md", "book.html"
INTRODUCTION = (
    "Every experiment of the literature that Tarnkappe builds on, repeated with this implementation. Data "
    "are made by code, or are the public data set Adult where it is present. Times depend on the machine; "
    "what is held against them is measured in the same run or said to come from other hardware."
)


@dataclasses.dataclass(frozen=True)
class Section:
    """An experiment with its result and what is told of it."""

    experiment: Experiment
    result: Result
    story: Story
    picture: str

    @property
    def limits(self) -> Grid | None:
        """What the experiment is held to."""
        figures, limits = self.result.figures, self.experiment.limits
        known = [name for name in limits if name in figures]
        if not known or self.result.size is Size.SHORT:
            return None
        exceeded = self.experiment.exceeded(figures)
        rows = tuple(
            (
                name.replace("_", " "),
                number(limits[name]),
                number(figures[name]),
                "exceeded" if name in exceeded else "kept",
            )
            for name in known
        )
        return Grid("What we hold ourselves to", ("figure", "at most", "measured", ""), rows)

    @property
    def tables(self) -> tuple[Grid, ...]:
        """All tables."""
        return self.story.tables if self.limits is None else (*self.story.tables, self.limits)


Contents = list[tuple[Chapter, list[Section]]]


def contents(chapters: Iterable[Chapter], folder: Path) -> Contents:
    """All that was measured, chapter by chapter."""
    found = []
    for chapter in chapters:
        results = read_results(chapter, folder)
        sections = [
            Section(
                each, results[each.name], each.tell(results[each.name].figures), picture_name(chapter, each)
            )
            for each in chapter.experiments
            if each.name in results
        ]
        if sections:
            found.append((chapter, sections))
    return found


def write_book(chapters: Iterable[Chapter], results: Path, folder: Path) -> tuple[Path, Path]:
    """Write both forms of the book from stored results."""
    book = contents(chapters, results)
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures(book).items():
        _write(folder / name, svg)
    _write(folder / PAGE, markdown(book))
    _write(folder / HTML_PAGE, html_page(book))
    return folder / PAGE, folder / HTML_PAGE


def pictures(book: Contents) -> dict[str, str]:
    """All pictures by the name of their file."""
    return {
        section.picture: section.story.picture.to_svg()
        for _, sections in book
        for section in sections
        if section.story.picture is not None
    }


def markdown(book: Contents) -> str:
    """The book as Markdown; its pictures are files beside it."""
    return "\n".join(_lines(book)).rstrip() + "\n"


def html_page(book: Contents) -> str:
    """The book as one page without external links."""
    return (
        page_environment("benchmarks")
        .get_template("book.html.j2")
        .render(book=book, introduction=INTRODUCTION, origin=origin(book), prose=_prose, numeric=_numeric)
    )


def picture_name(chapter: Chapter, experiment: Experiment) -> str:
    """The file of a picture."""
    return f"{chapter.name}-{experiment.name}.svg"


def origin(book: Contents) -> str:
    """Where the figures come from, in a sentence."""
    results = [section.result for _, sections in book for section in sections]
    if not results:
        return "Nothing was measured yet."
    machines = sorted({_machine_text(result.machine) for result in results})
    days = sorted({result.made for result in results})
    spent = sum(result.seconds for result in results)
    short = sum(result.size is Size.SHORT for result in results)
    note = f" {short} of {len(results)} experiments were run in their short form." if short else ""
    return (
        f"Measured on {listed(days) if len(days) < 4 else f'{days[0]} to {days[-1]}'} on {listed(machines)}, "
        f"in {seconds(spent)} altogether.{note}"
    )


def _machine_text(facts: Mapping[str, str]) -> str:
    return (
        f"{facts['cores']} cores of {facts['processor']} "
        f"({facts['system']}, Python {facts['python']}, Tarnkappe {facts['tarnkappe']})"
    )


def _lines(book: Contents) -> Iterator[str]:
    yield from ("# The book of measurements", "", INTRODUCTION, "", origin(book), "")
    yield from (
        "`make bench` measures everything anew and writes this page and one of HTML; `python -m benchmarks "
        "CHAPTER` measures one chapter.",
        "",
    )
    for chapter, _ in book:
        yield f"- [{chapter.title}](#{_anchor(chapter.title)})"
    for chapter, sections in book:
        yield from ("", f"## {chapter.title}", "", chapter.about)
        for section in sections:
            yield from _section(chapter, section)


def _section(chapter: Chapter, section: Section) -> Iterator[str]:
    experiment, story = section.experiment, section.story
    yield from ("", f"### {experiment.title}", "")
    yield from (f"*Setting.* {experiment.setting}", "", f"*Reported.* {experiment.reported}", "")
    for table in section.tables:
        yield from (f"*{table.caption}.*", "", *_table(table), "")
    if story.picture is not None:
        yield from (f"![{story.picture.title}]({section.picture})", "")
    yield f"**{story.meaning}**"
    for each in story.differs:
        yield from ("", f"*Differs.* {each}")
    yield from ("", f"`{command(chapter, experiment, section.result)}`")


def command(chapter: Chapter, experiment: Experiment, result: Result) -> str:
    """What measures an experiment again; figures that were measured before tell by what."""
    if "measured_by" in result.figures:
        return str(result.figures["measured_by"])
    short = " --short" if result.size is Size.SHORT else ""
    return f"python -m benchmarks {chapter.name}/{experiment.name}{short}"


def _table(table: Grid) -> Iterator[str]:
    numeric = _numeric(table)
    yield "| " + " | ".join(map(_cell, table.header)) + " |"
    yield "|" + "|".join("---:" if each else "---" for each in numeric) + "|"
    for row in table.rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"


def _numeric(table: Grid) -> Sequence[bool]:
    """Which columns hold figures."""
    return [
        any(row[index][:1].isdigit() for row in table.rows)
        and all(row[index][:1].isdigit() or row[index] in ("", "–") for row in table.rows)
        for index in range(len(table.header))
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _prose(text: str) -> str:
    """Plain text as HTML; what stands between backquotes is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _write(path: Path, text: str) -> None:
    with replace_atomically(path, replace=True) as partial:
        partial.write_text(text, encoding="utf-8")
