"""Before a job releases a column as it is, the detectors of identifiers look at its cells.

They look at the input, not at the release: what a search happens to choose must not decide whether a name is
published. A column that is accepted by name is released all the same, and the manifest says who said why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tarnkappe.errors import IdentifierFoundError
from tarnkappe.risk.identifiers import find_identifiers
from tarnkappe.table import Role, Table
from tarnkappe.table.encoding import Progress

UNTOUCHED = (Role.INSENSITIVE, Role.SENSITIVE)


def untouched(table: Table) -> list[str]:
    """The columns that are released as they are, whatever a search finds."""
    return [name for name in table.column_names if table.roles[name] in UNTOUCHED]


def refuse_identifiers(
    table: Table, columns: Iterable[str], accepted: Collection[str] = (), progress: Progress | None = None
) -> None:
    """Refuse columns in which detectors find what names a person, unless they are accepted by name.

    Raises:
        IdentifierFoundError: if there is one; it quotes no cell.
    """
    looked_at = [name for name in columns if name not in accepted]
    if not looked_at or not table.num_rows:
        return
    scan = find_identifiers(Table(table.data.select(looked_at)), progress=progress)
    alarms = {
        column.column: next(found.reason for found in column.findings if found.role is Role.IDENTIFIER)
        for column in scan.columns
        if any(found.role is Role.IDENTIFIER for found in column.findings)
    }
    if alarms:
        told = "; ".join(f"'{name}': {reason}" for name, reason in alarms.items())
        raise IdentifierFoundError(
            f"a column that would be released as it is seems to name people ({told}): leave it out, or say "
            'that it does not, with --accept COLUMN or accept = "why" in its section'
        )
