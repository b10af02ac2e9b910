"""Curves with two axes."""

from __future__ import annotations

import dataclasses

from tarnkappe.drawing import ACCENT, INK, LINE, MARK, SOFT, Circle, Drawing, Path, Shape, Text

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 84, 52
COLOURS = (ACCENT, MARK, "#7570b3", "#e7298a", "#66a61e", "#1c2430", "#a6761d")


Points = list[tuple[float, float]]


def draw_curves(title: str, curves: dict[str, Points], axes: tuple[str, str]) -> Drawing:
    """Draw named points from the origin on, with round numbers on the axes."""
    everything = [point for points in curves.values() for point in points]
    widest, highest = (_round_up(max(values)) for values in zip(*everything, strict=True))
    across, up = (WIDTH - LEFT - RIGHT) / widest, (HEIGHT - TOP - BOTTOM) / highest
    floor = HEIGHT - BOTTOM

    shapes: list[Shape] = [Text(16, 24, title, 14, INK, bold=True)]
    for step in range(6):
        x, y = widest * step / 5, highest * step / 5
        shapes += [
            Path(((LEFT, floor - y * up), (WIDTH - RIGHT, floor - y * up)), LINE, 0.8),
            Text(LEFT - 8, floor - y * up, f"{y:,g}", 10.5, SOFT, "end"),
            Text(LEFT + x * across, floor + 14, _short(x), 10.5, SOFT, "middle"),
        ]
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        key, row = LEFT + 170 * (number % 3), 44 + 13 * (number // 3)
        places = tuple((LEFT + x * across, floor - y * up) for x, y in points)
        shapes += [
            Path(places, colour, 2.2),
            Circle(key + 4, row, 4, colour),
            Text(key + 14, row, name, 11, SOFT),
        ]
        shapes += [
            Circle(*place, 4, colour, tip=f"{x:,.0f} {axes[0]}: {y:.3g} {axes[1]}")
            for place, (x, y) in zip(places, points, strict=True)
        ]
    shapes += [
        Text(WIDTH - RIGHT, floor + 32, axes[0], 11, SOFT, "end"),
        Text(16, TOP - 14, axes[1], 11, SOFT),
    ]
    return Drawing(WIDTH, HEIGHT, tuple(shapes), title)


def side_by_side(title: str, drawings: list[Drawing], columns: int = 2) -> Drawing:
    """Several pictures of one size on one sheet."""
    shapes: list[Shape] = []
    for number, drawing in enumerate(drawings):
        right, down = WIDTH * (number % columns), HEIGHT * (number // columns)
        shapes += [moved(shape, right, down) for shape in drawing.shapes]
    rows = -(-len(drawings) // columns)
    return Drawing(WIDTH * min(columns, len(drawings)), HEIGHT * rows, tuple(shapes), title)


def moved(shape: Shape, right: float, down: float) -> Shape:
    """A shape in another place."""
    if isinstance(shape, Path):
        return dataclasses.replace(shape, points=tuple((x + right, y + down) for x, y in shape.points))
    return dataclasses.replace(shape, x=shape.x + right, y=shape.y + down)


def _round_up(value: float) -> float:
    """The next 1, 2, 2.5, 4, 5 or 10 times a power of ten.

    >>> _round_up(3.2), _round_up(0.61)
    (4.0, 1.0)
    """
    if value <= 0:
        return 1.0
    power = 1.0
    while power < value:
        power *= 10
    while power / 10 >= value:
        power /= 10
    return next(power * part for part in (0.2, 0.25, 0.4, 0.5, 1.0) if power * part >= value)


def _short(value: float) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"
