"""t-closeness with equal distances: any two different sensitive values are equally far apart."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.privacy.closeness import Closeness
from tarnkappe.privacy.earth_mover import Tree
from tarnkappe.privacy.exact import sql_ratio
from tarnkappe.table import Distribution


class EqualCloseness(Closeness):
    """t-closeness where any two different values are at distance 1.

    The distance of a class is half the sum of |p - q| over all values: the share of the class that would
    have to have other values for it to be like the whole table. It knows nothing of values that mean
    almost the same.
    """

    name = "equal-closeness"
    cites = ("li2007",)

    @classmethod
    def examples(cls) -> tuple[EqualCloseness, ...]:
        return (cls("disease", 0.3), cls("disease", 0.25), cls("disease", 0.5, given=("treatment",)))

    def tree(self, distribution: Distribution) -> Tree:
        return Tree.star(distribution.totals)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.t)
        return f"""
            WITH whole AS (SELECT sum(n) AS rows FROM totals),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            surplus AS (
                SELECT class, size * rows AS one,
                    sum(greatest(0, counts.n * rows - totals.n * size)) AS work
                FROM counts JOIN totals USING (value) JOIN sizes USING (class) CROSS JOIN whole
                GROUP BY class, one)
            SELECT class, work / one AS value, work * {denominator} <= {numerator} * one AS holds
            FROM surplus"""
