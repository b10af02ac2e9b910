"""The Python client, and commands with --remote: the same output as here, from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.cli import main
from tarnkappe.errors import AccessError, InputError, JobError, LoginError, NotFoundError, ParameterError
from tarnkappe.service.client import ServiceClient
from tests.service.conftest import Running

JOB = """
[input]
path = "ward.csv"
[columns.age]
role = "quasi-identifier"
hierarchy = "ages.csv"
[columns.sex]
role = "quasi-identifier"
[columns.diagnosis]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 5
[search]
suppression_limit = 0.1
[output]
path = "release.csv"
report = "report.html"
shuffle = false
"""


@pytest.fixture
def ward(tmp_path: Path, patients: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ward.csv").write_bytes(patients)
    ages = sorted({line.split(b",")[0].decode() for line in patients.splitlines()[1:]})
    (tmp_path / "ages.csv").write_text("".join(f"{age};{age[:-1] or 0}x;*\n" for age in ages))
    (tmp_path / "job.toml").write_text(JOB)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def remote(service: Running, monkeypatch: pytest.MonkeyPatch) -> str:
    who = service.somebody("remy", "steward")
    monkeypatch.setenv("TARN_TOKEN", service.house.people.tokens.make(who, "test")[1])
    return service.url


Tarn = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def tarn(capsys: pytest.CaptureFixture[str]) -> Tarn:
    def run(*words: str) -> tuple[int, dict[str, Any]]:
        with pytest.raises(SystemExit) as end:
            main([*words, "--json"])
        said = capsys.readouterr()
        assert said.out, said.err
        return int(end.value.code or 0), json.loads(said.out)

    return run


def alike(here: dict[str, Any], there: dict[str, Any]) -> None:
    assert set(here) == set(there)
    for key in set(here) - {"seconds", "rolled_up", "checked"}:
        assert here[key] == there[key], key


def nothing_stays(service: Running) -> None:
    remy = service.house.people.get("remy")
    assert service.house.files.list(remy) == []
    assert service.house.jobs.list(remy) == []


def test_anonymize_there_is_as_anonymize_here(ward: Path, remote: str, tarn: Tarn, service: Running) -> None:
    code, here = tarn("anonymize", "job.toml")
    release = (ward / "release.csv").read_bytes()
    for name in ("release.csv", "release.csv.manifest.json", "report.html"):
        (ward / name).unlink()
    code_there, there = tarn("anonymize", "job.toml", "--remote", remote)
    assert (code, code_there) == (0, 0)
    alike(here, there)
    assert (ward / "release.csv").read_bytes() == release
    manifest = json.loads((ward / "release.csv.manifest.json").read_text())
    assert (manifest["input"], manifest["levels"]) == ("ward.csv", here["levels"])
    assert (ward / "report.html").read_text().startswith("<!")
    nothing_stays(service)


CHECK = ("check", "ward.csv", "--qi", "age", "--qi", "sex", "--sensitive", "diagnosis")
COMMANDS = {
    "check": (*CHECK, "--k", "3", "--model", "distinct-diversity:l=2"),
    "check a job": ("check", "job.toml"),
    "check with measures": (*CHECK, "--suda-size", "2", "--safe-harbor"),
    "scan": ("check", "ward.csv", "--safe-harbor"),
    "attack": ("attack", "homogeneity", "ward.csv", "--qi", "age", "--qi", "sex", "--sensitive", "diagnosis"),
    "attack people": ("attack", "linking", "ward.csv", "--against", "known.csv", "--name", "name"),
    "lattice": ("lattice", "job.toml"),
    "sql": (
        "sql",
        "SELECT age FROM generalize(ward, k => 5, by => [age]) ORDER BY age",
        "--data",
        "ward=ward.csv",
    ),
    "explain": (
        "sql",
        "SELECT age FROM generalize(ward, k => 5, by => [age])",
        "--data",
        "ward=ward.csv",
        "--explain",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_there_is_as_here(name: str, ward: Path, remote: str, tarn: Tarn, service: Running) -> None:
    rows = (ward / "ward.csv").read_text().splitlines()[1:4]
    people = [f"Person {number},{row.rsplit(',', 1)[0]}" for number, row in enumerate(rows)]
    (ward / "known.csv").write_text("\n".join(["name,age,sex,postcode", *people]) + "\n")
    code, here = tarn(*COMMANDS[name])
    code_there, there = tarn(*COMMANDS[name], "--remote", remote)
    assert code == code_there
    alike(here, there)
    nothing_stays(service)


def test_errors_there_are_as_here(ward: Path, remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["anonymize", "--input", "ward.csv", "--qi", "age", "--model", "k-anonimity:k=5"],
        ["check", "nothing.csv", "--qi", "age"],
        ["check", "ward.csv", "--qi", "age", "--history", "x.db", "--key", "k"],
        ["lattice", "job.toml", "--picture", "x.svg"],
        ["sql", "SELECT age FROM ward", "--data", "postgresql://x/y"],
    ):
        with pytest.raises(SystemExit) as end:
            main([*words, "--remote", remote])
        said = capsys.readouterr()
        assert end.value.code == 2, said
        assert said.err.startswith("error: ")
        assert said.out == ""


# ---------------------------------------------------------------------- the client


def test_a_token_goes_over_https_or_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="https"):
        ServiceClient("http://tarn.example.org", "tarn_x")
    with pytest.raises(ParameterError, match="no address"):
        ServiceClient("ftp://tarn.example.org", "tarn_x")
    monkeypatch.delenv("TARN_TOKEN", raising=False)
    with pytest.raises(AccessError, match="TARN_TOKEN"):
        ServiceClient("https://tarn.example.org")


def test_a_token_follows_no_redirect(service: Running) -> None:
    """A service that was taken over cannot make the client show its token elsewhere."""
    client = ServiceClient(service.url, "tarn_wrong")
    client._url = service.url  # pages without a login lead to the login, by a redirect
    with pytest.raises(tarnkappe.TarnkappeError, match="303"):
        client.job("x")


def test_errors_of_the_service_have_their_classes(service: Running, remote: str, tmp_path: Path) -> None:
    client = ServiceClient(remote)
    with pytest.raises(NotFoundError):
        client.job("0" * 32)
    with pytest.raises(LoginError):
        ServiceClient(remote, "tarn_wrong").job("0" * 32)
    with pytest.raises(InputError, match="cannot be read"):
        client.upload(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be reached"):
        ServiceClient("http://127.0.0.1:9", "tarn_x").job("0" * 32)
    (tmp_path / "t.csv").write_text("age\n30\n")
    file_id = client.upload(tmp_path / "t.csv")
    with pytest.raises(JobError, match="unknown hierarchy builder"):
        client.start(
            "hierarchy", {"input": {"file": file_id}, "column": "age", "hierarchy": {"builder": "x"}}
        )
    client.remove_file(file_id)


@pytest.mark.slow
def test_a_job_through_the_client(service: Running, remote: str, tmp_path: Path, patients: bytes) -> None:
    (tmp_path / "ward.csv").write_bytes(patients)
    client, told = ServiceClient(remote), []
    file_id = client.upload(tmp_path / "ward.csv")
    document = {"input": {"file": file_id}, "column": "age", "hierarchy": {}}
    found = client.run("hierarchy", document, lambda *event: told.append(event))
    assert found["figures"]["reason"]
    client.download(found["job"], "hierarchy", tmp_path / "ages.csv")
    assert tarnkappe.read_hierarchy(tmp_path / "ages.csv").height == found["figures"]["height"]
    client.remove(found["job"])
    with pytest.raises(NotFoundError):
        client.result(found["job"])
    client.remove_file(file_id)  # other tests of this service count what stays
