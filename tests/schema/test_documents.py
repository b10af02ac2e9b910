"""Documents: all that is wrong is told, with its place; the JSON Schema takes what the check takes."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.program import asked
from tarnkappe.errors import TarnkappeError
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.job import Job
from tarnkappe.job.document import ColumnSection, JobDocument
from tarnkappe.schema.documents import DocumentError, load, parse
from tarnkappe.schema.json_schema import json_schema
from tarnkappe.schema.written import UnreadableError, read_json, read_toml
from tests.schema.documents import KINDS, RIGHT, UNWRITABLE, changed, drawn, examples, places

EXAMPLES = list(examples())
every_kind = pytest.mark.parametrize("name", KINDS)
FIVE = """
[input]
pth = "people.csv"
[columns.age]
role = "quasi"
[[privacy]]
model = "k-anonymity"
k = 2
[[privacy]]
model = "recursive-diversity"
column = "illness"
c = 3
l = 1
[search]
suppression_limit = 5
[outptu]
path = "release.csv"
"""


def test_a_document_with_five_mistakes_names_all_five_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(FIVE, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load(JobDocument, path, "job file")
    text = str(caught.value)
    assert text.startswith(f"{path}: 5 things are wrong:\n")
    assert "[input], pth: there is no such key: did you mean 'path'?" in text
    assert "[columns.age], role: one of identifier, quasi-identifier" in text
    assert "[[privacy]] 2, l: at least 2 is needed, not 1" in text
    assert "[search], suppression_limit: at most 1 is allowed, not 5" in text
    assert "[outptu]: there is no such section: did you mean 'output'?" in text


def test_ten_problems_are_shown_and_all_are_known() -> None:
    with pytest.raises(DocumentError) as caught:
        parse(JobDocument, {"input": {"path": "x"}, "columns": {f"c{n}": {"level": -1} for n in range(14)}})
    assert str(caught.value).count("\n") == 11
    assert str(caught.value).endswith("and 4 more")
    assert len(caught.value.problems) == 14


def test_files_are_absolute_wherever_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    text = '[input]\npath = "a.csv"\n[columns.a]\nrole = "quasi-identifier"\nhierarchy = "../a.csv"\n'
    (tmp_path / "sub" / "job.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = load(JobDocument, "sub/job.toml", "job file")
    assert said.input.path == str(tmp_path / "sub" / "a.csv")
    section = said.columns["a"]
    assert isinstance(section, ColumnSection)
    assert os.path.normpath(str(section.hierarchy)) == str(tmp_path / "a.csv")
    assert GatePolicy.from_dict(RIGHT["gate"], Path("sub")).source == str(tmp_path / "sub" / "p.parquet")


def test_a_job_shows_files_as_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its manifest is delivered, and tells nobody where the job ran."""
    (tmp_path / "job.toml").write_text('[input]\npath = "a.csv"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert Job.load("job.toml").input.path == "a.csv"


def test_files_that_nobody_names_lie_beside_the_document(tmp_path: Path) -> None:
    policy = GatePolicy.from_dict({**RIGHT["gate"], "state": {}}, tmp_path)
    assert policy.store == str(tmp_path / "tarnkappe.state")
    policy = GatePolicy.from_dict({key: v for key, v in RIGHT["gate"].items() if key != "state"}, tmp_path)
    assert policy.key_file == str(tmp_path / "tarnkappe.key")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the job file"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"[input", "not valid TOML"),
        (b"a = " + b"[" * 5_000, "not valid TOML: it is nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "job.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableError, match=message):
        read_toml(path, "job file")


def test_json_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}', encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"a": 1}
    (tmp_path / "a.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(UnreadableError, match="not valid JSON"):
        read_json(tmp_path / "a.json", "answer")


@every_kind
def test_a_schema_takes_what_the_check_takes(name: str) -> None:
    """But for what is between several keys, and for fractions that are written as texts."""
    validator = jsonschema_rs.validator_for(json_schema(KINDS[name]))
    assert validator.is_valid(RIGHT[name])
    parse(KINDS[name], RIGHT[name])
    outcomes = set()
    for document in drawn(name, 400):
        taken = _taken(KINDS[name], document)
        if taken is not None:
            outcomes.add(taken)
            assert validator.is_valid(document) == taken, document
    assert outcomes == {True, False}


def _taken(kind: Any, document: Any) -> bool | None:
    """Whether the types and bounds take a document; none where that is not theirs to say."""
    try:
        parse(kind, document)
    except DocumentError as error:
        ours = [each for each in error.problems if not each.code.startswith("schema.")]
        if ours and len(ours) == len(error.problems):
            return True  # each key by itself is right
        fractions = ["/" in str(each.args.get("got", "")) for each in error.problems]
        return None if any(fractions) else False
    return True


@pytest.mark.parametrize(("where", "name", "content"), EXAMPLES, ids=[where for where, _, _ in EXAMPLES])
def test_every_example_passes_both(where: str, name: str, content: dict[str, Any]) -> None:
    parse(KINDS[name], content, name=where)
    jsonschema_rs.validator_for(json_schema(KINDS[name])).validate(content)


def test_there_are_examples_of_the_files_that_people_write() -> None:
    assert {"job", "gate"} <= {name for _, name, _ in EXAMPLES}


@every_kind
def test_whatever_a_document_says_the_answer_is_ours_and_comes_soon(name: str) -> None:
    right = RIGHT[name]
    tried = [changed(right, path, value) for path in places(right) for value in UNWRITABLE[:3]]
    tried += [changed(right, path, UNWRITABLE[n % 3 + 3]) for n, path in enumerate(places(right))]
    deep: Any = {}
    for _ in range(500):
        deep = {"a": [deep]}
    tried += [changed(right, path, deep) for path in places(right)]
    tried += [[], None, "x", 3, {1: 2}, {"": {}}, {"x" * 100_000: {}}, *drawn(name, 200)]
    for document in tried:
        start = time.process_time()
        told = _told(KINDS[name], document)
        assert time.process_time() - start < 1
        assert len(told) <= 2_004


def _told(kind: Any, document: Any) -> str:
    try:
        parse(kind, document)
    except TarnkappeError as error:
        return str(error)
    return ""


def test_levels_without_end_are_refused_at_once() -> None:
    hierarchy = {"builder": "intervals", "width": 5, "levels": 10**8}
    start = time.process_time()
    with pytest.raises(DocumentError, match=r"\[columns.age.hierarchy\], levels: at most 64 is allowed"):
        parse(JobDocument, {"input": {"path": "x"}, "columns": {"age": {"hierarchy": hierarchy}}})
    assert time.process_time() - start < 1


@every_kind
def test_the_command_prints_a_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from tarnkappe.cli.schema import schema

    schema(name)
    printed = json.loads(capsys.readouterr().out)
    jsonschema_rs.validator_for(printed).validate(RIGHT[name])


def test_a_kind_of_file_that_nobody_knows_is_refused() -> None:
    result = CliRunner().invoke(asked(["schema", "jobb"]), ["schema", "jobb"])
    assert "did you mean 'job'" in str(result.exception)
