"""One state of the protected table in the gate's memory, and what differs between two of them.

Questions are answered from a snapshot, so all parts of an answer see one state, and no question reads the
table. Conditions run in a database of the snapshot that has the quasi-identifiers and nothing else, whatever
they say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tarnkappe.errors import ColumnError, InputError
from tarnkappe.table.formats.address import quoted

ROW, PEOPLE = "tarnkappe_row", "tarnkappe_people"
KEY = "tarnkappe_key"
CONFIGURATION = {
    "temp_directory": "",
    "threads": "1",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
Rows = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class TableEvents:
    """What happened between two snapshots; everybody may know it.

    Attributes:
        came: the rows, in the new snapshot, of people whom the old one lacks.
        went: the keys of those whom the new one lacks.
        changed: the rows, in the new snapshot, of people who have another value, by sensitive column.
    """

    came: Rows
    went: tuple[str, ...]
    changed: Mapping[str, Rows]


class Snapshot:
    """The people of the table at one time, numbered in the order of their keys.

    Args:
        key: the column that names people, for messages.
        table: the key as text under the name of `KEY`, then quasi-identifiers and sensitive columns, the
            latter as text.
        quasi_identifiers: what conditions may name.
        sensitive: what they may not.
    """

    def __init__(
        self, key: str, table: pa.Table, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
    ) -> None:
        _check_keys(key, table[KEY])
        order = pc.sort_indices(table[KEY])
        self._columns = {
            name: pc.take(table[name], order).combine_chunks()
            for name in (KEY, *quasi_identifiers, *sensitive)
        }
        self.people = table.num_rows
        self._sensitive = tuple(sensitive)
        self._database = duckdb.connect(":memory:", config=dict(CONFIGURATION))
        shown = {name: self._columns[name] for name in quasi_identifiers}
        given = pa.table({ROW: pa.array(np.arange(self.people, dtype=np.int64)), **shown})
        self._database.register("given", given)
        self._database.execute(f"CREATE TABLE {PEOPLE} AS FROM given")
        self._database.unregister("given")
        self._database.execute("SET enable_external_access = false")
        self._database.execute("SET lock_configuration = true")

    def chosen(self, where: str | None, parameters: Sequence[Any]) -> Rows:
        """The rows that a condition over quasi-identifiers selects, in their order."""
        if where is None:
            return np.arange(self.people, dtype=np.int64)
        statement = f"SELECT {quoted(ROW)} FROM {PEOPLE} WHERE {where}"
        try:
            with self._database.cursor() as cursor:  # each thread needs one of its own
                found = cursor.execute(statement, list(parameters)).fetchnumpy()[ROW]
        except duckdb.Error as error:
            raise InputError(
                "gate.condition-cannot-read",
                "the condition cannot be read ({name})",
                name=type(error).__name__,
            ) from None
        return np.sort(np.asarray(found, dtype=np.int64))

    def cells(self, name: str, rows: Rows | None = None) -> tuple[Any, ...]:
        """The cells of a column, of some rows or of all."""
        column = self._columns[name]
        return tuple((column if rows is None else column.take(pa.array(rows))).to_pylist())

    def keys(self, rows: Rows | None = None) -> tuple[str, ...]:
        """Who is in some rows, or in all."""
        return self.cells(KEY, rows)

    def since(self, earlier: Snapshot) -> TableEvents:
        """What happened since an earlier snapshot."""
        mine, theirs = self._columns[KEY], earlier._columns[KEY]
        place = pc.index_in(mine, value_set=theirs)
        stayed = np.flatnonzero(np.asarray(place.is_valid()))
        before = place.take(pa.array(stayed))
        changed = {}
        for name in self._sensitive:
            new = self._columns[name].take(pa.array(stayed))
            old = earlier._columns[name].take(before)
            both_missing = pc.and_(pc.is_null(new), pc.is_null(old))
            same = pc.or_(pc.fill_null(pc.equal(new, old), False), both_missing)
            changed[name] = stayed[~np.asarray(same)]
        went = theirs.filter(pc.invert(pc.is_in(theirs, value_set=mine)))
        return TableEvents(np.flatnonzero(np.asarray(place.is_null())), tuple(went.to_pylist()), changed)

    def close(self) -> None:
        """Let go of its memory."""
        self._database.close()


def _check_keys(key: str, column: pa.ChunkedArray) -> None:
    rows, named = len(column), len(column) - column.null_count
    different = len(pc.unique(column.drop_null()))
    if rows == 0:
        raise InputError("gate.protected-table-empty", "the protected table is empty")
    if named < rows or different < rows:
        raise ColumnError(
            "gate.column-must-name-exactly",
            "the column '{key}' must name exactly one person in every row: of {rows} rows {rows_2} "
            "{rows_2:has|have} no name and {named} {named:repeats|repeat} one",
            key=key,
            rows=rows,
            rows_2=rows - named,
            named=named - different,
        )
