from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tarnkappe.cli import main
from tarnkappe.hierarchy import BUILDERS, read_hierarchy
from tests.cli.spoken import lines_of
from tests.conftest import FIXTURES

FILES = FIXTURES / "hierarchies"
PATIENTS = str(FILES / "patients.csv")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, list[str]]:
    """The exit code, stdout, and the lines of stderr of a command."""
    with pytest.raises(SystemExit) as end:
        main(["hierarchy", *map(str, arguments)])
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, lines_of(captured.err)


# ------------------------------------------------------------------ build


def test_a_built_hierarchy_is_printed_in_the_format_of_its_file(capsys) -> None:
    code, out, err = run(capsys, "build", PATIENTS, "--column", "Zip", "--builder", "masking")
    expected = (FILES / "zip.csv").read_text(encoding="utf-8").splitlines()
    assert (code, sorted(out.splitlines()), err) == (0, sorted(expected), [])


def test_without_a_builder_a_hierarchy_is_proposed_and_the_reason_told(capsys) -> None:
    code, out, err = run(capsys, "build", PATIENTS, "--column", "Age")
    assert code == 0
    assert out.splitlines()[0] == "18;15-19;10-19;0-19;*"
    assert err == [
        "Age: 8 different numbers from 18 to 70, which are ages; proposed is "
        '{builder = "intervals", width = [5, 10, 20]}'
    ]


def test_a_built_hierarchy_is_written_and_told_as_json(capsys, tmp_path) -> None:
    out_file = tmp_path / "age.csv"
    options = ["--option", "cuts=[1,20,61,100]", "--out", out_file, "--json"]
    code, out, err = run(capsys, "build", PATIENTS, "--column", "Age", "--builder", "intervals", *options)
    result = json.loads(out)
    assert (code, err) == (0, [])
    assert result["builder"] == {"builder": "intervals", "cuts": [1, 20, 61, 100]}
    assert [level["labels"] for level in result["levels"]] == [8, 3, 1]
    assert (result["height"], result["root"], result["missing"]) == (2, "*", False)
    assert (result["out"], result["rows"]) == (str(out_file), None)
    assert read_hierarchy(out_file).labels(1) == ("1-19", "20-60", "61-99")


def test_without_a_file_the_rows_are_in_the_json(capsys) -> None:
    _, out, _ = run(capsys, "build", PATIENTS, "--column", "Sex", "--json")
    result = json.loads(out)
    assert result["rows"] == [["Female", "*"], ["Male", "*"]]
    assert result["reason"] == "it has only 2 different values"


def test_options_are_numbers_lists_tables_or_text(capsys) -> None:
    groups = 'groups={"all of them"=["Male","Female"]}'
    _, out, _ = run(capsys, "build", PATIENTS, "--column", "Sex", "--builder", "groups", "--option", groups)
    assert out == "Female;all of them;*\nMale;all of them;*\n"
    options = ["--option", "side=left", "--option", "step=2", "--option", 'character="#"']
    _, out, _ = run(capsys, "build", PATIENTS, "--column", "Zip", "--builder", "masking", *options)
    assert out.splitlines()[0] == "81775;##775;####5;#####"


def test_a_written_file_is_told_in_one_line(capsys, tmp_path) -> None:
    out_file = tmp_path / "sex.csv"
    code, out, _ = run(capsys, "build", PATIENTS, "--column", "Sex", "--out", out_file)
    assert (code, out) == (0, f"{out_file}: 2 values, height 1\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([PATIENTS, "--column", "Agee"], "no column 'Agee': did you mean 'Age'?"),
        (["nothing.csv", "--column", "Age"], "nothing.csv: there is no such file"),
        ([PATIENTS, "--column", "Age", "--builder", "interval"], "did you mean intervals?"),
        ([PATIENTS, "--column", "Sex", "--builder", "dates"], "the column 'Sex' has the value 'Female'"),
        ([PATIENTS, "--column", "Age", "--option", "width=5"], "name it with --builder"),
        ([PATIENTS, "--column", "Age", "--builder", "masking", "--option", "x"], "write --option name=value"),
        (
            [PATIENTS, "--column", "Age", "--builder", "intervals", "--option", "width=[15,20]"],
            "'15-29' of level 1 (width 15) lies partly in '0-19' and partly in '20-39' of level 2 (width 20)",
        ),
        ([PATIENTS, "--column", "Age", "--out", "no-folder/age.csv"], "no-folder/age.csv"),
        ([PATIENTS], "Missing option '--column'"),
    ],
)
def test_a_refused_build_is_one_line_on_stderr(capsys, arguments, message) -> None:
    code, out, err = run(capsys, "build", *arguments)
    assert (code, out) == (2, "")
    assert message in err[-1]
    assert not any("Traceback" in line for line in err)


