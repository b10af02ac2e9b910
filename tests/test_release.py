"""What a release says of itself agrees wherever it is said."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import tarnkappe
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_there_is_one_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["version"] == tarnkappe.__version__


def test_the_supported_versions_of_python_are_the_same_everywhere() -> None:
    support = (ROOT / "docs" / "reference" / "support.md").read_text(encoding="utf-8")
    said = re.search(r"CPython ([\d., ]+)", support)
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert said is not None
    assert said[1].strip().split(", ") == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_the_command_line_runs_as_a_module() -> None:
    """Where `tarn` is not on the path."""
    command = [sys.executable, "-m", "tarnkappe", "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told == f"tarn {PROJECT['version']}\n"


def test_every_public_name_can_be_taken_from_the_package() -> None:
    for name in tarnkappe.__all__:
        assert getattr(tarnkappe, name) is not None
