"""`tarn check` says first which columns name people, and does not call such a table fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tarnkappe
from tarnkappe.cli.program import run
from tarnkappe.errors import IdentifierFoundError
from tarnkappe.job import Job

ROWS = 40
COLUMNS = {
    "sex": ["f", "m"] * (ROWS // 2),
    "illness": ["flu", "cold", "gout", "flu"] * (ROWS // 4),
    "who": [f"person{n}@example.org" for n in range(ROWS)],
    "note": [*["slept well"] * (ROWS - 1), "write to ann.miller@example.org"],
}
ASKED = ("--qi", "sex", "--sensitive", "illness")


def written(folder: Path, *columns: str) -> Path:
    path = folder / "people.csv"
    rows = zip(*(COLUMNS[name] for name in columns), strict=True)
    path.write_text("\n".join([";".join(columns), *map(";".join, rows)]) + "\n")
    return path


def told(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        run(list(map(str, words)))
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out or said.err


def test_a_table_that_names_people_is_not_fit_and_that_is_said_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, *COLUMNS)
    code, text = told(capsys, "check", path, *ASKED, "--html", tmp_path / "page.html")
    assert code == 1
    assert text.splitlines()[0].strip() == "Names people"
    assert "who: all of the values are e-mail addresses" in text
    assert "note: 1 cell contains" in text
    page = (tmp_path / "page.html").read_text()
    assert page.index("What names people") < page.index("Which attacks")
    assert not any(cell in text + page for cell in (*COLUMNS["who"], COLUMNS["note"][-1]))


@pytest.mark.parametrize("column", ["who", "note"])
@pytest.mark.parametrize("flag", ["--qi", "--sensitive", None])
def test_every_column_of_the_file_is_looked_at_whatever_was_said_of_it(
    flag: str | None, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "sex", "illness", column)
    code, text = told(capsys, "check", path, *ASKED, *([flag, column] if flag else []), "--json")
    found = json.loads(text)
    assert (code, found["holds"]) == (1, False)
    assert [(alarm["column"], alarm["detector"]) for alarm in found["alarms"]] == [(column, "e-mail")]


def test_a_table_that_names_nobody_is_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = told(capsys, "check", written(tmp_path, "sex", "illness"), *ASKED, "--json")
    assert (code, json.loads(text)["alarms"]) == (0, [])


def test_what_is_accepted_is_passed_over_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, *COLUMNS)
    code, text = told(capsys, "check", path, *ASKED, "--accept", "who=e-mail", "--json")
    assert (code, [alarm["column"] for alarm in json.loads(text)["alarms"]]) == (1, ["note"])
    assert told(capsys, "check", path, *ASKED, "--accept", "who=e-mail", "note=e-mail")[0] == 0
    assert told(capsys, "check", path, *ASKED, "--accept", "who=name", "note=e-mail")[0] == 1
    for wrong in ("who", "who=email", "whom=e-mail"):
        assert told(capsys, "check", path, *ASKED, "--accept", wrong)[0] == 2


def test_of_a_job_only_what_it_would_release_as_it_is_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, *COLUMNS)
    job = tmp_path / "job.toml"
    content = '[input]\npath = "people.csv"\n[columns.sex]\nrole = "quasi-identifier"\n[columns.who]\n{}\n'
    for said, code in (
        ("", 0),
        ('role = "identifier"', 0),
        ('role = "insensitive"', 1),
        ('role = "insensitive"\naccept = {"e-mail" = "shops"}', 0),
        ('role = "quasi-identifier"', 1),
        ('role = "quasi-identifier"\nmin_level = 1', 0),
    ):
        job.write_text(content.format(said))
        assert told(capsys, "check", job)[0] == code, said
    job.write_text(content.format('role = "insensitive"'))
    assert told(capsys, "check", job, "--accept", "who=e-mail")[0] == 0


def test_without_flags_roles_are_proposed_and_the_table_is_measured_with_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, *COLUMNS)
    code, text = told(capsys, "check", path, "--json")
    found = json.loads(text)
    roles = {name: column["role"] for name, column in found["proposed"].items()}
    assert roles == {
        "sex": "quasi-identifier",
        "illness": "sensitive",
        "who": "identifier",
        "note": "identifier",
    }
    assert (code, found["quasi_identifiers"], [*found["sensitive"]]) == (1, ["sex"], ["illness"])
    assert all(column["reason"] and column["certainty"] for column in found["proposed"].values())
    assert not any(cell in text for cell in (*COLUMNS["who"], COLUMNS["note"][-1]))


def test_a_stated_role_wins_over_a_proposed_one_and_a_harmless_table_is_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "sex", "illness")
    code, text = told(capsys, "check", path, "--html", tmp_path / "page.html")
    assert (code, "Proposed roles" in text) == (0, True)
    assert "Proposed roles" in (tmp_path / "page.html").read_text()
    code, text = told(capsys, "check", path, "--sensitive", "sex", "--json")
    told_of_sex = json.loads(text)
    assert (code, told_of_sex["fit"]) == (1, False)  # what is left is taken for known, and tells the sex
    assert told_of_sex["proposed"]["illness"]["role"] == "quasi-identifier"
    code, text = told(capsys, "check", path, "--qi", "sex", "illness", "--json")
    assert json.loads(text)["proposed"] == {}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_second_part_of_a_name_is_not_released_in_any_engine(engine: str, tmp_path: Path) -> None:
    invented = [f"{a}{b}" for a in ("Kro", "Vel", "Zum", "Tar") for b in ("dar", "nik", "pol", "tis", "wen")]
    path = tmp_path / "people.csv"
    rows = zip("fm" * 10, invented, reversed(invented), strict=True)
    path.write_text("sex;first name;last\n" + "".join(f"{';'.join(row)}\n" for row in rows))
    job = {
        "input": {"path": str(path), "engine": engine},
        "columns": {
            "sex": {"role": "quasi-identifier"},
            "first name": {"role": "insensitive", "accept": {"name": "made up"}},
            "last": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"path": str(tmp_path / "release.csv")},
    }
    with pytest.raises(IdentifierFoundError, match="'last'"):
        tarnkappe.run(Job.from_dict(job))
    assert not (tmp_path / "release.csv").exists()