# ------------------------------------------------------------------ show


def test_show_tells_levels_and_tree_and_leaves_out_what_is_too_much(capsys) -> None:
    code, out, _ = run(capsys, "show", FILES / "age.csv")
    assert code == 0
    for part in ("99 values, height 2", "1-19, 20-60, 61-99", "20-60  41 values", "… 38 more"):
        assert part in out
    _, out, _ = run(capsys, "show", FILES / "zip.csv")
    assert "819**  3 values" in out
    assert "└── 8177" not in out


def test_show_keeps_labels_that_look_like_markup(capsys, tmp_path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("[red]a[/red];[0, 5);*\n;(missing);*\n", encoding="utf-8")
    _, out, _ = run(capsys, "show", file)
    assert "[red]a[/red]" in out
    assert "[0, 5)  1 value" in out
    assert "2 values, one for missing cells, height 2" in out


def test_show_as_json(capsys) -> None:
    code, out, err = run(capsys, "show", FILES / "sex.csv", "--json")
    assert (code, err) == (0, [])
    assert json.loads(out) == {
        "file": str(FILES / "sex.csv"),
        "values": 2,
        "missing": False,
        "height": 1,
        "root": "*",
        "levels": [
            {"level": 0, "labels": 2, "examples": ["Female", "Male"]},
            {"level": 1, "labels": 1, "examples": ["*"]},
        ],
    }


# ------------------------------------------------------------------ check


def test_a_sound_hierarchy_passes(capsys) -> None:
    assert run(capsys, "check", FILES / "age.csv") == (0, f"{FILES / 'age.csv'}: 99 values, height 2\n", [])
    code, out, _ = run(capsys, "check", FILES / "age.csv", "--data", PATIENTS, "--column", "Age")
    assert code == 0
    assert "it covers all 8 values of the column 'Age'; labels in use per level: 8, 3, 1" in out


@pytest.mark.parametrize(("column", "distinct"), [("Age", [8, 3, 1]), ("Zip", [8, 8, 6, 2, 1, 1])])
def test_a_sound_hierarchy_passes_as_json(capsys, column, distinct) -> None:
    file = FILES / f"{column.lower()}.csv"
    code, out, err = run(capsys, "check", file, "--data", PATIENTS, "--column", column, "--json")
    result = json.loads(out)
    assert (code, err, result["valid"], result["labels_in_data"]) == (0, [], True, distinct)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["age-width-15-then-20.csv"], "the values '16' and '21' share the label '16-30'"),
        (
            ["sex.csv", "--data", PATIENTS, "--column", "Age"],
            "sex.csv: the hierarchy lacks 8 of the 8 values",
        ),
        (["nothing.csv"], "there is no such file"),
        (["age.csv", "--data", PATIENTS], "give both --data and --column"),
    ],
)
def test_a_refused_hierarchy_ends_with_code_2(capsys, arguments, message) -> None:
    file, *options = arguments
    code, out, err = run(capsys, "check", FILES / file, *options)
    assert (code, out) == (2, "")
    assert message in err[-1]


def test_a_refused_hierarchy_is_told_as_json_too(capsys) -> None:
    file = FILES / "age-width-15-then-20.csv"
    code, out, err = run(capsys, "check", file, "--json")
    result = json.loads(out)
    assert (code, result["file"], result["valid"]) == (2, str(file), False)
    assert err == [f"error: {result['error']}", "code: hierarchy.hierarchy-not-monotone-level"]


# ------------------------------------------------------------------ the real command


def test_the_tarn_executable() -> None:
    file = FILES / "age-width-15-then-20.csv"
    done = subprocess.run(
        [Path(sys.executable).with_name("tarn"), "hierarchy", "check", file, "--json"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["valid"]) == (2, False)
    assert done.stderr.startswith(f"error: {file}: the hierarchy is not monotone")
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["error", "code"]


def test_the_help_names_every_builder(capsys) -> None:
    _, out, _ = run(capsys, "build", "--help")
    for builder in BUILDERS.names:
        assert builder in out
