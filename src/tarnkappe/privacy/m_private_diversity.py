"""Distinct diversity that holds, too, against those who have given some of the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.group_model import visible_only
from tarnkappe.privacy.m_privacy import (
    NOT_WITH_SUPPRESSION,
    Insiders,
    coalition,
    require_known_insiders,
)
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.privacy.verify import class_of, text
from tarnkappe.schema import Name, Problem, param, rule
from tarnkappe.table import SUPPRESSED, Classes, Tuples
from tarnkappe.table.classes import Mask

MOST_COALITIONS = 1_000
"""The values that each coalition leaves are counted anew."""


class MPrivateDiversity(Model):
    """Whoever gave rows and takes them out finds no values of others in a class, or at least l of them.

    m-privacy (Goryczka, Xiong and Fung 2014) with distinct l-diversity: `insider` says who gave each row, and
    for every coalition of at most m of them the sensitive values of the others in each class are none or at
    least l. A class may well be diverse only by the rows of the one who asks.
    """

    name = "m-private-diversity"
    cites = ("goryczka2014", "machanavajjhala2007")
    direction = Direction.AT_LEAST

    column: Annotated[Name, param("the sensitive column", kind="column")]
    l: Annotated[
        int,
        param(
            "different sensitive values of others that every class has at least",
            ge=1,
            le=1_000_000,
            unit="values",
            start=3,
        ),
    ]
    insider: Annotated[Name, param("the column that says who gave each row", kind="column")]
    m: Insiders = 1

    def rules(self) -> Iterator[Problem]:
        """Who gave a row is not what is protected."""
        if self.column == self.insider:
            yield rule("model.insider-itself", "another column than the sensitive one is needed", "insider")

    @classmethod
    def examples(cls) -> tuple[MPrivateDiversity, ...]:
        return (cls("disease", 2, "treatment"), cls("disease", 2, "income", 2))

    @property
    def promise(self) -> str:
        return (
            f"If {coalition(self.m, self.insider)} its own rows, every class of the release has no value of "
            f"'{self.column}' or at least {self.l} left."
        )

    @property
    def bound(self) -> float:
        return self.l

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(True, False, NOT_WITH_SUPPRESSION)

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.column, self.insider),)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return DistinctDiversity(self.column, self.l).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        DistinctDiversity(self.column, self.l).check(tuples, quasi_identifiers)
        require_known_insiders(self, tuples, self.insider)
        number = tuples.columns[self.insider].cardinality
        coalitions = sum(math.comb(number, size) for size in range(1, min(self.m, number) + 1))
        require(
            coalitions <= MOST_COALITIONS,
            "privacy.too-many-coalitions",
            "{model}: '{insider}' has {number} values, which make more than {most:,} coalitions: choose a "
            "smaller m, or a column with fewer values",
            model=self,
            insider=self.insider,
            number=number,
            most=MOST_COALITIONS,
        )

    def measure(self, classes: Classes) -> Measure:
        """The least number of values that a coalition leaves, if it leaves any."""
        joint = visible_only(classes.distributions[self.column, self.insider])
        (column, values), (insiders, owners) = joint.column.parts
        value, owner = values[joint.codes], owners[joint.codes]
        pairs = joint.class_of_entry.astype(np.int64) * column.cardinality + value
        least = np.full(joint.num_classes, np.inf)
        for size in range(min(self.m, insiders.cardinality) + 1):
            for taken in combinations(range(insiders.cardinality), size):
                left = np.unique(pairs[~np.isin(owner, taken)]) // column.cardinality
                number = np.bincount(left, minlength=joint.num_classes)
                least = np.where(number > 0, np.minimum(least, number), least)
        return np.where(np.isinf(least), 0.0, least)

    def holds(self, classes: Classes) -> Mask:
        return self.measure(classes) >= self.l

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH RECURSIVE owned AS (
                SELECT DISTINCT {class_of(quasi_identifiers)} AS class, {text(self.insider)} AS owner,
                    {text(self.column)} AS value FROM release WHERE {text(self.column)} <> '{SUPPRESSED}'),
            coalitions AS (
                SELECT CAST([] AS VARCHAR[]) AS members
                UNION ALL
                SELECT list_append(members, owner) FROM coalitions, (SELECT DISTINCT owner FROM owned)
                WHERE len(members) < {self.m} AND (len(members) = 0 OR owner > members[-1])),
            left_over AS (
                SELECT class, members, count(DISTINCT value) AS number FROM owned, coalitions
                WHERE NOT list_contains(members, owner) GROUP BY ALL)
            SELECT class, min(number) AS value, min(number) >= {self.l} AS holds FROM left_over
            GROUP BY class"""
