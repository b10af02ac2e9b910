"""A comparison of methods: its figures, as a table, a picture and a page."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tarnkappe.drawing import ACCENT, INK, LINE, RAMP, SOFT, Drawing, Rect, Shape, Text, html_table
from tarnkappe.drawing import Path as Line
from tarnkappe.errors import ParameterError
from tarnkappe.report.pages import page_environment
from tarnkappe.table.files import replace_atomically
from tarnkappe.utility import Accuracy, Workload, WorkloadErrors

NAMES, PANEL, GAP, TOP, ROW = 118, 108, 46, 62, 26
"""The picture: the width of the names, of a panel and between panels; the height above and of a row."""


@dataclasses.dataclass(frozen=True)
class MethodOutcome:
    """What one method made of the table.

    Attributes:
        method: its name.
        summary: what it does and when it is the right one.
        loss: the loss of the quasi-identifiers; None where a method leaves them exact.
        proof: what is known about how good the loss is.
        suppressed: how many rows it suppressed.
        groups: how many classes (or buckets) it made.
        seconds: how long it took to decide and to transform, without reading and verifying.
        query_error: how wrong the answers to the workload are.
        accuracy: what a classifier learned, if one was asked for.
        remark: why a figure is missing.
        failure: why there is no release; then there are no figures.
    """

    method: str
    summary: str
    loss: float | None = None
    proof: str = ""
    suppressed: int = 0
    groups: int = 0
    seconds: float = 0.0
    query_error: WorkloadErrors | None = None
    accuracy: Accuracy | None = None
    remark: str = ""
    failure: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """What several methods made of one table.

    Attributes:
        outcomes: one for each method, in the order in which they were named.
        rows: how many rows the table has.
        promises: what each release promises.
        loss: how loss is measured.
        workload: which queries were asked.
        target: what classifiers predict, if anything.
        remark: what a reader of the figures must know.
    """

    outcomes: tuple[MethodOutcome, ...]
    rows: int
    promises: tuple[str, ...]
    loss: str
    workload: Workload
    target: str | None
    remark: str = ""

    def __getitem__(self, method: str) -> MethodOutcome:
        """The outcome of a method."""
        for outcome in self.outcomes:
            if outcome.method == method:
                return outcome
        known = ", ".join(outcome.method for outcome in self.outcomes)
        raise ParameterError(
            "report.not-compared",
            "'{method}' was not compared: there are {known}",
            method=method,
            known=known,
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures, for JSON."""
        return {
            "rows": self.rows,
            "promises": list(self.promises),
            "loss_measure": self.loss,
            "workload": dataclasses.asdict(self.workload),
            "target": self.target,
            "remark": self.remark,
            "methods": [outcome.to_dict() for outcome in self.outcomes],
        }

    def __repr__(self) -> str:
        lines = [f"{self.rows:,} rows under {', '.join(self.promises)}"]
        for each in self.outcomes:
            if each.failure:
                lines.append(f"{each.method}: {each.failure}")
                continue
            error = "–" if each.query_error is None else f"{each.query_error.median:.1%}"
            loss = "–" if each.loss is None else f"{each.loss:.4g}"
            lines.append(
                f"{each.method}: {self.loss} {loss}, {each.suppressed:,} rows suppressed, query error "
                f"{error}, {each.seconds:.2f} s"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return comparison_table(self)


@dataclasses.dataclass(frozen=True)
class Measure:
    """One figure of every method.

    Attributes:
        title: what it is.
        better: which direction is better.
        of: the figure of a method, or None.
        shown: the figure as text.
    """

    title: str
    better: str
    of: Callable[[MethodOutcome], float | None]
    shown: Callable[[float], str]

    def text(self, outcome: MethodOutcome) -> str:
        """The figure of a method as text."""
        figure = None if outcome.failure else self.of(outcome)
        return "–" if figure is None else self.shown(figure)


def measures(comparison: Comparison) -> list[Measure]:
    """The figures that there are."""
    rows = max(comparison.rows, 1)
    name = "loss" if comparison.loss == "loss" else f"loss ({comparison.loss})"
    found = [
        Measure(name, "less", lambda o: o.loss, lambda x: f"{x:.4g}"),
        Measure("suppressed", "less", lambda o: o.suppressed / rows, _percent),
        Measure("query error", "less", _query_error, _percent),
        Measure("time", "less", lambda o: o.seconds, lambda x: f"{x:.2f} s"),
    ]
    if comparison.target is not None:
        found.insert(3, Measure("accuracy", "more", _accuracy, _percent))
    return found


def _query_error(outcome: MethodOutcome) -> float | None:
    return None if outcome.query_error is None else outcome.query_error.median


def _accuracy(outcome: MethodOutcome) -> float | None:
    return None if outcome.accuracy is None else outcome.accuracy.release


def table_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table: one row a method; what failed says why."""
    shown = measures(comparison)
    header = ["method", *(measure.title for measure in shown)]
    return header, [[each.method, *(m.text(each) for m in shown)] for each in comparison.outcomes]


def comparison_table(comparison: Comparison) -> str:
    """The table for a notebook."""
    return html_table(*table_rows(comparison)) + draw_comparison(comparison).to_svg()


def draw_comparison(comparison: Comparison) -> Drawing:
    """One row of bars a method, one panel a figure; the best of each panel stands out."""
    shown = measures(comparison)
    width = NAMES + 16 + len(shown) * (PANEL + GAP)
    height = TOP + ROW * len(comparison.outcomes) + 14
    promises = ", ".join(comparison.promises)
    shapes: list[Shape] = [
        Text(16, 22, f"{comparison.rows:,} rows under {promises}", 13, INK, bold=True),
    ]
    for row, outcome in enumerate(comparison.outcomes):
        y = TOP + ROW * row + ROW / 2
        shapes.append(Text(NAMES, y, outcome.method, 11.5, SOFT if outcome.failure else INK, "end"))
        if outcome.failure:
            shapes.append(Text(NAMES + 16, y, _shortened(f"no release: {outcome.failure}", 110), 10, SOFT))
    for place, measure in enumerate(shown):
        left = NAMES + 16 + place * (PANEL + GAP)
        shapes.append(Text(left, 46, f"{measure.title}", 11, INK, bold=True))
        shapes += _panel(measure, comparison, left)
    return Drawing(width, height, tuple(shapes), f"Comparison of methods on {comparison.rows:,} rows")


def _panel(measure: Measure, comparison: Comparison, left: float) -> list[Shape]:
    figures = {o.method: measure.of(o) for o in comparison.outcomes if not o.failure}
    known = [figure for figure in figures.values() if figure is not None]
    most = max(known, default=0.0) or 1.0
    best = (min if measure.better == "less" else max)(known, default=None)
    shapes: list[Shape] = []
    for row, outcome in enumerate(comparison.outcomes):
        figure = figures.get(outcome.method)
        y = TOP + ROW * row
        if outcome.failure:
            continue
        shapes.append(Line(((left, y), (left, y + ROW)), LINE, 1))
        if figure is None:
            shapes.append(Text(left + 6, y + ROW / 2, "–", 10.5, SOFT))
            continue
        is_best, length = figure == best, max(PANEL * 0.62 * figure / most, 1.0)
        text = measure.shown(figure)
        shapes += [
            Rect(
                left,
                y + 5,
                length,
                ROW - 10,
                ACCENT if is_best else RAMP[2],
                1.5,
                f"{outcome.method}: {text}",
            ),
            Text(left + length + 5, y + ROW / 2, text, 10.5, INK if is_best else SOFT, bold=is_best),
        ]
    return shapes


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write the comparison as one self-contained HTML page."""
    header, rows = table_rows(comparison)
    page = (
        page_environment()
        .get_template("comparison.html.j2")
        .render(
            comparison=comparison,
            header=header,
            rows=rows,
            picture=draw_comparison(comparison).to_svg(),
            created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            version=version("tarnkappe"),
        )
    )
    with replace_atomically(path) as partial:
        partial.write_text(page, encoding="utf-8")


def _percent(share: float) -> str:
    return f"{share:.2%}" if 0 < share < 0.1 else f"{share:.1%}" if share else "0"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
