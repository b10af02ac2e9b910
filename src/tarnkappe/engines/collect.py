"""Collecting millions of combinations without holding their values millions of times.

Every column becomes numbers of as few bytes as will do, and each distinct value is kept once: a tuple of nine
columns with few values each takes nine bytes instead of a hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table.formats.exact_types import is_text

WIDTHS = (pa.uint8(), pa.uint16(), pa.int32())


def collect(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], kinds: Mapping[str, pa.DataType]
) -> pa.Table:
    """The rows of all batches as dictionaries; columns named in `kinds` get the types that stand there.

    >>> batch = pa.record_batch({"town": ["Ulm", None, "Bonn", "Ulm"]})
    >>> found = collect(batch.schema, [batch, batch], {})
    >>> found.column("town").type
    DictionaryType(dictionary<values=string, indices=uint8, ordered=0>)
    >>> found.slice(3, 3).column("town").to_pylist()
    ['Ulm', 'Ulm', None]
    """
    columns = [_Column(field.type) for field in schema]
    for batch in batches:
        for column, array in zip(columns, batch.columns, strict=True):
            column.add(array)
    found = (column.finished(kinds.get(name)) for name, column in zip(schema.names, columns, strict=True))
    return pa.table(list(found), schema.names)


def plain_kinds(schema: pa.Schema) -> dict[str, pa.DataType]:
    """The types of columns, without dictionaries, and text always in the same layout."""
    kinds = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema}
    return {name: pa.string() if is_text(kind) else kind for name, kind in kinds.items()}


class _Column:
    def __init__(self, kind: pa.DataType) -> None:
        self._values = pa.array([], pa.string() if is_text(kind) else kind)
        self._pieces: list[pa.Array] = []
        self._plain = pa.types.is_nested(kind) or pa.types.is_null(kind)

    def add(self, array: pa.Array) -> None:
        if self._plain:  # what has no dictionary is refused later, where it is named
            self._pieces.append(array)
            return
        piece = array.cast(self._values.type).dictionary_encode()
        places = pc.index_in(piece.dictionary, value_set=self._values).fill_null(-1).to_numpy().copy()
        new = places < 0
        places[new] = np.arange(np.count_nonzero(new)) + len(self._values)
        self._values = pa.concat_arrays([self._values, piece.dictionary.filter(pa.array(new))])
        self._pieces.append(pa.array(places, pa.int32()).take(piece.indices).cast(self._width))

    @property
    def _width(self) -> pa.DataType:
        return next((w for w in WIDTHS[:-1] if len(self._values) < 2**w.bit_width), WIDTHS[-1])

    def finished(self, kind: pa.DataType | None) -> pa.Array:
        if self._plain:
            return pa.concat_arrays(self._pieces) if self._pieces else self._values
        pieces = [piece.cast(self._width) for piece in self._pieces] or [pa.array([], self._width)]
        self._pieces = []
        labels = pa.types.is_string(self._values.type)  # of a generalized column that was something else
        values = self._values if kind is None or labels else self._values.cast(kind)
        return pa.DictionaryArray.from_arrays(pa.concat_arrays(pieces), values)
