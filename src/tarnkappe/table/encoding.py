"""Dictionary encoding: every column becomes int32 codes into its sorted distinct values."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.errors import ColumnError
from tarnkappe.table.grouping import group_codes, occurring, translate
from tarnkappe.table.kinds import is_plain
from tarnkappe.table.parallel import in_order
from tarnkappe.table.spelling.moments import DatePrecision, Moment
from tarnkappe.table.spelling.spelling import Spelling
from tarnkappe.table.table import MISSING, Table

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


class Progress(Protocol):
    """Told about long work, often: it has to be quick."""

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None:
        """What is being done, how many steps are done, how many there are, and a remark if there is one."""


SPREAD_PER_ROW = 8
LEAST_SPREAD = 2**16
"""Whole numbers that spread no further than this are encoded by marking them in an array."""


EPOCH = datetime.datetime(1970, 1, 1)
SECONDS_IN_A_DAY = 86_400

FEW_ROWS = 100_000
"""Up to so many rows are encoded sooner than threads are started."""


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
        numbers: with bounds, all numbers of the hierarchy in ascending order.
        climbed: for each level and value code, how many levels up the value is; only where the cells of one
            level come from several levels of a hierarchy.
    """

    maps: tuple[Codes, ...]
    labels: tuple[tuple[str, ...], ...]
    leaves: tuple[Counts, ...]
    bounds: tuple[npt.NDArray[np.float64], ...] | None = None
    numbers: npt.NDArray[np.float64] | None = None
    climbed: tuple[Counts, ...] | None = None

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

    Missing values are one value, the last. Texts that a spelling reads as numbers or dates, or whose codes it
    knows, are in the order of these; other texts come after them. A joint column stands for several columns
    at once; its `parts` tell for each joint code the code in each of them.
    """

    name: str
    codes: Codes
    values: pa.Array
    levels: Levels | None = None
    parts: tuple[tuple[Column, Codes], ...] = ()
    spelling: Spelling | None = None
    read: tuple[Decimal | Moment | None, ...] | None = dataclasses.field(default=None, repr=False)
    """What the values stand for by the spelling, where that was read already."""

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
        if self.spelling is not None:
            return spelled_numbers(self.spelling, self.values.to_pylist(), self.read)
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
        number = pc.cast(values, pa.float64(), safe=False)  # the nearest number will do
    elif pa.types.is_date(kind):
        number = pc.cast(pc.cast(pc.cast(values, pa.date32()), pa.int32()), pa.float64())
    elif pa.types.is_timestamp(kind):
        micro = pc.cast(pc.cast(values, pa.timestamp("us", kind.tz), safe=False), pa.int64())
        number = pc.divide(pc.cast(micro, pa.float64(), safe=False), 1e6)
    else:
        return None
    return np.asarray(number.to_numpy(zero_copy_only=False), dtype=np.float64)


def spelled_numbers(
    spelling: Spelling, texts: Sequence[str | None], read: Sequence[Decimal | Moment | None] | None = None
) -> npt.NDArray[np.float64] | None:
    """Texts as numbers, dates (as days) or times (as seconds), or None if one of them is none of these."""
    if spelling.number is None and spelling.date is None:
        return None
    found = [_value(text, spelling) for text in texts] if read is None else read
    if any(value is None and text is not None for value, text in zip(found, texts, strict=True)):
        return None
    if spelling.number is not None:
        return np.array([np.nan if not isinstance(value, Decimal) else float(value) for value in found])
    moments = [value if isinstance(value, Moment) else None for value in found]
    seconds = np.array([np.nan if m is None else (m.time - EPOCH).total_seconds() for m in moments])
    clock = any(moment is not None and moment.precision is DatePrecision.TIME for moment in moments)
    return seconds if clock else seconds / SECONDS_IN_A_DAY


def _value(text: str | None, spelling: Spelling) -> Decimal | Moment | None:
    """What a text stands for."""
    if text is None:
        return None
    number = spelling.number_of(text)
    return spelling.moment_of(text) if number is None else number


def encode_column(name: str, data: pa.ChunkedArray, spelling: Spelling | None = None) -> Column:
    """Encode one column; the codes do not depend on the order of the rows.

    >>> column = encode_column("age", pa.chunked_array([[30, 18, None, 30]]))
    >>> column.codes.tolist(), column.labels
    ([1, 0, 2, 1], ('18', '30', '(missing)'))
    """
    if not is_plain(data.type):
        raise ColumnError(
            "table.column-holds-values-only-plain",
            "the column '{name}' holds {type} values: only plain values can be protected; leave the column "
            "out (as an identifier), or turn it into texts or several columns first",
            name=name,
            type=data.type,
        )
    if pa.types.is_dictionary(data.type):
        codes, values = _encode_dictionary(name, data)
    elif _is_whole_number(data.type):
        codes, values = _encode_whole_numbers(data)
    else:
        codes, values = _encode_values(name, data)
    if codes.max(initial=-1) == len(values):
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    column = drop_unused(Column(name, codes, values))
    return column if spelling is None or not pa.types.is_string(values.type) else _in_order(column, spelling)


def _in_order(column: Column, spelling: Spelling) -> Column:
    """The column with its texts in the order of what they stand for."""
    texts = column.values.to_pylist()
    found = [_value(text, spelling) for text in texts]
    keys = [_sort_key(text, value, spelling) for text, value in zip(texts, found, strict=True)]
    order = np.array(sorted(range(len(texts)), key=keys.__getitem__), np.int64)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    values = column.values.take(pa.array(order))
    read = tuple(found[place] for place in order.tolist())
    return Column(column.name, translate(column.codes, rank), values, spelling=spelling, read=read)


def _sort_key(text: str | None, value: Any, spelling: Spelling) -> tuple[int, Any, str]:
    """First what is read, by its value, or has a code; then other texts; the missing value is last."""
    if text is None:
        return 2, 0, ""
    if text in spelling.order:
        return 0, spelling.order.index(text), text
    if value is None:
        return 1, 0, text
    return 0, value.time if isinstance(value, Moment) else value, text


def _is_whole_number(kind: pa.DataType) -> bool:
    """Whether values are kept as whole numbers of at most 64 bits with a sign."""
    temporal = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
    return bool(pa.types.is_signed_integer(kind) or temporal)


def _encode_whole_numbers(data: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    storage = pa.int32() if pa.types.is_temporal(data.type) and data.type.bit_width == 32 else pa.int64()
    whole = data.cast(storage).cast(pa.int64())
    if not whole.null_count:
        distinct, codes = _rank(whole.to_numpy())
    else:
        missing = pc.is_null(whole).to_numpy()
        distinct, some = _rank(whole.drop_null().to_numpy())
        codes = np.full(len(whole), len(distinct), dtype=np.int32)
        codes[~missing] = some
    return codes, pa.array(distinct, pa.int64()).cast(storage).cast(data.type)


def _rank(numbers: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Codes]:
    """The distinct numbers, ascending, and the place of each number among them.

    Numbers that lie close together are marked in an array, others are sorted; hashing is slower.
    """
    least = int(numbers.min(initial=0))
    spread = int(numbers.max(initial=0)) - least + 1
    if spread > SPREAD_PER_ROW * len(numbers) + LEAST_SPREAD:
        distinct, codes = np.unique(numbers, return_inverse=True)
        return distinct, codes.astype(np.int32)
    shifted = numbers - least
    occurs = np.zeros(spread, dtype=bool)
    occurs[shifted] = True
    rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(occurs) + least, rank[shifted]


def _encode_values(name: str, data: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    if (
        pa.types.is_null(data.type)
        or pa.types.is_large_string(data.type)
        or pa.types.is_string_view(data.type)
    ):
        data = data.cast(pa.string())
    # Chunk by chunk, since a chunked array would come back with the whole dictionary in every chunk.
    encoded = [chunk.dictionary_encode() for chunk in data.chunks]
    return _encode_dictionary(name, pa.chunked_array(encoded, pa.dictionary(pa.int32(), data.type)))


def _encode_dictionary(name: str, data: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    whole = with_one_dictionary(data)
    if whole.num_chunks != 1:
        raise ColumnError(
            "table.column-more-2-gb",
            "the column '{name}' has more than 2 GB of distinct text: it cannot be protected",
            name=name,
        )
    dictionary, indices = whole.chunk(0).dictionary, whole.chunk(0).indices
    if pa.types.is_large_string(dictionary.type) or pa.types.is_string_view(dictionary.type):
        dictionary = dictionary.cast(pa.string())
    order = pc.sort_indices(dictionary)
    values = dictionary.take(order)
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # makes 0 of -0, which equals it
    first = _first_of_equals(values)
    rank = np.empty(len(dictionary) + 1, dtype=np.int32)
    rank[order.to_numpy()] = np.cumsum(first, dtype=np.int32) - np.int32(1)
    rank[-1] = int(first.sum())
    raw = indices.cast(pa.int32()).fill_null(len(dictionary)).to_numpy(zero_copy_only=False)
    return translate(raw, rank), values if first.all() else values.filter(pa.array(first))


def _first_of_equals(ascending: pa.Array) -> npt.NDArray[np.bool_]:
    """Which values differ from the one before; a dictionary from elsewhere may hold a value twice."""
    first = np.ones(len(ascending), dtype=bool)
    if len(ascending) > 1:
        before = ascending.slice(0, len(ascending) - 1)
        first[1:] = pc.not_equal(ascending.slice(1), before).to_numpy(zero_copy_only=False)
    return first


def with_one_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same dictionary-encoded column in one piece, without missing values in its dictionary.

    A column with more than 2 GB of distinct text cannot be brought into one piece: it stays as it is.
    """
    chunks = column.chunks
    if any(chunk.dictionary.null_count for chunk in chunks):
        chunks = [chunk.dictionary_decode().dictionary_encode() for chunk in chunks]
    if not all(_same_dictionary(chunk, chunks[0]) for chunk in chunks):
        try:
            chunks = pa.chunked_array(chunks).unify_dictionaries().chunks
        except pa.ArrowCapacityError:
            return column
    if not chunks:
        return pa.chunked_array([pa.array([], column.type)])
    indices = pa.concat_arrays([chunk.indices for chunk in chunks]) if len(chunks) > 1 else chunks[0].indices
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, chunks[0].dictionary)])


