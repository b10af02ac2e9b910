"""The checker of certificates: what it accepts, what it measures, and that it stands alone."""

from __future__ import annotations

import ast
import csv
import dataclasses
import itertools
import json
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe
from tarnkappe.job import Job, run
from tarnkappe.job.certificate import certificate
from tarnkappe.verifier import checker
from tests.conftest import ROOT

FILE = ROOT / "src" / "tarnkappe" / "verifier" / "checker.py"
LOSSES = ("entropy", "entropy-suppression-aware", "loss", "precision", "precision-star", "height")
MODELS = {
    "k": [{"model": "k-anonymity", "k": 3}],
    "distinct": [
        {"model": "distinct-diversity", "column": "illness", "l": 2},
        {"model": "k-anonymity", "k": 2},
    ],
    "entropy": [{"model": "entropy-diversity", "column": "illness", "l": 1.5}],
    "recursive": [{"model": "recursive-diversity", "column": "illness", "c": 3.0, "l": 2}],
    "p-sensitive": [{"model": "p-sensitive-k-anonymity", "column": "illness", "k": 3, "p": 2}],
}


def write_table(folder: Path, rows: int = 60, seed: int = 0) -> Path:
    """A small table with a number, a category and an illness, some of each rare."""
    draw = [(seed * 7919 + place * 104729) % 997 for place in range(rows)]
    lines = [
        (str(20 + n % 23), ("Ulm", "Bonn", "Kiel", "")[n % 7 % 4], ("flu", "cold", "HIV")[n % 5 % 3])
        for n in draw
    ]
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([("age", "town", "illness"), *lines])
    return path


