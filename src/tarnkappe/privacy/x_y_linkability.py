"""(X,Y)-linkability: no value of Y can be inferred from a value of X with more than a bounded confidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.group_model import GroupModel
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.shares import (
    SHARES_OF_MERGED_GROUPS,
    every_share_at_most,
    largest_share,
)
from tarnkappe.privacy.x_y_anonymity import ColumnsX, ColumnsY, XYAnonymity, quoted, rules_of_two_sides
from tarnkappe.schema import ExactPositiveShare, Problem, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class XYLinkability(GroupModel):
    """The share of every value of `y` among the rows with the same `x` is at most p (Wang and Fung 2006).

    `x` are quasi-identifiers, all of them if none is named; `y` are other columns, whose combinations of
    values count. With all quasi-identifiers as `x` and a sensitive column as `y` it is the
    alpha-deassociation of (alpha,k)-anonymity.

    Why it survives merging: the share of a value in a union lies between its shares in the parts. Why it
    implies diversity: d shares of at most p sum to 1, so d >= 1/p.
    """

    name = "x-y-linkability"
    cites = ("wang2006",)
    direction = Direction.AT_MOST

    y: ColumnsY
    p: Annotated[
        ExactPositiveShare,
        param(
            "the largest confidence with which values of y may be concluded from x", kind="share", start=0.5
        ),
    ]
    x: ColumnsX = ()

    def rules(self) -> Iterator[Problem]:
        yield from rules_of_two_sides(self.x, self.y)

    @classmethod
    def examples(cls) -> tuple[XYLinkability, ...]:
        return (cls(("disease",), "2/3"), cls(("disease", "treatment"), 0.5, x=("a",)))

    @property
    def promise(self) -> str:
        known = quoted(self.x) if self.x else "all quasi-identifiers"
        return (
            f"Nobody's value of {quoted(self.y)} can be inferred from {known} "
            f"with a probability above {decimal(self.p)}."
        )

    @property
    def bound(self) -> float:
        return float(decimal(self.p))

    @property
    def monotonicity(self) -> Monotonicity:
        return SHARES_OF_MERGED_GROUPS

    @property
    def group_columns(self) -> tuple[str, ...]:
        return self.x

    @property
    def value_columns(self) -> tuple[str, ...]:
        return self.y

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return self._diversity.sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self._diversity.check(tuples, quasi_identifiers)

    @property
    def _diversity(self) -> XYAnonymity:
        return XYAnonymity(self.y, math.ceil(1 / decimal(self.p)), x=self.x)

    def measure_groups(self, distribution: Distribution) -> Measure:
        return largest_share(distribution)

    def groups_hold(self, distribution: Distribution) -> Mask:
        return every_share_at_most(distribution, self.p)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.p)
        return f"""
            WITH {self.sql_counts(quasi_identifiers)}
            SELECT class, max(n) / sum(n) AS value,
                max(n) * {denominator} <= sum(n) * {numerator} AS holds FROM counts GROUP BY class"""
