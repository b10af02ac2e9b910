"""What names people in columns that are released as they are, but for what somebody has accepted."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

from tarnkappe.risk.identifiers.detector import Finding
from tarnkappe.risk.identifiers.scan import DETECTORS, IdentifierScan, find_identifiers
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress

OF_KNOWN = frozenset(each.name for each in DETECTORS if each.role is Role.QUASI_IDENTIFIER)


@dataclasses.dataclass(frozen=True)
class Alarm:
    """Something that names people in a column that would be released as it is.

    Attributes:
        column: the column.
        detector: what found it, which is also what can be accepted.
        reason: why, in a sentence that quotes no cell.
    """

    column: str
    detector: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.column}': {self.reason}"


def find_alarms(
    table: Table,
    columns: Iterable[str],
    accepted: Mapping[str, Collection[str]] | None = None,
    progress: Progress | None = None,
) -> tuple[Alarm, ...]:
    """What names people in some columns of a table, but for the detectors that are accepted there.

    The other columns are looked at, too: a name beside a column may tell what it is.
    """
    looked_at = list(columns)
    if not looked_at or not table.num_rows:
        return ()
    scan = find_identifiers(table, accepted=accepted, progress=progress)
    return alarms_of(scan, looked_at, table.roles, accepted)


def alarms_of(
    scan: IdentifierScan,
    columns: Collection[str],
    roles: Mapping[str, Role],
    accepted: Mapping[str, Collection[str]] | None = None,
) -> tuple[Alarm, ...]:
    """What a scan of a table says about some of its columns, but for what is accepted there."""
    passed = accepted or {}
    return tuple(
        Alarm(column.column, found.detector, found.reason)
        for column in scan.columns
        for found in column.findings
        if column.column in columns
        and found.role is Role.IDENTIFIER
        and found.detector not in passed.get(column.column, ())
        and not (roles[column.column] is Role.QUASI_IDENTIFIER and _is_known(found))
    )


def _is_known(found: Finding) -> bool:
    """Whether it is what others may know: dates, places, numbers that hardly repeat.

    A quasi-identifier may well be that; its promise is about it.
    """
    return found.by_variety or found.detector in OF_KNOWN
