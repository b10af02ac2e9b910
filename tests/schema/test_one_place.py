"""What the schema layer does is done nowhere else."""

from __future__ import annotations

import re

import pytest

from tests.test_architecture import MODULES, PACKAGE


@pytest.mark.parametrize("word", ["get_close_matches", "force_setattr(made", "msgspec.convert(", "tomllib"])
def test_one_folder_of_the_package_knows_how(word: str) -> None:
    knowing = {
        path.relative_to(PACKAGE).parts[0] for path in MODULES if word in path.read_text(encoding="utf-8")
    }
    assert knowing == {"schema"}


def test_one_module_reads_toml() -> None:
    reading = [path.name for path in MODULES if "import tomllib" in path.read_text(encoding="utf-8")]
    assert reading == ["written.py"]


BY_THEMSELVES = {"job/certificate.py", "verifier/checker.py"}
"""A certificate has whole numbers and ASCII keys alone, for which the standard library writes canonical JSON, and its
checker imports nothing of this package."""


def test_nothing_that_is_compared_or_hashed_is_written_by_the_standard_library() -> None:
    writing = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if re.search(r"json\.dumps?\([^#\n]*sort_keys=True", path.read_text(encoding="utf-8"))
    }
    assert writing - {"state/canonical.py"} == BY_THEMSELVES
