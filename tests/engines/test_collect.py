"""Batches are put together in as few bytes as will do, and nothing is lost."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.engines.collect import collect, plain_kinds
from tarnkappe.engines.polling import wait_for
from tests.table.written_tables import tables


@given(parts=st.lists(tables(), min_size=1, max_size=3), size=st.integers(1, 5))
@settings(max_examples=settings.default.max_examples // 2)
def test_random_batches_come_together_as_they_were(parts: list[pa.Table], size: int) -> None:
    for part in parts:
        table = pa.concat_tables([part, part])
        plain = table.cast(pa.schema(list(plain_kinds(table.schema).items())))
        found = collect(plain.schema, plain.to_batches(size), {})
        assert found.to_pylist() == plain.to_pylist()


@pytest.mark.parametrize(("distinct", "width"), [(255, "uint8"), (256, "uint16"), (70_000, "int32")])
def test_indices_are_as_wide_as_they_must_be(distinct: int, width: str) -> None:
    table = pa.table({"n": list(range(distinct)) * 2})
    column = collect(table.schema, table.to_batches(1000), {}).column("n")
    assert str(column.type.index_type) == width
    assert column.to_pylist() == table.column("n").to_pylist()


def test_types_are_those_that_are_asked_for_save_of_labels() -> None:
    table = pa.table({"moment": pa.array([1000, None], pa.timestamp("us")), "age": ["20-29", "*"]})
    kinds = {"moment": pa.timestamp("ms"), "age": pa.int64()}
    found = collect(table.schema, table.to_batches(), kinds)
    assert found.column("moment").type.value_type == pa.timestamp("ms")
    assert found.column("age").to_pylist() == ["20-29", "*"]
    assert collect(table.schema, [], {}).num_rows == 0


def test_what_has_no_dictionary_stays_as_it_is() -> None:
    table = pa.table({"list": [[1], [2]], "nothing": pa.nulls(2)})
    assert collect(table.schema, table.to_batches(1), {}).to_pylist() == table.to_pylist()


def test_progress_is_asked_for_while_an_engine_works() -> None:
    told: list[tuple[str, int, int]] = []
    asked = threading.Event()

    def percent() -> float:
        asked.set()
        return 150.0

    def listen(what: str, done: int, total: int, note: str = "") -> None:
        told.append((what, done, total))

    def work() -> str:
        assert asked.wait(10)
        return "done"

    assert wait_for(work, _never, percent, listen, "counting") == "done"
    assert told[0] == told[-2] == ("counting", 100, 100), "what an engine says is taken within limits"
    assert wait_for(lambda: 7, _never, _never, None, "counting") == 7


def test_work_that_fails_is_not_told_as_done() -> None:
    told: list[int] = []
    with pytest.raises(ZeroDivisionError):
        wait_for(
            lambda: 1 // 0, _never, lambda: 50.0, lambda what, done, total, note="": told.append(done), ""
        )
    assert 100 not in told


def test_who_waits_no_longer_stops_the_engine_first() -> None:
    given_up = threading.Event()

    def listen(what: str, done: int, total: int, note: str = "") -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait_for(lambda: given_up.wait(10), given_up.set, lambda: 0.0, listen, "counting")
    assert given_up.is_set()


def _never() -> float:
    raise AssertionError("nobody asked for this")