def _same_dictionary(one: pa.DictionaryArray, other: pa.DictionaryArray) -> bool:
    """Whether two chunks look up their values in the same place of memory."""
    ours, theirs = one.dictionary, other.dictionary
    return (len(ours), ours.offset, [b and b.address for b in ours.buffers()]) == (
        len(theirs),
        theirs.offset,
        [b and b.address for b in theirs.buffers()],
    )


def drop_unused(column: Column) -> Column:
    """Forget values that no row has (dictionaries may bring some)."""
    used = occurring(column.codes, column.cardinality)
    if used.all():
        return column
    rank = (np.cumsum(used) - 1).astype(np.int32)
    values = column.values.filter(pa.array(used))
    return Column(column.name, translate(column.codes, rank), values, spelling=column.spelling)


def encode(table: Table, columns: Sequence[str], progress: Progress | None = None) -> dict[str, Column]:
    """Encode some columns of a table, on all cores."""
    names = [table.require(name) for name in columns]
    encoded: dict[str, Column] = {}
    if progress:
        progress("encoding", 0, len(names))
    on_all_cores = in_order if table.num_rows > FEW_ROWS else map
    for column in on_all_cores(
        lambda name: encode_column(name, table.data.column(name), table.spelling(name)), names
    ):
        encoded[column.name] = column
        if progress:
            progress("encoding", len(encoded), len(names))
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
    labels = [as_text(c.values).fill_null(MISSING).take(pa.array(codes)) for c, codes in parts]
    name = " × ".join(c.name for c in columns)
    return Column(name, groups.ids, pc.binary_join_element_wise(*labels, ", "), parts=parts)
