"""Confidence bounding: chosen sensitive values can be inferred with a bounded confidence only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.exact import decimal, sql_ratio
from tarnkappe.privacy.group_model import GroupModel
from tarnkappe.privacy.model import Direction, Measure, Monotonicity, literal
from tarnkappe.privacy.shares import (
    SHARES_OF_MERGED_GROUPS,
    counts_of,
    quotients,
    ratios_at_most,
)
from tarnkappe.schema import MOST_NAMES, MOST_VALUES, ExactShare, Name, param
from tarnkappe.table import Distribution, Tuples
from tarnkappe.table.classes import Mask


class ConfidenceBounding(GroupModel):
    """The share of each template's value in every group is at most the template's bound (Wang et al. 2005).

    `templates` tells the bound of each value that needs one; a bound may be a fraction such as '1/3'. The
    groups are the classes, or, with `quasi_identifiers`, what an attacker sees who knows only those.
    Measured is by how much the worst template is exceeded, so that 0 is the limit.

    Why it survives merging: the share of a value in a union lies between its shares in the parts.
    """

    name = "confidence-bounding"
    cites = ("wang2005",)
    direction = Direction.AT_MOST

    column: Annotated[Name, param("the sensitive column", kind="column")]
    templates: Annotated[
        Mapping[Name, ExactShare],
        param(
            "for each sensitive value, the largest confidence with which it may be concluded",
            kind="values",
            min_length=1,
            max_length=MOST_VALUES,
        ),
    ]
    quasi_identifiers: Annotated[
        tuple[Name, ...],
        param(
            "the columns from which conclusions are drawn; all quasi-identifiers if none is named",
            kind="columns",
            max_length=MOST_NAMES,
        ),
    ] = ()

    @classmethod
    def examples(cls) -> tuple[ConfidenceBounding, ...]:
        return (
            cls("disease", {"flu": "1/3", "ulcer": 0.5}),
            cls("disease", {"flu": 0.5}, quasi_identifiers=("a",)),
        )

    @property
    def promise(self) -> str:
        limits = ", ".join(f"above {decimal(b)} for '{value}'" for value, b in self.templates.items())
        return f"Nobody's value of '{self.column}' can be inferred with a probability {limits}."

    @property
    def bound(self) -> float:
        return 0.0

    @property
    def monotonicity(self) -> Monotonicity:
        return SHARES_OF_MERGED_GROUPS

    @property
    def group_columns(self) -> tuple[str, ...]:
        return self.quasi_identifiers

    @property
    def value_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        super().check(tuples, quasi_identifiers)
        require_values(str(self), tuples, self.column, self.templates)

    def measure_groups(self, distribution: Distribution) -> Measure:
        excess = [
            quotients(counts_of(distribution, value), distribution.sizes) - float(decimal(bound))
            for value, bound in self.templates.items()
        ]
        return np.asarray(np.max(excess, axis=0))

    def groups_hold(self, distribution: Distribution) -> Mask:
        good = np.ones(distribution.num_classes, dtype=bool)
        for value, bound in self.templates.items():
            good &= ratios_at_most(counts_of(distribution, value), distribution.sizes, bound)
        return good

    def sql(self, quasi_identifiers: Sequence[str]) -> str:
        bounds = ", ".join(
            f"({literal(value)}, {', '.join(sql_ratio(bound))})" for value, bound in self.templates.items()
        )
        return f"""
            WITH {self.sql_counts(quasi_identifiers)},
            templates(value, numerator, denominator) AS (VALUES {bounds}),
            sizes AS (SELECT class, sum(n) AS size FROM counts GROUP BY class),
            found AS (
                SELECT sizes.class, size, coalesce(n, 0) AS n, numerator, denominator
                FROM sizes CROSS JOIN templates
                LEFT JOIN counts ON counts.class = sizes.class AND counts.value = row(templates.value))
            SELECT class, max(n / size - numerator / denominator) AS value,
                bool_and(n * denominator <= size * numerator) AS holds FROM found GROUP BY class"""


def require_values(model: str, tuples: Tuples, column: str, values: Mapping[str, object]) -> None:
    """Refuse values that the column does not have: a misspelt one would go unprotected."""
    absent = [value for value in values if value not in tuples.columns[column].labels]
    if absent:
        raise ColumnError(
            "privacy.no-row-value-column",
            "{model}: no row has the value {absent!r} in the column '{column}'",
            model=model,
            absent=absent[0],
            column=column,
        )
