"""The factor between generalization and suppression, by the definition of ARX."""

from __future__ import annotations

FACTOR = "whether suppression is cheap (0) or generalization is (1), as ARX weighs them; none if not said"


def prices(factor: float | None) -> tuple[float, float]:
    """What suppression and what generalization is multiplied by; both by 1 at 0.5, and if nothing is said.

    >>> prices(0.25), prices(0.75), prices(None)
    ((0.5, 1.0), (1.0, 0.5), (1.0, 1.0))
    """
    if factor is None:
        return 1.0, 1.0
    return min(1.0, 2 * factor), min(1.0, 2 - 2 * factor)
