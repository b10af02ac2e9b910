"""`tarn pseudonymize` and `tarn reidentify` through the real executable, with planted identifiers."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import stat
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tarnkappe.cli import main
from tests.cli.test_contract import refused
from tests.cli.test_contract import tarn as tarn_process

VISITS = """surname;given;born;illness
Planted;Ursula;1950-01-02;flu
Plantagenet;Xaver;1961-03-04;cold
 Planted;Ursula;1950-01-02;ulcer
;;;flu
"""
PLANTED = ("Planted", "Plantagenet", "Ursula", "Xaver", "1950-01-02", "1961-03-04")
WHO = ("--column", "surname", "given", "born")


def tarn(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in this process: starting one takes longer than most of these tests."""
    out, err = io.StringIO(), io.StringIO()
    where = contextlib.chdir(cwd) if cwd else contextlib.nullcontext()
    with where, redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    code = ended.value.code
    return subprocess.CompletedProcess(words, code or 0, out.getvalue(), err.getvalue())


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    run = tarn("pseudonymize", "--new-key", tmp_path / "project.key")
    assert run.returncode == 0, run.stderr
    return tmp_path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ok(run: subprocess.CompletedProcess[str]) -> dict:
    assert run.returncode == 0, run.stderr
    assert not [value for value in PLANTED if value in run.stderr]
    return json.loads(run.stdout)


