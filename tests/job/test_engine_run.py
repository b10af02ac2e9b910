"""Jobs whose rows stay where they are: the same result as in memory, verified, or nothing at all."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.engines.duckdb import DuckDB
from tarnkappe.errors import NoSolutionError, ParameterError, TarnkappeError, VerificationError
from tarnkappe.job import Job, Result, engine_run, run
from tarnkappe.table import read, write
from tarnkappe.table.examples import hospital
from tests.random_tables import Example, examples

ENGINES = ("duckdb", "postgresql", "spark")

COLUMNS: dict[str, dict[str, Any]] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [5, 20]}},
    "sex": {"role": "quasi-identifier"},
    'post"code': {"role": "quasi-identifier", "hierarchy": {"builder": "masking"}},
    "diagnosis": {"role": "sensitive"},
    "cost": {"role": "sensitive"},
    "seen": {"role": "insensitive"},
}
PRIVACY = [
    {"model": "k-anonymity", "k": 5},
    {"model": "entropy-diversity", "column": "diagnosis", "l": 2},
    {"model": "ordered-closeness", "column": "cost", "t": 0.5},
]


def patients(rows: int = 1500) -> pa.Table:
    """Patients of a hospital that does not exist, some of whose values are missing."""
    data = hospital(rows=rows, seed=3).table.data
    some = pa.array(np.arange(rows) % 37 == 0)
    numbers = np.random.default_rng(1)
    return pa.table(
        {
            "name": data.column("name").cast(pa.string()),
            "age": pa.compute.if_else(some, pa.scalar(None, data.column("age").type), data.column("age")),
            "sex": data.column("sex").cast(pa.string()),
            'post"code': data.column("postcode").cast(pa.string()),
            "diagnosis": data.column("diagnosis").cast(pa.string()),
            "cost": numbers.integers(1, 30, rows).astype(float),
            "seen": pa.array(np.arange(rows) % 400 + 18_000, pa.int32()).cast(pa.date32()),
        }
    ).slice(0, rows)


def job(folder: Path, source: Mapping[str, Any], output: Mapping[str, Any], **changes: Any) -> Job:
    content = {
        "input": {"several_rows_per_person": True, **source},
        "columns": COLUMNS,
        "privacy": PRIVACY,
        "search": {"suppression_limit": 0.05, "loss": "loss"},
        "output": output,
    }
    return Job.from_dict({**content, **changes}, folder)


class Here:
    """One table in every place, and jobs on it."""

    def __init__(self, table: pa.Table, folder: Path, request: pytest.FixtureRequest) -> None:
        self.folder, self.request, self.table = folder, request, table
        write(table, folder / "patients.parquet")

    def run(self, engine: str, output: str = "release", **changes: Any) -> Result:
        source: dict[str, Any] = {"path": "patients.parquet", "engine": engine}
        place: dict[str, Any] = {"path": f"{output}-{engine}.parquet"}
        if engine == "postgresql":
            self.address: str = self.request.getfixturevalue("postgres")
            with psycopg.connect(self.address) as connection:
                connection.execute(f"DROP TABLE IF EXISTS {output}")
            write(self.table, self.address, table="patients", replace=True)
            source = {"database": self.address, "table": "patients", "engine": engine}
            place = {"table": output, "manifest": str(self.folder / "postgresql.manifest.json")}
        if engine == "spark":
            self.request.getfixturevalue("spark")
        return run(job(self.folder, source, {"report": f"{engine}.html", **place}, **changes))

    def released(self, engine: str, output: str = "release") -> pa.Table:
        if engine == "postgresql":
            return read(self.address, table=output).data
        path = self.folder / f"{output}-{engine}.parquet"
        return pyarrow.parquet.read_table(path)


@pytest.fixture
def here(tmp_path: Path, request: pytest.FixtureRequest) -> Here:
    return Here(patients(), tmp_path, request)


def figures(result: Result) -> dict[str, Any]:
    left_out = ("seconds", "output")
    return {key: value for key, value in result.to_dict().items() if key not in left_out}


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


# --- the same result --------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_gives_what_memory_gives(here: Here, engine: str) -> None:
    expected, found = here.run("memory"), here.run(engine)
    assert found.levels == expected.levels
    assert found.loss == pytest.approx(expected.loss, rel=1e-12)
    assert found.suppressed == expected.suppressed > 0
    assert [v.value for v in found.verified] == pytest.approx([v.value for v in expected.verified])
    same = (
        "levels",
        "suppressed",
        "rows",
        "released_rows",
        "classes",
        "nodes",
        "checked",
        "optimal",
        "attacks",
    )
    assert {k: figures(found)[k] for k in same} == {k: figures(expected)[k] for k in same}
    assert rows_of(here.released(engine)) == rows_of(expected.release.data)
    assert here.released(engine).column_names == list(expected.release.column_names)


@pytest.mark.parametrize("engine", [*ENGINES[:2], pytest.param("spark", marks=pytest.mark.slow)])
def test_manifest_and_report_are_of_the_same_kind(here: Here, engine: str) -> None:
    here.run("memory")
    result = here.run(engine)
    name = "postgresql" if engine == "postgresql" else f"release-{engine}.parquet"
    manifest = json.loads((here.folder / f"{name}.manifest.json").read_text(encoding="utf-8"))
    expected = json.loads((here.folder / "release-memory.parquet.manifest.json").read_text(encoding="utf-8"))
    assert set(manifest) == set(expected) - ({"sha256"} if engine == "postgresql" else set())
    assert manifest["levels"] == expected["levels"]
    assert manifest["roles"] == expected["roles"]
    report = (here.folder / f"{engine}.html").read_text(encoding="utf-8")
    assert f"{result.release.num_rows:,}" in report
    assert "age" in report
    leftovers = [path.name for path in here.folder.iterdir() if path.name.startswith(".")]
    assert leftovers == []


def test_what_an_engine_says_of_itself(here: Here) -> None:
    result = here.run("duckdb")
    assert "patients.parquet" in repr(result.input)
    assert result.input.num_rows == 1500
    assert result.release.data.num_rows == 0  # the rows are where they were written
    with pytest.raises(ParameterError, match="no other node can be applied"):
        result.apply(result.levels)


@given(example=examples(min_rows=4), limit=st.sampled_from([0.0, 0.3]))
@settings(max_examples=max(settings.default.max_examples // 10, 10))
def test_random_jobs_give_the_same_levels_in_duckdb_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, example: Example, limit: float
) -> None:
    folder = tmp_path_factory.mktemp("random")
    write(pa.Table.from_pylist(example.rows), folder / "rows.parquet")
    columns: dict[str, Any] = {"disease": {"role": "sensitive"}}
    for name, levels in example.maps.items():
        values = sorted({value for level in levels for value in level})
        lines = [";".join([str(v), *(level[v] for level in levels)]) for v in values]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        columns[name] = {"role": "quasi-identifier", "hierarchy": f"{name}.csv"}
    privacy = [
        {"model": "k-anonymity", "k": 2},
        {"model": "distinct-diversity", "column": "disease", "l": 2},
    ]
    found = []
    for engine in ("memory", "duckdb"):
        source, output = {"path": "rows.parquet", "engine": engine}, {"path": f"{engine}.parquet"}
        search = {"suppression_limit": limit}
        try:
            result = run(job(folder, source, output, columns=columns, privacy=privacy, search=search))
        except (NoSolutionError, ParameterError) as error:
            found.append((str(error), None))
        else:
            found.append((figures(result), rows_of(read(folder / f"{engine}.parquet").data)))
    if found[0][1] is None and found[1][1] is None:
        assert found[0] == found[1]
        reject()
    ignored = {"loss", "rolled_up", "cells"}  # engines do not count cells
    assert {k: v for k, v in found[0][0].items() if k not in ignored} == {
        k: v for k, v in found[1][0].items() if k not in ignored
    }
    assert found[0][0]["loss"] == pytest.approx(found[1][0]["loss"])
    assert found[0][1] == found[1][1]


def test_a_csv_file_is_anonymized_in_pieces_as_in_memory(here: Here) -> None:
    write(here.table, here.folder / "patients.csv", delimiter=";")
    outputs = []
    for engine in ("memory", "duckdb"):
        source = {"path": "patients.csv", "engine": engine}
        result = run(job(here.folder, source, {"path": f"{engine}.csv"}))
        outputs.append((result.levels, result.suppressed, rows_of(read(here.folder / f"{engine}.csv").data)))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_a_population_is_compared_with(here: Here, engine: str) -> None:
    everybody = pa.concat_tables([here.table, here.table]).select(["age", "sex", 'post"code'])
    write(everybody, here.folder / "everybody.parquet")
    changes = {
        "population": {"path": "everybody.parquet"},
        "privacy": [{"model": "delta-presence", "minimum": 0.0, "maximum": 0.5}, {"model": "k-map", "k": 5}],
    }
    expected, found = here.run("memory", **changes), here.run(engine, **changes)
    assert found.levels == expected.levels
    assert [v.value for v in found.verified] == pytest.approx([v.value for v in expected.verified])


def test_models_that_look_at_released_rows_are_verified_from_counts(here: Here) -> None:
    """They count rows of the release themselves, so they need every row, not every group."""
    privacy = [{"model": "lkc-privacy", "column": "diagnosis", "l": 2, "k": 3, "c": 0.9}]
    expected, found = here.run("memory", privacy=privacy), here.run("duckdb", privacy=privacy)
    assert [v.value for v in found.verified] == pytest.approx([v.value for v in expected.verified])


# --- nothing at all ---------------------------------------------------------------------------------


def test_a_release_that_was_tampered_with_is_not_handed_over(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the engine's statement: one row comes twice, another not at all."""
    honest = DuckDB.statement

    def tampered(self: DuckDB, plan: Any) -> str:
        rows = honest(self, plan)
        return f"(SELECT * FROM ({rows}) LIMIT 1) UNION ALL (SELECT * FROM ({rows}) OFFSET 1 LIMIT 1)"

    monkeypatch.setattr(DuckDB, "statement", tampered)
    before = sorted(here.folder.iterdir())
    with pytest.raises(VerificationError, match="what was written differs from what was decided"):
        here.run("duckdb")
    assert sorted(here.folder.iterdir()) == before


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_a_broken_promise_is_noticed_in_the_written_release(
    here: Here, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search is made to promise less than the release is verified against."""
    honest = engine_run._decided

    def decided(*arguments: Any) -> Result:
        result = honest(*arguments)
        models = (tarnkappe.models.KAnonymity(400),)
        return dataclasses.replace(result, problem=dataclasses.replace(result.problem, models=models))

    monkeypatch.setattr(engine_run, "_decided", decided)
    with pytest.raises(VerificationError, match="does not meet k-anonymity"):
        here.run(engine)
    assert [path.name for path in here.folder.iterdir()] == ["patients.parquet"]
    if engine == "postgresql":
        with pytest.raises(TarnkappeError, match="there is no table"):
            read(here.address, table="release")


def test_a_disk_that_is_full_leaves_nothing(here: Here) -> None:
    from tests.engines.test_faults import small_disk

    with pytest.raises(TarnkappeError, match="cannot be written"), small_disk(500):
        here.run("duckdb")
    assert [path.name for path in here.folder.iterdir()] == ["patients.parquet"]


def tarn(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    command = [Path(sys.executable).with_name("tarn"), "anonymize", "job.toml"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def assert_one_clear_line(process: subprocess.Popen[str], *words: str) -> None:
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert printed == ""
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said
    for word in words:
        assert word in said


JOB = """
[input]
{source}
[columns.age]
role = "quasi-identifier"
[[privacy]]
model = "k-anonymity"
k = 2
[output]
{output}
report = "report.html"
"""


def test_the_shell_tells_a_damaged_file_in_one_line_and_leaves_no_output(tmp_path: Path) -> None:
    from tests.engines.test_faults import damage

    table = pa.table({"age": range(100_000), "t": [f"text {i}" for i in range(100_000)]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=10_000, compression="zstd")
    damage(tmp_path / "rows.parquet")
    text = JOB.format(source='path = "rows.parquet"\nengine = "duckdb"', output='path = "release.parquet"')
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    assert_one_clear_line(tarn(tmp_path), "rows.parquet", "damaged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.toml", "rows.parquet"]


def test_the_shell_tells_a_cut_connection_in_one_line_and_leaves_no_output(
    tmp_path: Path, postgres: str
) -> None:
    query = "SELECT n AS age, pg_sleep(0.001)::text AS t FROM generate_series(1, 60000) AS n"
    source = f'database = "{postgres}"\nquery = "{query}"\nengine = "postgresql"'
    text = JOB.format(source=source, output='table = "cut_release"\nmanifest = "manifest.json"')
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    process = tarn(tmp_path)
    cutting = threading.Thread(target=cut, args=[postgres])
    cutting.start()
    assert_one_clear_line(process, "the connection was cut", "run it again")
    cutting.join()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.toml"]
    with psycopg.connect(postgres) as connection:
        found = connection.execute("SELECT 1 FROM pg_class WHERE relname = 'cut_release'").fetchall()
    assert found == []


def cut(postgres: str) -> None:
    """End the connection that is in the middle of the scan."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        for _ in range(3000):
            if connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
                "state = 'active' AND query ILIKE 'FETCH FORWARD%' AND query_start < now() - interval '50 ms'"
            ).fetchall():
                return
            time.sleep(0.02)


