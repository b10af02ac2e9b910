"""The report: one self-contained HTML page that a privacy officer can read.

It shows what was promised, what was measured, what was lost and which attacks were tried. It names no
value of the original data that fewer than `RARE` people have.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import jinja2
import numpy as np
import numpy.typing as npt

from tarnkappe.job.result import Result
from tarnkappe.loss.entropy import entropy_of_column
from tarnkappe.risk import class_sizes
from tarnkappe.table import Column
from tarnkappe.table.files import replace_atomically

RARE = 10
"""Values that fewer people have are not named in a report."""

UNNAMED = "a rare value"

MAX_BARS = 60


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
    level: int
    height: int
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


def write_report(result: Result, path: Path) -> None:
    """Write the report of a result."""
    with replace_atomically(path) as partial:
        partial.write_text(render(result), encoding="utf-8")


def render(result: Result) -> str:
    """The report as one HTML page without external links."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tarnkappe.job"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = _number
    environment.filters["percent"] = _percent
    return environment.get_template("report.html.j2").render(
        result=result,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=version("tarnkappe"),
        stories=[_story(result, index) for index in range(len(result.problem.columns))],
        sizes=class_sizes(result.state.classes.sizes[result.state.kept]).histogram,
        rare=RARE,
    )


def _story(result: Result, index: int) -> ColumnStory:
    column = result.problem.columns[index]
    name, level = column.name, result.levels[column.name]
    assert column.levels is not None
    tuples, height = result.problem.tuples, column.levels.height
    everything = entropy_of_column(tuples, name, height)
    released = np.unique(result.state.classes.label_codes(index)[result.state.kept])
    return ColumnStory(
        name=name,
        level=level,
        height=height,
        distinct_before=column.cardinality,
        distinct_after=len(released),
        lost=entropy_of_column(tuples, name, level) / everything if everything else 0.0,
        bars=_bars(result, index, column),
    )


def _bars(result: Result, index: int, column: Column) -> list[Bar]:
    """The distribution before and after, drawn at the finest level that fits on the page.

    After generalization the members of a label can no longer be told apart, so its rows are spread
    evenly over the finer labels under it: that is what a reader of the release knows.
    """
    levels, level = column.levels, result.levels[column.name]
    assert levels is not None
    fine = next((lv for lv in range(levels.height + 1) if levels.distinct(lv) <= MAX_BARS), levels.height)
    before = result.problem.tuples.label_counts(column.name, fine).astype(np.float64)
    kept = result.state.kept
    codes, sizes = result.state.classes.label_codes(index)[kept], result.state.classes.sizes[kept]
    released = np.bincount(codes, sizes, levels.distinct(level)).astype(np.float64)
    after = _spread(released, levels.maps[level], levels.maps[fine], levels.distinct(fine))
    names = [
        label if count >= RARE else UNNAMED for label, count in zip(levels.labels[fine], before, strict=True)
    ]
    first_value = np.full(len(before), column.cardinality)
    np.minimum.at(first_value, levels.maps[fine], np.arange(column.cardinality))
    order = np.argsort(first_value)
    return [Bar(names[i], float(before[i]), float(after[i])) for i in order]


def _spread(
    released: npt.NDArray[np.float64],
    to_released: npt.NDArray[np.int32],
    to_fine: npt.NDArray[np.int32],
    num_fine: int,
) -> npt.NDArray[np.float64]:
    pairs = np.unique(np.stack([to_released, to_fine]), axis=1)
    fine_labels_under = np.bincount(pairs[0], minlength=len(released))
    share = released[pairs[0]] / fine_labels_under[pairs[0]]
    return np.bincount(pairs[1], share, num_fine).astype(np.float64)


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"
