"""(X,Y)-anonymity: every value of X is linked to at least k values of Y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import distinct_values
from tarnkappe.privacy.group_model import GroupModel, visible_only
from tarnkappe.privacy.k_anonymity import KAnonymity
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity
from tarnkappe.privacy.requiring import require
from tarnkappe.schema import MOST_NAMES, Name, Problem, Rows, param, rule
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask

ColumnsY = Annotated[
    tuple[Name, ...],
    param(
        "the columns of which a class must have several values",
        kind="columns",
        min_length=1,
        max_length=MOST_NAMES,
    ),
]
ColumnsX = Annotated[
    tuple[Name, ...],
    param(
        "the columns that form the groups; all quasi-identifiers if none is named",
        kind="columns",
        max_length=MOST_NAMES,
    ),
]


class XYAnonymity(GroupModel):
    """At least k different values of the columns `y` for every value of the columns `x` (Wang and Fung 2006).

    `x` are quasi-identifiers, all of them if none is named; `y` are other columns, whose combinations of
    values count. With a person's number as `y` it counts persons instead of rows; with a sensitive
    column it is distinct diversity.

    A row more never takes a value away, so the model is monotone with suppression too (see `GroupModel`).
    """

    name = "x-y-anonymity"
    cites = ("wang2006",)
    direction = Direction.AT_LEAST

    y: ColumnsY
    k: Annotated[
        Rows, param("different values of y that every group of x has at least", unit="values", start=5)
    ]
    x: ColumnsX = ()

    def rules(self) -> Iterator[Problem]:
        yield from rules_of_two_sides(self.x, self.y)

    @classmethod
    def examples(cls) -> tuple[XYAnonymity, ...]:
        return (cls(("disease", "treatment"), 3), cls(("disease",), 2, x=("a",)))

    @property
    def promise(self) -> str:
        known = f"From {quoted(self.x)}" if self.x else "From all quasi-identifiers"
        return f"{known} nobody can be linked to fewer than {self.k} values of {quoted(self.y)}."

    @property
    def bound(self) -> float:
        return self.k

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges groups, and rows that are added to a group never take a value away.",
        )

    @property
    def group_columns(self) -> tuple[str, ...]:
        return self.x

    @property
    def value_columns(self) -> tuple[str, ...]:
        return self.y

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,) if self.x else (self, KAnonymity(self.k))

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        whole = visible_only(tuples.classes((), distributions=[self.y]).distributions[self.y])
        there = int(np.count_nonzero(whole.totals))
        require(
            there >= self.k,
            "privacy.whole-table-only-different",
            "{model}: the whole table has only {there} different {there:value|values} of {y}: choose a "
            "smaller k",
            model=self,
            there=there,
            y=quoted(self.y),
        )

    def measure_groups(self, distribution: Distribution) -> Measure:
        return distinct_values(distribution)

    def groups_hold(self, distribution: Distribution) -> Mask:
        return distinct_values(distribution) >= self.k

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"""
            WITH {self.sql_counts(quasi_identifiers)}
            SELECT class, count(*) AS value, count(*) >= {self.k} AS holds FROM counts GROUP BY class"""


def rules_of_two_sides(x: tuple[str, ...], y: tuple[str, ...]) -> Iterator[Problem]:
    """No column is repeated, and none is in both X and Y."""
    if len({*x, *y}) != len(x) + len(y):
        yield rule("model.x-and-y", "different columns are needed in x and y, each of them once", "y")


def quoted(names: tuple[str, ...]) -> str:
    """Names in a sentence."""
    return " and ".join(f"'{name}'" for name in names)
