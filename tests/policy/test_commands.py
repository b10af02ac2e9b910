"""`tarn policy` and `tarn sql --policy`, as they are typed."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attackers.sql.stages import tarn
from tests.policy.clinic import POLICY, write


def test_a_policy_is_checked_explained_granted_and_its_log_shown(tmp_path: Path) -> None:
    me = pwd.getpwuid(os.getuid()).pw_name
    path = str(write(tmp_path, policy=POLICY.replace('["olga"]', f'["{me}"]')))
    checked = tarn("policy", "check", path)
    assert checked.code == 0, checked.errors
    assert "patients: released with 12 rows, at least 3 people in every class" in checked.output
    told = tarn("policy", "explain", path, "SELECT upper(sex) AS s FROM patients", "--as", "ann")
    assert told.code == 0
    assert "answered as post-processing of the protected table patients (k = 3 people)" in told.output
    refused = tarn("sql", "SELECT name FROM patients", "--policy", path, "--as", "ann")
    assert refused.code == 1
    assert "refused: 'name' of patients is an identifier" in refused.output
    given = tarn("policy", "grant", path, "--to", "ann", "--table", "patients", "--epsilon", "2")
    assert given.code == 0, given.errors
    log = tarn("policy", "log", path)
    assert "policy granted" in log.output
    assert "policy release" in log.output


def test_the_verdict_of_a_policy_prints_no_row(tmp_path: Path) -> None:
    path = str(write(tmp_path))
    told = tarn("sql", "SELECT * FROM patients", "--policy", path, "--as", "ann", "--json")
    assert told.code == 0
    assert told.told["answered"] is True
    assert "data" not in told.told
    missing = tarn("sql", "SELECT * FROM patients", "--policy", path)
    assert missing.code != 0
    assert "--as USER" in missing.errors


def test_nobody_becomes_an_owner_by_a_variable_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write(tmp_path))
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "olga")
    given = tarn("policy", "grant", path, "--to", "ann", "--table", "patients", "--epsilon", "9")
    assert given.code != 0
    assert "is no owner of this policy" in given.errors


WITHOUT_PWD = """
import os, sys
sys.modules["pwd"] = None
def login():
    {login}
os.getlogin = login
from tarnkappe.cli.program import run
run(sys.argv[1:])
"""


def grant_without_pwd(path: str, login: str) -> subprocess.CompletedProcess[str]:
    words = ["policy", "grant", path, "--to", "ann", "--table", "patients", "--epsilon", "2"]
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PWD.format(login=login), *words],
        capture_output=True, text=True, check=False, timeout=600, env=os.environ | {"USERNAME": "olga", "LC_ALL": "C"},
    )  # fmt: skip


def test_where_python_has_no_pwd_the_system_says_who_it_is(tmp_path: Path) -> None:
    path = str(write(tmp_path))
    given = grant_without_pwd(path, "return 'olga'")
    assert (given.returncode, given.stderr) == (0, "")
    assert "by olga" in given.stdout
    other = grant_without_pwd(path, "return 'ann'")
    assert other.returncode != 0
    assert "is no owner of this policy" in other.stderr
    nobody = grant_without_pwd(path, "raise OSError(6, 'no such device')")
    assert nobody.returncode == 2
    assert "the operating system does not say who you are" in nobody.stderr
    assert "Traceback" not in nobody.stderr


def test_a_number_of_a_user_without_a_name_grants_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    given = tarn(
        "policy", "grant", str(write(tmp_path)), "--to", "ann", "--table", "patients", "--epsilon", "9"
    )
    assert given.code == 2
    assert "the operating system does not say who you are" in given.errors
