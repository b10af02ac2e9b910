"""Negative/positive-disclosure-recursive (c1,c2,l)-diversity: no value known, and some never ruled out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import at_least, decimal, sql_ratio
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    literal,
)
from tarnkappe.privacy.positive_disclosure_recursive_diversity import PositiveDisclosureRecursiveDiversity
from tarnkappe.schema import MOST_VALUES, Name, Positive, Problem, param, rule
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import Counts


class NegativeDisclosureRecursiveDiversity(SensitiveModel):
    """Positive-disclosure-recursive (c1,l)-diversity in which some values cannot be ruled out.

    Machanavajjhala et al. 2006: in addition, each value that must not be excluded makes up at least
    `c2` percent of every class. It is the conjunction of two parts: the positive one, and itself with
    the smallest of these shares, in percent, as what is measured.

    Two parts that each have at least c2 percent of a value have as much of it together, so both parts
    survive merging. Every class has all the values that must not be excluded, hence at least as many
    distinct values; and if one of them is not harmless, also the l values of the positive part.
    """

    name = "negative-disclosure-recursive-diversity"
    cites = ("machanavajjhala2007",)
    direction = Direction.AT_LEAST

    c1: Annotated[Positive, param("times the rest that the most frequent value stays below", start=3.0)]
    c2: Annotated[
        Positive,
        param(
            "percent of a class that each value of must_not_be_excluded has at least",
            unit="percent",
            start=3.0,
        ),
    ]
    l: Annotated[
        int,
        param("place from which counts are added up to the rest", ge=2, le=1_000_000, unit="values", start=3),
    ]
    harmless: Annotated[
        tuple[Name, ...], param("the values that may be disclosed", kind="values", max_length=MOST_VALUES)
    ] = ()
    must_not_be_excluded: Annotated[
        tuple[Name, ...],
        param(
            "the values of which nobody may be known not to have them", kind="values", max_length=MOST_VALUES
        ),
    ] = ()

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        values = len(set(self.must_not_be_excluded))
        if not values:
            yield rule("model.no-values", "at least one value is needed", "must_not_be_excluded")
        if decimal(self.c2) * values > 100:
            yield rule(
                "model.more-than-all",
                "{values} values cannot make up at least {c2} percent each",
                "c2",
                values=values,
                c2=f"{self.c2:g}",
            )

    @classmethod
    def examples(cls) -> tuple[NegativeDisclosureRecursiveDiversity, ...]:
        return (
            cls("disease", 3, 25, 2, (), ("flu",)),
            cls("disease", 2, 20, 2, ("cold",), ("flu", "cold")),
            cls("disease", 3, 33.3, 2, (), ("flu",), given=("treatment",)),
        )

    @property
    def positive(self) -> PositiveDisclosureRecursiveDiversity:
        """The part that keeps values from being known."""
        return PositiveDisclosureRecursiveDiversity(
            self.column, self.c1, self.l, self.harmless, given=self.given
        )

    @property
    def parts(self) -> tuple[Model, ...]:
        return (self.positive, self)

    @property
    def promise(self) -> str:
        values = ", ".join(self.must_not_be_excluded)
        return (
            f"{self.positive.promise} For everybody the chance of each of the values {values} "
            f"stays at least {self.c2:g} percent."
        )

    @property
    def bound(self) -> float:
        return self.c2

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "A share that two classes reach, their union reaches, and the positive part survives merging; "
            "but a class that was suppressed can spoil the one it is merged with.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        values = len(set(self.must_not_be_excluded))
        if not set(self.must_not_be_excluded) <= set(self.harmless):
            values = max(values, self.positive.least_values)
        return DistinctDiversity(self.column, values).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.positive.check(tuples, quasi_identifiers)
        self.require_known(tuples, self.must_not_be_excluded)

    def measure_values(self, distribution: Distribution) -> Measure:
        sizes = np.maximum(distribution.sizes, 1)
        return 100.0 * self._rarest(distribution) / sizes

    def values_hold(self, distribution: Distribution) -> Mask:
        rarest, sizes, share = self._rarest(distribution), distribution.sizes, decimal(self.c2) / 100

        def exactly(index: int) -> bool:
            return int(rarest[index]) >= share * int(sizes[index])

        frequent = at_least(self.measure_values(distribution), self.c2, exactly)
        return frequent & self.positive.values_hold(distribution)

    def _rarest(self, distribution: Distribution) -> Counts:
        """The smallest count, in each class, of the values that must not be excluded."""
        labels = distribution.column.labels
        rarest = distribution.sizes.copy()
        for value in self.must_not_be_excluded:
            entries = np.array([label == value for label in labels], dtype=bool)[distribution.codes]
            count = np.zeros(distribution.num_classes, dtype=np.int64)
            count[distribution.class_of_entry[entries]] = distribution.counts[entries]
            rarest = np.minimum(rarest, count)
        return rarest

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        numerator, denominator = sql_ratio(self.c2)
        values = ", ".join(f"({literal(value)})" for value in self.must_not_be_excluded)
        return f"""
            WITH sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            demanded AS (SELECT * FROM (VALUES {values}) AS demanded(value)),
            rarest AS (
                SELECT class, any_value(size) AS size, min(coalesce(n, 0))::HUGEINT AS n
                FROM sizes CROSS JOIN demanded LEFT JOIN counts USING (class, value) GROUP BY class)
            SELECT class, 100.0 * n / size AS value, n * 100 * {denominator} >= size * {numerator} AS holds
            FROM rarest"""
