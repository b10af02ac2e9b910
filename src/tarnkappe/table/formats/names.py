"""Column names: every column of a source must have one of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.errors import ColumnError, InputError
from tarnkappe.schema import near


def check_names(names: Sequence[str], source: str) -> list[str]:
    """Return the names if every column has one of its own, else refuse them.

    >>> check_names(["age", "sex"], "a.csv")
    ['age', 'sex']
    """
    if not names:
        raise InputError(f"{source}: there are no columns")
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise InputError(f"{source}: column {place} has no name: name every column in the header")
        if name in places:
            raise InputError(
                f"{source}: the columns {places[name]} and {place} are both named '{name}': rename one"
            )
        places[name] = place
    return list(names)


def chosen_names(names: Sequence[str], columns: Sequence[str] | None, source: str) -> list[str]:
    """The columns to read, all if none are chosen; a choice that the source cannot meet is refused."""
    if columns is None:
        return list(names)
    if isinstance(columns, str) or not columns:
        raise ColumnError("`columns` must be a list of column names, with at least one")
    for place, name in enumerate(columns):
        if name not in names:
            meant = near(name, names)
            hint = f"did you mean '{meant[0]}'?" if meant else f"it has {', '.join(names)}"
            raise ColumnError(f"{source}: there is no column '{name}': {hint}")
        if name in columns[:place]:
            raise ColumnError(f"{source}: the column '{name}' is chosen twice")
    return list(columns)