def certified(folder: Path, **search: object) -> tuple[list[str], tarnkappe.job.result.Result]:
    """A release with its certificate, and the words that verify it."""
    source = write_table(folder, seed=int(str(search.pop("seed", 0))))
    privacy = search.pop("privacy", MODELS["k"])
    content = {
        "input": {"path": str(source)},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"builder": "intervals", "width": [4, 8]}},
            "town": {"role": "quasi-identifier"},
            "illness": {"role": "sensitive"},
        },
        "privacy": privacy,
        "search": search,
        "output": {"path": str(folder / "release.csv"), "certificate": str(folder / "house.json")},
    }
    result = run(Job.from_dict(content))
    words = [str(folder / "house.json"), "--release", str(folder / "release.csv"), "--input", str(source)]
    return words, result


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("limit", [0, 0.1, 1])
def test_certificates_of_all_losses_are_accepted(
    tmp_path: Path, loss: str, limit: float, capsys: pytest.CaptureFixture[str]
) -> None:
    words, result = certified(tmp_path, loss=loss, suppression_limit=limit)
    assert checker.main(words) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert result.solution.optimal_levels
    assert "loses less" in said
    assert f"of {result.solution.nodes:,} combinations" in said


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("limit", [0, 0.1])
def test_certificates_of_all_models_are_accepted(
    tmp_path: Path, models: str, limit: float, capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = certified(tmp_path, privacy=MODELS[models], suppression_limit=limit)
    assert checker.main(words) == 0, capsys.readouterr().out
    assert "loses less" in capsys.readouterr().out


@pytest.mark.parametrize(
    "search", [{"algorithm": "mondrian"}, {"local_recoding": True, "suppression_limit": 0.1}]
)
def test_rows_that_are_written_each_in_its_own_way_are_proven_true(
    tmp_path: Path, search: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = certified(tmp_path, **search)
    assert checker.main(words) == 0, capsys.readouterr().out
    assert "each true of its own" in capsys.readouterr().out


@pytest.mark.parametrize(
    "search",
    [
        {"loss": "discernibility"},
        {"loss": {"name": "loss", "aggregate": "maximum"}},
        {"privacy": [{"model": "equal-closeness", "column": "illness", "t": 0.9}]},
        {"privacy": [*MODELS["k"], {"model": "average-risk", "threshold": 0.5}]},
    ],
)
def test_what_the_checker_does_not_know_is_not_called_proven(
    tmp_path: Path, search: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = certified(tmp_path, **search)
    code = checker.main(words)
    said = capsys.readouterr().out
    assert "loses less" not in said
    assert code == (3 if "privacy" in search else 0)
    assert "not proven" in said if "privacy" in search else "optimality: it is not claimed" in said


def test_a_heuristic_result_gets_a_proof_of_its_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, result = certified(tmp_path, loss="entropy", suppression_limit=0.1)
    job = Job.from_dict({"input": {"path": words[-1]}, "output": {"path": words[2]}})
    for share, code in ((0.9, 0), (1.1, 1)):  # a bound above the loss itself is a false one
        solution = dataclasses.replace(result.solution, optimal=False, bound=share * result.loss)
        heuristic = dataclasses.replace(result, solution=solution)
        lines = certificate(heuristic, job, Path(words[2]), whole=True)
        assert b'"claim":"bound"' in lines[0]
        Path(words[0]).write_bytes(b"".join(lines))
        assert checker.main(words) == code
    assert "the release loses" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(4))
def test_the_cover_is_right_by_brute_force(tmp_path: Path, seed: int) -> None:
    words, result = certified(tmp_path, seed=seed, loss="loss", suppression_limit=0.1)
    problem, best = result.problem, result.solution.best
    assert best is not None
    losses = {node: problem.evaluate(node) for node in problem.nodes()}
    assert min(e.loss for e in losses.values() if e.satisfied) == best.loss
    private = json.loads(Path(words[0]).read_bytes().splitlines()[1])
    for node in map(tuple, private["below"]):
        for low in itertools.product(*(range(level + 1) for level in node)):
            assert not losses[low].satisfied
    for node in map(tuple, private["alone"]):
        assert not losses[node].satisfied or losses[node].loss >= best.loss - 1e-9


def test_the_checker_stands_alone_and_is_short() -> None:
    text = FILE.read_text(encoding="utf-8")
    modules = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert modules <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 400


def test_the_checker_runs_as_a_single_file_without_the_package(tmp_path: Path) -> None:
    words, _ = certified(tmp_path)
    alone = tmp_path / "alone" / "tarn_verify.py"
    alone.parent.mkdir()
    alone.write_bytes(FILE.read_bytes())
    call = [sys.executable, "-I", "-S", str(alone), *words]  # no site packages: nothing but Python
    ran = subprocess.run(call, capture_output=True, text=True, check=False, cwd=alone.parent)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("proven: ") == 3


def test_outsiders_prove_the_promise_and_are_told_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, _ = certified(tmp_path)
    public = tmp_path / "release.csv.certificate.json"
    assert public.read_bytes() == Path(words[0]).read_bytes().splitlines(keepends=True)[0]
    assert checker.main([str(public), *words[1:3]]) == 0
    assert "not asked: truth and optimality" in capsys.readouterr().out
    assert checker.main([str(public), *words[1:]]) == 2, "with the input the house gives another"


def test_hierarchies_can_be_compared_with_one_s_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, result = certified(tmp_path)
    folder = tmp_path / "own"
    folder.mkdir()
    for name in ("age", "town"):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            rows = [[value or "", *labels] for value, *labels in result.hierarchies[name].rows()]
            csv.writer(file, delimiter=";").writerows(rows)
    assert checker.main([*words, "--hierarchies", str(folder)]) == 0, capsys.readouterr().out
    text = (folder / "town.csv").read_text(encoding="utf-8")
    (folder / "town.csv").write_text(text.replace("Ulm", "Bern"), encoding="utf-8")
    assert checker.main([*words, "--hierarchies", str(folder)]) == 1


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.fractions(1, 4, max_denominator=12))
def test_evenness_is_decided_exactly(counts: list[int], least: Fraction) -> None:
    m = sum(counts)
    exactly = Fraction(m) ** m >= least**m * math.prod(Fraction(n) ** n for n in counts)
    assert checker.as_even(counts, least) == exactly


@given(st.integers(-40, 140), st.integers(-40, 140), st.integers(0, 40))
def test_intervals_are_read_as_people_read_them(value: int, low: int, width: int) -> None:
    high = low + width
    assert checker.within(f"[{low}, {high}]", str(value)) == (low <= value <= high)
    assert checker.within(f"[{low}, {high})", str(value)) == (low <= value < high)
    assert checker.within(f"{low} to {high}", str(value)) == (low <= value <= high)
    assert checker.within(f"<{low}", str(value)) == (value < low)
    assert checker.within(f">={low}", str(value)) == (value >= low)
    if low >= 0:
        assert checker.within(f"{low}-{high}", str(value)) == (low <= value <= high)
    assert checker.within("Ulm", str(value)) is None
    assert checker.within("2020-05", "2020-05-17") is None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz*")), max_size=30), st.integers(1, 4))
def test_classes_are_judged_as_by_hand(rows: list[tuple[str, str]], least: int) -> None:
    model = checker.Model({"model": "distinct-diversity", "column": "c", "l": least}, ["c"])
    found = (((a,), (a,), (c,), n) for (a, c), n in Counter(rows).items())
    good, bad, hopeless = checker.classify(found, [model])
    seen = {a: {c for b, c in rows if b == a} - {"*"} for a, _ in rows}
    assert good == sum(len(values) >= least for values in seen.values())
    assert {key for (key,) in bad} == {a for a, values in seen.items() if len(values) < least}
    assert hopeless == sum(len(seen[a]) < least for a, _ in rows)
