"""Columns as a database keeps them: numbers and dates instead of the texts that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tarnkappe.table.spelling.moments import DatePrecision
from tarnkappe.table.spelling.spelling import Spelling

MOST = 10**15
"""Whole numbers with more digits are codes, or no longer exact."""


def typed_column(column: pa.ChunkedArray, spelling: Spelling | None) -> pa.ChunkedArray:
    """The values that the texts of a column stand for; text where one of them stands for nothing else.

    >>> from tarnkappe.table.spelling.numbers import NumberFormat
    >>> from tarnkappe.table.spelling.spelling import SpellingKind
    >>> prices = pa.chunked_array([["1,50", None]]).dictionary_encode()
    >>> typed_column(prices, Spelling(SpellingKind.NUMBER, NumberFormat(","))).to_pylist()
    [1.5, None]
    """
    if not pa.types.is_dictionary(column.type):
        return column
    chunk = column.combine_chunks()
    values = chunk.dictionary
    if spelling is not None:
        texts = values.to_pylist()
        found = _numbers(texts, spelling)
        if found is None:
            found = _dates(texts, spelling)
        values = values if found is None else found
    return pa.chunked_array([values.take(chunk.indices)])


def _numbers(texts: Sequence[str], spelling: Spelling) -> pa.Array | None:
    found = [spelling.number_of(text) for text in texts]
    numbers = [number for number in found if number is not None]
    if not texts or len(numbers) < len(texts):
        return None
    if all(number == int(number) and abs(number) < MOST for number in numbers):
        return pa.array(map(int, numbers), pa.int64())
    return pa.array(map(float, numbers), pa.float64())


def _dates(texts: Sequence[str], spelling: Spelling) -> pa.Array | None:
    """Days, or moments if any is more exact; years and months alone are neither."""
    if spelling.date is None or spelling.date.open:
        return None
    found = [spelling.moment_of(text) for text in texts]
    said: list[Any] = []
    for moment in found:
        if moment is None or moment.precision not in (DatePrecision.DAY, DatePrecision.TIME):
            return None
        said.append(moment.time)
    exact = any(moment is not None and moment.precision is DatePrecision.TIME for moment in found)
    return pa.array(said, pa.timestamp("us") if exact else pa.date32()) if said else None
