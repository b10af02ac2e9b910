"""One row, one person: every promise about people counts rows, so a person must not have two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import InputError
from tarnkappe.table import MISSING, Table, encode
from tarnkappe.table.grouping import group_codes
from tarnkappe.table.kinds import plain_names

Rows = npt.NDArray[np.int64]


def refuse_repeated_people(table: Table) -> None:
    """Refuse a table in which two rows agree in all identifiers: they are the same person.

    The error names the rows, never the identifier.
    """
    repeated, first = repeated_people(table)
    if len(repeated):
        row, names = int(repeated[0]), " and ".join(table.identifiers)
        raise InputError(
            "job.rows-repeat-earlier-row",
            "{repeated} {repeated:row repeats|rows repeat} the {names} of an earlier row (row {row} that "
            "of row {first}), but "
            "every promise counts a row as a person: merge the rows of a person, or allow it with "
            "several_rows_per_person and count persons with the model multi-relational-k-anonymity",
            repeated=len(repeated),
            names=names,
            row=row + 1,
            first=int(first[row]) + 1,
        )


def repeated_people(table: Table) -> tuple[Rows, Rows]:
    """The rows that agree in all identifiers with an earlier one, and for every row the first of its kind.

    Rows without any identifier are taken for different people.
    """
    names = plain_names(table.data.schema, table.identifiers)  # bytes and nested values name nobody twice
    if not names:
        return np.zeros(0, np.int64), np.arange(table.num_rows)
    columns = list(encode(table, names).values())
    grouping = group_codes([c.codes for c in columns], [c.cardinality for c in columns])
    named = np.zeros(table.num_rows, dtype=bool)
    for column in columns:
        named |= np.array([label != MISSING for label in column.labels])[column.codes]
    first = grouping.representatives[grouping.ids]
    return np.flatnonzero(named & (first != np.arange(table.num_rows))), first
