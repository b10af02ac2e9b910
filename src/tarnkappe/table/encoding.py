"""Dictionary encoding: every column becomes int32 codes into its sorted distinct values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.table.grouping import group_codes
from tarnkappe.table.table import MISSING, Table

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]
Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done and how many there are."""


@dataclasses.dataclass(frozen=True, eq=False)
class Levels:
    """How the values of one column generalize.

    Attributes:
        maps: for each level, the label code of every value code; level 0 is the identity.
        labels: for each level, the labels by label code.
        leaves: for each level and label, how many values of the whole hierarchy lie under the label,
            whether they occur in the data or not.
        bounds: for each level and label, the least and the greatest number under it, if the values
            are numbers.
    """

    maps: tuple[Codes, ...]
    labels: tuple[tuple[str, ...], ...]
    leaves: tuple[Counts, ...]
    bounds: tuple[npt.NDArray[np.float64], ...] | None = None

    @property
    def height(self) -> int:
        """The highest level; level 0 are the values themselves."""
        return len(self.maps) - 1

    @property
    def domain_size(self) -> int:
        """How many values the whole hierarchy has."""
        return int(self.leaves[-1].sum())

    def distinct(self, level: int) -> int:
        """How many different labels of this level occur in the data."""
        return len(self.labels[level])

    def parents(self, level: int) -> Codes:
        """For each label of a level, the code of its label one level up."""
        up = np.empty(self.distinct(level), dtype=np.int32)
        up[self.maps[level]] = self.maps[level + 1]
        return up


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One column as codes: code i stands for the i-th of the distinct values in ascending order.

    Missing values are one value, the last. A joint column stands for several columns at once; its
    `parts` tell for each joint code the code in each of them.
    """

    name: str
    codes: Codes
    values: pa.Array
    levels: Levels | None = None
    parts: tuple[tuple[Column, Codes], ...] = ()

    @property
    def cardinality(self) -> int:
        """How many distinct values there are, the missing one included."""
        return len(self.values)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The distinct values as text."""
        return tuple(MISSING if v is None else v for v in as_text(self.values).to_pylist())

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64] | None:
        """The distinct values as numbers (a missing one as NaN), or None if they are not numbers."""
        return as_numbers(self.values)

    def counts(self, weights: Counts | None = None) -> Counts:
        """How often each value occurs, each row counted with its weight."""
        if weights is None:
            return np.bincount(self.codes, minlength=self.cardinality).astype(np.int64)
        return np.bincount(self.codes, weights=weights, minlength=self.cardinality).astype(np.int64)

    def with_levels(self, levels: Levels) -> Column:
        """The same column with its generalization."""
        return dataclasses.replace(self, levels=levels)

    def take(self, rows: npt.NDArray[np.int64]) -> Column:
        """The column of the chosen rows, with the same distinct values."""
        return dataclasses.replace(self, codes=self.codes[rows])


def as_text(values: pa.Array) -> pa.Array:
    """Values as text, in the form in which hierarchies and files show them."""
    if pa.types.is_string(values.type):
        return values
    return pc.cast(values, pa.string())


def as_numbers(values: pa.Array) -> npt.NDArray[np.float64] | None:
    """Numbers, dates (as days) and times (as seconds) as floating point, else None."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        number = pc.cast(values, pa.float64())
    elif pa.types.is_date(kind):
        number = pc.cast(pc.cast(pc.cast(values, pa.date32()), pa.int32()), pa.float64())
    elif pa.types.is_timestamp(kind):
        micro = pc.cast(pc.cast(values, pa.timestamp("us", kind.tz)), pa.int64())
        number = pc.divide(pc.cast(micro, pa.float64()), 1e6)
    else:
        return None
    return np.asarray(number.to_numpy(zero_copy_only=False), dtype=np.float64)


def encode_column(name: str, data: pa.ChunkedArray) -> Column:
    """Encode one column; the codes do not depend on the order of the rows.

    >>> column = encode_column("age", pa.chunked_array([[30, 18, None, 30]]))
    >>> column.codes.tolist(), column.labels
    ([1, 0, 2, 1], ('18', '30', '(missing)'))
    """
    if pa.types.is_nested(data.type) or pa.types.is_binary(data.type):
        raise ColumnError(f"the column '{name}' holds {data.type} values: only plain values can be protected")
    if pa.types.is_null(data.type):
        data = data.cast(pa.string())
    if pa.types.is_large_string(data.type) or str(data.type) == "string_view":
        data = data.cast(pa.string())
    if not pa.types.is_dictionary(data.type):
        data = data.dictionary_encode()
    whole = data.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunks at all, or more rows than one array can hold
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], type=data.type)
    dictionary = whole.dictionary
    if pa.types.is_large_string(dictionary.type):
        dictionary = dictionary.cast(pa.string())
    order = pc.sort_indices(dictionary)
    rank = np.empty(len(dictionary) + 1, dtype=np.int32)
    rank[order.to_numpy()] = np.arange(len(dictionary), dtype=np.int32)
    rank[-1] = len(dictionary)
    indices = whole.indices
    raw = indices.fill_null(len(dictionary)) if indices.null_count else indices
    codes = rank[raw.to_numpy(zero_copy_only=False)]
    values = dictionary.take(order)
    if indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return drop_unused(Column(name, codes, values))


def drop_unused(column: Column) -> Column:
    """Forget values that no row has (dictionaries may bring some)."""
    used = np.zeros(column.cardinality, dtype=bool)
    used[column.codes] = True
    if used.all():
        return column
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return Column(column.name, rank[column.codes], column.values.filter(pa.array(used)))


def encode(table: Table, columns: Sequence[str], progress: Progress | None = None) -> dict[str, Column]:
    """Encode some columns of a table."""
    encoded: dict[str, Column] = {}
    for done, name in enumerate(columns):
        if progress:
            progress("encoding", done, len(columns))
        encoded[name] = encode_column(table.require(name), table.data.column(name))
    if progress:
        progress("encoding", len(columns), len(columns))
    return encoded


def join_columns(columns: Sequence[Column]) -> Column:
    """One column for several: its values are the combinations that occur.

    >>> import pyarrow as pa
    >>> sex = encode_column("sex", pa.chunked_array([["m", "f", "m"]]))
    >>> town = encode_column("town", pa.chunked_array([["Ulm", "Ulm", "Ulm"]]))
    >>> join_columns([sex, town]).labels
    ('m, Ulm', 'f, Ulm')
    """
    if len(columns) == 1:
        return columns[0]
    groups = group_codes([c.codes for c in columns], [c.cardinality for c in columns])
    parts = tuple((c, c.codes[groups.representatives]) for c in columns)
    labels = [
        ", ".join(c.labels[code] for c, code in zip(columns, row, strict=True))
        for row in zip(*(codes for _, codes in parts), strict=True)
    ]
    name = " × ".join(c.name for c in columns)
    return Column(name, groups.ids, pa.array(labels, pa.string()), parts=parts)
