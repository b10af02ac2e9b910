"""The contract of the command line, on good and on bad input, through the real executable."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import forked
from tests.cli.spoken import lines_of

TARN = forked.TARN
GOOD = "age;town;illness\n30;Ulm;flu\n31;Ulm;cold\n38;Bonn;flu\n39;Bonn;ulcer\n"


def tarn(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run(
        [TARN, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, env=environment, timeout=300
    )


def refused(run: subprocess.CompletedProcess[str], *words: str, code: int = 2) -> None:
    assert run.returncode == code, run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    lines = [
        line for line in lines_of(run.stderr) if not ("--json" in run.args and line.startswith("code: "))
    ]
    assert len(lines) == 1, run.stderr
    for word in words:
        assert word in lines[0], lines[0]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.csv"
    path.write_text(GOOD, encoding="utf-8")
    return path


COMMANDS = {
    "check": lambda path: ("check", path, "--qi", "age", "--qi", "town", "--sensitive", "illness"),
    "hierarchy": lambda path: ("hierarchy", "build", path, "--column", "age"),
    "anonymize": lambda path: ("anonymize", "--input", path, "--qi", "age", "--qi", "town", "--k", "2"),
}
every_command = pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))


@every_command
def test_good_input_gives_one_json_object(good: Path, command) -> None:
    run = tarn(*command(good), "--json")
    assert run.returncode == 0, run.stderr
    assert isinstance(json.loads(run.stdout), dict)


@every_command
def test_an_empty_file_is_refused(tmp_path: Path, command) -> None:
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    refused(tarn(*command(tmp_path / "empty.csv")), "empty.csv")


@every_command
def test_a_file_with_nothing_but_a_header_is_refused(tmp_path: Path, command) -> None:
    (tmp_path / "header.csv").write_text("age;town;illness\n", encoding="utf-8")
    refused(tarn(*command(tmp_path / "header.csv")), "header.csv", "no rows")


@every_command
def test_a_missing_file_is_refused(tmp_path: Path, command) -> None:
    refused(tarn(*command(tmp_path / "none.csv")), "none.csv")


@every_command
def test_a_missing_column_is_refused_with_the_nearest_name(tmp_path: Path, command) -> None:
    (tmp_path / "other.csv").write_text(GOOD.replace("age", "ages"), encoding="utf-8")
    refused(tarn(*command(tmp_path / "other.csv")), "no column 'age'", "'ages'")


@every_command
def test_what_is_not_in_the_stated_encoding_is_refused_with_its_place(tmp_path: Path, command) -> None:
    (tmp_path / "latin.csv").write_bytes(GOOD.replace("Bonn", "Köln").encode("latin-1"))
    words = ["town" if word == "age" else word for word in command(tmp_path / "latin.csv")]
    run = tarn(*words, "--encoding", "utf-8")
    refused(run, "latin.csv", "UTF-8", "encoding")
    assert "ln;" not in run.stderr


def test_the_input_of_a_job_is_checked_against_its_promises(good: Path, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(
        '[input]\npath = "good.csv"\n[columns.age]\nrole = "quasi-identifier"\n'
        '[columns.illness]\nrole = "sensitive"\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n',
        encoding="utf-8",
    )
    run = tarn("check", tmp_path / "job.toml", "--json")
    assert run.returncode == 1, run.stderr
    assert json.loads(run.stdout)["rows"] == 4


def test_one_row_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("age;illness\n30;flu\n", encoding="utf-8")
    run = tarn("check", tmp_path / "one.csv", "--qi", "age", "--sensitive", "illness", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["k"] == 1


def test_a_guarantee_that_is_not_met_gives_exit_code_1(good: Path) -> None:
    run = tarn("check", good, "--qi", "age", "--k", "2", "--json")
    assert run.returncode == 1
    assert json.loads(run.stdout)["k"] == 1


@pytest.mark.parametrize("command", ["check", "anonymize"])
def test_k_larger_than_the_table_is_refused(good: Path, command: str) -> None:
    source = (good,) if command == "check" else ("--input", good)
    refused(tarn(command, *source, "--qi", "age", "--k", "5"), "k = 5 is larger than the table", "4 rows")


def test_a_hierarchy_that_misses_a_value_is_refused_with_the_value(good: Path, tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("Ulm;south;*\nKiel;north;*\n", encoding="utf-8")
    arguments = ("--input", good, "--qi", f"town={tmp_path / 'town.csv'}", "--k", "2")
    refused(tarn("anonymize", *arguments), "town.csv", "'town'", "Bonn")
    refused(tarn("hierarchy", "check", tmp_path / "town.csv", "--data", good, "--column", "town"), "Bonn")


def test_a_hierarchy_that_is_not_monotone_is_refused_with_the_level(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text(
        "1;1-15;1-20;*\n15;1-15;1-20;*\n16;16-30;1-20;*\n21;16-30;21-40;*\n", encoding="utf-8"
    )
    refused(tarn("hierarchy", "check", tmp_path / "age.csv"), "16-30", "level")


def test_no_solution_gives_exit_code_1_and_no_file(good: Path, tmp_path: Path) -> None:
    run = tarn(
        "anonymize", "--input", good, "--qi", "age", "--out", tmp_path / "release.csv",
        "--model", "entropy-diversity:column=illness,l=2.9", "--uniform",
    )  # fmt: skip
    refused(run, "no combination of levels", "raise the suppression limit", code=1)
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("check",), ("check", "x.csv", "--colour", "red"), ("anonymize",)]
)
def test_wrong_usage_gives_exit_code_2_and_one_line(arguments: tuple[str, ...]) -> None:
    refused(tarn(*arguments), "error:")


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    run = tarn("check", tmp_path / "none.csv", "--qi", "age", "--debug")
    assert "Traceback" in run.stderr


def test_anonymize_prints_what_the_contract_promises(good: Path, tmp_path: Path) -> None:
    run = tarn(
        "anonymize", "--input", good, "--qi", "age", "--qi", "town", "--sensitive", "illness", "--k", "2",
        "--loss", "precision", "--suppression-limit", "0.1", "--out", tmp_path / "release.csv", "--json",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    promised = {
        "levels", "loss", "suppressed", "rows", "classes", "nodes", "checked", "rolled_up", "seconds",
        "verified", "algorithm", "output",
    }  # fmt: skip
    assert promised <= set(figures)
    assert {"read", "encode", "search", "transform", "write"} <= set(figures["seconds"])
    assert figures["output"] == str(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").is_file()


def test_the_demo_writes_a_report_and_says_where(tmp_path: Path) -> None:
    run = tarn("demo", "--rows", "2000", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "tarnkappe-demo/report.html" in run.stdout
    folder = tmp_path / "tarnkappe-demo"
    for name in ("hospital.csv", "job.toml", "release.csv", "release.csv.manifest.json", "report.html"):
        assert (folder / name).is_file(), name
    again = tarn("anonymize", folder / "job.toml", "--json")
    assert again.returncode == 0, again.stderr
    as_json = tarn("demo", "--rows", "2000", "--json", cwd=tmp_path)
    assert json.loads(as_json.stdout)["levels"] == json.loads(again.stdout)["levels"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    refused(tarn("demo", "--out", tmp_path / "file" / "demo"), "cannot make the folder")


@pytest.mark.slow
def test_a_gigabyte_of_csv_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    block = "".join(
        f"{20 + i % 70};{i % 10}-{i % 97:05d}-{i % 89:05d};{i % 7};{'abcdefg'[i % 7] * 20}\n"
        for i in range(200_000)
    )
    with path.open("w", encoding="utf-8") as file:
        file.write("age;town;visits;illness\n")
        while file.tell() < 2**30:
            file.write(block)
    run = tarn("check", path, "--qi", "age", "--qi", "town", "--sensitive", "illness", "--json")
    path.unlink()
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["rows"] > 10_000_000
