"""Enhanced beta-likeness: beta-likeness that also keeps frequent values from becoming certain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.basic_beta_likeness import BasicBetaLikeness, exact_gain, gains
from tarnkappe.privacy.exact import TOLERANCE, sign_of_logarithms
from tarnkappe.privacy.model import Measure
from tarnkappe.table import Distribution
from tarnkappe.table.classes import Mask


class EnhancedBetaLikeness(BasicBetaLikeness):
    """In every class (q - p) / p <= min(beta, -ln p) for every value more frequent there than in the table.

    Cao and Karras 2012. With beta alone a value of a share above 1 / (1 + beta) could fill a whole class;
    -ln p keeps q at most p (1 - ln p), which is below 1 for every p below 1.

    What is measured is the smallest beta with which the class would pass: its largest gain, or infinity
    if a value gains more than -ln p, since then no beta helps. A gain of exactly -ln p occurs only for
    p = 1, since logarithms of other rational numbers are irrational.
    """

    name = "enhanced-beta-likeness"
    cites = ("cao2012",)

    @property
    def promise(self) -> str:
        return f"{super().promise[:-1]}, and none that some people lack is shown for all of a group."

    def allowed_gain(self, shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.minimum(self.beta, -np.log(shares))

    def measure_values(self, distribution: Distribution) -> Measure:
        measured = super().measure_values(distribution)
        measured[~tempered(distribution)] = np.inf
        return measured

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH basic AS ({super().sql(quasi_identifiers)}),
            table_shares AS (SELECT value, n / sum(n) OVER () AS p FROM totals),
            class_shares AS (SELECT class, value, n / sum(n) OVER (PARTITION BY class) AS q FROM counts),
            tempered AS (
                SELECT class, bool_and(q / p - 1 <= -ln(p) + {TOLERANCE}) AS tempered
                FROM class_shares JOIN table_shares USING (value) GROUP BY class)
            SELECT class, CASE WHEN tempered THEN value ELSE 'inf' END AS value, holds AND tempered AS holds
            FROM basic JOIN tempered USING (class)"""


def tempered(distribution: Distribution) -> Mask:
    """Which classes have no value that gains more than -ln p, exactly."""
    totals = distribution.totals.tolist()
    rows = sum(totals)
    room = -np.log(distribution.totals[distribution.codes] / max(rows, 1)) - gains(distribution)
    good = room >= 0
    for entry in np.flatnonzero(np.abs(room) <= TOLERANCE):
        total, count = totals[distribution.codes[entry]], int(distribution.counts[entry])
        size = int(distribution.sizes[distribution.class_of_entry[entry]])
        gain = exact_gain(total, rows, count, size)
        good[entry] = sign_of_logarithms([(1, rows), (-1, total)], -gain) >= 0
    all_good = np.ones(distribution.num_classes, dtype=bool)
    np.logical_and.at(all_good, distribution.class_of_entry, good)
    return all_good
