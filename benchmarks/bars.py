"""Bars side by side, for figures of several things under several conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from benchmarks.texts import number
from tarnkappe.drawing import INK, LINE, SOFT, Circle, Drawing, Path, Rect, Shape, Text
from tarnkappe_bench.chart import COLOURS

WIDTH, TOP, BAR, GAP = 640, 66, 11, 9
ROOM_FOR_TEXT = 80
LETTER = 6.2
"""About how wide a letter of a name is."""


def draw_bars(
    title: str,
    groups: Mapping[str, Mapping[str, float | None]],
    unit: str,
    *,
    logarithmic: bool = False,
    shown: Callable[[float | None], str] = number,
) -> Drawing:
    """One group of bars for each name, in it one bar for each kind; a kind has one colour everywhere.

    Bars on a logarithmic scale begin at half the power of ten below the least figure, so only ratios can be
    read off.
    """
    kinds = list(dict.fromkeys(kind for group in groups.values() for kind in group))
    values = [v for group in groups.values() for v in group.values() if v is not None and v > 0]
    least, most = (min(values), max(values)) if values else (1.0, 1.0)
    floor = 10.0 ** (math.floor(math.log10(least)) - 0.3)
    left = 30 + LETTER * max(map(len, groups), default=0)
    room = max(WIDTH - left, 300) - ROOM_FOR_TEXT

    def length(value: float) -> float:
        if value <= 0:
            return 1.0
        if logarithmic:
            return max(1.0, room * math.log(value / floor) / math.log(most / floor))
        return max(1.0, room * value / most)

    shapes: list[Shape] = [Text(16, 22, title, 14, INK, bold=True)]
    scale = f"{unit}, logarithmic" if logarithmic else unit
    shapes.append(Text(left + room + ROOM_FOR_TEXT - 16, 22, scale, 11, SOFT, "end"))
    step = max(155.0, 30 + LETTER * max(map(len, kinds), default=0))
    beside = max(1, int(WIDTH // step))
    for place, kind in enumerate(kinds if len(kinds) > 1 else []):
        x, y = 20 + step * (place % beside), 42 + 13 * (place // beside)
        shapes += [Circle(x, y, 4, COLOURS[place % len(COLOURS)]), Text(x + 9, y, kind, 11, SOFT)]
    y = TOP + 13 * ((len(kinds) - 1) // beside)
    start = y
    for name, group in groups.items():
        shown_bars = [(kind, value) for kind, value in group.items() if value is not None]
        shapes.append(Text(left - 10, y + BAR * len(shown_bars) / 2, name, 11.5, INK, "end"))
        for kind, value in shown_bars:
            long, text = length(value), shown(value)
            colour = COLOURS[kinds.index(kind) % len(COLOURS)]
            shapes += [
                Rect(left, y + 1, long, BAR - 2, colour, 1.5, f"{name}, {kind}: {text}"),
                Text(left + long + 5, y + BAR / 2, text, 9.5, SOFT),
            ]
            y += BAR
        y += GAP
    shapes.append(Path(((left, start - 4), (left, y)), LINE, 1))
    return Drawing(left + room + ROOM_FOR_TEXT, y + 12, tuple(shapes), title)
