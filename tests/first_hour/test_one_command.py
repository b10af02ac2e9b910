"""From a file that nobody has described to a verified release, in one command and in one call."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tarnkappe
from tarnkappe.errors import ColumnError, IdentifierFoundError, NoSolutionError, ParameterError
from tarnkappe.job import Job, run
from tarnkappe.table import Role, Table
from tests.cli.test_contract import TARN, tarn
from tests.first_hour.clinic import DIAGNOSES, GIVEN, NAMES, SECRETS, clinic_text, write_clinic

SENSITIVE = ("Diagnose", "HbA1c")
CELLS = {
    cell
    for line in clinic_text().splitlines()[1:]
    for number, cell in enumerate(line.split(";"))
    if number in (0, 1, 2, 8)
}


def released(path: Path) -> list[dict[str, str]]:
    """The rows of a release as a program reads them that takes files like the input: Excel's CSV."""
    text = path.read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")  # Excel knows by it that this is UTF-8
    assert b"\r\n" in text
    return list(csv.DictReader(io.StringIO(text.decode("utf-8-sig")), delimiter=";"))


def assert_safe(rows: list[dict[str, str]]) -> None:
    """What the promise says, counted from the written file alone."""
    known = [name for name in rows[0] if name not in SENSITIVE]
    classes = Counter(tuple(row[name] for name in known) for row in rows)
    assert min(classes.values()) >= 5
    for secret in SENSITIVE:
        seen: dict[tuple[str, ...], set[str]] = {}
        for row in rows:
            seen.setdefault(tuple(row[name] for name in known), set()).add(row[secret])
        assert min(map(len, seen.values())) >= 2


def assert_largest_share(rows: list[dict[str, str]], said: str) -> None:
    """The risk that is said to stay is that of the written file, counted by hand."""
    known = [name for name in rows[0] if name not in SENSITIVE]
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in known), []).append(row["Diagnose"])
    largest = max(max(Counter(group).values()) / len(group) for group in groups.values())
    assert f"up to {largest:.0%} of a group have the same Diagnose" in said.replace("\n", " ")


def no_cell(text: str) -> None:
    """Names, numbers, dates of birth and words of the free text stand nowhere."""
    for secret in (*SECRETS, *CELLS):
        assert secret not in text
    for name in (*NAMES, *GIVEN):
        assert name not in text


def test_a_german_excel_file_is_released_by_one_command(tmp_path: Path) -> None:
    path = write_clinic(tmp_path)
    before = path.read_bytes()
    made = tarn("anonymize", path)
    assert made.returncode == 0, made.stderr
    rows = released(tmp_path / "patienten.release.csv")
    assert len(rows) == 400
    assert set(rows[0]) == {"Geburtsdatum", "Geschlecht", "PLZ", "Größe", "HbA1c", "Diagnose"}
    assert_safe(rows)
    assert {row["Diagnose"] for row in rows} == set(DIAGNOSES)
    assert path.read_bytes() == before
    assert_largest_share(rows, made.stdout)
    no_cell(made.stdout + made.stderr)
    no_cell((tmp_path / "patienten.report.html").read_text(encoding="utf-8"))
    checked = tarn(
        "check", tmp_path / "patienten.release.csv", "--qi", *(set(rows[0]) - {*SENSITIVE}),
        "--sensitive", *SENSITIVE, "--k", "5", "--json",
    )  # fmt: skip
    assert json.loads(checked.stdout)["k"] >= 5


def test_a_german_excel_file_is_released_by_one_call(tmp_path: Path) -> None:
    path = write_clinic(tmp_path)
    result = tarnkappe.anonymize(path, k=5)
    assert result.recoding is not None  # written by regions
    result.write(tmp_path / "release.csv")
    assert_safe(released(tmp_path / "release.csv"))
    assert "Name" not in result.release.column_names
    assert tarnkappe.check(result.release).k >= 5


def test_start_without_a_terminal_writes_a_job_file_that_gives_the_same_classes(tmp_path: Path) -> None:
    path = write_clinic(tmp_path)
    made = tarn("start", path, "--yes", "--for", "internal")
    assert made.returncode == 0, made.stderr
    no_cell(made.stdout + made.stderr)
    job = tmp_path / "patienten.job.toml"
    no_cell(job.read_text(encoding="utf-8"))
    assert "# " in job.read_text(encoding="utf-8")
    assert tomllib.loads(job.read_text(encoding="utf-8"))["privacy"][0]["k"] == 3
    first = Counter(map(tuple, (row.values() for row in released(tmp_path / "patienten.release.csv"))))
    again = run(Job.load(job))
    assert again.output == str(tmp_path / "patienten.release.csv")
    assert first == Counter(map(tuple, (r.values() for r in released(tmp_path / "patienten.release.csv"))))


