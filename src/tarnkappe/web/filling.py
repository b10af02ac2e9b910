"""The lattice while a search fills it: one bar for each level, the most general ones at the top."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH, HEIGHT = 100.0, 6.0


def draw_filling(rows: Sequence[Sequence[int]], label: str) -> str:
    """For each level from below: how many nodes it has, how many are settled, how many keep the promises.

    >>> draw_filling([(1, 1, 0), (2, 1, 1)], "lattice").count("<rect")
    6
    """
    widest = max(nodes for nodes, _, _ in rows)
    shapes = []
    for place, (nodes, settled, good) in enumerate(reversed(rows)):
        left, y = WIDTH / 2 * (1 - nodes / widest), place * HEIGHT
        for kind, share in (("open", nodes), ("settled", settled), ("good", good)):
            width = WIDTH * share / widest
            shapes.append(
                f'<rect class="{kind}" x="{left:.2f}" y="{y:g}" width="{width:.2f}" height="{HEIGHT - 1:g}"/>'
            )
    return (
        f'<svg class="filling" viewBox="0 0 {WIDTH:g} {HEIGHT * len(rows):g}" preserveAspectRatio="none" '
        f'role="img" aria-label="{html.escape(label)}">{"".join(shapes)}</svg>'
    )
