"""How many groups of a k-anonymous table are expected to hold one sensitive value only."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from tarnkappe.privacy.requiring import require_whole


@dataclasses.dataclass(frozen=True)
class ExpectedHomogeneity:
    """What k-anonymity alone leaves exposed, on average.

    Attributes:
        groups: how many groups have one sensitive value only.
        people: how many people are in these groups.
    """

    groups: Fraction
    people: Fraction


def expected_homogeneity(rows: int, k: int, values: int) -> ExpectedHomogeneity:
    """The expected number of groups without diversity if all groups have k rows.

    The sensitive values are equally frequent and have nothing to do with the quasi-identifiers. Then all k
    rows of a group have one of the values with probability values / values^k.

    >>> exposed = expected_homogeneity(60_000, 5, 3)
    >>> int(exposed.groups), int(exposed.people)
    (148, 740)
    """
    require_whole("homogeneity", "rows", rows, 0)
    require_whole("homogeneity", "k", k)
    require_whole("homogeneity", "values", values)
    groups = Fraction(rows, k) * Fraction(values, values**k)
    return ExpectedHomogeneity(groups, groups * k)
