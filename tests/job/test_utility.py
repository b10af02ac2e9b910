"""The utility report: every part on every method, and a public part that does not know the original."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.hierarchy import Hierarchy, read_hierarchy
from tarnkappe.job import utility as job_utility
from tarnkappe.job.utility import measure_utility, public_utility
from tarnkappe.table import Table, read
from tarnkappe.table.examples import hospital
from tarnkappe.utility import UtilityOptions, Workload
from tests.adult import WITHOUT_OCCUPATION

PARTS = {
    "rows", "suppressed", "columns", "summaries", "tables", "dependence", "losses", "queries", "classifiers",
    "classes",
}  # fmt: skip
SEX = Hierarchy.from_rows([["female", "*"], ["male", "*"], ["other", "*"]])


def patients(rows: int = 300) -> Table:
    return hospital(rows=rows, seed=1).table.with_roles(
        quasi_identifiers=["age", "sex"], sensitive=["diagnosis"]
    )


def protected(algorithm: str = "auto", rows: int = 300, **more: Any) -> tarnkappe.Result:
    return tarnkappe.anonymize(
        patients(rows),
        privacy=[{"model": "k-anonymity", "k": 5}],
        algorithm=algorithm,
        seed=1,
        loss="loss",
        **more,
    )


@pytest.mark.parametrize(
    "algorithm", ["auto", "regions", "mondrian", "datafly", "mu-argus", "anatomy", "slicing"]
)
def test_every_part_on_every_method(algorithm: str) -> None:
    result = protected(algorithm)
    found = result.utility(workload=Workload(queries=30))
    assert found.internal is not None
    assert {*found.internal} == PARTS
    assert json.loads(json.dumps(found.to_dict(internal=True))), "JSON can hold it"
    assert found.public["rows"]["value"] == result.release.num_rows
    assert found.internal["queries"]["queries"]["value"] == 30
    assert {*found.internal["summaries"]} == {"age", "sex", "diagnosis"}
    assert len(found.internal["tables"]) == 3
    if algorithm not in ("anatomy", "slicing"):
        classes = found.public["classes"]
        assert classes["number"]["value"] == result.state.num_kept
        assert classes["least"]["value"] >= 5
        assert found.internal["losses"]["loss"]["value"] == pytest.approx(result.loss)
        assert found.internal["columns"]["age"]["loss"]["value"] >= 0
    assert "internal" not in repr(found)


def test_local_recoding_has_every_part_too() -> None:
    found = protected(local_recoding=True, suppression_limit=0.1).utility(workload=Workload(queries=20))
    assert found.internal is not None
    assert {*found.internal} == PARTS


def test_losses_are_those_of_the_losses_themselves() -> None:
    result = protected()
    found = result.utility(workload=Workload(queries=10)).internal
    assert found is not None
    told = found["losses"]
    assert {"loss", "height", "precision", "aecs", "discernibility", "entropy"} <= {*told}
    assert told["height"]["value"] == sum(result.levels.values())
    problem = result.problem
    top = result.apply(dict(zip(problem.quasi_identifiers, problem.lattice.heights, strict=True)))
    most = top.utility(workload=Workload(queries=10)).internal
    assert most is not None
    assert most["losses"]["loss"]["share"] == pytest.approx(1)


def test_the_public_part_is_the_same_whatever_the_original_was() -> None:
    release = Table(protected().release.data)
    real = patients()
    random = np.random.default_rng(9)
    other = pa.table(
        {
            "age": random.integers(0, 99, 77),
            "sex": random.choice(["female", "male"], 77),
            "diagnosis": random.choice(["flu", "gout"], 77),
        }
    )
    lists = {"sex": SEX}
    names = ["age", "sex"]
    options = UtilityOptions(workload=Workload(queries=10))
    texts = [
        json.dumps(
            measure_utility(
                release, original=original, quasi_identifiers=names, hierarchies=lists, options=options
            ).public
        )
        for original in (Table(real.data.select(["age", "sex", "diagnosis"])), Table(other))
    ]
    alone = measure_utility(release, quasi_identifiers=names, hierarchies=lists, options=options)
    assert texts[0] == texts[1] == json.dumps(alone.public)
    assert alone.internal is None


def test_the_public_part_of_a_result_is_that_of_its_release_alone() -> None:
    result = protected("regions", hierarchies={"sex": SEX})
    told = public_utility(result)
    again = measure_utility(
        Table(result.release.data), quasi_identifiers=["age", "sex"], hierarchies={"sex": SEX}
    )
    assert told["columns"]["sex"] == again.public["columns"]["sex"]
    assert told["classes"] == again.public["classes"]
    assert result.utility(workload=Workload(queries=5)).public == told


def test_other_originals_with_the_same_release_have_the_same_public_part() -> None:
    """The ages differ within their ranges and the names of people altogether."""
    by_ten = {"builder": "intervals", "width": 10}
    told = []
    for shift in (0, 3):
        ages = [20 + 10 * (i % 3) + (i + shift) % 7 for i in range(60)]
        people = pa.table({"age": ages, "who": [f"p{shift}{i}" for i in range(60)], "job": ["a", "b"] * 30})
        table = Table(people).with_roles(identifiers=["who"], quasi_identifiers=["age"], sensitive=["job"])
        result = tarnkappe.anonymize(
            table,
            privacy=[{"model": "k-anonymity", "k": 10}],
            hierarchies={"age": by_ten},
            algorithm="auto",
            loss="loss",
            shuffle=False,
        )
        told.append((result.release.data.to_pydict(), json.dumps(result.utility().public)))
    assert told[0] == told[1]


def test_shares_of_cells_are_counted_from_the_words_of_the_release() -> None:
    result = protected("regions")
    age = result.cells["age"]
    words = result.release.data.column("age").to_pylist()
    assert age.hidden == pytest.approx(sum(word == "*" for word in words) / 300)
    assert age.exact == pytest.approx(sum(str(word).isdigit() for word in words) / 300)
    told = result.to_dict()
    assert told["cells"]["age"]["coarse"] == age.coarse
    assert told["levels"] is None
    text = str(result)
    assert f"age  {age}" in text
    assert "for one level use --uniform" in text


def test_a_release_of_others_is_read_by_the_form_of_its_words() -> None:
    original = Table(pa.table({"age": list(range(20, 40)) * 10, "sex": ["f", "m"] * 100}))
    release = Table(pa.table({"age": ["[20, 30["] * 100 + ["30-39"] * 100, "sex": ["f", "m"] * 100}))
    found = measure_utility(release, original=original, options=UtilityOptions(workload=Workload(queries=20)))
    assert found.public["columns"]["age"]["coarse"]["value"] == 1
    assert found.public["columns"]["sex"]["exact"]["value"] == 1
    assert found.public["classes"]["number"]["value"] == 2, "age alone was generalized"
    assert found.internal is not None
    ages = found.internal["summaries"]["age"]
    assert ages["mean"]["release"] == pytest.approx(ages["mean"]["original"])
    assert found.internal["losses"]["loss"]["value"] == pytest.approx(9 / 19)


def test_nothing_of_a_small_table_is_shared_and_shared_figures_have_two_digits() -> None:
    few = protected().utility(share_errors=True, workload=Workload(queries=10)).shared
    assert few is not None
    assert {*few} == {"note"}
    many = protected(rows=1200).utility(share_errors=True, workload=Workload(queries=100))
    assert many.shared is not None
    for told in many.shared["losses"].values():
        assert told["value"] == float(f"{told['value']:.1e}")
    assert {*many.shared["queries"]} == {"median", "worst_tenth"}
    assert protected().utility(workload=Workload(queries=10)).shared is None, "only if it was asked for"


def test_rare_values_are_not_named() -> None:
    table = patients()
    odd = ["unheard-of"] * 3 + table.data.column("diagnosis").to_pylist()[3:]
    place = table.column_names.index("diagnosis")
    planted = table.with_data(table.data.set_column(place, "diagnosis", pa.array(odd)))
    result = tarnkappe.anonymize(
        planted, privacy=[{"model": "k-anonymity", "k": 5}], loss="loss", algorithm="auto"
    )
    found = result.utility(workload=Workload(queries=10))
    assert "unheard-of" not in json.dumps(found.to_dict(internal=True))


def test_nobody_who_is_predicted_is_in_the_release_that_was_learned_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    result = protected()
    learned: list[set[int]] = []
    asked: list[set[int]] = []
    real = job_utility._trained_on

    def spy(original: Any, table: Any, request: Any, lists: Any, train: Any, test: Any, progress: Any) -> Any:
        learned.append({*train.tolist()})
        asked.append({*test.tolist()})
        fold = real(original, table, request, lists, train, test, progress)
        assert fold.release.num_rows + fold.suppressed == len(train)
        assert fold.release_test.num_rows == len(test)
        return fold

    monkeypatch.setattr(job_utility, "_trained_on", spy)
    found = result.utility(
        targets=["diagnosis"], classifiers=["naive-bayes"], folds=3, workload=Workload(queries=10)
    )
    assert all(a.isdisjoint(b) for a, b in zip(learned, asked, strict=True))
    assert set().union(*asked) == set(range(300))
    assert found.internal is not None
    (told,) = found.internal["classifiers"]
    assert (told["protocol"], told["folds"], told["rows"]) == ("release-to-people", 3, 300)


def test_folds_of_one_release_are_predicted_as_they_are_written() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    found = protected().utility(
        targets=["diagnosis"],
        classifiers=["naive-bayes"],
        folds=2,
        protocol="release-to-release",
        workload=Workload(queries=10),
    )
    assert found.internal is not None
    assert found.internal["classifiers"][0]["protocol"] == "release-to-release"


def test_what_does_not_fit_is_refused_in_words() -> None:
    release = Table(pa.table({"age": ["20-29"] * 4}))
    with pytest.raises(ParameterError, match="against the original"):
        measure_utility(release, options=UtilityOptions(share_errors=True))
    with pytest.raises(ColumnError, match="no column"):
        measure_utility(release, original=Table(pa.table({"sex": ["f"]})), quasi_identifiers=["age"])
    original = Table(pa.table({"age": [20, 21, 22, 23], "job": ["a", "b", "a", "b"]}))
    both = Table(pa.table({"age": ["20-29"] * 4, "job": ["a", "b", "a", "b"]}))
    with pytest.raises(ParameterError, match="needs the job"):
        measure_utility(both, original=original, options=UtilityOptions(targets=("job",), folds=2))


def test_the_command_prints_what_may_leave_and_hides_the_rest(tmp_path: Path) -> None:
    table = patients(200)
    pyarrow.csv.write_csv(table.data.select(["age", "sex", "diagnosis"]), tmp_path / "people.csv")
    pyarrow.csv.write_csv(protected(rows=200).release.data, tmp_path / "release.csv")
    command = [sys.executable, "-c", "from tarnkappe.cli import main; main()", "utility", "release.csv"]
    command += ["--original", "people.csv", "--qi", "age,sex", "--json", "--queries", "20"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["internal"] is None
    written = [tmp_path / Path(name).name for name in told["written"]]
    assert [path.name for path in written] == [
        "release.utility.internal.json",
        "release.utility.internal.html",
    ]
    for path in written:
        assert path.stat().st_mode & 0o777 == 0o600
    inside = json.loads(written[0].read_text())
    assert {*inside["internal"]} == PARTS
    assert "must" in written[1].read_text() or "Internal" in written[1].read_text()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, "a report takes the place of an earlier one"


@pytest.mark.slow
def test_the_report_of_adult_takes_no_more_than_ten_seconds(adult: Path) -> None:
    """Processor seconds of everything but classifiers, which take as long as their folds."""
    names = [name for name in WITHOUT_OCCUPATION if name != "age"]
    table = read(adult / "adult.csv").with_roles(
        quasi_identifiers=WITHOUT_OCCUPATION, sensitive=["occupation"]
    )
    lists = {name: read_hierarchy(adult / f"adult_hierarchy_{name}.csv") for name in table.column_names}
    for algorithm in ("auto", "mondrian"):
        result = tarnkappe.anonymize(
            table,
            privacy=[{"model": "k-anonymity", "k": 5}],
            hierarchies=lists,
            algorithm=algorithm,
            loss="loss",
            suppression_limit=0.05,
        )
        started = time.process_time()
        found = result.utility()
        assert time.process_time() - started < 10
        assert found.internal is not None
        assert found.internal["losses"]["loss"]["value"] == pytest.approx(result.loss)
        for name in names:
            column = table.data.column(name)
            told = found.internal["summaries"][name]["distinct"]["original"]
            assert told == len(column.unique())


def test_an_aggregate_is_no_exact_cell() -> None:
    result = protected(aggregates={"age": "mean"})
    assert result.cells["age"].exact == 0
    assert public_utility(result)["columns"]["age"]["coarse"]["value"] == 1
