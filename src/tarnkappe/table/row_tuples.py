"""From a table (and a population) to tuples."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.table.classes import Tuples
from tarnkappe.table.encoding import Column, Counts, Progress, encode, encode_column
from tarnkappe.table.table import Table


def row_tuples(
    table: Table,
    quasi_identifiers: Sequence[str],
    others: Sequence[str] = (),
    *,
    population: Table | None = None,
    counts: Counts | None = None,
    progress: Progress | None = None,
) -> Tuples:
    """Every row as a tuple of its quasi-identifiers and some other columns, in the order of the table.

    With a population, which must contain the table, its rows follow with a count of 0; it needs only
    the quasi-identifiers. Where an engine has merged equal rows of the table, `counts` tells how many each
    stands for. Searches and checks run on the distinct tuples:

    >>> table = Table(pa.table({"sex": ["f", "m", "f"], "age": [30, 40, 30]}))
    >>> row_tuples(table, ["sex", "age"]).distinct().counts.tolist()
    [2, 1]
    """
    names = list(dict.fromkeys([*quasi_identifiers, *others]))
    if table.num_rows == 0:
        raise InputError("table.table-no-rows-nobody", "the table has no rows: there is nobody to protect")
    own = np.ones(table.num_rows, np.int64) if counts is None else counts
    if population is None:
        return Tuples(encode(table, names, progress), own)
    columns = [
        _encode_together(name, table, population)
        if name in quasi_identifiers
        else _pad(encode_column(table.require(name), table.data.column(name)), population.num_rows)
        for name in names
    ]
    theirs = np.ones(population.num_rows, np.int64)
    tuples = Tuples(
        {column.name: column for column in columns},
        np.concatenate([own, np.zeros_like(theirs)]),
        np.concatenate([np.zeros_like(own), theirs]),
    )
    _require_contained(tuples, quasi_identifiers)
    return tuples


def _encode_together(name: str, table: Table, population: Table) -> Column:
    if name not in population.column_names:
        raise ColumnError(
            "table.population-no-column-needs",
            "the population has no column '{name}': it needs every quasi-identifier",
            name=name,
        )
    own = table.data.column(table.require(name))
    theirs = population.data.column(name)
    if own.type != theirs.type:
        try:
            theirs = theirs.cast(own.type)
        except pa.ArrowInvalid:
            own, theirs = own.cast(pa.string()), theirs.cast(pa.string())
    return encode_column(name, pa.chunked_array([*own.chunks, *theirs.chunks], type=own.type))


def _pad(column: Column, num_rows: int) -> Column:
    # The population is never counted in the distribution of a sensitive column, so any code will do.
    padding = np.zeros(num_rows, dtype=column.codes.dtype)
    return dataclasses.replace(column, codes=np.concatenate([column.codes, padding]))


def _require_contained(tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
    classes = tuples.classes(quasi_identifiers)
    assert classes.population is not None
    missing = int(np.maximum(classes.sizes - classes.population, 0).sum())
    if missing:
        raise ParameterError(
            "table.rows-table-not-population",
            "{missing} {missing:row of the table is|rows of the table are} not in the population: the "
            "population must contain everybody "
            "in the table, with the same values of the quasi-identifiers",
            missing=missing,
        )
