"""The report: one self-contained HTML page that a privacy officer can read.

It shows what was promised, what was measured, what was lost and which attacks were tried. It names no
value of the original data that fewer than `RARE` people have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice import SearchProblem, Solution
from tarnkappe.loss.entropy import entropy_of_column
from tarnkappe.recoding import Aggregates, CellTreatment, Pass
from tarnkappe.recoding.labels import LabelReader
from tarnkappe.report.pages import page_environment
from tarnkappe.risk import class_sizes
from tarnkappe.table import ClassState, Levels
from tarnkappe.table.files import replace_atomically

RARE = 10
"""Values that fewer people have are not named in a report."""

UNNAMED = "a rare value"

MAX_BARS = 60


class ReportedRelease(Protocol):
    """What a report tells of a release. Jobs write reports, so a report knows no job: it knows this of one.

    The templates name further figures; a missing one is an error of the page.
    """

    @property
    def problem(self) -> SearchProblem:
        """What was solved."""

    @property
    def solution(self) -> Solution:
        """What the search found."""

    @property
    def state(self) -> ClassState:
        """The classes of the release."""

    @property
    def passes(self) -> tuple[Pass, ...]:
        """What was done to which rows."""

    @property
    def treatment(self) -> CellTreatment:
        """What was done to quasi-identifiers beside generalizing them."""

    @property
    def aggregates(self) -> Mapping[str, Aggregates]:
        """What became of aggregated columns."""

    @property
    def generalizes(self) -> bool:
        """Whether quasi-identifiers are changed at all, or stay exact in buckets."""


@dataclasses.dataclass(frozen=True)
class Bar:
    """One value of a column: how many rows have it before, and how many seem to have it after."""

    label: str
    before: float
    after: float


@dataclasses.dataclass(frozen=True)
class ColumnStory:
    """What became of one quasi-identifier."""

    name: str
    treatment: str
    distinct_before: int
    distinct_after: int
    lost: float
    bars: list[Bar]

    @property
    def tallest(self) -> float:
        """The height of the picture."""
        return max((max(bar.before, bar.after) for bar in self.bars), default=0.0) or 1.0

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last value that may be named."""
        named = [bar.label for bar in self.bars if bar.label != UNNAMED] or [UNNAMED]
        return named[0], named[-1]


def write_report(result: ReportedRelease, path: Path) -> None:
    """Write the report of a result."""
    with replace_atomically(path) as partial:
        partial.write_text(render(result), encoding="utf-8")


def render(result: ReportedRelease) -> str:
    """The report as one HTML page without external links."""
    return (
        page_environment()
        .get_template("report.html.j2" if result.generalizes else "buckets.html.j2")
        .render(
            result=result,
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            version=version("tarnkappe"),
            stories=column_stories(result),
            sizes=class_sizes(result.state.classes.sizes[result.state.kept]).histogram,
            rare=RARE,
        )
    )


def column_stories(result: ReportedRelease) -> list[ColumnStory]:
    """What became of each quasi-identifier; where values stay exact there is nothing to tell."""
    if not result.generalizes:
        return []
    return [_story(result, index) for index in range(len(result.problem.columns))]


def _story(result: ReportedRelease, index: int) -> ColumnStory:
    column, classes = result.problem.columns[index], result.state.classes
    assert column.levels is not None
    name = column.name
    everything = entropy_of_column(result.problem.tuples, name, column.levels.height)
    lost = entropy_of_column(classes.tuples, name, classes.levels[index])
    return ColumnStory(
        name=name,
        treatment=_treatment(result, name, column.levels.height),
        distinct_before=column.cardinality,
        distinct_after=len(np.unique(classes.label_codes(index)[result.state.kept])),
        lost=lost / everything if everything else 0.0,
        bars=_bars(result, index, column.levels),
    )


def _treatment(result: ReportedRelease, name: str, height: int) -> str:
    """What was done to a column, in words."""
    if name in result.treatment.suppressed:
        return "suppressed"
    if name in result.aggregates:
        found = result.aggregates[name]
        return f"{found.function.promise} ({found.measure} {found.error:.3g})"
    if not result.passes:
        return f"recoded by {result.solution.algorithm}"
    used = sorted({each.levels[name] for each in result.passes})
    if len(used) == 1:
        return f"level {used[0]} of {height}"
    return f"levels {', '.join(map(str, used[:-1]))} and {used[-1]} of {height}"


def _bars(result: ReportedRelease, index: int, levels: Levels) -> list[Bar]:
    """The distribution before and after, drawn at the finest level that fits on the page.

    After generalization the members of a label can no longer be told apart, so its rows are spread
    evenly over the finer labels under it: that is what a reader of the release knows.
    """
    name = result.problem.columns[index].name
    fine = next((lv for lv in range(levels.height + 1) if levels.distinct(lv) <= MAX_BARS), levels.height)
    before = result.problem.tuples.label_counts(name, fine).astype(np.float64)
    released = _released_labels(result, index)
    if result.passes:
        after = _spread(released, levels, sorted({each.levels[name] for each in result.passes}), fine)
    else:
        after = _spread_words(released, LabelReader(result.problem.columns[index]), levels, fine)
    names = [
        label if count >= RARE else UNNAMED for label, count in zip(levels.labels[fine], before, strict=True)
    ]
    num_values = len(levels.maps[0])
    first_value = np.full(len(before), num_values)
    np.minimum.at(first_value, levels.maps[fine], np.arange(num_values))
    order = np.argsort(first_value)
    return [Bar(names[i], float(before[i]), float(after[i])) for i in order]


def _released_labels(result: ReportedRelease, index: int) -> dict[str, int]:
    """How many rows of the release have each label of a column."""
    classes, kept = result.state.classes, result.state.kept
    column, level = classes.quasi_identifiers[index], classes.levels[index]
    labels = column.labels if column.levels is None or level == 0 else column.levels.labels[level]
    codes, rows = classes.label_codes(index)[kept], classes.sizes[kept]
    counts = np.bincount(codes, rows, len(labels)).astype(np.int64).tolist()
    return {label: count for label, count in zip(labels, counts, strict=True) if count}


def _spread_words(
    released: Mapping[str, int], reader: LabelReader, levels: Levels, fine: int
) -> npt.NDArray[np.float64]:
    """Rows by the words of a method as rows by finer labels."""
    rows = np.zeros(levels.distinct(fine))
    for word, count in released.items():
        meaning = reader.meaning(word)
        assert meaning is not None, "every word was verified"
        finer_labels = np.unique(levels.maps[fine][list(meaning)])
        rows[finer_labels] += count / len(finer_labels)
    return rows


def _spread(
    released: Mapping[str, int], levels: Levels, used: Sequence[int], fine: int
) -> npt.NDArray[np.float64]:
    """Rows by their labels as rows by finer labels; what is no label (an aggregate, '*') may be anything."""
    to_fine, num_fine = levels.maps[fine], levels.distinct(fine)
    under: dict[str, set[int]] = {}
    for level in used:
        for code, finer in np.unique(np.stack([levels.maps[level], to_fine]), axis=1).T.tolist():
            under.setdefault(levels.labels[level][code], set()).add(finer)
    rows = np.zeros(num_fine)
    for label, count in released.items():
        finer_labels = sorted(under.get(label, range(num_fine)))
        rows[finer_labels] += count / len(finer_labels)
    return rows
