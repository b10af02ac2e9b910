"""Plans as files: what was written runs again, and SQL above the protection is written as SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attackers.sql.stages import clinic, tarn

QUERY = "SELECT plz FROM generalize(patients, k => 2, by => [plz])"


@pytest.mark.parametrize("ending", ["xml", "json"])
def test_a_plan_that_was_written_runs_again(ending: str, tmp_path: Path) -> None:
    said = clinic(tmp_path)
    path = str(tmp_path / f"plan.{ending}")
    first = tarn("sql", QUERY, *said, "--write-plan", path, "--json")
    again = tarn("sql", "--plan", path, *said, "--json")
    assert first.code == again.code == 0, again.errors
    assert sorted(first.rows) == sorted(again.rows)
    assert again.told["verified"] == first.told["verified"]


def test_post_processing_is_written_as_sql_that_reads_back(tmp_path: Path) -> None:
    said = clinic(tmp_path)
    query = f"SELECT upper(plz) AS p, count(*) AS n FROM ({QUERY}) GROUP BY 1"
    refused = tarn("sql", query, *said, "--write-plan", str(tmp_path / "plan.xml"))
    assert refused.code != 0
    path = tmp_path / "plan.sql"
    first = tarn("sql", query, *said, "--write-plan", str(path), "--json")
    again = tarn("sql", path.read_text(encoding="utf-8"), *said, "--json")
    assert first.code == again.code == 0, again.errors
    assert first.rows == again.rows


def test_a_plan_file_that_is_none_is_refused(tmp_path: Path) -> None:
    said = clinic(tmp_path)
    (tmp_path / "plan.xml").write_text(QUERY, encoding="utf-8")
    for words in (("--plan", str(tmp_path / "plan.xml")), ("--plan", str(tmp_path / "no.xml"))):
        assert tarn("sql", *words, *said).code != 0
