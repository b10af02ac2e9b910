"""k-anonymity: nobody can be told apart from fewer than k - 1 other_rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.privacy.model import Direction, Measure, Model, Monotonicity, other_rows
from tarnkappe.schema import Rows, param
from tarnkappe.table import Classes, Tuples
from tarnkappe.table.classes import Mask


class KAnonymity(Model):
    """Every class has at least k rows (Samarati and Sweeney 1998).

    >>> KAnonymity(5).promise
    'Every row of the release shares what others may know with at least 4 other rows.'
    """

    name = "k-anonymity"
    cites = ("samarati2001", "sweeney2002")
    direction = Direction.AT_LEAST

    k: Annotated[Rows, param("rows that every class has at least", unit="rows", start=5)]

    @classmethod
    def examples(cls) -> tuple[KAnonymity, ...]:
        return (cls(2), cls(3))

    @property
    def promise(self) -> str:
        return f"Every row of the release shares what others may know with at least {other_rows(self.k - 1)}."

    @property
    def bound(self) -> float:
        return self.k

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            True,
            "Generalization only merges classes, so sizes never fall and never more rows are in small ones.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return (self,)

    def least_size(self, tuples: Tuples) -> int:
        return self.k

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        if self.k > tuples.num_rows:
            raise ParameterError(
                "privacy.k-larger-table-rows",
                "k = {k} is larger than the table, which has {num_rows} {num_rows:row|rows}: choose a "
                "smaller k",
                k=self.k,
                num_rows=tuples.num_rows,
            )

    def measure(self, classes: Classes) -> Measure:
        return classes.sizes.astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return classes.sizes >= self.k

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return f"SELECT class, size AS value, size >= {self.k} AS holds FROM classes"
