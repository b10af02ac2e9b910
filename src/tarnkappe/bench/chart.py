"""A curve with two axes."""

from __future__ import annotations

from tarnkappe.drawing import ACCENT, INK, LINE, SOFT, Circle, Drawing, Path, Shape, Text

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 56, 52


def draw_curve(title: str, points: list[tuple[float, float]], axes: tuple[str, str]) -> Drawing:
    """Draw points from the origin on, with round numbers on the axes."""
    widest, highest = (_round_up(max(values)) for values in zip(*points, strict=True))
    across, up = (WIDTH - LEFT - RIGHT) / widest, (HEIGHT - TOP - BOTTOM) / highest
    floor = HEIGHT - BOTTOM

    shapes: list[Shape] = [Text(16, 24, title, 14, INK, bold=True)]
    for step in range(6):
        x, y = widest * step / 5, highest * step / 5
        shapes += [
            Path(((LEFT, floor - y * up), (WIDTH - RIGHT, floor - y * up)), LINE, 0.8),
            Text(LEFT - 8, floor - y * up, f"{y:,.3g}", 10.5, SOFT, "end"),
            Text(LEFT + x * across, floor + 14, _short(x), 10.5, SOFT, "middle"),
        ]
    places = tuple((LEFT + x * across, floor - y * up) for x, y in points)
    shapes.append(Path(places, ACCENT, 2.2))
    shapes += [
        Circle(*place, 4, ACCENT, tip=f"{x:,.0f} {axes[0]}: {y:.3g} {axes[1]}")
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
