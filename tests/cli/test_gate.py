"""`tarn gate` through the real executable."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tarnkappe.cli import main
from tests.cli.spoken import lines_of

TARN = Path(sys.executable).with_name("tarn")
PEOPLE = "id,age,town,illness\n" + "".join(
    f"p{n},{20 + n % 30},{('Ulm', 'Bonn')[n % 2]},{('flu', 'cold', 'gout', 'asthma')[n % 4]}\n"
    for n in range(40)
)
POLICY = """
[table]
source = "people.csv"
name = "people"
key = "id"
quasi_identifiers = ["age", "town"]

[sensitive.illness]
values = ["flu", "cold", "gout", "asthma"]

[protection]
k = 2

[server]
listen = "127.0.0.1:0"
"""


def tarn(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command in this process, which must succeed; returns what it prints."""
    with pytest.raises(SystemExit) as ended:
        main(["gate", *words, "--policy", "gate.toml"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "gate.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_from_a_policy_to_answers_a_status_and_a_proof(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TARN_GATE_PASSWORD", "a long password")
    assert "ann may log in" in tarn(capsys, "user", "add", "ann")
    server = subprocess.Popen(
        [str(TARN), "gate", "serve", "--policy", "gate.toml", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            line = server.stdout.readline()
            assert line, server.communicate()[1]
            told += line
        port = json.loads(told)["port"]
        with psycopg.connect(f"postgresql://ann:a%20long%20password@127.0.0.1:{port}/x") as connection:
            rows = connection.execute("SELECT age, illness FROM people WHERE town = 'Ulm'").fetchall()
            assert len(rows) >= 20
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    finally:
        if server.poll() is None:
            server.kill()
        _, said = server.communicate(timeout=30)
    assert "the gate is closed" in said
    assert "Ulm" not in said
    status = json.loads(tarn(capsys, "status", "--json"))
    assert status["histories"][0]["answers"] == 1
    assert status["histories"][0]["least_degree"] >= 2
    proof = json.loads(tarn(capsys, "audit", "--json"))
    assert proof["proven"][0]["answers"] == 1


@pytest.mark.parametrize(
    ("words", "password", "added", "said"),
    [
        (["serve"], "", "", ["users.toml", "tarn gate user add"]),
        (["user", "add", "ann"], None, "", ["TARN_GATE_PASSWORD"]),
        (["user", "add", "ann"], "short", "", ["at least 8"]),
        (["user", "add", "a n n"], "long enough", "", ["user name"]),
        (["user", "remove", "ann"], "", "", ["users.toml"]),
        (["serve", "--listen", "0.0.0.0:1"], "", "", ["gate.toml", "TLS"]),
        (["serve", "--listen", "nowhere"], "", "", ["gate.toml", "HOST:PORT"]),
        (["serve"], "", "quantumm = 1", ["gate.toml", "quantumm", "did you mean 'quantum'"]),
        (["serve"], "", 'certificate = "x"', ["gate.toml", "private_key"]),
        (["serve"], "", 'aggregates = "all"', ["gate.toml", "view, noisy, refuse"]),
    ],
    ids=range(10),
)
def test_wrong_input_is_one_clear_line(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    password: str | None,
    added: str,
    said: list[str],
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("TARN_GATE_PASSWORD", raising=False)
    if password is not None:
        monkeypatch.setenv("TARN_GATE_PASSWORD", password)
    (folder / "gate.toml").write_text(f"{POLICY}{added}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["gate", *words, "--policy", "gate.toml"])
    assert ended.value.code == 2
    (line,) = lines_of(capsys.readouterr().err)
    assert all(word in line for word in said), line


def test_users_are_added_listed_and_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TARN_GATE_PASSWORD", "a long password")
    for words in (["add", "ann"], ["add", "bob"], ["remove", "ann"]):
        tarn(capsys, "user", *words)
    assert json.loads(tarn(capsys, "user", "list", "--json")) == {"users": ["bob"]}
