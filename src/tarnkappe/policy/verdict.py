"""What a policy says to a query."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

import pyarrow as pa


@dataclasses.dataclass(frozen=True)
class PolicyVerdict:
    """What the policy says to a query.

    Attributes:
        how: post-processing, noisy, or public.
        told: what an answer is, in a sentence.
        costs: what it takes from the budgets of the user.
    """

    how: str
    told: str
    costs: Mapping[str, Fraction] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PolicyAnswer:
    """Rows that may leave, and why."""

    table: pa.Table
    verdict: PolicyVerdict
