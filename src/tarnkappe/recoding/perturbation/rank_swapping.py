"""Rank swapping: every number is exchanged with one that is near it in the order.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from tarnkappe.native import compiled
from tarnkappe.recoding.perturbation.perturbation import NumberPerturbation, Numbers
from tarnkappe.schema import param

Reach = Annotated[int, Meta(gt=0, le=1)] | Annotated[float, Meta(gt=0, le=1)]


class RankSwapping(NumberPerturbation, kw_only=True):
    """Each column by itself: values are put in order, and each is exchanged with a random one of those that
    follow within a share of all rows and were not exchanged yet (Moore 1996; Nin, Herranz, Torra 2008,
    https://doi.org/10.1016/j.datak.2007.07.006).

    The values of a column stay the same, each at another row: totals and distributions of single columns are
    exact, relations between columns are blurred. Equal values are put in a random order.
    """

    name = "rank-swapping"
    cites = ("moore1996",)

    distance: Annotated[
        Reach,
        param(
            "how far apart two values may be in the order, as a share of all rows", kind="share", start=0.05
        ),
    ] = 0.05

    @classmethod
    def examples(cls, *columns: str) -> tuple[Self, ...]:
        """Instances for the common tests."""
        return (cls(columns=columns), cls(columns=columns, distance=0.3))

    def change(self, values: Numbers, generator: np.random.Generator) -> Numbers:
        """Exchange within each column."""
        changed = values.copy()
        for place in range(values.shape[1]):
            rows = np.flatnonzero(~np.isnan(values[:, place]))
            mixed = rows[generator.permutation(len(rows))]
            order = mixed[np.argsort(values[mixed, place], kind="stable")]
            reach = max(1, int(self.distance * len(rows)))
            partner = _partners(len(rows), reach, generator.random(len(rows)))
            changed[order, place] = values[order[partner], place]
        return changed


@compiled
def _partners(number: int, reach: int, chance: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """With which place each place is exchanged: a random free one of the next `reach`, else none."""
    # From the left, each place once: whoever is free looks only forward, so nobody is exchanged twice. The
    # free ones are counted first, so that every one of them has the same probability. Places times reach in
    # time. `chance` below 1 times `free` may still round up to `free`, hence the minimum.
    partner = np.full(number, -1, np.int64)
    for place in range(number):
        if partner[place] >= 0:
            continue
        end = min(number, place + reach + 1)
        free = 0
        for other in range(place + 1, end):
            free += partner[other] < 0
        partner[place] = place
        if free == 0:
            continue
        left = min(int(chance[place] * free), free - 1)
        for other in range(place + 1, end):
            if partner[other] < 0:
                if left == 0:
                    partner[place], partner[other] = other, place
                    break
                left -= 1
    return partner
