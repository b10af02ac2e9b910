"""Every type of Arrow, pandas and polars is read, or refused in a sentence that names the column."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, InputError
from tarnkappe.table.kinds import in_known_kinds, is_plain
from tarnkappe.table.read import read

ROWS = 60
BASE = {"age": [20 + row * 7 % 40 for row in range(ROWS)], "sex": ["f", "m", "f"] * (ROWS // 3)}
MOMENT = 1_577_872_800_123_456_789
SEVEN = [row % 7 for row in range(ROWS)]


def arrow(values: Any, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({**BASE, "x": pa.array(values, kind)})


NEVER_RELEASED = {
    "list": arrow([[1, 2]] * ROWS),
    "struct": arrow([{"a": row % 5} for row in range(ROWS)]),
    "map": arrow([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
    "list view": arrow([[1]] * ROWS, pa.list_view(pa.int64())),
    "binary": arrow([b"%d" % (row % 3) for row in range(ROWS)]),
    "large binary": arrow([b"ab"] * ROWS, pa.large_binary()),
    "binary of one length": arrow([b"ab"] * ROWS, pa.binary(2)),
    "binary view": arrow([b"ab"] * ROWS, pa.binary_view()),
    "dictionary of binary": arrow(pa.array([b"ab"] * ROWS).dictionary_encode()),
    "polars list": pl.DataFrame({**BASE, "x": [[1, 2]] * ROWS}),
    "polars struct": pl.DataFrame({**BASE, "x": [{"a": 1}] * ROWS}),
    "polars binary": pl.DataFrame({**BASE, "x": [b"a"] * ROWS}),
    "polars object": pl.DataFrame({**BASE, "x": pl.Series([object()] * ROWS, dtype=pl.Object)}),
    "pandas list": pd.DataFrame({**BASE, "x": [[1, 2]] * ROWS}),
    "pandas dictionaries": pd.DataFrame({**BASE, "x": [{"a": 1}] * ROWS}),
    "pandas bytes": pd.DataFrame({**BASE, "x": [b"1"] * ROWS}),
}
READ = {
    "half floats": arrow(np.array(SEVEN, np.float16)),
    "half floats of pandas": pd.DataFrame({**BASE, "x": np.array(SEVEN, np.float16)}),
    "nanoseconds": arrow([MOMENT + each for each in SEVEN], pa.timestamp("ns")),
    "nanoseconds with a zone": arrow([MOMENT + each for each in SEVEN], pa.timestamp("ns", "Europe/Berlin")),
    "nanoseconds of pandas": pd.DataFrame({**BASE, "x": pd.to_datetime([MOMENT + each for each in SEVEN])}),
    "nanoseconds of polars": pl.DataFrame(
        {**BASE, "x": pl.Series([MOMENT + each for each in SEVEN]).cast(pl.Datetime("ns"))}
    ),
    "small decimals": arrow([Decimal(each) / 4 for each in SEVEN], pa.decimal32(5, 2)),
    "middle decimals": arrow([Decimal(each) / 4 for each in SEVEN], pa.decimal64(10, 2)),
    "long decimals": arrow([Decimal(each) / 4 for each in SEVEN], pa.decimal256(60, 2)),
    "hundreds": arrow([Decimal(each) * 100 for each in SEVEN], pa.decimal128(10, -2)),
    "months and days": arrow([pa.MonthDayNano([1, each, 3]) for each in SEVEN]),
    "runs": pa.table({**BASE, "x": pa.compute.run_end_encode(pa.array(["a"] * 30 + ["b"] * 30))}),
    "json": arrow(['"a"', '"b"'] * (ROWS // 2), pa.json_()),
    "answers": arrow([each % 2 for each in SEVEN], pa.bool8()),
    "cuts": pd.DataFrame({**BASE, "x": pd.cut(BASE["age"], [0, 30, 40, 60])}),
    "intervals": pd.DataFrame({**BASE, "x": pd.arrays.IntervalArray.from_breaks(range(ROWS + 1))}),
    "periods": pd.DataFrame({**BASE, "x": pd.period_range("2020-01", periods=ROWS, freq="M")}),
}


@pytest.mark.parametrize("name", NEVER_RELEASED)
def test_bytes_and_nested_values_are_left_out_and_it_is_said(name: str) -> None:
    data = NEVER_RELEASED[name]
    for stated in ((), ("x",)):
        proposal = tarnkappe.propose(data, identifiers=stated)
        (column,) = (each for each in proposal.columns if each.name == "x")
        assert column.is_left_out
        assert stated or "bytes" in column.reason or "nested" in column.reason
        result = proposal.anonymize()
        assert "x" not in result.release.data.column_names
    tarnkappe.check(data)


@pytest.mark.parametrize("role", ["publish", "sensitive", "quasi_identifiers"])
@pytest.mark.parametrize("name", NEVER_RELEASED)
def test_bytes_and_nested_values_have_no_other_role(name: str, role: str) -> None:
    with pytest.raises(ColumnError, match=r"'x' holds .* leave the column out"):
        tarnkappe.propose(NEVER_RELEASED[name], **{role: ["x"]})


@pytest.mark.parametrize("name", READ)
def test_what_has_a_plain_meaning_is_protected_and_released(name: str) -> None:
    data = READ[name]
    tarnkappe.anonymize(data)
    tarnkappe.check(data)
    tarnkappe.anonymize(data, quasi_identifiers=["x"])
    released = tarnkappe.anonymize(data, quasi_identifiers=["age", "sex"], publish=["x"])
    came = sorted(map(str, read(data).data.column("x").to_pylist()))
    assert sorted(map(str, released.release.data.column("x").to_pylist())) == came
    assert len(released.frame) == ROWS


@pytest.mark.parametrize(
    "name", [n for n in (*NEVER_RELEASED, *READ) if "polars" not in n and "pandas" not in n]
)
def test_the_same_from_a_file(name: str, tmp_path: Path) -> None:
    data = {**NEVER_RELEASED, **READ}[name]
    if not isinstance(data, pa.Table):
        pytest.skip("no table of Arrow")
    try:
        pq.write_table(data, tmp_path / "t.parquet")
    except (pa.ArrowException, OSError):
        pytest.skip("Parquet has no such type")
    tarnkappe.anonymize(tmp_path / "t.parquet")


def test_types_come_back_where_there_is_a_way() -> None:
    for name, kind in (("half floats", pa.float16()), ("long decimals", pa.decimal256(60, 2))):
        frame = tarnkappe.anonymize(READ[name], quasi_identifiers=["age", "sex"], publish=["x"]).frame
        assert frame.schema.field("x").type == kind
    frame = tarnkappe.anonymize(READ["cuts"], quasi_identifiers=["age", "sex"], publish=["x"]).frame
    assert list(frame["x"].cat.categories) == ["(0, 30]", "(30, 40]", "(40, 60]"]
    assert frame["x"].cat.ordered


def test_decimals_too_long_for_numbers_keep_their_digits() -> None:
    long = Decimal("1" * 50 + ".25")
    known = in_known_kinds(pa.table({"x": pa.array([long, None], pa.decimal256(60, 2))}))
    assert known.column("x").to_pylist() == [str(long), None]


def test_what_is_known_is_not_touched() -> None:
    data = pa.table({"a": [1], "b": ["x"], "c": pa.array(["x"]).dictionary_encode(), "d": [Decimal("1.5")]})
    assert in_known_kinds(data) is data
    assert all(is_plain(kind) for kind in data.schema.types)


@pytest.mark.parametrize(
    "values",
    [
        [Decimal("1.5"), Decimal("Infinity")],
        ["a\ud800", "b"],
        [1 + 2j, 2j],
        [1, "a"],
        [object(), object()],
    ],
)
def test_values_that_cannot_be_read_are_refused_by_their_column(values: list[Any]) -> None:
    frame = pd.DataFrame({**BASE, "x": pd.Series(values * (ROWS // 2), dtype=object)})
    for use in (tarnkappe.propose, tarnkappe.anonymize, tarnkappe.check):
        with pytest.raises(InputError, match="'x'"):
            use(frame)


@pytest.mark.parametrize("name", [None, float("nan"), pd.NA, pd.NaT])
def test_a_column_without_a_name_is_numbered(name: Any) -> None:
    frame = pd.DataFrame([[30, "f"], [40, "m"]], columns=["age", name])
    assert read(frame).column_names == ("age", "column 2")
    assert read(frame).frame is not None
    assert set(read(frame).frame.types) == {"age", "column 2"}  # type: ignore[union-attr]


def test_a_name_with_half_a_character_is_refused() -> None:
    frame = pd.DataFrame([[30, "f"]])
    frame.columns = pd.Index(["age", "x\ud800"], dtype=object)
    with pytest.raises(InputError, match="half a character"):
        read(frame)
