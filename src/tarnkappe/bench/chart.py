"""Curves with two axes."""

from __future__ import annotations

from tarnkappe.drawing import ACCENT, INK, LINE, MARK, SOFT, Circle, Drawing, Path, Shape, Text

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 84, 52
COLOURS = (ACCENT, MARK)


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
        colour, key = COLOURS[number % len(COLOURS)], LEFT + 170 * number
        places = tuple((LEFT + x * across, floor - y * up) for x, y in points)
        shapes += [
            Path(places, colour, 2.2),
            Circle(key + 4, 44, 4, colour),
            Text(key + 14, 44, name, 11, SOFT),
        ]
        shapes += [
            Circle(*place, 4, colour, tip=f"{x:,.0f} {axes[0]}: {y:.3g} {axes[1]}")
            for place, (x, y) in zip(places, points, strict=True)
        ]
    shapes += [
        Text(WIDTH - RIGHT, floor + 32, axes[0], 11, SOFT, "end"),
        Text(LEFT - 8, TOP - 14, axes[1], 11, SOFT, "end"),
    ]
    return Drawing(WIDTH, HEIGHT, tuple(shapes), title)


def _round_up(value: float) -> float:
    """The next 1, 2, 2.5, 4, 5 or 10 times a power of ten.

    >>> _round_up(3.2), _round_up(0.61)
    (4.0, 1.0)
    """
    power = 1.0
    while power < value:
        power *= 10
    while power / 10 >= value:
        power /= 10
    return next(power * part for part in (0.2, 0.25, 0.4, 0.5, 1.0) if power * part >= value)


def _short(value: float) -> str:
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"
