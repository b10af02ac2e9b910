"""Data frames in and out: a release comes back as the kind of frame that went in, column types included.

A column that is released as it is keeps its type. A generalized one becomes an ordered categorical of the
labels that occur in the release, never of those that might have: a list of categories would tell values of
rows that are not there. Libraries are never imported: who passes a frame has imported its library.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ParameterError
from tarnkappe.table.formats.memory import names_of

Categories = Mapping[str, Sequence[str]]
"""The labels of some columns in their order."""


class Library(StrEnum):
    """Whose frames these are."""

    PANDAS = "pandas"
    POLARS = "polars"
    ARROW = "arrow"


@dataclasses.dataclass(frozen=True)
class FrameKind:
    """What kind of frame a table was: its library, and there the types of its columns."""

    library: Library
    types: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)


def kind_of(source: Any) -> FrameKind | None:
    """The kind of a frame in memory; None for anything else."""
    if isinstance(source, pa.Table | pa.RecordBatch):
        return FrameKind(Library.ARROW, {field.name: field.type for field in source.schema})
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return FrameKind(Library.PANDAS, dict(zip(names_of(source), source.dtypes, strict=True)))
    if polars is not None and isinstance(source, polars.DataFrame):
        return FrameKind(Library.POLARS, dict(source.schema))
    return None


def ordered_labels(column: pa.ChunkedArray) -> list[str]:
    """The labels of a generalized column in an order that a reader expects: by the numbers in them.

    Only the texts decide, so the order tells nothing that they do not.

    >>> ordered_labels(pa.chunked_array([["*", "100-109", "20-24", "20-39", "<20", None]]))
    ['<20', '20-24', '20-39', '100-109', '*']
    """
    return sorted(filter(None, pc.unique(column.cast(pa.string())).to_pylist()), key=_place)


def _place(label: str) -> tuple[Any, ...]:
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", label)]
    covers_all = not numbers and not any(character.isalnum() for character in label)
    return (
        covers_all,
        not numbers,
        label.startswith(">"),
        numbers[:1],
        not label.startswith("<"),
        numbers[1:],
        label,
    )


def as_frame(data: pa.Table, kind: FrameKind, categories: Categories) -> Any:
    """Rows as a frame of a kind, some columns as ordered categoricals."""
    if kind.library is Library.PANDAS:
        return as_pandas(data, categories, kind.types)
    if kind.library is Library.POLARS:
        return as_polars(data, categories, kind.types)
    return as_arrow(data, categories, kind.types)


def as_arrow(
    data: pa.Table, categories: Categories, types: Mapping[str, pa.DataType] | None = None
) -> pa.Table:
    """Rows as an Arrow table; categories become dictionaries."""
    columns = {}
    for name in data.column_names:
        column, kind = data.column(name), (types or {}).get(name)
        if name in categories:
            labels = pa.array(categories[name], pa.string())
            codes = pc.index_in(column.cast(pa.string()).combine_chunks(), labels)
            column = pa.DictionaryArray.from_arrays(codes, labels, ordered=True)
        elif kind is not None and pa.types.is_dictionary(kind):
            column = column.combine_chunks().dictionary_encode()
        elif kind is not None and kind != column.type:
            column = _as_it_came(column, kind)
        columns[name] = column
    return pa.table(columns)


def _as_it_came(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """The column in the type that it had, where there is a way back; else in the one that was used."""
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return column


def as_pandas(data: pa.Table, categories: Categories, types: Mapping[str, Any] | None = None) -> Any:
    """Rows as a data frame of pandas; categories become ordered categoricals."""
    pandas = _library("pandas")
    columns = {}
    for name in data.column_names:
        column, kind = data.column(name), (types or {}).get(name)
        if name in categories:
            column = pandas.Categorical(column.to_pylist(), categories=list(categories[name]), ordered=True)
        elif isinstance(kind, pandas.CategoricalDtype):
            texts = column.to_pylist()
            present = set(texts)
            values = kind.categories.tolist()
            if isinstance(kind.categories.dtype, pandas.IntervalDtype | pandas.PeriodDtype):
                values = list(map(str, values))  # as they were read
            kept = [value for value in values if value in present]
            column = pandas.Categorical(texts, categories=kept, ordered=kind.ordered)
        elif isinstance(kind, pandas.IntervalDtype | pandas.PeriodDtype):
            column = column.to_pandas()  # they were read as texts
        elif kind is not None and hasattr(kind, "__from_arrow__"):
            column = kind.__from_arrow__(column)
        else:
            column = column.to_pandas()
            column = column if kind is None or column.dtype == kind else column.astype(kind)
        columns[name] = column
    return pandas.DataFrame(columns)


def as_polars(data: pa.Table, categories: Categories, types: Mapping[str, Any] | None = None) -> Any:
    """Rows as a data frame of polars; categories become enumerations."""
    polars = _library("polars")
    columns = []
    for name in data.column_names:
        column, kind = polars.Series(name, data.column(name)), (types or {}).get(name)
        if name in categories:
            column = column.cast(polars.String).cast(polars.Enum(list(categories[name])))
        elif isinstance(kind, polars.Enum):
            present = set(column.to_list())
            column = column.cast(polars.Enum([each for each in kind.categories.to_list() if each in present]))
        elif kind is not None and kind != column.dtype:
            column = column.cast(kind)
        columns.append(column)
    return polars.DataFrame(columns)


def text_columns(data: pa.Table, names: Iterable[str]) -> list[str]:
    """Those of some columns that hold texts."""
    kinds = {name: data.schema.field(name).type for name in names}
    return [
        name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ]


def _library(name: str) -> Any:
    found = sys.modules.get(name)
    if found is not None:
        return found
    try:
        return __import__(name)
    except ImportError:
        raise ParameterError(
            "table.not-installed-install-take",
            "{name} is not installed: install it, or take to_arrow()",
            name=name,
        ) from None
