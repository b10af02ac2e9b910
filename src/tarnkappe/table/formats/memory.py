"""Tables that are in memory already: Arrow, pandas, and whatever speaks Arrow."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tarnkappe.errors import InputError, ParameterError
from tarnkappe.table.formats.names import check_names, chosen_names

WHERE = "the table"


def read_memory(source: Any, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Take a table as it is, without a copy where Arrow allows it."""
    data = _as_arrow(source)
    return data.select(chosen_names(check_names(data.column_names, WHERE), columns, WHERE))


def _as_arrow(source: Any) -> pa.Table:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    pandas = sys.modules.get("pandas")  # who passes a data frame has imported it
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _from_pandas(source)
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return _without_views(pa.table(source))
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(
                "table.arrow-stream-no-table",
                "the Arrow stream of this {name} is no table",
                name=type(source).__name__,
            ) from None
    raise ParameterError(
        "table.cannot-read-pass-path",
        "cannot read a {name}: pass a path, a database address, or a table of pyarrow, pandas, polars or "
        "DuckDB",
        name=type(source).__name__,
    )


def _without_views(data: pa.Table) -> pa.Table:
    """Texts and categories as Arrow computes with them: polars hands on views, which few functions take."""
    columns = []
    for column in data.columns:
        kind = column.type
        if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            chunks = [chunk.dictionary.cast(pa.string()).take(chunk.indices) for chunk in column.chunks]
            columns.append(pa.chunked_array(chunks, pa.string()))
        else:
            columns.append(column.cast(pa.string()) if pa.types.is_string_view(kind) else column)
    return pa.table(columns, data.column_names)


def _from_pandas(frame: Any) -> pa.Table:
    """A data frame with its index where that has a name; one without is only a numbering of the rows."""
    named = [level for level, name in enumerate(frame.index.names) if name is not None]
    index = [(frame.index.names[level], frame.index.get_level_values(level).to_series()) for level in named]
    series = [*index, *((name, frame.iloc[:, place]) for place, name in enumerate(names_of(frame)))]
    names = check_names([_name(name) for name, _ in series], WHERE)
    return pa.table([_column(name, values) for name, (_, values) in zip(names, series, strict=True)], names)


def names_of(frame: Any) -> list[str]:
    """The names of the columns of a data frame; one that has none is numbered, as in a file.

    >>> import pandas
    >>> names_of(pandas.DataFrame([[1, 2, 3]], columns=["age", None, 7]))
    ['age', 'column 2', '7']
    """
    return [
        f"column {place}" if name is None or name != name else str(name)
        for place, name in enumerate(frame.columns, 1)
    ]


def _name(name: Any) -> str:
    try:
        return str(name).encode().decode()
    except UnicodeEncodeError:
        raise InputError(
            "table.name-half-character",
            "{where}: the name of a column holds half a character (a lone surrogate): rename it",
            where=WHERE,
        ) from None


def _column(name: str, values: Any) -> pa.Array:
    kind = values.dtype
    if type(getattr(kind, "categories", values).dtype).__name__ in ("IntervalDtype", "PeriodDtype"):
        # Arrow keeps what they are made of; people know them by their text.
        values = values.astype(object).map(str, na_action="ignore")
    try:
        return pa.Array.from_pandas(values)
    except UnicodeEncodeError:
        raise InputError(
            "table.column-holds-half-character",
            "{path}: the column '{name}' holds half a character (a lone surrogate)",
            path=WHERE,
            name=name,
        ) from None
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise InputError(
            "table.column-holds-values-several",
            "{where}: the column '{name}' holds values of several kinds, or of a kind that Arrow does not "
            "know: convert it first, for instance to text",
            where=WHERE,
            name=name,
        ) from None