def test_the_dialogue_takes_answers_and_enter_takes_what_is_proposed(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=200)
    ours, theirs = pty.openpty()
    os.write(ours, b"colour=red\n\n3\nHbA1c\n3\nNobody\n?\n\n")
    made = subprocess.run(
        [TARN, "start", path], stdin=theirs, capture_output=True, text=True, check=False, timeout=300,
        env=os.environ | {"NO_COLOR": "1", "TERM": "dumb"},
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert made.returncode == 0, made.stderr
    assert "'colour' is not known" in made.stderr
    assert "there is no column 'Nobody'" in made.stderr
    job = tomllib.loads((tmp_path / "patienten.job.toml").read_text(encoding="utf-8"))
    assert job["privacy"][0] == {"model": "k-anonymity", "k": 11}
    assert job["columns"]["HbA1c"]["role"] == "sensitive"
    assert {entry.get("column") for entry in job["privacy"]} == {None, "Diagnose", "HbA1c"}
    no_cell(made.stdout + made.stderr)


def test_look_and_check_show_no_cell_and_write_nothing(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=120)
    for words, code in ((("look", path), 0), (("look", path, "--json"), 0), (("check", path), 1)):
        told = tarn(*words)
        assert told.returncode == code, told.stderr
        no_cell(told.stdout + told.stderr)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["patienten.csv"]
    assert "not fit to be published: 3 columns name people" in tarn("check", path).stdout.replace("\n", " ")


def test_the_command_line_and_python_propose_the_same(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=120)
    told = json.loads(tarn("look", path, "--sensitive", "HbA1c", "--json").stdout)
    own = tarnkappe.propose(path, sensitive=["HbA1c"]).to_dict()
    assert told == json.loads(json.dumps(own))


def test_a_guess_is_refused_where_it_is_strict_and_the_job_file_is_left(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=120)
    refused = tarn("anonymize", path, "--strict")
    assert refused.returncode == 1
    assert "guess" in refused.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["patienten.csv", "patienten.job.toml"]


def test_what_is_piped_in_is_released_too(tmp_path: Path) -> None:
    made = subprocess.run(
        [TARN, "anonymize", "-", "--out", "out.csv"], input=clinic_text(80).encode("cp1252"), cwd=tmp_path,
        capture_output=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert len(released(tmp_path / "out.csv")) == 80


def test_an_output_is_never_the_input_and_a_foreign_job_file_stays(tmp_path: Path) -> None:
    path = write_clinic(tmp_path, rows=60)
    before = path.read_bytes()
    assert tarn("anonymize", path, "--out", path).returncode == 2
    assert tarn("anonymize", path, "--job", path).returncode == 2
    (tmp_path / "patienten.job.toml").write_text("mine = 1\n")
    assert tarn("start", path, "--yes").returncode == 2
    assert (tmp_path / "patienten.job.toml").read_text() == "mine = 1\n"
    assert path.read_bytes() == before
    assert not (tmp_path / "patienten.release.csv").exists()


# ------------------------------------------------------------------ what is promised, and to whom


def people(rows: int = 60) -> pa.Table:
    return pa.table(
        {
            "age": [20 + n % 40 for n in range(rows)],
            "sex": ["mf"[n % 2] for n in range(rows)],
            "illness": [["flu", "cold", "gout", "acne", "ulcer", "gastritis"][n % 6] for n in range(rows)],
        }
    )


@pytest.mark.parametrize(
    ("audience", "k", "least"), [("internal", 3, 2), ("partner", 5, 2), ("public", 11, 3)]
)
def test_the_promise_depends_on_who_gets_the_release(audience: str, k: int, least: int) -> None:
    proposal = tarnkappe.propose(people(), for_=audience, sensitive=["illness"])
    assert [model.parameters for model in proposal.privacy] == [{"k": k}, {"column": "illness", "l": least}]
    assert proposal.method == "regions"
    assert tarnkappe.check(proposal.anonymize().release).k >= k


def test_few_values_cannot_promise_three_of_them_to_everybody() -> None:
    table = people().set_column(2, "illness", [["flu", "cold"] * 30])
    proposal = tarnkappe.propose(table, for_="public", sensitive=["illness"])
    assert proposal.privacy[1].parameters == {"column": "illness", "l": 2}


@pytest.mark.parametrize("said", [{"k": 0}, {"k": "five"}, {"for_": "nobody"}])
def test_what_cannot_be_promised_is_refused_before_a_file_is_read(
    said: dict[str, Any], tmp_path: Path
) -> None:
    """Else somebody waits for a long file to hear of a slip of the finger."""
    with pytest.raises(ParameterError):
        tarnkappe.propose(tmp_path / "not there.csv", **said)


def test_k_is_never_lowered_by_itself() -> None:
    with pytest.raises(NoSolutionError, match="the largest possible k is 4"):
        tarnkappe.propose(people(4), sensitive=["illness"])


def test_a_person_with_several_rows_counts_once() -> None:
    codes = [f"X{1000 + 7 * (n // 4)}-{n // 4:04d}" for n in range(240)]
    table = people(240).append_column("patient id", [codes])
    proposal = tarnkappe.propose(table, sensitive=["illness"])
    assert proposal.table.roles["patient id"] is Role.IDENTIFIER
    assert [model.name for model in proposal.privacy[:2]] == ["k-anonymity", "multi-relational-k-anonymity"]
    result = proposal.anonymize(seed=1)
    owners: dict[tuple[str, ...], set[str]] = {}
    for row, source in zip(result.release.data.to_pylist(), result.source_rows.tolist(), strict=True):
        owners.setdefault((str(row["age"]), row["sex"]), set()).add(codes[source])
    assert min(map(len, owners.values())) >= 5
    assert len(owners) > 4  # and not by making everybody the same


def test_a_guessed_column_of_fingerprints_is_generalized_unless_it_is_stated() -> None:
    table = people(80).append_column("factor", [[130 + n * 0.1347 for n in range(80)]])
    assert tarnkappe.propose(table).table.roles["factor"] is not Role.SENSITIVE
    stated = tarnkappe.propose(table, sensitive=["factor"])
    assert any("factor" in note and "occur once" in note for note in stated.notes)


def test_what_is_stated_wins_and_a_table_with_roles_is_not_guessed_again() -> None:
    proposal = tarnkappe.propose(people(), publish=["illness"]).with_(sensitive=["illness"], publish=[], k=4)
    assert proposal.table.roles["illness"] is Role.SENSITIVE
    assert proposal.k == 4
    table = Table(people()).with_roles(quasi_identifiers=["age"])
    assert tarnkappe.propose(table).table.published == ("age",)
    assert tarnkappe.anonymize(table, k=2).release.column_names == ("age",)


def test_statements_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ColumnError, match="two roles"):
        tarnkappe.propose(people(), sensitive=["age"], publish=["age"])
    with pytest.raises(ColumnError, match="did you mean 'illness'"):
        tarnkappe.propose(people(), sensitive=["ilness"])
    with pytest.raises(ParameterError, match="given twice"):
        tarnkappe.anonymize(people(), k=5, privacy=tarnkappe.models.KAnonymity(5))
    with pytest.raises(ParameterError, match="internal, partner, public"):
        tarnkappe.propose(people(), for_="friends")
    with pytest.raises(ParameterError, match="say what the release promises"):
        tarnkappe.anonymize(Table(people()).with_roles(quasi_identifiers=["age"]))
    with pytest.raises(ParameterError, match="k"):
        tarnkappe.propose(people()).with_(k="many")
    with pytest.raises(ParameterError, match="a proposal has no 'colour'"):
        tarnkappe.propose(people()).with_(colour=["age"])


def test_a_name_that_is_stated_to_be_harmless_is_refused_all_the_same() -> None:
    mails = [f"person{n}@example.org" for n in range(60)]
    table = people().append_column("contact", [mails])
    with pytest.raises(IdentifierFoundError) as refused:
        tarnkappe.anonymize(table, publish=["contact"])
    assert "person" not in str(refused.value)


def test_uniform_has_one_level_for_a_column() -> None:
    result = tarnkappe.propose(people(), sensitive=["illness"], uniform=True).anonymize()
    assert result.recoding is None
    assert result.levels.keys() == {"age", "sex"}


def test_where_nothing_is_known_to_others_what_would_be_kept_is_treated_so() -> None:
    mails = [f"person{n}@example.org" for n in range(60)]
    table = pa.table({"contact": mails, "diagnosis": ["flu", "cold", "gout"] * 20})
    proposal = tarnkappe.propose(table)
    assert proposal.table.quasi_identifiers == ("diagnosis",)
    assert any("nothing was found" in note for note in proposal.notes)
    assert tarnkappe.check(proposal.anonymize().release).k >= 5
    with pytest.raises(ColumnError, match="every column names people"):
        tarnkappe.propose(table.select(["contact"]))
