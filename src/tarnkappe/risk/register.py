"""Finding quasi-identifiers, and linking a table to a register with names.

A set of columns is a quasi-identifier if it singles somebody out. Removing names is no protection: 216 of
248 million people of the United States (87 %) are unique by birth date, ZIP code and sex (Sweeney 2000).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.table import Column, Table, Tuples, encode
from tarnkappe.table.encoding import encode_column
from tarnkappe.table.grouping import group_codes


def find_quasi_identifiers(
    table: Table, candidates: Sequence[str] | None = None, *, k: int = 2, largest: int | None = None
) -> list[tuple[str, ...]]:
    """The smallest sets of columns in which some combination of values occurs fewer than k times.

    Every larger set that contains one of them is a quasi-identifier too, so those are not listed.

    Args:
        table: the table.
        candidates: the columns to combine; all if not given.
        k: how many people must share a combination for it to be harmless.
        largest: the most columns to combine; as many as there are if not given.

    >>> people = Table(pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 40], "eu": [1, 1, 1, 1]}))
    >>> find_quasi_identifiers(people)
    [('sex', 'age')]
    """
    if k < 2:
        raise ParameterError(
            "risk.combination-told-apart-fewer",
            "a combination is told apart by fewer than k = {k} people: choose k of at least 2",
            k=k,
        )
    names = list(table.column_names if candidates is None else candidates)
    tuples = Tuples.of_rows(encode(table, names).values()).distinct()
    found: list[tuple[str, ...]] = []
    for size in range(1, (largest or len(names)) + 1):
        for columns in itertools.combinations(names, size):
            if not any(set(smaller) <= set(columns) for smaller in found) and (
                int(tuples.classes(columns).sizes.min()) < k
            ):
                found.append(columns)
    return found


@dataclasses.dataclass(frozen=True)
class RegisterLink:
    """One row of a table that belongs to exactly one person of a register (rows counted from 0)."""

    row: int
    person: int


def link(table: Table, register: Table, columns: Iterable[str]) -> list[RegisterLink]:
    """Join a table with a register on some columns; re-identified are the rows that match one person only.

    >>> ward = Table(pa.table({"age": [30, 40, 40], "illness": ["flu", "cold", "ulcer"]}))
    >>> town = Table(pa.table({"name": ["Ann", "Bob", "Cem"], "age": [30, 40, 40]}))
    >>> link(ward, town, ["age"])
    [RegisterLink(row=0, person=0)]
    """
    names = list(columns)
    if not names:
        raise ColumnError(
            "risk.name-columns-table-register", "name the columns that the table and the register share"
        )
    both = [_together(name, table, register) for name in names]
    ids = group_codes([c.codes for c in both], [c.cardinality for c in both]).ids
    own, theirs = ids[: table.num_rows], ids[table.num_rows :]
    people = np.bincount(theirs, minlength=int(ids.max(initial=-1)) + 1)
    person = np.full(len(people), -1, dtype=np.int64)
    person[theirs] = np.arange(len(theirs))
    rows = np.flatnonzero(people[own] == 1)
    return [RegisterLink(int(row), int(person[own[row]])) for row in rows]


def _together(name: str, table: Table, register: Table) -> Column:
    own, theirs = (t.data.column(t.require(name)).cast(pa.string()) for t in (table, register))
    return encode_column(name, pa.chunked_array([*own.chunks, *theirs.chunks], type=pa.string()))
