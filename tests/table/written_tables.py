"""Random tables with everything that is hard to write: quotes, delimiters, line breaks, missing values."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

characters = st.one_of(
    st.sampled_from("ab01 \t\r\n\"'\\,;|=+_x*\x1f\x7f\x85\u2028\ufeff\ufffe€ß😀"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
texts = st.one_of(
    st.text(characters, max_size=6),
    st.sampled_from(
        ["", "01234", "007", "1e5", "+5", "1.50", "nan", "true", "2020-01-01", "_x0041_", "\\.", "NULL"]
    ),
)
names = st.text(characters, min_size=1, max_size=5).filter(lambda name: name.strip())
days = st.dates(dt.date(1900, 3, 1))
moments = st.datetimes(dt.datetime(1900, 3, 1)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)
)
kinds: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.string(), texts),
    (pa.int64(), st.integers(-(10**15) + 1, 10**15 - 1)),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), days),
    (pa.timestamp("ms"), moments),
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A random table without rows that have no value at all, which Excel cannot hold."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    columns = draw(st.lists(names, min_size=len(chosen), max_size=len(chosen), unique_by=str.casefold))
    content = draw(st.lists(st.tuples(*(st.none() | values for _, values in chosen)), min_size=1, max_size=8))
    data = [[row[place] for row in content] for place in range(len(chosen))]
    table = pa.table([pa.array(v, kind) for v, (kind, _) in zip(data, chosen, strict=True)], names=columns)
    return draw(st.sampled_from([table, _with_dictionaries(table)]))


def _with_dictionaries(table: pa.Table) -> pa.Table:
    texts = [name for name in table.column_names if pa.types.is_string(table.schema.field(name).type)]
    encoded = {name: table.column(name).dictionary_encode() for name in texts}
    return pa.table({name: encoded.get(name, table.column(name)) for name in table.column_names})
