"""`tarn gate` through the real executable."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import psycopg
import pytest

from tarnkappe.cli import main
from tarnkappe.gate.answer import Block, HistoryEntry
from tarnkappe.gate.history_store import HistoryStore
from tarnkappe.state import Store
from tests.announced import announced
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
        port = announced(server)["port"]
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
        (["user", "add", "ann"], "short", "", ["8 to 1000 characters"]),
        (["user", "add", "a n n"], "long enough", "", ["user name"]),
        (["user", "remove", "ann"], "", "", ["users.toml"]),
        (["serve", "--listen", "0.0.0.0:1"], "", "", ["gate.toml", "TLS"]),
        (["serve", "--listen", "nowhere"], "", "", ["gate.toml", "HOST:PORT"]),
        (["serve"], "", "deadlinee = 1", ["gate.toml", "deadlinee", "did you mean 'deadline'"]),
        (["serve"], "", 'certificate = "x"', ["gate.toml", "private_key"]),
        (
            ["serve"],
            "",
            'aggregates = "all"',
            ["gate.toml", "one of estimate, noisy, refuse, view is needed"],
        ),
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


BARE = POLICY.replace('values = ["flu", "cold", "gout", "asthma"]\n', "")
MANY = "id,age,town,illness\n" + "".join(
    f"p{n},{20 + n % 30},Ulm,{('flu', 'flu', 'cold', 'gout')[n % 4] if n else 'plague'}\n" for n in range(200)
)


def ends(capsys: pytest.CaptureFixture[str], *words: str, stdin: str = "") -> tuple[int, str, str]:
    """Run a command; returns its exit code and what it prints."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main(["gate", *words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(MANY, encoding="utf-8")
    (tmp_path / "gate.toml").write_text(BARE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["serve", "status"])
def test_without_a_list_of_values_nothing_starts_and_the_error_says_how_to_get_one(
    command: str, bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TARN_GATE_PASSWORD", "a long password")
    tarn(capsys, "user", "add", "ann")
    code, _, said = ends(capsys, command, "--policy", "gate.toml")
    assert code == 2
    assert (
        "gate.toml: [sensitive.illness] needs 'values': the list is public, and one read from the table"
        in said
    )
    assert "run 'tarn gate values gate.toml'" in said


def test_a_list_is_read_from_the_table_with_its_holders_and_who_was_there(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told, _ = ends(capsys, "values", "gate.toml")
    assert code == 0
    assert "flu: 99 people" in told
    assert "plague: 1 people, becomes (other)" in told
    assert "3 values that 10 people or more have; that they have, counts as known" in told
    written = tomllib.loads((bare / "gate.toml").read_text(encoding="utf-8"))["sensitive"]["illness"]
    assert written == {"values": ["cold", "flu", "gout"], "values_from": "table", "holders": 10}
    assert json.loads(tarn(capsys, "status", "--json"))["left_out"] == {"changed": 0, "held_back": 0}
    code, _, said = ends(capsys, "values", "gate.toml")
    assert (code, "every sensitive column has one" in said) == (2, True)


def test_spellings_of_one_value_are_pointed_at_and_odd_values_are_written_as_they_are(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [
        "flu",
        "Flu",
        "FLU ",
        'gout "bad"',
        "gout-bad",
        "new\nline",
        "ümlaut",
        "\x1b[31m",
        "",
        "(other)",
        "3.5",
        "35",
    ]
    with (bare / "people.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "age", "town", "illness"])
        rows.writerows([f"p{n}", 20 + n % 30, "Ulm", odd[n % len(odd)]] for n in range(240))
    code, told, _ = ends(capsys, "values", "gate.toml")
    assert code == 0
    assert 'let them count as one: alike = [["FLU ", "Flu", "flu"]]' in told
    assert "\x1b" not in told
    assert "(other): 20 people, becomes (other)" in told
    written = tomllib.loads((bare / "gate.toml").read_text(encoding="utf-8"))["sensitive"]["illness"]
    assert sorted(written["values"]) == sorted({*odd, "(missing)"} - {"", "(other)"})
    assert "nothing was answered yet" in tarn(capsys, "status")


@pytest.mark.parametrize(("said", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_list_is_called_public_only_by_somebody_who_says_so(
    said: str, code: int, bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, _, asked = ends(capsys, "values", "gate.toml", "--public", stdin=said)
    assert ended == code
    assert "Could somebody who never saw the table have written this list? [y/N]" in asked
    written = tomllib.loads((bare / "gate.toml").read_text(encoding="utf-8"))["sensitive"]["illness"]
    listed = {"values": ["cold", "flu", "gout"], "values_from": "public"}
    assert written == (listed if code == 0 else {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--holders", "1"], "leaves nobody another value"),
        (["--holders", "101"], "nobody can keep 2 of them"),
        (["--column", "town"], "'town' is no sensitive column"),
        (["--column", "ilness"], "'ilness' is no sensitive column: did you mean 'illness'"),
    ],
)
def test_a_list_that_would_protect_nobody_is_not_written(
    words: list[str], message: str, bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = ends(capsys, "values", "gate.toml", *words)
    assert code in (1, 2)
    assert message in " ".join(said.split())
    assert (bare / "gate.toml").read_text(encoding="utf-8") == BARE


def test_a_proof_that_lacks_something_says_so_and_ends_with_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    store = HistoryStore(Store.open(folder / "tarnkappe.state"))
    block = Block(("x",), ("flu", "cold", "gout"))
    store.add("everyone", "illness", 1, HistoryEntry((("x", "flu"),), (block,)))
    code, told, _ = ends(capsys, "audit", "--policy", "gate.toml")
    assert code == 1
    assert "changes and occurrence unknown" in " ".join(told.split())
