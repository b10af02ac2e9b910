"""Small pictures (a list of shapes that becomes SVG, or PNG where Pillow is installed) and small tables."""

from __future__ import annotations

import dataclasses
import html
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from tarnkappe.errors import ParameterError

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

INK, SOFT, LINE, PAPER = "#1c2430", "#5d6b7e", "#dfe4ea", "#ffffff"
ACCENT, MARK = "#0b6e69", "#d95f02"
RAMP = ("#0b6e69", "#2f9e8f", "#86cfae", "#d3ebc0", "#f7f4cf")
"""From the best to the worst."""

Anchor = Literal["start", "middle", "end"]
SHARPNESS = 2
"""Dots of a PNG for each unit of the picture."""
SMOOTHING = 3
"""A PNG is drawn this much larger first, so that its edges are smooth."""


@dataclasses.dataclass(frozen=True)
class Rect:
    """A rectangle, with a text that appears under the pointer."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0
    tip: str = ""

    def svg(self) -> str:
        """The shape in SVG."""
        return _with_tip(
            f'<rect x="{self.x:.2f}" y="{self.y:.2f}" width="{self.width:.2f}" height="{self.height:.2f}" '
            f'rx="{self.radius:g}" fill="{self.fill}"',
            self.tip,
        )


@dataclasses.dataclass(frozen=True)
class Circle:
    """A disc with an outline, with a text that appears under the pointer."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str = "none"
    stroke_width: float = 1.0
    tip: str = ""

    def svg(self) -> str:
        """The shape in SVG."""
        outline = (
            "" if self.stroke == "none" else f' stroke="{self.stroke}" stroke-width="{self.stroke_width:g}"'
        )
        return _with_tip(
            f'<circle cx="{self.x:.2f}" cy="{self.y:.2f}" r="{self.radius:.2f}" fill="{self.fill}"{outline}',
            self.tip,
        )


@dataclasses.dataclass(frozen=True)
class Path:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    stroke: str
    width: float = 1.0

    def svg(self) -> str:
        """The shape in SVG."""
        places = " ".join(f"{x:.2f},{y:.2f}" for x, y in self.points)
        return (
            f'<polyline points="{places}" fill="none" stroke="{self.stroke}" stroke-width="{self.width:g}" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )


@dataclasses.dataclass(frozen=True)
class Text:
    """A line of text; `y` is its middle."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: str = INK
    anchor: Anchor = "start"
    bold: bool = False

    def svg(self) -> str:
        """The shape in SVG."""
        weight = ' font-weight="600"' if self.bold else ""
        return (
            f'<text x="{self.x:.2f}" y="{self.y + 0.35 * self.size:.2f}" font-size="{self.size:g}" '
            f'fill="{self.fill}" text-anchor="{self.anchor}"{weight}>{html.escape(self.text)}</text>'
        )


Shape = Rect | Circle | Path | Text


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Shapes on white paper, the first at the bottom."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str = ""

    def to_svg(self) -> str:
        """The drawing as SVG, which stands alone or inside an HTML page."""
        label = f' role="img" aria-label="{html.escape(self.title)}"' if self.title else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" style="max-width:100%;height:auto" '
            f'font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif"{label}>\n'
            + "\n".join(shape.svg() for shape in (self._paper, *self.shapes))
            + "\n</svg>\n"
        )

    def to_png(self) -> bytes:
        """The drawing as PNG."""
        try:
            from PIL import Image, ImageDraw  # most users never draw a PNG
        except ImportError:
            raise ParameterError(
                "drawing.png-needs-package-pillow",
                "a PNG needs the package Pillow (pip install 'tarnkappe[pictures]'); an SVG needs nothing",
            ) from None
        scale = SHARPNESS * SMOOTHING
        image = Image.new("RGB", (round(scale * self.width), round(scale * self.height)), PAPER)
        brush = ImageDraw.Draw(image)
        for shape in self.shapes:
            _paint(shape, brush, scale)
        image = image.resize(
            (round(SHARPNESS * self.width), round(SHARPNESS * self.height)), Image.Resampling.LANCZOS
        )
        stream = io.BytesIO()
        image.save(stream, "PNG", optimize=True)
        return stream.getvalue()

    @property
    def _paper(self) -> Rect:
        return Rect(0, 0, self.width, self.height, PAPER, radius=6)


def ramp(share: float, colours: tuple[str, ...] = RAMP) -> str:
    """The colour between the first (0) and the last (1) of several colours.

    >>> ramp(0), ramp(0.5, ("#000000", "#ffffff"))
    ('#0b6e69', '#808080')
    """
    place = min(max(share, 0.0), 1.0) * (len(colours) - 1)
    below = min(int(place), len(colours) - 2)
    ends = [[int(colours[i][j : j + 2], 16) for j in (1, 3, 5)] for i in (below, below + 1)]
    mixed = (round(a + (place - below) * (b - a)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _with_tip(opened: str, tip: str) -> str:
    if not tip:
        return f"{opened}/>"
    return f"{opened}><title>{html.escape(tip)}</title></{opened[1:].split(' ')[0]}>"


def _paint(shape: Shape, brush: ImageDraw.ImageDraw, scale: float) -> None:
    match shape:
        case Rect():
            corners = (shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
            brush.rounded_rectangle([scale * c for c in corners], scale * shape.radius, shape.fill)
        case Circle():
            edge = shape.stroke_width / 2 if shape.stroke != "none" else 0.0
            outer = shape.radius + edge
            box = (shape.x - outer, shape.y - outer, shape.x + outer, shape.y + outer)
            brush.ellipse(
                [scale * c for c in box],
                shape.fill if shape.fill != "none" else None,
                shape.stroke if edge else None,
                round(scale * 2 * edge),
            )
        case Path():
            points = [(scale * x, scale * y) for x, y in shape.points]
            brush.line(points, shape.stroke, max(1, round(scale * shape.width)), joint="curve")
        case Text():
            anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]
            font = _font(scale * shape.size, bold=shape.bold)
            brush.text((scale * shape.x, scale * shape.y), shape.text, shape.fill, font, anchor)


def _font(size: float, *, bold: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    try:
        return ImageFont.truetype("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf", size)
    except OSError:
        return ImageFont.load_default(size)


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a notebook, in the colours of the notebook; all texts are escaped.

    >>> html_table(("a",), [("<b>",)]).count("&lt;b&gt;")
    1
    """
    style = 'style="text-align:left;padding:.25em .9em .25em 0;border-bottom:1px solid #8884"'
    head = "".join(f"<th {style}>{html.escape(text)}</th>" for text in header)
    body = "".join(
        "<tr>" + "".join(f"<td {style}>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return f'<table style="border-collapse:collapse;margin:.5em 0"><tr>{head}</tr>{body}</table>\n'
