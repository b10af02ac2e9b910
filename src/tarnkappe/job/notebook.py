"""How a result looks in a notebook: what was promised and measured as a table, what was lost as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from tarnkappe.drawing import ACCENT, INK, LINE, SOFT, Drawing, Rect, Shape, Text, html_table
from tarnkappe.loss.entropy import entropy_of_column

if TYPE_CHECKING:
    from tarnkappe.job.result import Result

WIDTH, LEFT, ROW, TOP = 720, 190, 26, 40
METER = 260


def result_html(result: Result) -> str:
    """A fragment of a page, without scripts and without any value of the data."""
    solution = result.solution
    facts = [
        ("rows", f"{result.release.num_rows:,} of {result.input.num_rows:,}"),
        ("classes", f"{result.state.num_kept:,}"),
        ("suppressed rows", f"{result.suppressed:,} (allowed {result.problem.limit:,})"),
        (f"loss ({result.problem.loss.name})", f"{result.loss:,.6g}, {solution.proof}"),
        ("search", f"{solution.checked:,} of {solution.nodes:,} nodes checked by {solution.algorithm}")
        if result.recoding is None
        else ("method", solution.algorithm),
    ]
    promises = [
        (
            found.model.promise,
            f"{found.model}",
            "" if found.value is None else f"{found.value:,.6g}",
            _sign(found.holds),
        )
        for found in result.verified
    ]
    return (
        html_table(("release", ""), facts)
        + html_table(("promise", "model", "measured", "verified"), promises)
        + draw_losses(result).to_svg()
    )


def draw_losses(result: Result) -> Drawing:
    """What each quasi-identifier has lost."""
    shapes: list[Shape] = [Text(0, 16, "What the quasi-identifiers lost", 13, INK, bold=True)]
    for row, name in enumerate(result.problem.quasi_identifiers):
        y, lost = TOP + ROW * (row + 0.5), _lost(result, name)
        before = result.problem.tuples.columns[name].cardinality
        after = pc.count_distinct(result.release.data.column(name), "all").as_py()
        shapes += [
            Text(LEFT - 12, y, name if len(name) <= 26 else name[:25] + "…", 12, INK, "end"),
            Rect(LEFT, y - 6, METER, 12, LINE, 3),
            Rect(LEFT, y - 6, METER * lost, 12, ACCENT, 3),
            Text(LEFT + METER + 12, y, f"{lost:.0%} lost", 11, INK),
            Text(
                LEFT + METER + 80,
                y,
                f"{_levels(result, name)} · {before:,} values became {after:,}",
                11,
                SOFT,
            ),
        ]
    height = TOP + ROW * len(result.problem.quasi_identifiers) + 10
    return Drawing(WIDTH, height, tuple(shapes), "What each quasi-identifier has lost")


def _lost(result: Result, name: str) -> float:
    """The share of the information in a column that is lost: the mean over the rows of all passes."""
    tuples, levels = result.problem.tuples, result.problem.tuples.columns[name].levels
    assert levels is not None
    everything = entropy_of_column(tuples, name, levels.height)
    if not result.passes:
        classes = result.state.classes
        level = classes.levels[result.problem.quasi_identifiers.index(name)]
        return entropy_of_column(classes.tuples, name, level) / everything if everything else 0.0
    passes = [(p.levels[name], p.rows) for p in result.passes]
    rows = sum(count for _, count in passes)
    if not everything or not rows:
        return 0.0
    return sum(entropy_of_column(tuples, name, level) * count for level, count in passes) / (
        everything * rows
    )


def _levels(result: Result, name: str) -> str:
    if not result.passes:
        return f"recoded by {result.solution.algorithm}"
    levels = sorted({p.levels[name] for p in result.passes})
    height = result.problem.lattice.heights[result.problem.quasi_identifiers.index(name)]
    return f"level {'–'.join(map(str, levels[:: max(len(levels) - 1, 1)]))} of {height}"


def _sign(holds: bool) -> str:
    return "✓ holds" if holds else "✗ broken"
