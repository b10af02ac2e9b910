"""What a job does with its input before anything else: cells are replaced, and rows are chosen.

Both look at one row at a time, so they change nothing in what a promise says of the rows that are left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.engines.post_processing import post_processed
from tarnkappe.errors import InputError, JobError, QueryError
from tarnkappe.table import Table
from tarnkappe.table.encoding import Progress, as_text
from tarnkappe.table.formats.address import quoted

if TYPE_CHECKING:
    from tarnkappe.job.job import Job

ROWS = "rows"
"""The name of the input in a condition."""
_NOT_OF_ONE_ROW = frozenset({"SUBQUERY", "WINDOW"})


def require_cleansable(job: Job) -> None:
    """Refuse a job that cleanses where somebody else reads the input as it stands.

    Raises:
        JobError: with what to leave out.
    """
    if job.where is None and not job.replacements:
        return
    if job.input.engine != "memory" or job.output.table is not None:
        raise JobError(
            "job.cleansing-needs-memory",
            "'where' and 'replace' need the rows in memory: write them into the query of the engine instead",
        )
    if job.output.certificate is not None:
        raise JobError(
            "job.cleansing-has-no-certificate",
            "a certificate takes every cell and row of the input as it stands: leave out 'where' and "
            "'replace', or the certificate",
        )


def cleansed(
    table: Table,
    replacements: Mapping[str, Mapping[str, str]],
    where: str | None,
    progress: Progress | None = None,
) -> Table:
    """A table with cells replaced and then rows chosen."""
    for name, changes in replacements.items():
        index = table.data.column_names.index(table.require(name))
        column = with_replaced_cells(table.data.column(name), changes)
        table = table.with_data(table.data.set_column(index, name, column))
    return table if where is None else with_chosen_rows(table, where, progress)


def with_replaced_cells(column: pa.ChunkedArray, changes: Mapping[str, str]) -> pa.ChunkedArray:
    """A column in which whole cells are replaced; an empty text stands for a missing value, on both sides.

    It keeps its type where all new cells are of it, and becomes text otherwise.
    """
    encoded = column.combine_chunks().dictionary_encode()
    values = as_text(encoded.dictionary).to_pylist()
    found = [changes.get(text or "", text) or None for text in values]
    texts = pa.array(found, pa.string()).take(encoded.indices)
    if changes.get(""):
        texts = pc.if_else(encoded.indices.is_null(), changes[""], texts)
    try:
        return pa.chunked_array([texts.cast(column.type)])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.chunked_array([texts])


def with_chosen_rows(table: Table, condition: str, progress: Progress | None = None) -> Table:
    """The rows that meet a condition in SQL on their own cells.

    Raises:
        QueryError: if it is no condition on single rows, or does not fit the columns.
        InputError: if no row meets it.
    """
    number = next(name for name in _names("row") if name not in table.column_names)
    statement = f"SELECT {quoted(number)} FROM {ROWS} WHERE (\n{condition}\n)"
    try:
        _require_condition(statement)
        numbered = table.data.append_column(number, pa.array(np.arange(table.num_rows)))
        chosen = post_processed(statement, {ROWS: numbered}, progress=progress).column(0)
    except (QueryError, InputError) as error:
        raise error.within("[input] where") from None
    if not len(chosen):
        raise InputError("job.no-row-chosen", "no row meets the condition of [input] where")
    return table.with_data(table.data.take(pa.array(np.sort(chosen.to_numpy()))))


def _names(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1


def _require_condition(statement: str) -> None:
    """Refuse what is more than a condition, or looks at other rows."""
    with duckdb.connect() as parser:
        ((text,),) = parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [statement]).fetchall()
    document = json.loads(text)
    statements = document.get("statements", [])
    node = statements[0]["node"] if len(statements) == 1 else {}
    plain = (
        node.get("type") == "SELECT_NODE" and not node.get("modifiers") and not node.get("group_expressions")
    )
    if document.get("error") or not plain or any(each in _NOT_OF_ONE_ROW for each in _classes(node)):
        raise QueryError(
            "job.no-condition",
            "a condition on the cells of a row is needed, such as age >= 18 and sex = 'f', without "
            "subqueries and windows",
        )


def _classes(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        yield str(document.get("class", ""))
        document = list(document.values())
    if isinstance(document, list):
        for each in document:
            yield from _classes(each)
