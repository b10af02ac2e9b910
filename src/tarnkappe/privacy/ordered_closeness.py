"""t-closeness with ordered distances: sensitive values far apart in their order are far apart."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.privacy.closeness import Closeness
from tarnkappe.privacy.earth_mover import Tree
from tarnkappe.privacy.exact import sql_ratio
from tarnkappe.table import Distribution


class OrderedCloseness(Closeness):
    """t-closeness where the i-th and the j-th of d ordered values are at distance |i - j| / (d - 1).

    The order is the ascending order of the values that occur in the table, numbers as numbers and text
    as text; a missing value comes last. The distance of a class is 1 / (d - 1) times the sum over all
    positions of the difference between the shares up to there.
    """

    name = "ordered-closeness"
    cites = ("li2007",)

    @classmethod
    def examples(cls) -> tuple[OrderedCloseness, ...]:
        return (cls("income", 0.25), cls("disease", 0.2), cls("income", 0.3, given=("treatment",)))

    def tree(self, distribution: Distribution) -> Tree:
        return Tree.chain(distribution.totals)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.t)
        return f"""
            WITH whole AS (SELECT sum(n) AS rows, greatest(count(*) - 1, 1) AS steps FROM totals),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            carried AS (
                SELECT class, size * rows * steps AS one,
                    abs(sum(coalesce(counts.n, 0) * rows - totals.n * size)
                        OVER (PARTITION BY class ORDER BY rank)) AS work
                FROM sizes CROSS JOIN totals CROSS JOIN whole LEFT JOIN counts USING (class, value)),
            summed AS (SELECT class, one, sum(work) AS work FROM carried GROUP BY class, one)
            SELECT class, work / one AS value, work * {denominator} <= {numerator} * one AS holds
            FROM summed"""
