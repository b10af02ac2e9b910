"""A publishing method in a job: same files, same figures, same verification as a search."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import JobError, NoSolutionError, ParameterError, VerificationError
from tarnkappe.job import Job, run
from tarnkappe.job.method_run import recode_and_release
from tarnkappe.job.notebook import result_html
from tarnkappe.job.preparation import prepare
from tarnkappe.lattice import SearchProblem
from tarnkappe.loss import LOSSES
from tarnkappe.privacy import MODELS
from tarnkappe.recoding import METHODS, Method, Mondrian, Recoding
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.report.release_page import render
from tarnkappe.schema import Name, Rows, param
from tarnkappe.table import Table, Tuples, read
from tarnkappe.table.encoding import Progress
from tests.recoding.method_tables import k_anonymity

TOML = """
[input]
path = "people.csv"

[columns.insurance]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
[columns.illness]
role = "sensitive"

[[privacy]]
model = "k-anonymity"
k = 3

[search]
algorithm = "mondrian"
loss = "loss"

[output]
path = "release.csv"
report = "report.html"
"""


def people(number: int = 120) -> Table:
    towns = ["Ulm", "Bonn", "Wels"]
    data = {
        "insurance": [f"X{i}" for i in range(number)],
        "age": [20 + (i * 7) % 31 for i in range(number)],
        "town": [towns[i % 3] if i else "Tinyville" for i in range(number)],
        "illness": ["flu", "cold"] * (number // 2),
    }
    return Table(pa.table(data)).with_roles(
        identifiers=["insurance"], quasi_identifiers=["age", "town"], sensitive=["illness"]
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    tarnkappe.write(people(), tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(TOML, encoding="utf-8")
    return tmp_path / "job.toml"


def test_a_job_file_names_a_method_as_its_algorithm(job: Path) -> None:
    result = run(Job.load(job))
    assert result.solution.algorithm == "mondrian"
    assert result.verified[0].holds
    released = read(job.parent / "release.csv").data
    assert released.num_rows == 120
    assert "insurance" not in released.column_names
    manifest = json.loads((job.parent / "release.csv.manifest.json").read_text())
    assert manifest["algorithm"] == "mondrian"
    assert manifest["levels"] is None
    assert manifest["steps"]


def test_a_job_by_regions_tells_its_bound_and_what_it_does_not_protect(job: Path) -> None:
    text = TOML.replace('algorithm = "mondrian"', 'algorithm = "regions"\nintervals = "exact"')
    diverse = '[[privacy]]\nmodel = "distinct-diversity"\ncolumn = "illness"\nl = 2\n\n[search]'
    job.write_text(text.replace("[search]", diverse), encoding="utf-8")
    result = run(Job.load(job))
    assert [found.holds for found in result.verified] == [True, True]
    manifest = json.loads((job.parent / "release.csv.manifest.json").read_text())
    report = (job.parent / "report.html").read_text(encoding="utf-8")
    assert 0 < manifest["bound"] <= manifest["loss"]
    assert any("not protected" in step and "minimality" in step for step in manifest["steps"])
    assert "above the least possible loss" in report
    assert "(minimality)" in report
    age = read(job.parent / "release.csv").data["age"].to_pylist()
    assert any(word.startswith("[") for word in age)


CONTRACT = {
    "levels", "loss", "suppressed", "rows", "classes", "nodes", "checked", "rolled_up", "seconds", "verified",
    "algorithm", "output",
}  # fmt: skip


def test_the_shell_prints_the_figures_of_the_contract(job: Path) -> None:
    tarn = Path(sys.executable).parent / "tarn"
    out = subprocess.run(
        [tarn, "anonymize", job, "--algorithm", "mondrian:mode=relaxed", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.returncode == 0, out.stderr
    figures = json.loads(out.stdout)
    assert set(figures) >= CONTRACT
    assert {"read", "encode", "search", "transform", "write"} <= set(figures["seconds"])
    assert (figures["algorithm"], figures["levels"], figures["verified"][0]["holds"]) == (
        "mondrian",
        None,
        True,
    )


@pytest.mark.parametrize("method", METHODS.names)
def test_every_method_has_the_figures_of_the_contract(method: str) -> None:
    few = people(12)
    result = tarnkappe.anonymize(few, privacy=[k_anonymity(3)], loss="loss", algorithm=method)
    figures = json.loads(json.dumps(result.to_dict()))
    assert set(figures) >= CONTRACT
    assert figures["algorithm"] == method
    assert set(figures["levels"] or {}) == ({"age", "town"} if METHODS[method].one_node else set())


def test_parameters_of_a_method_are_given_as_those_of_a_search(job: Path) -> None:
    content = {**_content(), "search": {"algorithm": "mondrian", "mode": "relaxed", "prefer": ["town"]}}
    assert Job.from_dict(content).search == Mondrian(mode="relaxed", prefer=("town",))
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"algorithm": "mondrian", "mod": "relaxed"},
            "mod: there is no such key: did you mean 'mode'",
        ),
        (
            {"algorithm": "mondrian", "mode": 3},
            "mode: 'strict' or 'relaxed' or 'fallback' is needed, not 3",
        ),
        ({"algorithm": "mondrain"}, "unknown algorithm 'mondrain': did you mean 'mondrian'"),
    ]
    for search, words in wrong:
        with pytest.raises((JobError, ParameterError), match=words):
            Job.from_dict({**_content(), "search": search})


def _content() -> dict[str, Any]:
    return {
        "input": {"path": "people.csv"},
        "columns": {"age": {"role": "quasi-identifier"}, "town": {"role": "quasi-identifier"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }


def anonymized(**asked: Any) -> tarnkappe.Result:
    return tarnkappe.anonymize(
        people(),
        **{"privacy": [{"model": "k-anonymity", "k": 3}], "loss": "loss", "algorithm": "mondrian", **asked},
    )


def test_levels_are_null_where_there_is_no_node_and_given_where_there_is() -> None:
    assert anonymized().levels == {}
    assert anonymized().to_dict()["levels"] is None
    assert anonymized(algorithm="datafly").to_dict()["levels"] == anonymized(algorithm="datafly").levels


def test_another_node_can_still_be_released() -> None:
    result = anonymized()
    top = dict(zip(result.problem.quasi_identifiers, result.problem.lattice.top, strict=True))
    assert result.apply(top).state.num_kept == 1


def test_the_report_tells_the_method_its_steps_and_no_rare_value() -> None:
    page = render(anonymized())
    assert "recoded by mondrian" in page
    assert "strict regions" in page
    assert "Tinyville" not in page
    assert "X1" not in page
    assert "combinations of levels were tested" not in page
    assert "recoded by mondrian" in result_html(anonymized())
    assert "recoded by mondrian" in str(anonymized())


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_report_is_made_whatever_the_order_of_the_columns(method: type[Method]) -> None:
    whole = people(12)
    backward = Table(whole.data.select(["illness", "town", "insurance", "age"]), whole.roles)
    for table in (whole, backward):
        result = tarnkappe.anonymize(
            table, privacy=[{"model": "k-anonymity", "k": 2}], loss="loss", algorithm=method.examples()[0]
        )
        names = tuple(column.name for column in result.state.classes.quasi_identifiers)
        assert names == result.problem.quasi_identifiers == table.quasi_identifiers
        assert "What was lost" in render(result)


def test_a_loss_of_a_whole_column_is_refused_with_those_that_can() -> None:
    with pytest.raises(
        ParameterError, match=r"height.* cannot measure a table .* mondrian makes it: use .*loss"
    ):
        anonymized(loss="height")


# ------------------------------------------------------------------ a method that is wrong is caught


class Liar(Method, kw_only=True):
    """Writes what is asked for into every cell of the column 'town'."""

    name = "liar"
    summary = "For tests."

    words: Annotated[tuple[Name, ...], param("what is written into the cells", max_length=9)]
    kept: Annotated[Rows, param("how many rows are kept")] = 120

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        number = rows.num_tuples
        town = WrittenColumn(np.zeros(number, np.int32), pa.array(self.words))
        age = WrittenColumn(np.zeros(number, np.int32), pa.array(["*"]))
        return Recoding({"age": age, "town": town}, np.arange(number) < self.kept)


def released_by(method: Method, limit: float = 0.0) -> tarnkappe.Result:
    models = [MODELS.create("k-anonymity", {"k": 3})]
    ready = prepare(people(), {}, models, LOSSES.create("loss", {}), suppression_limit=limit)
    return recode_and_release(ready, method)


@pytest.mark.parametrize("word", ["Ulm", "{Ulm, Bonn}", "[Bonn, Wels]", "Graz", "[20, 50]"])
def test_a_cell_that_is_not_true_of_its_row_is_not_handed_over(word: str) -> None:
    with pytest.raises(VerificationError, match="holds a value that is not true of its row") as caught:
        released_by(Liar(words=(word,)))
    assert word not in str(caught.value)


def test_a_true_set_is_handed_over_and_measured() -> None:
    result = released_by(Liar(words=("{Bonn, Tinyville, Ulm, Wels}",)))
    assert result.loss == 1.0


def test_a_method_that_suppresses_too_much_is_refused() -> None:
    with pytest.raises(NoSolutionError, match=r"liar found no release .* \(20 would have to be\)"):
        released_by(Liar(words=("*",), kept=100))
    result = released_by(Liar(words=("*",), kept=100), limit=0.2)
    assert (result.suppressed, result.release.num_rows) == (20, 100)
    assert sorted(result.source_rows.tolist()) == list(range(100))


def test_rows_of_small_classes_are_left_out_even_if_the_method_keeps_them() -> None:
    class Lazy(Method):
        name = "lazy"
        summary = "Writes everything as it is."

        def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
            written = {
                n: WrittenColumn(rows.columns[n].codes, rows.columns[n].values) for n in ("age", "town")
            }
            return Recoding(written, np.ones(rows.num_tuples, dtype=bool))

    result = released_by(Lazy(), limit=1.0)
    assert result.suppressed > 0
    assert result.verified[0].holds


# ------------------------------------------------------------------ Ctrl-C


def test_ctrl_c_ends_mondrian_with_the_regions_made_so_far() -> None:
    rng = np.random.default_rng(1)
    table = Table(pa.table({"x": rng.integers(0, 90, 4000), "y": rng.integers(0, 90, 4000)}))
    table = table.with_roles(quasi_identifiers=["x", "y"])
    heard: list[str] = []

    def press(what: str, done: int, total: int, note: str = "") -> None:
        if what == "cutting" and not heard:
            heard.append(what)
            signal.raise_signal(signal.SIGINT)

    result = tarnkappe.anonymize(
        table,
        privacy=[{"model": "k-anonymity", "k": 3}],
        loss="loss",
        algorithm="mondrian",
        progress=press,
    )
    assert result.solution.stopped == "interrupted"
    assert 1 < result.state.num_kept < 20
    assert "interrupted" in result.to_dict()["proof"]
