"""Before a job releases a column as it is, the detectors of identifiers look at its cells.

They look at the input, not at the release: what a search happens to choose must not decide whether a name is
published. So a quasi-identifier that may stay at level 0 counts as released as it is. A kind of finding that
is accepted for a column is passed over there, and the manifest says why; every other kind still counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from tarnkappe.errors import IdentifierFoundError
from tarnkappe.job.column_plan import ColumnPlan
from tarnkappe.risk.identifiers import Alarm, find_alarms
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress

UNTOUCHED = (Role.INSENSITIVE, Role.SENSITIVE)


def untouched(table: Table, plans: Mapping[str, ColumnPlan]) -> list[str]:
    """The columns whose cells are released as they are, or may be if a search finds it best."""
    return [
        name
        for name in table.column_names
        if table.roles[name] in UNTOUCHED
        or (table.roles[name] is Role.QUASI_IDENTIFIER and plans.get(name, ColumnPlan()).shows_cells)
    ]


def refuse_identifiers(
    table: Table,
    columns: Iterable[str],
    accepted: Mapping[str, Collection[str]] | None = None,
    progress: Progress | None = None,
) -> None:
    """Refuse columns in which detectors find what names a person, but for the kinds that are accepted there.

    Raises:
        IdentifierFoundError: if there is one; it quotes no cell.
    """
    refuse_alarms(find_alarms(table, columns, accepted, progress))


def refuse_alarms(alarms: Sequence[Alarm]) -> None:
    """Refuse a release because of what was found, with how to say that it names nobody."""
    if alarms:
        first = alarms[0]
        raise IdentifierFoundError(
            "job.column-may-released-seems",
            "a column that may be released as it is seems to name people ({str}): leave it out, or say that"
            ' it does not: --accept {column}={detector}, or accept = {{"{detector}" = "why"}} in its '
            "section",
            str="; ".join(map(str, alarms)),
            column=first.column,
            detector=first.detector,
        )
