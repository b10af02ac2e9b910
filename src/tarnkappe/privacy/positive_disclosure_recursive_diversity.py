"""Positive-disclosure-recursive (c,l)-diversity: recursive diversity that lets harmless values dominate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.model import Model
from tarnkappe.privacy.recursive_diversity import RecursiveDiversity, sql_odds
from tarnkappe.schema import MOST_VALUES, Name, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class PositiveDisclosureRecursiveDiversity(RecursiveDiversity):
    """Recursive (c,l)-diversity for all values but the harmless ones (Machanavajjhala et al. 2006).

    Some values may be disclosed, since nearly everybody has them or they do no harm ('healthy'). Let the
    most frequent value of a class that is not harmless be the y-th most frequent of all. The class meets
    the model if ry < c (rl + ... + rd) for y < l, else if ry < c (r(l-1) + ... + rd - ry). Both say the
    same: ry is less than c times what is left of the other values without their l - 2 most frequent. A
    class of harmless values alone meets the model.

    As in recursive diversity, what holds for the most frequent harmful value s holds for all: n(s) is
    less than c times the rest that remains when s and any l - 2 other values are taken away. A union has
    n(s) = n1(s) + n2(s), and its rest is at least the sum of the rests; where a part lacks s, 0 is at
    most c times its rest. So the model survives merging.
    """

    name = "positive-disclosure-recursive-diversity"
    cites = ("machanavajjhala2007",)

    harmless: Annotated[
        tuple[Name, ...],
        param(
            "the values that may be disclosed; a missing value is '(missing)'",
            kind="values",
            max_length=MOST_VALUES,
        ),
    ] = ()

    @classmethod
    def examples(cls) -> tuple[PositiveDisclosureRecursiveDiversity, ...]:
        return (
            cls("disease", 1.5, 2, ("flu",)),
            cls("disease", 2, 3, ("flu", "cold")),
            cls("disease", 2, 2, ("flu",), given=("treatment",)),
        )

    @property
    def promise(self) -> str:
        if not self.harmless:
            return super().promise
        return f"{super().promise[:-1]}, except for the harmless {', '.join(self.harmless)}."

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        return () if self.harmless else super().sub_criteria(tuples)

    @property
    def least_values(self) -> int:
        """How many values a class with a harmful value has at least: the harmful one and l - 1 others."""
        return self.l if self.harmless else super().least_values

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_known(tuples, self.harmless)

    def harmless_codes(self, distribution: Distribution) -> Mask:
        return np.array([label in self.harmless for label in distribution.column.labels], dtype=bool)

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        return sql_odds(self.harmless, self.c, self.l)
