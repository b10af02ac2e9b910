"""Subset anonymity: k-anonymity against attackers who know at most l of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.column_subsets import column_subsets, subset_groups
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Measure, Model, ModelScope, Monotonicity, others
from tarnkappe.privacy.verify import class_of
from tarnkappe.schema import Rows, param
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import sum_by_group


class SubsetAnonymity(Model):
    """Every combination of values of at most l quasi-identifiers that occurs, occurs at least k times.

    This is the K of LKC-privacy (Mohammed et al. 2009). It asks less than k-anonymity where there are more
    than l quasi-identifiers, and the same where there are not.

    Suppressing a class takes its rows from groups that other classes belong to, so classes are
    suppressed until nothing changes. What is left is the largest set of classes that meets the model: if
    classes S meet it, no class of S is ever suppressed, since all groups of S are there as long as S is.

    Why it is monotone with suppression too: let S be the rows kept at some levels. At higher levels take all
    classes that contain a row of S. For any l columns, each of their groups contains a whole group of S, so
    it has at least k rows: these classes meet the model, and the largest set that does contains them and S.
    """

    name = "subset-anonymity"
    cites = ("mohammed2009",)
    direction = Direction.AT_LEAST
    scope = ModelScope.GROUP

    l: Annotated[
        int,
        param("values that the attacker knows at most of anybody", ge=1, le=1_000, unit="columns", start=2),
    ]
    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]

    @classmethod
    def examples(cls) -> tuple[SubsetAnonymity, ...]:
        return (cls(1, 3), cls(2, 2))

    @property
    def promise(self) -> str:
        return (
            f"Whoever knows at most {self.l} quasi-identifiers of somebody in the release "
            f"cannot tell her apart from at least {others(self.k - 1)}."
        )

    @property
    def bound(self) -> float:
        return self.k

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges groups, so the groups of rows that were kept never get smaller.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        KAnonymity(self.k).check(tuples, quasi_identifiers)

    def measure(self, classes: Classes) -> Measure:
        return self._smallest(classes, classes.released)

    def holds(self, classes: Classes) -> Mask:
        return self.measure(classes) >= self.k

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        groups = subset_groups(classes, self.l)
        while True:
            before = int(kept.sum())
            for grouping in groups:
                sizes = sum_by_group(grouping.ids, np.where(kept, classes.sizes, 0), grouping.num_groups)
                kept = kept & (sizes >= self.k)[grouping.ids]
            if int(kept.sum()) == before:
                return kept

    def value(self, classes: Classes, kept: Mask) -> float:
        return self.direction.worst(self._smallest(classes, kept)[kept])

    def _smallest(self, classes: Classes, kept: Mask) -> Measure:
        """The size of the smallest group that each class belongs to, counting what is kept."""
        rows = np.where(kept, classes.sizes, 0)
        sizes = [sum_by_group(g.ids, rows, g.num_groups)[g.ids] for g in subset_groups(classes, self.l)]
        return np.asarray(np.min(sizes, axis=0), dtype=np.float64)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return " UNION ALL ".join(
            f"(SELECT {class_of(names)}::VARCHAR AS class, count(*) AS value, count(*) >= {self.k} AS holds"
            " FROM release GROUP BY 1)"
            for names in column_subsets(quasi_identifiers, self.l)
        )
