"""Values on the wire: what psycopg writes we read, and what we write psycopg reads."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from tarnkappe.gate.sql import types
from tarnkappe.gate.sql.types import TYPES, ResultField, ValueOutOfTypeError, WireType, read_array

whole = st.integers(-(2**63) + 1, 2**63 - 1)
VALUES: list[tuple[WireType, st.SearchStrategy[Any]]] = [
    (types.BOOLEAN, st.booleans()),
    (types.SMALLINT, st.integers(-(2**15), 2**15 - 1)),
    (types.INTEGER, st.integers(-(2**31), 2**31 - 1)),
    (types.BIGINT, whole.filter(lambda n: len(str(abs(n))) <= 18)),
    (types.OID, st.integers(0, 2**32 - 1)),
    (types.DOUBLE, st.floats(allow_nan=False, allow_infinity=False)),
    (
        types.NUMERIC,
        st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=4),
    ),
    (types.TEXT, st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))),
    (types.DATE, st.dates(min_value=dt.date(1, 1, 1))),
    (types.TIMESTAMP, st.datetimes()),
]
each = pytest.mark.parametrize(("kind", "values"), VALUES, ids=[kind.short for kind, _ in VALUES])


@each
@pytest.mark.parametrize("form", [0, 1])
@settings(max_examples=30)
@given(data=st.data())
def test_psycopg_reads_what_is_written(kind: WireType, values: Any, form: int, data: st.DataObject) -> None:
    value = data.draw(values)
    loader = Transformer().get_loader(kind.oid, Format(form))
    assert loader.load(kind.write(value, form) or b"") == value


@each
@pytest.mark.parametrize("form", [PyFormat.TEXT, PyFormat.BINARY])
@settings(max_examples=30)
@given(data=st.data())
def test_what_psycopg_writes_is_read(
    kind: WireType, values: Any, form: PyFormat, data: st.DataObject
) -> None:
    value = data.draw(values)
    try:
        dumper = Transformer().get_dumper(value, form)
        sent = dumper.dump(value)
    except psycopg.Error:
        return
    declared = types.BY_OID.get(dumper.oid, kind)
    assert declared.read(bytes(sent or b""), int(PyFormat.as_pq(form))) == value


@each
@pytest.mark.parametrize("form", [0, 1])
@settings(max_examples=15)
@given(data=st.data())
def test_arrays_in_both_directions(kind: WireType, values: Any, form: int, data: st.DataObject) -> None:
    array = data.draw(st.lists(values | st.none(), max_size=5))
    written = ResultField("a", kind, is_array=True).write(array, form)
    assert written is not None
    assert Transformer().get_loader(kind.array, Format(form)).load(written) == array
    assert read_array(kind, written, form) == array


@settings(max_examples=300)
@given(
    kind=st.sampled_from(TYPES), sent=st.binary(max_size=40), form=st.sampled_from([0, 1]), many=st.booleans()
)
def test_bytes_that_are_no_value_are_refused_and_nothing_else_happens(
    kind: WireType, sent: bytes, form: int, many: bool
) -> None:
    told = kind.name
    try:
        read_array(kind, sent, form) if many else kind.read(sent, form)
    except ValueOutOfTypeError as refused:
        told = str(refused).removesuffix("[]")
    assert told == kind.name  # the value is not told


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1_000", "0x1F", "1e9999", "", " ", "--1", "1.5"])
def test_numbers_that_databases_take_differently_are_refused(text: str) -> None:
    with pytest.raises(ValueOutOfTypeError):
        types.INTEGER.read(text.encode(), 0)
    if text != "1.5":
        with pytest.raises(ValueOutOfTypeError):
            types.NUMERIC.read(text.encode(), 0)


def test_nothing_is_no_value() -> None:
    assert all(
        kind.read(None, form) is None and kind.write(None, form) is None for kind in TYPES for form in (0, 1)
    )


def test_exact_numbers_keep_their_zeros() -> None:
    assert str(types.NUMERIC.read(types.NUMERIC.write(Decimal("1.2300"), 1), 1)) == "1.2300"
