"""(alpha_i,beta_i)-closeness: the share of each sensitive value stays within bounds of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.privacy.distinct_diversity import DistinctDiversity
from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.model import (
    Direction,
    Measure,
    Model,
    Monotonicity,
    SensitiveModel,
    literal,
)
from tarnkappe.privacy.shares import (
    counts_of,
    quotients,
    ratios_at_least,
    ratios_at_most,
)
from tarnkappe.schema import MOST_VALUES, ExactShare, Name, Problem, param, rule, shown
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class ValueCloseness(SensitiveModel):
    """In every class the share of each bounded value lies between its lower and its upper bound.

    `bounds` tells (lower, upper) for each value that has bounds; they may be fractions such as '1/3'. Lower
    bounds keep an attacker from ruling a value out, upper bounds from being sure of it. Measured is by how
    much the worst bound is missed, so that 0 is the limit.

    Why it survives merging: the share of a value in a union lies between its shares in the parts. Why it
    implies diversity: a value with a lower bound above 0 occurs in every class; and if the upper bounds
    leave room, that is if they sum to less than 1, there must be a value without bounds besides.
    """

    name = "value-closeness"
    direction = Direction.AT_MOST

    bounds: Annotated[
        Mapping[Name, tuple[ExactShare, ExactShare]],
        param(
            "for each sensitive value, the least and the largest share that it may have in a class",
            kind="values",
            min_length=1,
            max_length=MOST_VALUES,
        ),
    ]

    def rules(self) -> Iterator[Problem]:
        yield from super().rules()
        for value, (lower, upper) in self.bounds.items():
            if decimal(lower) > decimal(upper):
                yield rule(
                    "value-closeness.order", "the lower bound is above the upper bound", "bounds", value
                )
        least = sum(decimal(lower) for lower, _ in self.bounds.values())
        if least > 1:
            yield rule(
                "value-closeness.sum",
                "the lower bounds sum to {least}, which is more than 1",
                "bounds",
                least=shown(float(least)),
            )

    @classmethod
    def examples(cls) -> tuple[ValueCloseness, ...]:
        return (
            cls("disease", {"flu": (0.1, "2/3"), "cold": (0, 0.75)}),
            cls("disease", {"flu": (0, 0.5), "ulcer": (0, 0.5)}, given=("treatment",)),
        )

    @property
    def promise(self) -> str:
        limits = ", ".join(
            f"from {decimal(lower)} to {decimal(upper)} for '{value}'"
            for value, (lower, upper) in self.bounds.items()
        )
        return f"For everybody in the release the probability of a value of '{self.column}' is {limits}."

    @property
    def bound(self) -> float:
        return 0.0

    @property
    def monotonicity(self) -> Monotonicity:
        return Monotonicity(
            True,
            False,
            "The share of a value in a merged class lies between its shares in the parts; "
            "but a class that was suppressed can spoil the one it is merged with.",
        )

    def sub_criteria(self, tuples: Tuples) -> tuple[Model, ...]:
        always = sum(decimal(lower) > 0 for lower, _ in self.bounds.values())
        room_for_others = sum(decimal(upper) for _, upper in self.bounds.values()) < 1
        return DistinctDiversity(self.column, max(1, always + room_for_others)).sub_criteria(tuples)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        self.require_known(tuples, self.bounds)

    def measure_values(self, distribution: Distribution) -> Measure:
        missed = []
        for value, (lower, upper) in self.bounds.items():
            share = quotients(counts_of(distribution, value), distribution.sizes)
            missed += [float(decimal(lower)) - share, share - float(decimal(upper))]
        return np.asarray(np.max(missed, axis=0))

    def values_hold(self, distribution: Distribution) -> Mask:
        good = np.ones(distribution.num_classes, dtype=bool)
        for value, (lower, upper) in self.bounds.items():
            counts = counts_of(distribution, value)
            good &= ratios_at_least(counts, distribution.sizes, lower)
            good &= ratios_at_most(counts, distribution.sizes, upper)
        return good

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        rows = ", ".join(
            f"({literal(value)}, {', '.join((*sql_ratio(lower), *sql_ratio(upper)))})"
            for value, (lower, upper) in self.bounds.items()
        )
        return f"""
            WITH bounds(value, low, low_of, high, high_of) AS (VALUES {rows}),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            found AS (
                SELECT sizes.class, size, coalesce(n, 0) AS n, low, low_of, high, high_of
                FROM sizes CROSS JOIN bounds
                LEFT JOIN counts ON counts.class = sizes.class AND counts.value = bounds.value)
            SELECT class, max(greatest(low / low_of - n / size, n / size - high / high_of)) AS value,
                bool_and(size * low <= n * low_of AND n * high_of <= size * high) AS holds
            FROM found GROUP BY class"""
