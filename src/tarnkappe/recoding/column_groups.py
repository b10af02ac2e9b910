"""The groups of columns of a sliced table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tarnkappe.errors import ColumnError
from tarnkappe.recoding.correlation import Matrix, cluster, correlations
from tarnkappe.table import Column, Role, Table

ColumnGroups = tuple[tuple[str, ...], ...]


def released_columns(table: Table) -> list[str]:
    """The columns that are published."""
    return list(table.published)


def beside_sensitive(groups: ColumnGroups, roles: Mapping[str, Role]) -> list[str]:
    """The quasi-identifiers that are grouped with a sensitive column: what is known beside what is hidden."""
    return [
        name
        for group in groups
        if any(roles[other] is Role.SENSITIVE for other in group)
        for name in group
        if roles[name] is Role.QUASI_IDENTIFIER
    ]


def correlated_groups(
    table: Table, columns: Mapping[str, Column], number: int | None, good: Callable[[Sequence[str]], bool]
) -> ColumnGroups:
    """Group the columns that tell most about each other.

    Quasi-identifiers beside sensitive columns make it harder to keep promises. As long as even all rows in
    one bucket do not keep them, the one that tells least about the sensitive columns leaves their group.

    Args:
        table: the columns and their roles.
        columns: the columns, encoded.
        number: how many groups there should be; without it, one for three columns.
        good: whether all rows together keep the promises with these quasi-identifiers beside sensitive
            columns.
    """
    names = released_columns(table)
    matrix = correlations([columns[name] for name in names])
    number = number or max(2, -(-len(names) // 3))
    groups = tuple(tuple(names[place] for place in group) for group in cluster(matrix, number))
    while (beside := beside_sensitive(groups, table.roles)) and not good(beside):
        hidden = [names.index(name) for name in table.sensitive]
        leaving = min(beside, key=lambda name: matrix[names.index(name), hidden].max())
        groups = _moved(groups, leaving, table.roles, matrix, names)
    return groups


def _moved(
    groups: ColumnGroups, name: str, roles: Mapping[str, Role], matrix: Matrix, names: Sequence[str]
) -> ColumnGroups:
    """Move a column to the group without a sensitive column that it is most correlated with."""
    rest = [tuple(other for other in group if other != name) for group in groups]
    open_groups = [group for group in rest if group and all(roles[n] is not Role.SENSITIVE for n in group)]
    own = names.index(name)

    def nearness(group: Sequence[str]) -> float:
        return float(max(matrix[own, names.index(other)] for other in group))

    nearest = max(open_groups, key=nearness, default=())
    moved = [(*group, name) if group and group == nearest else group for group in rest if group]
    return tuple(moved) if nearest else (*moved, (name,))


def require_partition(groups: ColumnGroups, names: Sequence[str]) -> ColumnGroups:
    """Groups that a user gave: every published column is in one of them, and only once.

    A column in two groups would link them again, and one in none would be lost without anybody noticing.
    """
    given = [name for group in groups for name in group]
    for name in given:
        if name not in names:
            raise ColumnError(
                "recoding.slicing-no-published-column",
                "slicing: '{name}' is no published column: the groups may have {names}",
                name=name,
                names=", ".join(names),
            )
        if given.count(name) > 1:
            raise ColumnError(
                "recoding.slicing-two-groups-would-link",
                "slicing: '{name}' is in two groups, which would link them: leave one out",
                name=name,
            )
    missing = [name for name in names if name not in given]
    if missing:
        raise ColumnError(
            "recoding.slicing-no-group-every-published",
            "slicing: {missing} is in no group: every published column needs one",
            missing=", ".join(missing),
        )
    return tuple(group for group in groups if group)
