"""Choosing by meaning: words, samples and releases of what is nearly as good."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import ParameterError
from tarnkappe.job.alternatives import Alternatives
from tarnkappe.job.weight_presets import preview_weights, weight_presets
from tarnkappe.privacy import MODELS
from tarnkappe.table.examples import hospital

COLUMNS = ["birth_date", "sex", "postcode", "occupation", "admission_date"]
K5 = {"model": "k-anonymity", "k": 5}


def tarn(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture(scope="module")
def found() -> Alternatives:
    example = hospital(rows=600, seed=1)
    patients = example.table.with_roles(quasi_identifiers=COLUMNS, sensitive=["diagnosis"])
    return tarnkappe.alternatives(patients, privacy=K5, loss="entropy")


def test_the_optimum_is_first_and_others_say_what_they_keep(found: Alternatives) -> None:
    assert 2 <= len(found) <= 5
    best = found[0]
    assert best.difference == 0
    assert all(each.proven for each in found)
    for each in found[1:]:
        assert each.keeps or each.suppressed < best.suppressed, "it grants a wish"
        assert 0 <= each.difference <= 0.25
        line = each.line(best)
        assert "rows left out" in line
        assert all(name in line for name in each.keeps)
    assert [each.loss for each in found] == sorted(each.loss for each in found)


def test_words_name_no_label_of_few_rows(found: Alternatives) -> None:
    problem = found.prepared.problem
    for each in found:
        for name, word in each.words.items():
            if "(" in word:
                label = word[word.index("(") + 1 : -1]
                column, level = problem.tuples.columns[name], each.levels[name]
                assert column.levels is not None
                place = column.levels.labels[level].index(label)
                assert problem.tuples.label_counts(name, level)[place] >= 10


def test_each_can_be_released_and_its_samples_are_released_rows(found: Alternatives) -> None:
    for index in (0, len(found) - 1):
        result = found.apply(index)
        assert result.levels == found[index].levels
        assert result.loss == pytest.approx(found[index].loss)
        released = {tuple(row[name] for name in COLUMNS) for row in result.release.data.to_pylist()}
        for sample in found[index].sample:
            assert tuple(sample[name] for name in COLUMNS) in {tuple(map(str, row)) for row in released}
    with pytest.raises(ParameterError, match="alternatives"):
        found.apply(99)


def test_they_show_themselves_and_go_into_json(found: Alternatives) -> None:
    assert str(found).startswith("1  the least loss: ")
    assert "<table" in found._repr_html_()
    told = json.loads(json.dumps(found.to_dict()))["alternatives"]
    assert {*told[0]} == {
        "levels", "words", "keeps", "loses", "loss", "difference", "suppressed", "proven", "sample",
    }  # fmt: skip


def test_the_command_lists_them_and_releases_the_chosen_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patients = hospital(rows=600, seed=1).table.data.select(COLUMNS)
    pyarrow.csv.write_csv(patients, tmp_path / "people.csv")
    said = ["anonymize", "--input", tmp_path / "people.csv", "--qi", *COLUMNS, "--k", 5, "--loss", "entropy"]
    code, out, err = tarn(capsys, *said, "--uniform", "--alternatives", 5, "--json")
    assert code == 0, err
    options = json.loads(out)["alternatives"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"], "nothing is written"
    assert len(options) > 1
    code, out, err = tarn(capsys, *said, "--uniform", "--choose", 2, "--json")
    assert code == 0, err
    assert json.loads(out)["levels"] == options[1]["levels"]
    assert (tmp_path / "people.release.csv").exists()
    code, _, err = tarn(capsys, *said, "--algorithm", "mondrian", "--alternatives", 5)
    assert code == 2
    assert "--uniform" in err


def test_presets_of_weights_are_judged_by_equal_weights_and_one_level_is_among_them() -> None:
    table = hospital(rows=400, seed=4).table.with_roles(
        quasi_identifiers=["age", "sex", "occupation"], sensitive=["diagnosis"]
    )
    found = weight_presets(table, {}, [MODELS.create("k-anonymity", {"k": 5})])
    names = [each.name for each in found]
    assert names[0] == "equal weights"
    assert names[-1] == "one level in a column"
    by_name = {each.name: each for each in found}
    numbers, equal = by_name["more of numbers and dates"], by_name["equal weights"]
    assert numbers.weights == {"age": 4.0}
    assert (numbers.cells["age"].loss or 0) <= (equal.cells["age"].loss or 0)
    assert equal.loss <= by_name["one level in a column"].loss
    for each in found:
        mean = sum(own.loss or 0 for own in each.cells.values()) / 3
        assert each.loss == pytest.approx(mean), "all columns count the same"
    again = preview_weights(table, {}, [MODELS.create("k-anonymity", {"k": 5})], {"age": 4.0})
    assert again.cells == numbers.cells, "few rows are all looked at"
    with pytest.raises(ParameterError, match="no quasi-identifier"):
        preview_weights(table, {}, [MODELS.create("k-anonymity", {"k": 5})], {"diagnosis": 1.0})


def test_the_command_lists_presets_of_weights_for_words_of_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patients = hospital(rows=200, seed=2).table.data.select(["age", "sex"])
    pyarrow.csv.write_csv(patients, tmp_path / "people.csv")
    said = ["anonymize", "--input", tmp_path / "people.csv", "--qi", "age", "sex", "--k", 5]
    code, out, err = tarn(capsys, *said, "--alternatives", 5, "--json")
    assert code == 0, err
    names = [each["name"] for each in json.loads(out)["alternatives"]]
    code, out, err = tarn(capsys, *said, "--choose", len(names), "--json")
    assert code == 0, err
    assert names[-1] == "one level in a column"
    assert json.loads(out)["levels"] is not None
