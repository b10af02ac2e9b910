"""m-invariance of a sequence of releases: what may be inferred about somebody never narrows down.

Several releases over time, between which rows are inserted and deleted, may each be diverse and yet
disclose a value together: it is the only one that somebody's groups have in common. This is a predicate on
the whole sequence and not on one table, so it is no model that a search could enforce.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from enum import StrEnum

import pyarrow as pa

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.requiring import require_whole

Group = tuple[Hashable, ...]


class Condition(StrEnum):
    """What m-invariance asks for."""

    SIZE = "size"
    """Every group has m rows."""
    UNIQUE_VALUES = "unique values"
    """No sensitive value occurs twice in a group."""
    SAME_VALUES = "same values"
    """A person's groups in all releases have the same set of sensitive values."""


@dataclasses.dataclass(frozen=True)
class Violation:
    """What breaks m-invariance.

    Attributes:
        condition: which condition is broken.
        release: in which release, counted from 0; for a person, the one where her values change.
        group: the values of the group in the columns that define groups.
        person: whose values change; None if it is the group that breaks a condition.
    """

    condition: Condition
    release: int
    group: Group
    person: Hashable = None


def m_invariance(
    releases: Sequence[pa.Table],
    m: int,
    *,
    person: str,
    groups: Sequence[str],
    sensitive: str,
    at_least: bool = False,
) -> list[Violation]:
    """All violations of m-invariance (Xiao and Tao 2007) in a sequence of releases, oldest first.

    Without violations an attacker who knows all releases, and in which of them somebody is, always has the
    same m values to choose from.

    Args:
        releases: what was released, with a column that tells whose row it is (only the owner has it).
        m: how many rows every group has.
        person: the column that tells whose row it is; missing for a counterfeit row, which belongs to nobody.
        groups: the columns that define the groups, for instance the generalized quasi-identifiers.
        sensitive: the sensitive column.
        at_least: be content with groups of more than m rows, as the original definition is.
    """
    require_whole("m-invariance", "m", m)
    violations: list[Violation] = []
    values_of: dict[Hashable, frozenset[Hashable]] = {}
    for number, release in enumerate(releases):
        members = _members(release, person, groups, sensitive)
        for group, rows in members.items():
            values = [value for _, value in rows]
            if len(rows) < m or (len(rows) > m and not at_least):
                violations.append(Violation(Condition.SIZE, number, group))
            if len(set(values)) < len(values):
                violations.append(Violation(Condition.UNIQUE_VALUES, number, group))
            violations += [
                Violation(Condition.SAME_VALUES, number, group, who)
                for who in dict.fromkeys(who for who, _ in rows if who is not None)
                if values_of.setdefault(who, frozenset(values)) != frozenset(values)
            ]
    return violations


def _members(
    release: pa.Table, person: str, groups: Sequence[str], sensitive: str
) -> dict[Group, list[tuple[Hashable, Hashable]]]:
    """The rows of each group as pairs of person and value."""
    for name in (person, *groups, sensitive):
        if name not in release.column_names:
            raise ColumnError("bench.release-no-column", "a release has no column '{name}'", name=name)
    members: dict[Group, list[tuple[Hashable, Hashable]]] = {}
    columns = [release.column(name).to_pylist() for name in (person, sensitive, *groups)]
    for who, value, *group in zip(*columns, strict=True):
        members.setdefault(tuple(group), []).append((who, value))
    return members
