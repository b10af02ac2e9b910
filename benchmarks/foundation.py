"""How fast tables are encoded, grouped and checked."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import tarnkappe
from benchmarks.yardstick import seconds, yardstick
from tarnkappe.table.encoding import encode
from tarnkappe.table.examples import shaped
from tarnkappe.table.row_tuples import row_tuples

LIMITS = {
    "check_seconds": 1.0,
    "encode_10m_rows_seconds": 10.0,
    "encode_10m_rows_of_text_seconds": 10.0,
}
"""What `make bench-check` holds us to."""


def run(large_rows: int = 10_000_000) -> dict[str, Any]:
    """Measure on the Adult-shaped table, and on ten million rows of it."""
    adult = shaped("ADULT").table
    names = list(adult.column_names)
    unit = yardstick(adult.data)
    table = adult.with_roles(
        quasi_identifiers=[n for n in names if n != "occupation"], sensitive=["occupation"]
    )
    check = seconds(lambda: tarnkappe.check(table))
    encoding = seconds(lambda: encode(table, names))
    grouping = seconds(lambda: row_tuples(table, names).distinct())
    large = shaped("ADULT", rows=large_rows).table
    large_encoding = seconds(lambda: encode(large, names), repeats=1)
    as_text = tarnkappe.Table(large.data.cast(pa.schema([(name, pa.string()) for name in names])))
    text_encoding = seconds(lambda: encode(as_text, names), repeats=1)
    return {
        "rows": adult.num_rows,
        "columns": len(names),
        "yardstick_seconds": unit,
        "check_seconds": check,
        "check_yardsticks": check / unit,
        "encode_yardsticks": encoding / unit,
        "distinct_yardsticks": grouping / unit,
        "large_rows": large_rows,
        "encode_10m_rows_seconds": large_encoding * 10_000_000 / large_rows,
        "encode_10m_rows_of_text_seconds": text_encoding * 10_000_000 / large_rows,
    }
