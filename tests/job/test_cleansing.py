"""Cells that a job replaces and rows that it takes, before anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import InputError, JobError, QueryError
from tarnkappe.job import Job
from tarnkappe.job.cleansing import with_chosen_rows, with_replaced_cells
from tarnkappe.job.pipeline import run
from tarnkappe.table import Table

PEOPLE = "age;town;illness\n" + "".join(
    f"{age};{town};{illness}\n"
    for age, town, illness in [
        (31, "Ulm", "flu"),
        (33, "Ulm", "cold"),
        (38, "Muenchen", "flu"),
        (32, "München", "ulcer"),
        (55, "Bonn", "flu"),
        (57, "?", "flu"),
        (12, "Ulm", "cold"),
    ]
)
cells = st.sampled_from(["a", "b", "c", None])


def job_of(folder: Path, **changes: Any) -> Job:
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    content: dict[str, Any] = {
        "input": {"path": "people.csv", "where": "age >= 18 AND illness <> 'ulcer'"},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": 10}},
            "town": {
                "role": "quasi-identifier",
                "hierarchy": {"builder": "root"},
                "replace": {"Muenchen": "München", "?": ""},
            },
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"path": "release.csv"},
    }
    return Job.from_dict(content | changes, folder)


def test_a_job_publishes_the_rows_it_takes_with_the_cells_it_replaced(tmp_path: Path) -> None:
    result = run(job_of(tmp_path))
    assert sorted(result.input.data["town"].to_pylist(), key=str) == ["Bonn", "München", None, "Ulm", "Ulm"]
    assert result.release.num_rows == 5
    assert "ulcer" not in (tmp_path / "release.csv").read_text(encoding="utf-8")


def test_what_others_read_as_it_stands_is_not_cleansed(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="certificate takes every cell"):
        run(job_of(tmp_path, output={"path": "release.csv", "certificate": "release.cert"}))
    with pytest.raises(JobError, match="need the rows in memory"):
        run(job_of(tmp_path, input={"path": "people.csv", "where": "age > 3", "engine": "duckdb"}))


@given(ages=st.lists(st.integers(0, 20) | st.none(), min_size=1, max_size=12), least=st.integers(0, 20))
def test_chosen_are_the_rows_that_a_loop_would_choose(ages: list[int | None], least: int) -> None:
    table = Table(pa.table({"age": pa.array(ages, pa.int64()), "row": range(len(ages))}))
    expected = [n for n, age in enumerate(ages) if age is not None and (age >= least or age % 7 == 0)]
    condition = f"age >= {least} OR age % 7 = 0"
    if not expected:
        with pytest.raises(InputError, match="no row meets the condition"):
            with_chosen_rows(table, condition)
        return
    assert with_chosen_rows(table, condition).data["row"].to_pylist() == expected


@pytest.mark.parametrize(
    "condition",
    [
        "age > (SELECT avg(age) FROM rows)",
        "sum(age) OVER () > 3",
        "true) UNION SELECT (5",
        "true) ORDER BY (row",
        "age > 5; SELECT 1",
        "age >",
    ],
)
def test_a_condition_looks_at_one_row_only(condition: str) -> None:
    with pytest.raises(QueryError, match="a condition on the cells of a row is needed"):
        with_chosen_rows(Table(pa.table({"age": [1, 2]})), condition)


@pytest.mark.parametrize(
    ("condition", "why"),
    [("ages > 3", "names a column"), ("age = 'x'", ""), ("getenv('HOME') = 'x'", "function getenv")],
)
def test_a_condition_that_does_not_fit_is_refused_with_its_place(condition: str, why: str) -> None:
    with pytest.raises((QueryError, InputError), match=rf"\[input\] where.*{why}"):
        with_chosen_rows(Table(pa.table({"age": [1, 2]})), condition)


@given(
    column=st.lists(cells, min_size=1, max_size=8),
    changes=st.dictionaries(st.sampled_from(["a", "b", "c", ""]), st.sampled_from(["a", "z", ""])),
)
def test_replaced_are_whole_cells_once(column: list[str | None], changes: dict[str, str]) -> None:
    found = with_replaced_cells(pa.chunked_array([pa.array(column, pa.string())]), changes).to_pylist()
    assert found == [changes.get(cell or "", cell or "") or None for cell in column]


def test_a_column_keeps_its_type_where_all_new_cells_are_of_it() -> None:
    numbers = pa.chunked_array([pa.array([999, 12, None], pa.int64())])
    kept = with_replaced_cells(numbers, {"999": ""})
    assert (kept.type, kept.to_pylist()) == (pa.int64(), [None, 12, None])
    text = with_replaced_cells(numbers, {"999": "unknown"})
    assert (text.type, text.to_pylist()) == (pa.string(), ["unknown", "12", None])
