"""The lattice as a picture: every node where it is small, how many nodes do what where it is large."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tarnkappe.drawing import (
    INK,
    LINE,
    MARK,
    RAMP,
    SOFT,
    Circle,
    Drawing,
    Path,
    Rect,
    Shape,
    Text,
    html_table,
    ramp,
)
from tarnkappe.lattice.explore import LatticeView, named_levels
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Evaluation

WIDTH = 880
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 104, 64
MAX_NODES, MAX_WIDEST = 400, 48
"""A lattice with more nodes, or more of them on one level, is drawn as a heat map."""
BINS = 40
LISTED = 5
"""How many of the best nodes a notebook lists."""
FAILING = ("#e9edf2", "#c3ccd6")
"""Fill and outline of nodes that do not keep the promises."""


def draw_lattice(view: LatticeView) -> Drawing:
    """Draw a view: general nodes at the top, colours for the loss, the best node marked."""
    widest = int(np.bincount(view.levels.sum(axis=1)).max()) if len(view) else 0
    if len(view) <= MAX_NODES and widest <= MAX_WIDEST:
        return _draw_nodes(view, widest)
    return _draw_heat_map(view)


def lattice_html(view: LatticeView) -> str:
    """The picture, and the best nodes in a table, for a notebook."""
    good = view.where(satisfied=True)
    best = good.take(np.argsort(good.losses, kind="stable")[:LISTED])
    rows = [
        (*map(str, found.node), _number(found.loss), f"{found.suppressed:,}", f"{found.classes:,}")
        for found in best
    ]
    header = (*view.problem.quasi_identifiers, view.problem.loss.name, "suppressed", "classes")
    return draw_lattice(view).to_svg() + (html_table(header, rows) if rows else "")


def _draw_nodes(view: LatticeView, widest: int) -> Drawing:
    step = min(64.0, (WIDTH - LEFT - RIGHT) / max(widest, 1))
    radius = min(17.0, 0.4 * step)
    rows: dict[int, list[Evaluation]] = defaultdict(list)
    for found in view:
        rows[sum(found.node)].append(found)
    gap = max(2.6 * radius, 46.0)
    height = TOP + BOTTOM + gap * max(len(rows), 1)
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    places: dict[Node, tuple[float, float]] = {}
    for number, (_, nodes) in enumerate(sorted(rows.items())):
        for i, found in enumerate(reversed(nodes)):
            x = middle + (i - (len(nodes) - 1) / 2) * step
            places[found.node] = (x, height - BOTTOM - gap * (number + 0.5))
    shapes: list[Shape] = [*_heading(view), *_row_names(rows.keys(), height, gap)]
    for node, place in places.items():
        above = [up for up in view.problem.lattice.successors(node) if up in places]
        shapes += [Path((place, places[up]), LINE, 1.2) for up in above]
    least, most = _range(view.losses[view.satisfied])
    for found in view:
        share = (found.loss - least) / ((most - least) or 1.0)
        shapes += _disc(view, found, places[found.node], radius, share)
    if view.best is not None:
        shapes.append(_ring(*places[view.best.node], radius + 4))
    shapes += _legend(height, _number(least), _number(most), "loss", ring=view.best is not None)
    return Drawing(WIDTH, height, tuple(shapes), _title(view))


def _disc(
    view: LatticeView, found: Evaluation, place: tuple[float, float], radius: float, share: float
) -> list[Shape]:
    fill, edge = (ramp(share), "none") if found.satisfied else FAILING
    shapes: list[Shape] = [Circle(*place, radius, fill, edge, 1.2, _describe(view, found))]
    label = " ".join(map(str, found.node))
    size = min(11.0, 3.1 * radius / max(len(label), 1))
    if size >= 6.5:
        ink = "#ffffff" if found.satisfied and share < 0.35 else INK if found.satisfied else SOFT
        shapes.append(Text(*place, label, size, ink, "middle"))
    return shapes


def _draw_heat_map(view: LatticeView) -> Drawing:
    """How many nodes of each level have which loss (size), and what share keeps the promises (colour)."""
    sums = view.levels.sum(axis=1)
    levels = np.arange(sums.min(), sums.max() + 1)
    gap = min(26.0, 760.0 / len(levels))
    height = TOP + BOTTOM + 22 + gap * len(levels)
    known = np.flatnonzero(np.isfinite(view.losses))
    least, most = _range(view.losses[known])
    step = (WIDTH - LEFT - RIGHT) / BINS
    bins = np.minimum(((view.losses[known] - least) / ((most - least) or 1.0) * BINS).astype(int), BINS - 1)
    cells = (sums[known] - levels[0]) * BINS + bins
    counts = np.bincount(cells, minlength=len(levels) * BINS)
    good = np.bincount(cells, view.satisfied[known], len(levels) * BINS)
    floor = height - BOTTOM - 22
    shapes: list[Shape] = [*_heading(view), *_row_names(levels.tolist(), height - 22, gap)]
    lines = (floor - gap * i for i in range(len(levels) + 1))
    shapes += [Path(((LEFT, y), (WIDTH - RIGHT, y)), LINE, 0.6) for y in lines]
    for cell in np.flatnonzero(counts):
        row, column = divmod(int(cell), BINS)
        size = math.sqrt(math.log1p(counts[cell]) / math.log1p(counts.max()))
        wide, high = (step - 1.5) * size, (gap - 1.5) * size
        x, y = LEFT + step * (column + 0.5), floor - gap * (row + 0.5)
        share = float(good[cell] / counts[cell])
        fill = ramp(1 - share, RAMP[:-1]) if share else FAILING[1]
        tip = f"{counts[cell]:,} nodes, {int(good[cell]):,} keep the promises"
        shapes.append(Rect(x - wide / 2, y - high / 2, wide, high, fill, 1.5, tip))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = LEFT + share * (WIDTH - LEFT - RIGHT)
        shapes.append(Path(((x, floor), (x, floor + 4)), SOFT, 0.8))
        value = _number(least + share * (most - least))
        shapes.append(Text(x, floor + 13, value, 10, SOFT, "end" if share == 1 else "middle"))
    shapes.append(Text(WIDTH - RIGHT, TOP - 12, f"loss ({view.problem.loss.name}) →", 10.5, SOFT, "end"))
    if view.best is not None:
        x = LEFT + (view.best.loss - least) / ((most - least) or 1.0) * (WIDTH - LEFT - RIGHT)
        shapes.append(_ring(x, floor - gap * (sum(view.best.node) - levels[0] + 0.5), 7))
    shapes += _legend(height, "all", "few", "of the nodes keep the promises", ring=view.best is not None)
    return Drawing(WIDTH, height, tuple(shapes), _title(view))


def _heading(view: LatticeView) -> list[Shape]:
    problem, best = view.problem, view.best
    promised = (
        f"{' and '.join(map(str, problem.models))}, at most {problem.suppression_limit:.4g} of the rows"
    )
    shapes: list[Shape] = [
        Text(20, 22, _title(view), 14, INK, bold=True),
        Text(20, 42, _cut(f"{promised} suppressed", 140), 11.5, SOFT),
    ]
    if best is not None:
        loss = (
            f"best: loss {_number(best.loss)}, {best.suppressed:,} rows suppressed, {best.classes:,} classes"
        )
        shapes.append(Text(20, 60, _cut(f"{loss}; {named_levels(problem, best.node)}", 140), 11.5, SOFT))
    return [*shapes, Text(20, TOP - 12, "steps ↑", 10.5, SOFT)]


def _title(view: LatticeView) -> str:
    return f"{int(view.satisfied.sum()):,} of {len(view):,} nodes keep the promises"


def _row_names(levels: Iterable[int], height: float, gap: float) -> list[Shape]:
    return [
        Text(LEFT - 14, height - BOTTOM - gap * (i + 0.5), str(level), 10.5, SOFT, "end")
        for i, level in enumerate(sorted(levels))
    ]


def _legend(height: float, first: str, last: str, what: str, *, ring: bool) -> list[Shape]:
    y = height - 24
    shapes: list[Shape] = [Text(LEFT, y, first, 10.5, SOFT, "end")]
    shapes += [Rect(LEFT + 8 + 3 * i, y - 5, 3.2, 10, ramp(i / 39)) for i in range(40)]
    shapes.append(Text(LEFT + 136, y, f"{last}  {what}", 10.5, SOFT))
    shapes.append(Circle(WIDTH / 2, y, 5, FAILING[0], FAILING[1], 1.2))
    shapes.append(Text(WIDTH / 2 + 12, y, "does not keep them", 10.5, SOFT))
    if ring:
        shapes.append(_ring(WIDTH / 2 + 170, y, 5))
        shapes.append(Text(WIDTH / 2 + 183, y, "the best that does", 10.5, SOFT))
    return shapes


def _ring(x: float, y: float, radius: float) -> Circle:
    return Circle(x, y, radius, "none", MARK, 2.6)


def _describe(view: LatticeView, found: Evaluation) -> str:
    kept = "keeps the promises" if found.satisfied else "does not keep the promises"
    return (
        f"{named_levels(view.problem, found.node)}: {kept}, loss {_number(found.loss)}, "
        f"{found.suppressed:,} rows suppressed, {found.classes:,} classes"
    )


def _range(losses: npt.NDArray[np.float64]) -> tuple[float, float]:
    return (float(losses.min()), float(losses.max())) if len(losses) else (0.0, 0.0)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
