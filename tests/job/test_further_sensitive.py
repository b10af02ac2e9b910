"""Further sensitive columns of a job: the main one stays whole and does not tell them."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.errors import GuaranteeError, JobError, TarnkappeError, VerificationError
from tarnkappe.job import Job, run
from tarnkappe.job.further_sensitive import FurtherSensitive

ILLNESSES = ("flu", "cold", "gout", "asthma")
ROWS = [
    (20 + i * 7 % 60, ILLNESSES[i * i % 7 % 4], f"drug {ILLNESSES[i * i % 7 % 4]}", i * 1.5)
    for i in range(240)
]


def job(tmp_path: Path, further: dict[str, Any] | None = None, **sections: Any) -> Job:
    with (tmp_path / "people.csv").open("w", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([("age", "illness", "drug", "dose"), *ROWS])
    content = {
        "input": {"path": "people.csv"},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 20]}},
            "illness": {"role": "sensitive"},
            "drug": {"role": "sensitive"},
            "dose": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 5},
            {"model": "distinct-diversity", "column": "illness", "l": 3},
        ],
        "further_sensitive": {"main": "illness", "columns": ["drug", "dose"], "l": 3} | (further or {}),
        "output": {"path": "release.csv", "report": "report.html", "manifest": "manifest.json"},
    }
    return Job.from_dict(content | sections, tmp_path)


def shown_too_often(rows: list[dict[str, str]], column: str, least: int) -> list[tuple[str, str]]:
    of_value: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        of_value[row["age"], row["illness"]].append(row[column])
    return [key for key, cells in of_value.items() if least * sum(cell != "*" for cell in cells) > len(cells)]


def test_of_a_main_value_at_most_one_row_in_l_shows_the_others(tmp_path: Path) -> None:
    done = run(job(tmp_path))
    with (tmp_path / "release.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    assert len(rows) == len(ROWS)
    for column in ("drug", "dose"):
        assert not shown_too_often(rows, column, 3)
        assert any(row[column] != "*" for row in rows)
        assert "at most 1 in 3 shows it" in done.columns.changed[column]
    assert Counter(row["illness"] for row in rows) == Counter(row[1] for row in ROWS)
    assert all(row["drug"] in ("*", f"drug {row['illness']}") for row in rows), "no correlation is falsified"
    assert all((row["drug"] == "*") == (row["dose"] == "*") for row in rows)
    assert done.columns.unprotected == ()


def test_another_node_of_the_same_lattice_is_suppressed_as_well(tmp_path: Path) -> None:
    other = run(job(tmp_path)).apply({"age": 2})
    rows = [{name: str(value) for name, value in row.items()} for row in other.release.data.to_pylist()]
    assert not shown_too_often(rows, "drug", 3)


def test_a_class_that_is_not_diverse_in_the_main_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GuaranteeError, match="fewer than 5 values of 'illness'"):
        run(job(tmp_path, {"l": 5}))
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize(
    ("further", "sections", "message"),
    [
        ({"columns": ["age"]}, {}, "names 'age', which is not sensitive"),
        ({"main": "drug"}, {}, "each column is named once"),
        ({"columns": ["drug", "drug"]}, {}, "each column is named once"),
        ({"l": 1}, {}, "l"),
        ({"columns": []}, {}, "columns"),
        ({"columns": ["durg"]}, {}, "drug"),
        (
            {},
            {"privacy": [{"model": "distinct-diversity", "column": "drug", "l": 2}]},
            "a promise is about 'drug'",
        ),
        ({}, {"history": {"store": "a.db", "key": "a.key"}}, "leave out \\[further_sensitive\\]"),
        ({}, {"output": {"path": "release.csv", "certificate": "proof.json"}}, "certificate does not tell"),
        ({}, {"input": {"path": "people.csv", "engine": "duckdb"}}, "needs the rows in memory"),
        ({}, {"search": {"algorithm": "anatomy"}}, "further_sensitive"),
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, further: dict[str, Any], sections: dict[str, Any], message: str
) -> None:
    with pytest.raises(TarnkappeError, match=message):
        run(job(tmp_path, further, **sections))
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("method", ["regions", "mondrian"])
def test_methods_that_write_each_row_in_their_own_way_keep_it_too(tmp_path: Path, method: str) -> None:
    done = run(job(tmp_path, {"l": 2}, search={"algorithm": method}))
    rows = [{name: str(value) for name, value in row.items()} for row in done.release.data.to_pylist()]
    assert not shown_too_often(rows, "drug", 2)


def test_the_verification_finds_a_cell_too_many_and_a_wrong_one() -> None:
    asked = FurtherSensitive(main="illness", columns=("drug",), l=2)
    true = pa.table({"drug": ["a", "b", "c", None]})
    release = pa.table({"age": [1, 1, 1, 1], "illness": ["x", "x", "y", "y"], "drug": ["a", "*", "*", None]})
    asked.verify(true, release, ["age"])
    for drugs in (["a", "b", "*", None], ["a", "*", "c", None], ["*", "a", "*", None], ["a", "*", "*", "d"]):
        with pytest.raises(VerificationError):
            asked.verify(true, release.set_column(2, "drug", pa.array(drugs)), ["age"])


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.sampled_from(["a", "b", None])), max_size=60
    ),
    st.integers(2, 3),
)
def test_in_python_whatever_leaves_keeps_the_share(
    drawn: list[tuple[int, str, str | None]], share: int
) -> None:
    rows = [*drawn, *((age, main, "a") for age in range(4) for main in "xyz")]
    ages, mains, drugs = (list(each) for each in zip(*rows, strict=True))
    people = tarnkappe.Table(pa.table({"age": ages, "illness": mains, "drug": drugs})).with_roles(
        quasi_identifiers=["age"], sensitive=["illness", "drug"]
    )
    further = {"main": "illness", "columns": ["drug"], "l": share}
    result = tarnkappe.anonymize(people, k=2, further_sensitive=further)
    released = [{name: str(value) for name, value in row.items()} for row in result.release.data.to_pylist()]
    assert not shown_too_often(released, "drug", share)


def test_python_refuses_what_a_job_file_would() -> None:
    people = tarnkappe.Table(pa.table({"age": [1, 1], "a": ["x", "y"], "b": ["x", "y"]})).with_roles(
        quasi_identifiers=["age"], sensitive=["a", "b"]
    )
    with pytest.raises((JobError, TarnkappeError), match="did you mean"):
        tarnkappe.anonymize(people, k=2, further_sensitive={"mian": "a", "columns": ["b"], "l": 2})
