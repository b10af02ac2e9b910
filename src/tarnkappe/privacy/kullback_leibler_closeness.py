"""t-closeness with a normalized form of the Kullback-Leibler divergence."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import TOLERANCE, at_most, decimal, sign_of_logarithms
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Monotonicity,
    SensitiveModel,
    entries_of,
)
from tarnkappe.schema import NotNegative, param
from tarnkappe.table import Distribution
from tarnkappe.table.classes import Mask


def table_entropy(distribution: Distribution) -> float:
    """The entropy of the whole table, in nats."""
    shares = distribution.totals[distribution.totals > 0] / max(int(distribution.totals.sum()), 1)
    return float(-(shares * np.log(shares)).sum())


class KullbackLeiblerCloseness(SensitiveModel):
    """The sum of p |ln(p / q)| over the values of a class, divided by the entropy of the table, is at most t.

    Here p is the share of a value in the whole table and q its share in the class. It differs from the
    Kullback-Leibler divergence of the table from the class: every term is taken absolute, values that the
    class lacks are left out (the divergence would be infinite), and the sum is normalized.

    Know its weaknesses before you use it. It is not bounded by 1, so t may be larger. And because lacking
    values are left out, a class that consists of one rare value is close: its distance is p |ln p| divided
    by the entropy, which is almost 0. The model is here to reproduce figures of the literature; to protect
    people use one of the other t-closeness models or combine it with a diversity.

    It is not monotone even without suppression: a value that a class lacks costs nothing there, but once
    the class is merged with another that has a little of it, the value is rarer than in the table and
    does cost.
    """

    name = "kullback-leibler-closeness"
    cites = ("li2007",)
    direction = Direction.AT_MOST

    t: Annotated[
        NotNegative, param("the largest divergence of a class from the whole table", unit="bits", start=0.3)
    ]

    @classmethod
    def examples(cls) -> tuple[KullbackLeiblerCloseness, ...]:
        return (cls("disease", 0.3), cls("disease", 0.4, given=("treatment",)))

    @property
    def promise(self) -> str:
        return (
            f"The values of '{self.column}' that a group in the release has are about as frequent as in the "
            f"whole table: their normalized divergence is at most {self.t:g}; values that a group lacks do "
            "not count."
        )

    @property
    def bound(self) -> float:
        return self.t

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False,
            False,
            "A value that a class lacks does not count, but counts again when the class is merged with one "
            "that has a little of it.",
        )

    def measure_values(self, distribution: Distribution) -> Measure:
        sizes = distribution.sizes[distribution.class_of_entry]
        table = distribution.totals[distribution.codes] / max(int(distribution.totals.sum()), 1)
        terms = table * np.abs(np.log(table / (distribution.counts / sizes)))
        sums = np.bincount(distribution.class_of_entry, weights=terms, minlength=distribution.num_classes)
        entropy = table_entropy(distribution)
        return sums / entropy if entropy > 0 else np.zeros(distribution.num_classes)

    def values_hold(self, distribution: Distribution) -> Mask:
        t, totals = decimal(self.t), distribution.totals.tolist()

        def exactly(index: int) -> bool:
            return closer_than(entries_of(distribution, index), totals, t)

        return at_most(self.measure_values(distribution), self.t, exactly)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH table_shares AS (SELECT value, n / sum(n) OVER () AS p FROM totals),
            entropy AS (SELECT -sum(p * ln(p)) AS entropy FROM table_shares),
            class_shares AS (SELECT class, value, n / sum(n) OVER (PARTITION BY class) AS q FROM counts),
            summed AS (
                SELECT class, sum(p * abs(ln(p / q))) AS work
                FROM class_shares JOIN table_shares USING (value) GROUP BY class)
            SELECT class, CASE WHEN entropy > 0 THEN work / entropy ELSE 0 END AS value,
                value <= {self.t!r} + {TOLERANCE} AS holds
            FROM summed CROSS JOIN entropy"""


def closer_than(entries: Sequence[tuple[int, int]], totals: Sequence[int], t: Fraction) -> bool:
    """Whether the distance of a class, given as codes with their counts, is at most t, exactly.

    Multiplied by the rows of the table: the sum of T |ln(T size / (n rows))| - t T ln(rows / T) <= 0.
    """
    rows, size = sum(totals), sum(count for _, count in entries)
    terms: list[tuple[Fraction | int, int]] = []
    for code, count in entries:
        total = totals[code] if totals[code] * size >= count * rows else -totals[code]
        terms += [(total, totals[code]), (total, size), (-total, count), (-total, rows)]
    for total in totals:
        if total:
            terms += [(t * total, total), (-t * total, rows)]
    return sign_of_logarithms(terms) <= 0
