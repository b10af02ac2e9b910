"""(n,t)-closeness: a class tells hardly more of a person than a large group around it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Annotated

import numpy as np

from tarnkappe.privacy.exact import at_most, decimal, shown, sql_ratio
from tarnkappe.privacy.group_model import group_classes, visible_only
from tarnkappe.privacy.model import Direction, Measure, Model, ModelScope, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.privacy.verify import quote, text
from tarnkappe.schema import ExactShare, Name, Rows, param
from tarnkappe.table import SUPPRESSED, Classes, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts, group_codes, sum_by_group

MOST_COLUMNS = 12
"""Each set of columns that an attacker may leave out is a group around a class: 4,096 of them at most."""


class NTCloseness(Model):
    """Every class has a group around it of at least n released rows whose values are distributed alike.

    Li, Li and Venkatasubramanian 2010. t-closeness compares a class with the whole table, which costs much
    detail: what holds of a whole town is not secret, but may differ from the country. Here the class is
    compared with larger groups that contain it, and one of them is enough: at least n released rows, at a
    distance of at most t, half the sum of |p - q| over all values. A class of n rows is such a group itself.

    The groups around a class are those that agree with it in some of the quasi-identifiers, the whole release
    among them (the paper's natural supersets may also leave out parts of a value: a release that meets
    the model here meets it there). They hold released rows only: what was suppressed nobody can
    compare with. Suppressing a class may take from another the group that it needs, so classes are looked at
    again until nothing changes.
    """

    name = "n-t-closeness"
    cites = ("li2010",)
    direction = Direction.AT_MOST
    scope = ModelScope.GROUP

    column: Annotated[Name, param("the sensitive column", kind="column")]
    n: Annotated[Rows, param("rows that the larger group has at least", unit="rows", start=1000)]
    t: Annotated[
        ExactShare, param("the largest distance of a class from the larger group", kind="share", start=0.3)
    ]

    @classmethod
    def examples(cls) -> tuple[NTCloseness, ...]:
        return (cls("disease", 4, 0.3), cls("disease", 3, "1/4"))

    @property
    def promise(self) -> str:
        return (
            f"Whoever finds somebody's group in the release learns hardly more of '{self.column}' than a "
            f"larger group of at least {self.n} rows tells: the two distributions are at most "
            f"{shown(self.t)} apart, on a scale to 1."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.t))

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            False,
            False,
            "Two classes that are merged may each be close to a group of its own, and their union to none.",
        )

    @property
    def suppression_rule(self) -> str:
        return "classes without a larger group that is close enough are suppressed until all have one"

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.column,),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        require(
            len(quasi_identifiers) <= MOST_COLUMNS,
            "privacy.groups-around-class-too-many",
            "{model}: with {columns} quasi-identifiers a class has too many larger groups around it: at most "
            "{most} are possible, or take 'equal-closeness', which compares with the whole table",
            model=self,
            columns=len(quasi_identifiers),
            most=MOST_COLUMNS,
        )
        require(
            tuples.num_rows >= self.n,
            "privacy.larger-group-exceeds-table",
            "{model}: the table has only {num_rows} {num_rows:row|rows}, so no group has {n}: choose a "
            "smaller n",
            model=self,
            num_rows=tuples.num_rows,
            n=self.n,
        )

    def measure(self, classes: Classes) -> Measure:
        """The distance from the closest group that is large enough; infinite if there is none."""
        return self._measure(classes, classes.released)

    def holds(self, classes: Classes) -> Mask:
        """The classes that have a group if nothing is suppressed."""
        return self._hold(classes, classes.released)

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        """The classes that have a group of what is kept at last."""
        while True:
            left = kept & self._hold(classes, kept)
            if np.array_equal(left, kept):
                return left
            kept = left

    def value(self, classes: Classes, kept: Mask) -> float:
        """The largest distance of a kept class, with groups of what is kept."""
        return self.direction.worst(self._measure(classes, kept)[kept])

    def _measure(self, classes: Classes, kept: Mask) -> Measure:
        least = np.full(classes.num_classes, np.inf)
        for work, one in self._distances(classes, kept):
            distance = np.divide(work, one, out=np.full(len(one), np.inf), where=one > 0)
            np.minimum(least, distance, out=least)
        return least

    def _hold(self, classes: Classes, kept: Mask) -> Mask:
        t, good = decimal(self.t), np.zeros(classes.num_classes, dtype=bool)
        for work, one in self._distances(classes, kept):
            distance = np.divide(work, one, out=np.full(len(one), np.inf), where=one > 0)

            def exactly(index: int, work: Counts = work, one: Counts = one) -> bool:
                return Fraction(int(work[index]), int(one[index])) <= t

            good |= at_most(distance, float(t), exactly)
            if good[kept].all():
                break
        return good

    def _distances(self, classes: Classes, kept: Mask) -> Iterator[tuple[Counts, Counts]]:
        """The distance of every class from a group around it, as a fraction; 0 below if it is too small.

        With c rows of a class and g of the group, of which c_v and g_v have the value v, half the sum of
        |c_v/c - g_v/g| is the sum of c_v g - g_v c, where that is positive, divided by c g. The whole release
        comes first: most classes that are close to something are close to it.
        """
        distribution = visible_only(classes.distributions[self.column,])
        owner, counts, sizes = distribution.class_of_entry, distribution.counts, distribution.sizes
        names = [column.name for column in classes.quasi_identifiers]
        for number in range(len(names) + 1):
            for chosen in combinations(names, number):
                groups = group_classes(classes, chosen)
                pairs = group_codes(
                    [groups.ids[owner], distribution.codes],
                    [groups.num_groups, distribution.column.cardinality],
                )
                within = sum_by_group(pairs.ids, counts * kept[owner], pairs.num_groups)[pairs.ids]
                around = sum_by_group(groups.ids, sizes * kept, groups.num_groups)[groups.ids]
                surplus = np.maximum(counts * around[owner] - within * sizes[owner], 0)
                work = sum_by_group(owner, surplus, classes.num_classes)
                yield work, np.where(around >= self.n, sizes * around, 0)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.t)
        names, value = list(quasi_identifiers), text(self.column)
        keys = ", ".join(
            f"row({number}, {', '.join(text(name) if name in chosen else repr('') for name in names)})"
            for number, chosen in enumerate(
                chosen for size in range(len(names) + 1) for chosen in combinations(names, size)
            )
        )
        own = ", ".join(text(name) for name in names)
        return f"""
            WITH cells AS (
                SELECT row({own}) AS class, {value} AS {quote("value")}, [{keys}] AS keys, count(*) AS n
                FROM release WHERE {value} <> '{SUPPRESSED}' GROUP BY ALL),
            sizes AS (SELECT class, sum(n) AS size FROM cells GROUP BY class),
            each_group AS (SELECT class, value, n, unnest(keys) AS around FROM cells),
            within AS (SELECT around, value, sum(n) AS m FROM each_group GROUP BY ALL),
            groups AS (SELECT around, sum(m) AS rows FROM within GROUP BY ALL HAVING sum(m) >= {self.n}),
            distances AS (
                SELECT class, around, any_value(size * rows) AS one,
                    sum(greatest(0, n * rows - m * size)) AS work
                FROM each_group JOIN within USING (around, value) JOIN groups USING (around)
                    JOIN sizes USING (class) GROUP BY ALL)
            SELECT class, coalesce(min(work / one), CAST('infinity' AS DOUBLE)) AS value,
                coalesce(bool_or(work * {denominator} <= {numerator} * one), false) AS holds
            FROM classes LEFT JOIN distances USING (class) GROUP BY class"""
