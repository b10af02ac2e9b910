"""Pictures of what became of a column: bars before, a line after, as in the report."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from tarnkappe.report.release_page import RARE, UNNAMED


def draw_story(story: Mapping[str, Any], label: str, tip: str, rare_tip: str) -> str:
    """Distribution before and after; `tip` has places for value, before and after."""
    bars = story["bars"]
    tallest = max((max(bar["before"], bar["after"]) for bar in bars), default=0.0) or 1.0
    shapes = []
    for place, bar in enumerate(bars):
        height = 96 * bar["before"] / tallest
        words = tip if bar["before"] >= RARE else rare_tip
        said = words.format(
            value=bar["label"], before=round(bar["before"]), after=round(bar["after"]), rare=RARE
        )
        shapes.append(
            f'<rect class="before" x="{10 * place + 1}" width="8" y="{100 - height:.2f}" '
            f'height="{height:.2f}">'
            f"<title>{html.escape(said)}</title></rect>"
        )
    heights = [100 - 96 * bar["after"] / tallest for bar in bars]
    line = " ".join(
        f"{'L' if i else 'M'}{10 * i} {height:.2f} L{10 * (i + 1)} {height:.2f}"
        for i, height in enumerate(heights)
    )
    width = 10 * max(len(bars), 1)
    return (
        f'<svg class="story" viewBox="0 0 {width} 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{html.escape(label)}">{"".join(shapes)}<path class="after" d="{line}"/>'
        f'<line class="axis" x1="0" x2="{width}" y1="100" y2="100"/></svg>'
    )


def ends(story: Mapping[str, Any]) -> tuple[str, str]:
    """The first and the last value of a picture that may be named."""
    named = [bar["label"] for bar in story["bars"] if bar["label"] != UNNAMED] or [UNNAMED]
    return named[0], named[-1]
