"""Texts that people read as one value: they differ in case, blanks, invisible signs or the form of Unicode.

A promise about sensitive values counts values, not ways to write them: `HIV`, `hiv` and `HIV ` in a class
give the diagnosis away. What is written with other letters or marks (`H.I.V.`) stays another value.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.table.table import Table


def heard(texts: pa.Array) -> pa.Array:
    r"""Texts without what people do not hear: equal for texts that are one value to them.

    >>> heard(pa.array(["HIV ", "h\u200biv", "type  2", "Type\u00a02", "A+", None])).to_pylist()
    ['hiv', 'hiv', 'type 2', 'type 2', 'a+', None]
    """
    plain = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    plain = pc.replace_substring_regex(plain, r"\p{Cf}+", "")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, r"[\s\p{Z}]+", " "))


def one_way_each(table: Table, names: Iterable[str]) -> tuple[Table, dict[str, int]]:
    """A table in which each value of the named columns is written in one way, its most frequent one.

    Returns:
        The table, and for each column that was changed how many ways of writing are gone.
    """
    gone: dict[str, int] = {}
    data = table.data
    for name in names:
        column = data.column(name)
        texts = _other_ways(column)
        if not texts:
            continue
        gone[name] = len(texts)
        coded = column.unify_dictionaries() if is_coded(column) else column.dictionary_encode()
        written = pa.chunked_array([_written(chunk, texts) for chunk in coded.chunks], coded.type)
        if not is_coded(column):
            written = written.cast(column.type)
        data = data.set_column(data.column_names.index(name), data.schema.field(name), written)
    return (table.with_data(data) if gone else table), gone


def ways_beyond_one(column: pa.ChunkedArray) -> int:
    """How many texts of a column are another way to write a value that it has."""
    return len(_other_ways(column))


def is_coded(column: pa.ChunkedArray) -> bool:
    """Whether Arrow keeps the values of a column once and refers to them."""
    return bool(pa.types.is_dictionary(column.type))


def _other_ways(column: pa.ChunkedArray) -> dict[str, str]:
    """For each text that is another way to write a value: the way that most rows have."""
    kind = column.type.value_type if is_coded(column) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return {}
    counted = pc.value_counts(column.cast(kind))
    texts, rows = counted.field("values"), counted.field("counts")
    read = heard(texts)
    if len(pc.unique(read)) == len(texts):
        return {}
    same: dict[str, list[tuple[int, str]]] = {}
    for value, text, count in zip(read.to_pylist(), texts.to_pylist(), rows.to_pylist(), strict=True):
        if text is not None:
            same.setdefault(value, []).append((-count, text))
    new: dict[str, str] = {}
    for ways in same.values():
        (_, kept), *others = sorted(ways)
        new |= {text: kept for _, text in others}
    return new


def _written(chunk: pa.DictionaryArray, texts: dict[str, str]) -> pa.DictionaryArray:
    """The cells of a chunk, with other texts of the same values."""
    values = chunk.dictionary.to_pylist()
    place = {text: number for number, text in enumerate(values)}
    moved = pa.array([place[texts.get(text, text)] for text in values], chunk.indices.type)
    return pa.DictionaryArray.from_arrays(
        moved.take(chunk.indices), chunk.dictionary, ordered=chunk.type.ordered
    )