# --- what does not fit ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "output", "words"),
    [
        ({"path": "p.parquet", "engine": "duckdbb"}, {"path": "r.csv"}, "did you mean 'duckdb'"),
        ({"path": "p.parquet", "engine": 7}, {"path": "r.csv"}, "is needed, not 7"),
        ({"path": "p.parquet", "memory_limit": "2GB"}, {"path": "r.csv"}, "'memory_limit' is kept by"),
        ({"path": "p.parquet", "engine": "duckdb", "memory_limit": "2"}, {"path": "r.csv"}, "no amount of"),
        ({"path": "p.parquet", "engine": "duckdb"}, {}, "name its 'path' in [output]"),
        ({"path": "p.parquet"}, {"table": "r"}, "written by the engine 'postgresql'"),
        ({"path": "p.parquet", "engine": "postgresql"}, {"table": "r"}, "'path' does not go with the engine"),
        (
            {"database": "postgresql://h/d", "table": "t", "engine": "postgresql"},
            {"path": "r"},
            "name a 'table'",
        ),
        (
            {"database": "postgresql://h/d", "table": "t", "engine": "spark"},
            {"path": "r"},
            "does not go with",
        ),
        (
            {"path": "p.parquet", "engine": "spark", "delimiter": ";"},
            {"path": "r"},
            "'delimiter' does not go",
        ),
        (
            {"database": "sqlite:///a.db", "table": "t", "engine": "postgresql"},
            {"table": "r"},
            "no address of",
        ),
        (
            {"database": "postgresql://h/d", "table": "t", "engine": "duckdb"},
            {"path": "r.csv"},
            "opens files only",
        ),
        ({"path": "none.parquet", "engine": "duckdb"}, {"path": "r.csv"}, "there is no such file"),
    ],
)
def test_what_does_not_go_together_is_refused(
    here: Here, source: dict[str, Any], output: dict[str, Any], words: str
) -> None:
    (here.folder / "p.parquet").write_bytes((here.folder / "patients.parquet").read_bytes())
    before = sorted(here.folder.iterdir())
    with pytest.raises(TarnkappeError) as error:
        run(job(here.folder, source, output))
    assert words in str(error.value)
    assert sorted(here.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": {"agee": {"role": "quasi-identifier"}}}, "did you mean 'age'"),
        ({"columns": {"diagnosis": {"role": "sensitive"}}}, "no column is a quasi-identifier"),
        ({"privacy": [{"model": "distinct-diversity", "column": "illness", "l": 2}]}, "no column 'illness'"),
        ({"privacy": [{"model": "differential-privacy", "epsilon": 2.0, "delta": 0.1}]}, "random sample"),
        (
            {"privacy": [{"model": "multi-relational-k-anonymity", "person": "name", "k": 2}]},
            "'name', which is not released",
        ),
        ({"privacy": [{"model": "k-anonymity", "k": 5000}]}, "larger than the table"),
        ({"search": {"local_recoding": True}}, "row by row"),
        ({"population": {"path": "patients.parquet", "engine": "duckdb"}}, "leave 'engine' out"),
        ({"input": {"path": "patients.parquet", "engine": "duckdb"}}, "rows repeat the name of another row"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(here: Here, changes: dict[str, Any], words: str) -> None:
    source = {"path": "patients.parquet", "engine": "duckdb"}
    with pytest.raises(TarnkappeError) as error:
        run(job(here.folder, source, {"path": "r.parquet"}, **changes))
    assert words in str(error.value)
    assert [path.name for path in here.folder.iterdir()] == ["patients.parquet"]


def test_a_release_that_nobody_can_make_is_refused(here: Here) -> None:
    with pytest.raises(NoSolutionError, match="no combination of levels meets"):
        here.run("duckdb", columns={**COLUMNS, 'post"code': {"role": "quasi-identifier", "level": 0}})
    assert [path.name for path in here.folder.iterdir()] == ["patients.parquet"]


@pytest.mark.slow
def test_spark_is_started_and_stopped_by_the_job_and_says_nothing(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    write(pa.table({"age": [i % 50 for i in range(2000)]}), tmp_path / "rows.parquet")
    text = JOB.format(source='path = "rows.parquet"\nengine = "spark"', output='path = "release.parquet"')
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    process = tarn(tmp_path)
    printed, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert said == ""
    assert "verified: k-anonymity(k=2)" in printed
    assert pyarrow.parquet.read_table(tmp_path / "release.parquet").num_rows == 2000
    names = ["job.toml", "release.parquet", "release.parquet.manifest.json", "report.html", "rows.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
