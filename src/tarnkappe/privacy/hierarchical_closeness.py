"""t-closeness with hierarchical distances: sensitive values of one category are close to each other."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.errors import HierarchyError, ParameterError
from tarnkappe.privacy.closeness import Closeness
from tarnkappe.privacy.earth_mover import Tree
from tarnkappe.privacy.exact import sql_ratio
from tarnkappe.table import Column, Distribution, Levels, Tuples


class HierarchicalCloseness(Closeness):
    """t-closeness where two values are at distance h / H if they first meet at level h of H.

    The levels are those of the hierarchy of the sensitive column, which must have one root. The distance
    of a class is the mean, over the levels below the root, of the variational distances between the class
    and the table at that level. That is the usual sum, over all inner nodes of height h, of h / H times
    min(pos, neg), where pos and neg are the surpluses and the deficits of the children: min(pos, neg) is
    half of (the sum of |P - Q| over the children - |P - Q| of the node itself), and this telescopes.
    """

    name = "hierarchical-closeness"
    cites = ("li2007",)

    @classmethod
    def examples(cls) -> tuple[HierarchicalCloseness, ...]:
        return (cls("disease", 0.4), cls("disease", 0.25), cls("disease", 0.4, given=("treatment",)))

    def tree(self, distribution: Distribution) -> Tree:
        return Tree.hierarchy(distribution.totals, self._levels(distribution.column))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        levels = self._levels(tuples.columns[self.column])
        if levels.distinct(levels.height) > 1:
            raise HierarchyError(
                "privacy.hierarchy-several-roots-add",
                "{model}: the hierarchy of '{column}' has several roots ({labels}, ...): add a level at "
                "which all values are the same",
                model=self,
                column=self.column,
                labels=", ".join(levels.labels[-1][:3]),
            )

    def _levels(self, column: Column) -> Levels:
        if column.levels is None or column.levels.height == 0:
            raise ParameterError(
                "privacy.measures-distances-hierarchy-none",
                "{model} measures distances in a hierarchy of '{column}', which has none: give one, or use "
                "equal-closeness or ordered-closeness",
                model=self,
                column=self.column,
            )
        return column.levels

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.t)
        return f"""
            WITH whole AS (
                SELECT sum(n) AS rows, (SELECT max(level) FROM levels) AS height FROM totals),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            labels AS (
                SELECT value, 0 AS level, value AS label FROM totals
                UNION ALL SELECT value, level, label FROM levels, whole WHERE level < height),
            table_labels AS (
                SELECT level, label, sum(n) AS total FROM totals JOIN labels USING (value) GROUP BY ALL),
            class_labels AS (
                SELECT class, level, label, sum(n) AS n FROM counts JOIN labels USING (value) GROUP BY ALL),
            surplus AS (
                SELECT class, size * rows * height AS one, sum(greatest(0, n * rows - total * size)) AS work
                FROM class_labels JOIN table_labels USING (level, label) JOIN sizes USING (class)
                    CROSS JOIN whole GROUP BY class, one)
            SELECT class, work / one AS value, work * {denominator} <= {numerator} * one AS holds
            FROM surplus"""
