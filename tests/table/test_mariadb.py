"""Reading from and writing to a real MariaDB server; without one these tests are skipped and say so."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tarnkappe.errors import ColumnError, InputError, ParameterError
from tarnkappe.job import anonymize
from tarnkappe.table import read, write
from tests.table.test_read import SECRET, refusal

WEIRD = 'my "table" `100%`; DROP TABLE t'
PEOPLE = pa.table(
    {
        'na"me %s': pa.array(["01", "", None, 'x,\n\'"y"\\. \U0001f637']),
        "n": [1, None, 3, 2**62],
        "f": [1.0, 2.5, None, 1e-300],
        "c": pa.array([Decimal("9.50"), None, Decimal("-0.01"), Decimal("123.00")], pa.decimal128(9, 2)),
        "d": [dt.date(2020, 1, 1), None, dt.date(1066, 10, 14), dt.date(2999, 1, 1)],
        "t": [dt.datetime(2020, 1, 1, 12, 0, 0, 1), None, dt.datetime(1066, 1, 1), dt.datetime(2999, 1, 1)],
    }
)


def names(address: str) -> set[str]:
    engine = sa.create_engine(address)
    try:
        return set(sa.inspect(engine).get_table_names())
    finally:
        engine.dispose()


@pytest.mark.parametrize("table", ["people", WEIRD])
def test_a_table_comes_back_as_it_was_written(mariadb: str, table: str) -> None:
    write(PEOPLE, mariadb, table=table, replace=True)
    found = read(mariadb, table=table)
    assert found.data.to_pylist() == PEOPLE.to_pylist()
    assert read(mariadb, table=table, columns=["n"]).data.column("n").to_pylist() == [1, None, 3, 2**62]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_any_text_comes_back(mariadb: str, texts: list[str | None]) -> None:
    write(pa.table({"t": pa.array(texts, pa.string())}), mariadb, table="texts", replace=True)
    assert read(mariadb, table="texts").data.column("t").to_pylist() == texts


def test_truth_values_come_back_as_the_numbers_that_they_are_there(mariadb: str) -> None:
    write(pa.table({"b": [True, False, None]}), mariadb, table="truth", replace=True)
    assert read(mariadb, table="truth").data.column("b").to_pylist() == [1, 0, None]


def test_a_text_of_a_hundred_thousand_letters_is_not_cut(mariadb: str) -> None:
    write(pa.table({"t": ["x" * 100_000]}), mariadb, table="long", replace=True)
    assert read(mariadb, table="long").data.column("t").to_pylist() == ["x" * 100_000]


def test_what_the_database_would_change_is_refused(mariadb: str) -> None:
    zoned = pa.table({"t": pa.array([0], pa.timestamp("us", "Europe/Berlin"))})
    with pytest.raises(ColumnError, match="keep no time zone"):
        write(zoned, mariadb, table="zoned")
    assert "zoned" not in names(mariadb)


def test_a_write_that_fails_leaves_everything_as_it_was(mariadb: str) -> None:
    write(PEOPLE, mariadb, table="kept", replace=True)
    before = names(mariadb)
    broken = pa.table({"f": [1.0, float("nan")], "s": [SECRET, SECRET]})  # there is no NaN there
    for table in ("kept", "never"):
        with pytest.raises(InputError) as told:
            write(broken, mariadb, table=table, replace=True)
        assert SECRET not in str(told.value)
    assert names(mariadb) == before
    assert read(mariadb, table="kept").data.to_pylist() == PEOPLE.to_pylist()
    with pytest.raises(ParameterError, match="exists"):
        write(PEOPLE, mariadb, table="kept")


def test_a_release_of_a_table_is_written_beside_it(mariadb: str) -> None:
    ages = pa.table({"age": [20, 21, 22, 50, 51, 52], "diagnosis": ["flu", "hiv"] * 3})
    write(ages, mariadb, table="patients", replace=True)
    found = anonymize(
        read(mariadb, table="patients").data,
        quasi_identifiers=["age"],
        hierarchies={"age": {"builder": "intervals", "width": [10]}},
        sensitive=["diagnosis"],
        k=3,
    )
    write(found.frame, mariadb, table="released", replace=True)
    released = read(mariadb, table="released").data
    assert sorted(released.column("age").to_pylist()) == sorted(["20-29"] * 3 + ["50-59"] * 3)


def test_what_is_wrong_is_told_without_the_password(mariadb: str) -> None:
    wrong = mariadb.replace("root@", f"nobody:{SECRET}@")
    assert "no connection" in refusal(wrong, table="t")
    assert "no table" in refusal(mariadb, table="nowhere")
