"""Column names: every column of a source must have one of its own."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.errors import ColumnError, InputError, Reason
from tarnkappe.schema import near
from tarnkappe.schema.problem import meant_or


def check_names(names: Sequence[str], source: str) -> list[str]:
    """Return the names if every column has one of its own, else refuse them.

    >>> check_names(["age", "sex"], "a.csv")
    ['age', 'sex']
    """
    if not names:
        raise InputError("table.no-columns", "{source}: there are no columns", source=source)
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name or not name.strip():  # a damaged file may have none at all
            raise InputError(
                "table.column-no-name-name",
                "{source}: column {place} has no name: name every column in the header",
                source=source,
                place=place,
            )
        if name in places:
            raise InputError(
                "table.columns-both-named-rename",
                "{source}: the columns {places} and {place} are both named '{name}': rename one",
                source=source,
                places=places[name],
                place=place,
                name=name,
            )
        places[name] = place
    return list(names)


def chosen_names(names: Sequence[str], columns: Sequence[str] | None, source: str) -> list[str]:
    """The columns to read, all if none are chosen; a choice that the source cannot meet is refused."""
    if columns is None:
        return list(names)
    if isinstance(columns, str) or not columns:
        raise ColumnError(
            "table.columns-must-list-column", "`columns` must be a list of column names, with at least one"
        )
    for place, name in enumerate(columns):
        if name not in names:
            meant = near(name, names)
            hint = meant_or(meant, Reason("table.it-has", "it has {names}", names=", ".join(names)))
            raise ColumnError(
                "table.no-column",
                "{source}: there is no column '{name}': {hint}",
                source=source,
                name=name,
                hint=hint,
            )
        if name in columns[:place]:
            raise ColumnError(
                "table.column-chosen-twice",
                "{source}: the column '{name}' is chosen twice",
                source=source,
                name=name,
            )
    return list(columns)
