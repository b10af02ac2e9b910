"""A bar that shows how a whole is divided."""

from __future__ import annotations

import html
from collections.abc import Sequence

from markupsafe import Markup

KINDS = ("part", "coarser", "hidden")


def draw_shares(shares: Sequence[float], label: str) -> Markup:
    """A bar of three kinds of cells: exact, coarser, hidden; the words beside it say the same.

    >>> draw_shares([0.5, 0.25, 0.25], "half").count("<rect")
    3
    """
    left, shapes = 0.0, []
    for kind, share in zip(KINDS, shares, strict=True):
        shapes.append(
            f'<rect class="{kind}" x="{100 * left:.2f}" y="0" width="{100 * share:.2f}" height="6"/>'
        )
        left += share
    text = html.escape(label)
    return Markup(  # noqa: S704
        f'<svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{text}">'
        f"{''.join(shapes)}</svg>"
    )
