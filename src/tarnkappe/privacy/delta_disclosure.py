"""delta-disclosure privacy: no sensitive value is much more or much less frequent in a class than overall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import TOLERANCE, decimal, less_than, sign_of_logarithms
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    entries_of,
)
from tarnkappe.schema import Positive, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class DeltaDisclosure(SensitiveModel):
    """In every class |ln(p / q)| < delta for every value of the whole table.

    Brickell and Shmatikov 2008, with p the share of the value in the class, q its share in the whole table
    and natural logarithms. A value of the table that a class lacks has the logarithm minus infinity, so
    the class fails: every class has every value. (Some tools look only at the values that a class has,
    which promises much less: a class of one frequent value passes there.)

    Why it survives merging: p must lie between q / e^delta and q e^delta, and the share of a union lies
    between the shares of its parts. What it implies: every value of the table, and for the rarest, with
    the share q, 1 / size <= p < q e^delta, so more than 1 / (q e^delta) rows.
    """

    name = "delta-disclosure"
    cites = ("brickell2008",)
    direction = Direction.LESS_THAN

    delta: Annotated[
        Positive,
        param(
            "how far, as a logarithm, the share of a value in a class may be from that in the table",
            start=1.0,
        ),
    ]

    @classmethod
    def examples(cls) -> tuple[DeltaDisclosure, ...]:
        return (cls("treatment", 0.5), cls("treatment", 1, given=("disease",)))

    @property
    def promise(self) -> str:
        factor = f"{math.exp(min(self.delta, 700)):.3g}"
        return (
            f"Within any group of the release each value of '{self.column}' is less than {factor} times as "
            f"frequent, and less than {factor} times as rare, as in the whole table."
        )

    @property
    def bound(self) -> float:
        return self.delta

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "The share of a value in a merged class lies between its shares in the parts; but a class that "
            "was suppressed can spoil the one it is merged with.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        totals = self.whole(tuples).totals
        occurring = totals[totals > 0]
        above = math.exp(-self.delta) * int(occurring.sum()) / int(occurring.min())
        rows = math.floor(above * (1 - TOLERANCE)) + 1
        values = DistinctDiversity(self.column, len(occurring))
        return (*values.sub_criteria(tuples), KAnonymity(rows))

    def measure_values(self, distribution: Distribution) -> Measure:
        sizes = distribution.sizes[distribution.class_of_entry]
        table = distribution.totals[distribution.codes] / max(int(distribution.totals.sum()), 1)
        changes = np.abs(np.log((distribution.counts / sizes) / table))
        complete = np.diff(distribution.offsets) == np.count_nonzero(distribution.totals)
        largest = np.where(complete, 0.0, np.inf)
        np.maximum.at(largest, distribution.class_of_entry, changes)
        return largest

    def values_hold(self, distribution: Distribution) -> Mask:
        delta, totals = decimal(self.delta), distribution.totals.tolist()
        rows = sum(totals)

        def exactly(index: int) -> bool:
            entries = entries_of(distribution, index)
            size = sum(count for _, count in entries)
            ratios = [[(1, count), (1, rows), (-1, size), (-1, totals[code])] for code, count in entries]
            return all(
                sign_of_logarithms(ratio, -delta) < 0 and sign_of_logarithms(ratio, delta) > 0
                for ratio in ratios
            )

        return less_than(self.measure_values(distribution), self.delta, exactly)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH table_shares AS (SELECT value, n / sum(n) OVER () AS q FROM totals),
            class_shares AS (SELECT class, value, n / sum(n) OVER (PARTITION BY class) AS p FROM counts),
            known AS (SELECT count(*) AS known FROM totals),
            changes AS (
                SELECT class, count(*) AS present, max(abs(ln(p / q))) AS change
                FROM class_shares JOIN table_shares USING (value) GROUP BY class)
            SELECT class, CASE WHEN present < known THEN 'inf' ELSE change END AS value,
                value < {self.delta!r} AS holds
            FROM changes CROSS JOIN known"""
