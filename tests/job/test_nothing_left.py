"""A release of which nothing is left is refused with a sentence, not written."""

from __future__ import annotations

from pathlib import Path

import pytest

import tarnkappe
from tarnkappe.errors import NoSolutionError
from tarnkappe.job import Job


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_release_without_rows_is_refused(engine: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age;sex\n" + "".join(f"{n};{'fm'[n % 2]}\n" for n in range(30)))
    for loss in ("entropy", "discernibility", "discernibility-star", "aecs", "loss", "precision"):
        content = {
            "input": {"path": "people.csv", "engine": engine},
            "columns": {"age": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}},
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "search": {"suppression_limit": 1.0, "loss": loss},
            "output": {"path": "release.csv"},
        }
        try:
            result = tarnkappe.run(Job.from_dict(content, tmp_path))
        except NoSolutionError as error:
            said = str(error)
        else:
            said = ""
            assert result.release.num_rows > 0
        assert ".tarnkappe" not in said
        assert "header" not in said
        assert (tmp_path / "release.csv").exists() == (not said), loss
        for path in tmp_path.glob("release*"):
            path.unlink()


def test_the_sentence_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{n}\n" for n in range(30)))
    content = {
        "input": {"path": "people.csv"},
        "columns": {"age": {"role": "quasi-identifier", "level": 0}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "search": {"suppression_limit": 1.0},
        "output": {"path": "release.csv"},
    }
    with pytest.raises(NoSolutionError, match=r"all 30 rows would be suppressed.*lower the limit"):
        tarnkappe.run(Job.from_dict(content, tmp_path))
    assert not list(tmp_path.glob("release*"))