def no_trace(folder: Path, *allowed: str) -> None:
    """No file holds a planted identifier, not even one that was left behind, but for those that must."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in allowed:
            content = path.read_bytes()
            assert not [value for value in PLANTED if value.encode() in content], path


def test_a_key_is_for_its_owner_and_never_overwritten(ward: Path) -> None:
    key = ward / "project.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_text()
    refused(tarn("pseudonymize", "--new-key", key), "never overwritten")
    (ward / "project.key.pub").unlink()
    refused(tarn("pseudonymize", "--new-key", key), "never overwritten")
    assert key.read_text() == before
    refused(tarn("pseudonymize", "--new-key", ward / "no" / "folder.key"), "cannot be written")


def test_one_way_pseudonyms_are_the_same_in_every_source_and_other_in_every_project(ward: Path) -> None:
    (ward / "lab.csv").write_text(
        "name;first;birthday;value\nPlanted;Ursula;1950-01-02;7\n", encoding="utf-8"
    )
    common = ("--key", ward / "project.key", "--json")
    told = ok(
        tarn("pseudonymize", ward / "visits.csv", *WHO, "--project", "a", "--out", ward / "a.csv", *common)
    )
    assert {"rows": 4, "people": 2, "without": 1, "mode": "one-way"}.items() <= told.items()
    lab = ("--column", "name", "first", "birthday")
    ok(tarn("pseudonymize", ward / "lab.csv", *lab, "--project", "a", "--out", ward / "b.csv", *common))
    ok(tarn("pseudonymize", ward / "lab.csv", *lab, "--project", "c", "--out", ward / "c.csv", *common))
    ursula = {row["pseudonym"] for row in rows(ward / "a.csv") if row["illness"] == "ulcer"}
    assert ursula == {row["pseudonym"] for row in rows(ward / "b.csv")}
    assert not ursula & {row["pseudonym"] for row in rows(ward / "c.csv")}
    assert set(rows(ward / "a.csv")[0]) == {"pseudonym", "illness"}
    no_trace(ward, "visits.csv", "lab.csv")


def test_reversible_pseudonyms_come_back_with_the_key_and_only_with_it(ward: Path) -> None:
    common = ("--key", ward / "project.key", "--project", "a")
    run = tarn_process(
        "pseudonymize", ward / "visits.csv", *WHO, "--mode", "reversible", "--out", ward / "a.csv",
        "--keep-order", *common,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "no anonymity" in run.stdout
    no_trace(ward, "visits.csv")
    ok(tarn("reidentify", "table", ward / "a.csv", *WHO, "--out", ward / "back.csv", *common, "--json"))
    assert [row["surname"] for row in rows(ward / "back.csv")] == ["Planted", "Plantagenet", "Planted", ""]
    tarn("pseudonymize", "--new-key", ward / "other.key")
    wrong = tarn(
        "reidentify", "table", ward / "a.csv", *WHO, "--out", ward / "no.csv", "--project", "a",
        "--key", ward / "other.key",
    )  # fmt: skip
    refused(wrong, "right key and project")
    assert not (ward / "no.csv").exists()


def test_the_rows_do_not_keep_their_order(ward: Path) -> None:
    (ward / "many.csv").write_text("id;n\n" + "".join(f"p{n};{n}\n" for n in range(200)), encoding="utf-8")
    told = ("--column", "id", "--key", ward / "project.key", "--project", "a", "--out", ward / "out.csv")
    assert tarn("pseudonymize", ward / "many.csv", *told).returncode == 0
    numbers = [row["n"] for row in rows(ward / "out.csv")]
    assert sorted(numbers, key=int) != numbers


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "x.csv"), "say what and how"),
        ((*WHO, "--key", "project.key", "--project", "a", "--out", "visits.csv"), "cannot be written"),
        (("--column", "surename", "--key", "project.key", "--project", "a", "--out", "x.csv"), "did you mean 'surname'"),
        ((*WHO, "--key", "none.key", "--project", "a", "--out", "x.csv"), "none.key"),
        ((*WHO, "--key", "visits.csv", "--project", "a", "--out", "x.csv"), "visits.csv"),
        ((*WHO, "--key", "project.key", "--project", "a", "--out", "x.csv", "--mode", "vault"), "needs both"),
        ((*WHO, "--key", "project.key", "--project", "a", "--out", "x.csv", "--link"), "--mode vault"),
        ((*WHO, "--key", "project.key", "--project", "a", "--out", "x.csv", "--into", "illness"), "'illness' already"),
        ((*WHO, "--key", "project.key", "--project", "a", "--out", "x.csv", "--mode", "vault", "--as", "rita", "--vault", "no.db"), "new-vault"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_clear_line(ward: Path, words: tuple[str, ...], said: str) -> None:
    run = tarn("pseudonymize", "visits.csv", *words, cwd=ward)
    refused(run, said)
    assert not [value for value in PLANTED if value in run.stderr]
    assert not (ward / "x.csv").exists()
    assert not (ward / "no.db").exists()


@pytest.fixture
def vault(ward: Path) -> Path:
    made = ok(tarn("pseudonymize", "--new-key", "rita.key", "quinn.key", "ada.key", "--json", cwd=ward))
    assert [one["public"] for one in made["keys"]] == ["rita.key.pub", "quinn.key.pub", "ada.key.pub"]
    run = tarn(
        "reidentify", "new-vault", "--vault", "vault.db", "--project", "asthma", "--field", "surname", "given", "born",
        "--registrar", "rita=rita.key.pub", "--requester", "quinn=quinn.key.pub", "--approver", "ada=ada.key.pub",
        cwd=ward,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return ward


def desk(folder: Path, command: str, *words: str, who: str, key: str | None = None):
    place = ("--vault", "vault.db", "--project", "asthma", "--as", who, "--key", key or f"{who}.key")
    return tarn("reidentify", command, *words, *place, cwd=folder)


def test_four_eyes_from_the_table_to_the_person(vault: Path) -> None:
    told = ok(
        tarn(
            "pseudonymize", "visits.csv", *WHO, "--mode", "vault", "--vault", "vault.db", "--project", "asthma",
            "--as", "rita", "--key", "rita.key", "--out", "a.csv", "--json", cwd=vault,
        )
    )  # fmt: skip
    assert told["people"] == 2
    [pseudonym] = {row["pseudonym"] for row in rows(vault / "a.csv") if row["illness"] == "ulcer"}
    refused(desk(vault, "request", pseudonym, "--reason", "curiosity", who="quinn"), "feedback, recruiting")
    asked = ok(desk(vault, "request", pseudonym, "--reason", "feedback", "--json", who="quinn"))
    number = str(asked["request"])
    refused(desk(vault, "show", number, who="quinn"), "a second person has to agree")
    refused(desk(vault, "approve", number, who="quinn"), "takes the role approver")
    refused(desk(vault, "approve", number, who="ada", key="quinn.key"), "not the key of 'ada'")
    assert ok(desk(vault, "approve", number, "--json", who="ada"))["state"] == "approved"
    shown = json.loads(desk(vault, "show", number, "--json", who="quinn").stdout)
    assert shown["people"] == {pseudonym: [{"surname": "Planted", "given": "Ursula", "born": "1950-01-02"}]}
    assert "Ursula" in desk(vault, "show", number, who="quinn").stdout
    listed = ok(
        tarn("reidentify", "requests", "--vault", "vault.db", "--project", "asthma", "--json", cwd=vault)
    )
    assert [one["state"] for one in listed["requests"]] == ["approved"]
    no_trace(vault, "visits.csv")
    rotated = tarn(
        "reidentify", "rotate", "--vault", "vault.db", "--project", "asthma", "--requester", "quinn=quinn.key",
        "--approver", "ada=ada.key", "--json", cwd=vault,
    )  # fmt: skip
    assert ok(rotated)["sealed"] == 2
    logged = ok(tarn("reidentify", "log", "--vault", "vault.db", "--json", cwd=vault))
    assert [one["event"] for one in logged["entries"]].count("vault refused") == 3
    assert logged["verified"]
    assert pseudonym in tarn("reidentify", "log", "--vault", "vault.db", cwd=vault).stdout


def test_two_misspelled_sources_are_linked_and_a_person_decides_the_doubtful(vault: Path) -> None:
    (vault / "lab.csv").write_text(
        "surname;given;born;value\nPlanted;Ursula;1950-02-01;7\nBrandauer;Ida;1999-09-09;8\n",
        encoding="utf-8",
    )
    (vault / "out").mkdir()
    words = (
        "pseudonymize", "visits.csv", "lab.csv", *WHO, "--link", "--mode", "vault", "--vault", "vault.db",
        "--project", "asthma", "--as", "rita", "--key", "rita.key", "--out", "out", "--json",
    )  # fmt: skip
    told = ok(tarn(*words, "--review", "review.csv", cwd=vault))
    assert (told["people"], told["linked"], told["doubtful"]) == (4, 0, 1)
    assert stat.S_IMODE((vault / "review.csv").stat().st_mode) == 0o600
    header, line = (vault / "review.csv").read_text(encoding="utf-8").splitlines()
    (vault / "review.csv").write_text(f"{header}\nsame{line}\n", encoding="utf-8")
    refused(tarn(*words, "--decisions", "review.csv", cwd=vault), "an approver has to agree")
    agreed = ("--approved-by", "ada", "--approver-key", "ada.key")
    wrong = ("--approved-by", "ada", "--approver-key", "quinn.key")
    refused(tarn(*words, "--decisions", "review.csv", *wrong, cwd=vault), "not the key of 'ada'")
    labels = ("--labels", "review.csv")
    told = ok(tarn(*words, "--decisions", "review.csv", *agreed, *labels, cwd=vault))
    assert (told["people"], told["linked"], told["doubtful"]) == (3, 1, 0)
    assert [each["shown"] for each in told["evaluation"]] == [1.0] * 7
    [*_, looked] = [
        one
        for one in ok(tarn("reidentify", "log", "--vault", "vault.db", "--json", cwd=vault))["entries"]
        if one["event"] == "people looked up"
    ]
    numbers = {name: looked[name] for name in ("people", "known", "new", "approved_by")}
    assert numbers == {"people": 4, "known": 4, "new": 0, "approved_by": "ada"}
    ursula = {row["pseudonym"] for row in rows(vault / "out" / "lab.csv") if row["value"] == "7"}
    assert ursula == {
        row["pseudonym"] for row in rows(vault / "out" / "visits.csv") if row["illness"] == "ulcer"
    }
    for more in ((), ("--replace",)):
        refused(tarn(*words, "--review", "review.csv", *more, cwd=vault), "maybe with decisions")
    no_trace(vault, "visits.csv", "lab.csv", "review.csv")


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_no_name_behind_and_can_be_repeated(vault: Path) -> None:
    """The attacker cuts the power of the real command at any moment, and searches the disk."""
    names = "".join(f"Planted;Ursula{number};1950-01-02;flu\n" for number in range(4000))
    (vault / "many.csv").write_text("surname;given;born;illness\n" + names, encoding="utf-8")
    words = (
        "pseudonymize", "many.csv", *WHO, "--mode", "vault", "--vault", "vault.db", "--project", "asthma",
        "--as", "rita", "--key", "rita.key", "--json", "--out",
    )  # fmt: skip
    draw = random.Random(4)
    for number in range(6):
        command = [Path(sys.executable).with_name("tarn"), *words, f"killed{number}.csv"]
        process = subprocess.Popen(command, cwd=vault, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.5, 6))
        process.kill()
        process.wait()
        no_trace(vault, "visits.csv", "many.csv")
    agreed = ("--approved-by", "ada", "--approver-key", "ada.key")  # some of them may be known already
    first = ok(tarn(*words, "first.csv", "--keep-order", *agreed, cwd=vault))
    assert first["people"] == 4000
    again = ok(tarn(*words, "second.csv", "--keep-order", *agreed, cwd=vault))
    assert again["people"] == 4000
    assert (vault / "first.csv").read_bytes() == (vault / "second.csv").read_bytes()
    no_trace(vault, "visits.csv", "many.csv")


def test_members_come_and_go(vault: Path) -> None:
    tarn("pseudonymize", "--new-key", "eve.key", cwd=vault)
    refused(desk(vault, "appoint", "approver", "eve=eve.key.pub", who="quinn"), "takes the role")
    assert (
        ok(desk(vault, "appoint", "requester", "eve=eve.key.pub", "--json", who="quinn"))["member"] == "eve"
    )
    first = desk(vault, "appoint", "approver", "ann=eve.key.pub", who="ada")
    assert "for the first time" in first.stderr, "a person compares the fingerprint"
    refused(desk(vault, "appoint", "approver", "ann=eve.key.pub", who="ada"), "four eyes")
    refused(desk(vault, "appoint", "approver", "ann=eve.key", who="ada"), "eve.key")
    assert ok(desk(vault, "dismiss", "eve", "--json", who="quinn")) == {"dismissed": "eve"}
    refused(desk(vault, "dismiss", "quinn", who="quinn"), "last requester")
