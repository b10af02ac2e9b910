"""No command writes over what it reads: walked over all commands, so that a new one is asked, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from tarnkappe.cli.outputs import ONLY_NEW as SECRETS
from tarnkappe.cli.outputs import is_output, leaves, replaces
from tarnkappe.cli.program import every_command, run
from tarnkappe.errors import ParameterError
from tarnkappe.table import overwriting
from tests.job.overwriting_tricks import TRICKS

LEAVES = {" ".join(words): leaf for words, leaf in leaves(typer.main.get_command(every_command()))}
OUTPUTS = [
    (words, parameter.opts[-1])
    for words, leaf in LEAVES.items()
    for parameter in leaf.params
    if is_output(parameter)
]
READ_OR_KEPT = {
    "job", "rules", "answers", "decisions", "catalog", "key", "settings", "config", "file", "files", "site",
    "policy", "users", "folder", "keep", "certificate", "release", "source", "hierarchies", "original", "plan",
    "labels", "expert", "approver_key",
}  # fmt: skip
"""Paths that are no outputs: what is read, and what is kept and changed in its place."""

CASES = {
    "anonymize": ["--input", "IN", "--qi", "sex", "--k", "2"],
    "start": ["IN", "--yes"],
    "check": ["IN", "--qi", "sex"],
    "compare": ["JOB"],
    "attack": ["IN", "--qi", "sex", "--repair"],
    "utility": ["IN", "--job", "JOB"],
    "lattice": ["JOB"],
    "hierarchy build": ["IN", "--column", "sex"],
    "pseudonymize": ["IN", "--column", "name", "--key", "KEY"],
    "reidentify table": ["IN", "--column", "name", "--key", "KEY", "--project", "ward"],
    "sql": ["SELECT count(*) FROM people", "--data", "people=IN"],
}
"""The commands that write a file under a name that the user gives, with inputs to write over."""

IN_A_FOLDER = {
    "demo --out", "exchange fetch --out", "exchange example folder", "import --out", "party certify --out",
}  # fmt: skip
"""These write under names of their own into a folder."""

ONLY_NEW = {"exchange key path", "pseudonymize --new-key", "serve --token-file"}
"""These refuse every file that is there."""

NOT_OF_DATA = {"bench --picture"}
"""These read no file."""


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """A table, a job, the file of a hierarchy and a key."""
    folder = tmp_path / "own"
    folder.mkdir()
    people, job, tree, key = (folder / name for name in ("people.csv", "job.toml", "sex.csv", "own.key"))
    people.write_text("name,sex,age\nann,f,30\nbob,m,30\ncid,f,30\ndee,m,30\n")
    tree.write_text("f;*\nm;*\n")
    key.write_text("00" * 32)
    job.write_text(
        '[input]\npath = "people.csv"\n[columns.sex]\nrole = "quasi-identifier"\nhierarchy = "sex.csv"\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    return {"IN": people, "JOB": job, "TREE": tree, "KEY": key}


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        run(words)
    said = capsys.readouterr().err.replace("\n", " ")
    assert ended.value.code == 2, said
    return said


@pytest.mark.parametrize("words", LEAVES)
def test_every_path_of_a_command_is_known_as_input_or_output(words: str) -> None:
    for parameter in LEAVES[words].params:
        if parameter.type.name in ("path", "file", "directory") and not is_output(parameter):
            assert parameter.name in READ_OR_KEPT, f"{words}: declare {parameter.name} writable=True"
        if parameter.name in ("out", "report", "html", "picture", "review", "manifest"):
            assert is_output(parameter), f"{words}: {parameter.name} writes, but is not writable=True"


def test_every_output_of_a_command_is_tried_here() -> None:
    tried = {f"{words} {flag}" for words, flag in OUTPUTS if words in CASES}
    assert {f"{words} {flag}" for words, flag in OUTPUTS} == tried | IN_A_FOLDER | ONLY_NEW | NOT_OF_DATA


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize(
    ("words", "flag"), [(w, f) for w, f in OUTPUTS if w in CASES and f"{w} {f}" not in ONLY_NEW]
)
def test_no_command_writes_over_what_it_reads(
    words: str, flag: str, trick: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for word in CASES[words]:
        for name, path in inputs.items():
            if name not in word:
                continue
            before = path.read_bytes()
            target = TRICKS[trick](path, path.parent.parent / f"{name}{path.suffix}")
            filled = [_filled(each, inputs) for each in CASES[words]]
            said = refused([*words.split(), *filled, flag, str(target)], capsys)
            assert "is read by this run and cannot be written" in said
            assert path.read_bytes() == before


REPLACING = [
    (words, flag) for words, flag in OUTPUTS if replaces(words.split(), LEAVES[words]) and flag not in SECRETS
]


def test_every_command_that_writes_where_it_is_told_can_replace() -> None:
    others = {f"{words} {flag}" for words, flag in OUTPUTS if (words, flag) not in REPLACING}
    assert others == IN_A_FOLDER | ONLY_NEW | {"pseudonymize --review"}


@pytest.mark.parametrize("trick", ["the same name", "a link", "a hard link"])
@pytest.mark.parametrize(("words", "flag"), REPLACING)
def test_no_command_replaces_a_file_that_is_not_ours_unless_told(
    words: str, flag: str, trick: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    notes = inputs["IN"].with_name("notes.csv")
    notes.write_text("what I did not save elsewhere\n")
    target = TRICKS[trick](notes, notes.parent.parent / "elsewhere.csv")
    filled = [_filled(each, inputs) for each in CASES.get(words, ["lattice"])]
    said = refused([*words.split(), *filled, flag, str(target)], capsys)
    assert "nothing shows that tarn wrote it" in said
    assert "--replace" in said
    assert notes.read_text() == "what I did not save elsewhere\n"


REALLY = [("anonymize", "--out"), ("check", "--html"), ("hierarchy build", "--out"), ("sql", "--out")]


@pytest.mark.parametrize(("words", "flag"), REALLY)
def test_a_file_that_is_not_ours_is_replaced_when_told(
    words: str, flag: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    notes = inputs["IN"].with_name("notes.csv")
    notes.write_text("what I can do without\n")
    filled = [_filled(each, inputs) for each in CASES[words]]
    with pytest.raises(SystemExit) as ended:
        run([*words.split(), *filled, flag, str(notes), "--replace"])
    assert ended.value.code != 2, capsys.readouterr().err
    assert "do without" not in notes.read_text()


@pytest.mark.parametrize(("words", "flag"), REALLY[:2])
def test_what_shows_that_it_is_ours_is_replaced_untold(
    words: str, flag: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    out = inputs["IN"].with_name("out.csv")
    filled = [_filled(each, inputs) for each in CASES[words]]
    for _ in range(2):
        _forget_this_process()
        with pytest.raises(SystemExit) as ended:
            run([*words.split(), *filled, flag, str(out)])
        assert ended.value.code != 2, capsys.readouterr().err


def _forget_this_process() -> None:
    overwriting._WRITTEN.clear()


def test_without_a_name_the_release_is_written_beside_the_input(
    inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    people, asked = inputs["IN"], ["anonymize", "--input", str(inputs["IN"]), "--qi", "sex", "--k", "2"]
    for _ in range(2):  # its own outputs are written again
        _forget_this_process()
        with pytest.raises(SystemExit) as ended:
            run(asked)
        assert not ended.value.code, capsys.readouterr().err
    beside = ("", ".manifest.json", ".certificate.json")
    made = {*(f"people.release.csv{end}" for end in beside), "people.report.html"}
    assert {path.name for path in people.parent.iterdir()} == made | {each.name for each in inputs.values()}
    people.with_name("people.release.csv").write_text("changed by hand\n")
    assert "nothing shows that tarn wrote it" in refused(asked, capsys)


@pytest.mark.parametrize("how", ["flags", "job"])
def test_a_dry_run_writes_nothing(
    how: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = inputs["IN"].parent
    before = sorted(folder.iterdir())
    flags = ["--input", str(inputs["IN"]), "--qi", "sex", "--k", "2"]
    with pytest.raises(SystemExit) as ended:
        run(["anonymize", *(flags if how == "flags" else [str(inputs["JOB"])]), "--dry-run"])
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    assert "classes" in said.out
    assert sorted(folder.iterdir()) == before


def test_a_job_file_says_where_its_release_goes(
    inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(["anonymize", str(inputs["JOB"])], capsys)
    assert 'write path = "release.csv" into [output]' in said


def _filled(word: str, inputs: dict[str, Path]) -> str:
    for name, path in inputs.items():
        word = word.replace(name, str(path))
    return word


@pytest.mark.parametrize("name", ["IN", "TREE"])
def test_what_a_job_file_names_is_an_input_of_every_command_that_takes_it(
    name: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for words, flag in (("anonymize", "--out"), ("compare", "--report"), ("lattice", "--out")):
        said = refused([words, str(inputs["JOB"]), flag, str(inputs[name])], capsys)
        assert "is read by this run" in said


def test_a_file_of_a_folder_that_is_read_is_an_input(
    inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    people = inputs["IN"]
    history = people.parent / "earlier"
    history.mkdir()
    earlier = history / "first.csv"
    earlier.write_bytes(people.read_bytes())
    asked = ["check", str(people), "--qi", "sex", "--history", str(history), "--html", str(earlier)]
    assert "is read by this run" in refused(asked, capsys)


def test_two_outputs_have_two_names(inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    out = str(inputs["IN"].with_name("x.csv"))
    asked = ["anonymize", "--input", str(inputs["IN"]), "--qi", "sex", "--k", "2"]
    for other in (out, out.replace("x.csv", "X.csv"), out.replace("x.csv", "../own/x.csv")):
        said = refused([*asked, "--out", out, "--report", other], capsys)
        assert "each output is a file of its own" in said


@pytest.mark.parametrize("case", sorted(ONLY_NEW - {"serve --token-file"}))
def test_a_new_key_takes_the_place_of_nothing(
    case: str, inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    *words, flag = case.split()
    path = inputs["IN"]
    before = path.read_bytes()
    refused([*words, *([flag] if flag.startswith("-") else []), str(path)], capsys)
    assert path.read_bytes() == before


def test_a_demo_takes_the_place_of_nobodys_files(
    inputs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    job: Any = inputs["JOB"]
    before = job.read_bytes()
    said = refused(["demo", "--rows", "100", "--out", str(job.parent)], capsys)
    assert "choose another folder" in said
    assert job.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "free"),
    [("people.csv", "people.plan.json"), ("old.xml", "old.plan.xml"), ("q.sql", "q.plan.sql")],
)
def test_the_name_that_is_suggested_for_a_plan_is_that_of_a_plan(
    name: str, free: str, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=f"another name for --write-plan, as {free}$"):
        overwriting.refuse_overwriting({"--write-plan": tmp_path / name}, [tmp_path / name])
    with pytest.raises(ParameterError, match=r"another name for --out, as people\.release\.csv$"):
        overwriting.refuse_overwriting({"--out": tmp_path / "people.csv"}, [tmp_path / "people.csv"])
