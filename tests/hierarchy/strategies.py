"""Values of every kind and monotone hierarchies, drawn at random."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tarnkappe.hierarchy import Hierarchy
from tarnkappe.hierarchy.builder import ValueKind

WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(-30, 120)
REAL = st.floats() | st.floats(-50, 150).map(lambda number: round(number, 2))
DATE = st.dates()
MOMENT = st.datetimes()
TEXT = st.text(max_size=9) | st.sampled_from(
    ["a", "b", "0", "1", "other", "(missing)", "", "a to b", "b or a"]
)
NO_NUMBER = st.text(st.characters(codec="utf-8"), min_size=1, max_size=9).map(lambda text: f"x{text}")

COLUMNS: dict[ValueKind, list[tuple[pa.DataType, st.SearchStrategy[Any]]]] = {
    ValueKind.NUMBERS: [
        (pa.int64(), WHOLE),
        (pa.int16(), st.integers(-100, 100)),
        (pa.float64(), REAL),
        (pa.float32(), st.floats(width=32)),
        (pa.decimal128(12, 3), st.decimals(-(10**6), 10**6, places=3)),
        (pa.string(), WHOLE.map(str) | st.decimals(-(10**6), 10**6, places=2).map(str)),
    ],
    ValueKind.DATES: [
        (pa.date32(), DATE),
        (pa.timestamp("us"), MOMENT),
        (
            pa.timestamp("s", tz="Europe/Vienna"),
            st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
        ),
        (pa.string(), DATE.map(dt.date.isoformat) | MOMENT.map(dt.datetime.isoformat)),
    ],
    ValueKind.TEXT: [
        (pa.string(), TEXT),
        (pa.bool_(), st.booleans()),
        (pa.time64("us"), st.times()),
    ],
}


@st.composite
def arrays(draw: st.DrawFn, kind: ValueKind, *, min_size: int = 1) -> pa.Array:
    """An array of one kind, with repeats and missing values."""
    data_type, values = draw(st.sampled_from(COLUMNS[kind]))
    drawn = draw(st.lists(st.none() | values, min_size=min_size, max_size=25))
    return pa.array(drawn, data_type)


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any monotone hierarchy over any texts, the missing value included or not."""
    values = draw(st.lists(st.none() | st.text(min_size=1, max_size=6), min_size=1, max_size=12, unique=True))
    label = st.text(min_size=1, max_size=4)
    levels: list[list[str]] = []
    current: list[Any] = values
    for _ in range(draw(st.integers(0, 3))):
        names = {old: draw(label) for old in dict.fromkeys(current)}
        current = [names[old] for old in current]
        levels.append(current)
    root = draw(label)
    return Hierarchy.from_levels(values, [*levels, [root] * len(values)])
