"""What stands above a protection sees the given tables and nothing else."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tarnkappe.engines.post_processing import check_statement, post_processed
from tarnkappe.errors import QueryError

PATIENTS = {"patients": pa.table({"plz": ["18055", "18057"]})}


@pytest.mark.parametrize("view", ["sqlite_master", "duckdb_databases", "pg_class"])
def test_a_name_given_by_with_opens_no_view_of_the_engine(view: str) -> None:
    inner = f"(WITH {view} AS (SELECT 1 AS n) SELECT * FROM {view}) AS w"
    with pytest.raises(QueryError, match="names a table that is not there"):
        post_processed(f"SELECT count(*) AS n FROM {view}, {inner}", PATIENTS)


def test_a_name_given_by_with_may_be_any_other() -> None:
    found = post_processed(
        "WITH tables AS (SELECT plz FROM patients) SELECT count(*) AS n FROM tables", PATIENTS
    )
    assert found.to_pylist() == [{"n": 2}]


@pytest.mark.parametrize("call", ["lpad(plz, 2000000000, 'x')", "rpad(plz, 2000000000, 'x')"])
def test_no_function_makes_a_text_of_any_length(call: str) -> None:
    with pytest.raises(QueryError, match="is not among those that may be used"):
        check_statement(f"SELECT {call} AS x FROM patients", frozenset(PATIENTS))
