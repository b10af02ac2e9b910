"""Subset confidence: bounded inference for attackers who know at most l of the quasi-identifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.column_subsets import column_subsets, subset_groups
from tarnkappe.privacy.confidence_bounding import require_values
from tarnkappe.privacy.exact import Exact, decimal, sql_ratio
from tarnkappe.privacy.group_model import merge_classes
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    ModelScope,
    Monotonicity,
    literal,
)
from tarnkappe.privacy.shares import (
    SHARES_OF_MERGED_GROUPS,
    codes_of,
    every_share_at_most,
    largest_share,
)
from tarnkappe.privacy.subset_anonymity import SubsetAnonymity
from tarnkappe.privacy.verify import class_of, text
from tarnkappe.schema import MOST_VALUES, ExactShare, Name, Problem, param, rule
from tarnkappe.table import SUPPRESSED, Classes, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import RowGrouping


def rule_of_confidence(c: Exact, values: tuple[str, ...]) -> Iterator[Problem]:
    """Nothing at all can be concluded only where some values are named."""
    if not values and decimal(c) == 0:
        yield rule("subset-confidence.c", "a confidence above 0 is needed unless values are named", "c")


class SubsetConfidence(Model):
    """For every combination of at most l quasi-identifiers, no sensitive value has a share above c.

    This is the C of LKC-privacy (Mohammed et al. 2009). `values` are the values that are sensitive; without
    them all are.

    Suppression may raise the share of a value in other groups, so all violating groups are suppressed at
    once, again and again until there is none. There need not be a largest set of classes that meets the
    model; this one depends neither on the order of the columns nor of the classes.

    Why it is monotone without suppression: the groups of merged classes are unions of groups, and the share
    of a value in a union lies between its shares in the parts. With suppression, a class that was
    suppressed can spoil a group. If all values are sensitive, each group has at least 1/c of them, and rows.
    """

    name = "subset-confidence"
    cites = ("mohammed2009",)
    direction = Direction.AT_MOST
    scope = ModelScope.GROUP

    l: Annotated[
        int,
        param("values that the attacker knows at most of anybody", ge=1, le=1_000, unit="columns", start=2),
    ]
    c: Annotated[
        ExactShare,
        param("the largest confidence with which a value may be concluded", kind="share", start=0.5),
    ]
    column: Annotated[Name, param("the sensitive column", kind="column")]
    values: Annotated[
        tuple[Name, ...],
        param(
            "the sensitive values that must not be concluded; all if none is named",
            kind="values",
            max_length=MOST_VALUES,
        ),
    ] = ()

    def rules(self) -> Iterator[Problem]:
        yield from rule_of_confidence(self.c, self.values)

    @classmethod
    def examples(cls) -> tuple[SubsetConfidence, ...]:
        return (cls(1, "2/3", "disease"), cls(2, 0.5, "disease", values=("flu", "ulcer")))

    @property
    def promise(self) -> str:
        inferred = (
            f"that somebody's '{self.column}' is {' or '.join(map(repr, self.values))}"
            if self.values
            else f"anybody's value of '{self.column}'"
        )
        return (
            f"Whoever knows at most {self.l} quasi-identifiers cannot infer {inferred} "
            f"with a probability above {decimal(self.c)}."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.c))

    @property
    def monotonicity(self) -> Monotonicity:
        return SHARES_OF_MERGED_GROUPS

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        return ((self.column,),)

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return () if self.values else (SubsetAnonymity(self.l, math.ceil(1 / decimal(self.c))),)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        require_values(str(self), tuples, self.column, dict.fromkeys(self.values))

    def measure(self, classes: Classes) -> Measure:
        return self._largest(classes, classes.released)

    def holds(self, classes: Classes) -> Mask:
        return self._hold(classes, classes.released, subset_groups(classes, self.l))

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        groups = subset_groups(classes, self.l)
        while True:
            left = kept & self._hold(classes, kept, groups)
            if np.array_equal(left, kept):
                return kept
            kept = left

    def value(self, classes: Classes, kept: Mask) -> float:
        return self.direction.worst(self._largest(classes, kept)[kept])

    def _largest(self, classes: Classes, kept: Mask) -> Measure:
        """The largest share of a sensitive value in any group of each class, counting what is kept."""
        distribution = classes.distributions[self.column,]
        sensitive = codes_of(distribution, self.values)
        shares = [
            largest_share(merge_classes(distribution, groups, kept), sensitive)[groups.ids]
            for groups in subset_groups(classes, self.l)
        ]
        return np.asarray(np.max(shares, axis=0))

    def _hold(self, classes: Classes, kept: Mask, groupings: Sequence[RowGrouping]) -> Mask:
        distribution = classes.distributions[self.column,]
        sensitive = codes_of(distribution, self.values)
        good = np.ones(classes.num_classes, dtype=bool)
        for groups in groupings:
            merged = merge_classes(distribution, groups, kept)
            good &= (every_share_at_most(merged, self.c, sensitive) & (merged.sizes > 0))[groups.ids]
        return good

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.c)
        sensitive = f"value IN ({', '.join(map(literal, self.values))})" if self.values else "true"
        seen = " UNION ALL ".join(
            f"(SELECT {class_of(names)}::VARCHAR AS class, {number} AS subset, {text(self.column)} AS value,"
            f" count(*) AS n FROM release WHERE {text(self.column)} <> '{SUPPRESSED}' GROUP BY 1, 3)"
            for number, names in enumerate(column_subsets(quasi_identifiers, self.l))
        )
        return f"""
            WITH seen AS ({seen})
            SELECT class, coalesce(max(n) FILTER ({sensitive}), 0) / sum(n) AS value,
                coalesce(max(n) FILTER ({sensitive}), 0) * {denominator} <= sum(n) * {numerator} AS holds
            FROM seen GROUP BY class, subset"""
