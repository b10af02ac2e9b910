"""`tarn sql`: answers, explanations, proofs, and one clear line for what is wrong.

The real executable runs once for each exit code; the other tests call its entry point, which is faster.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tarnkappe.cli.program import run as run_command
from tests.cli.spoken import lines_of
from tests.cli.test_contract import refused
from tests.cli.test_contract import tarn as executable

SPENDER = """name;plz;alter;blutgruppe
Ann;18055;31;A0
Bea;18055;34;00
Cem;18057;38;00
Dan;19053;52;B0
Eva;19055;55;A0
Fay;19053;57;AB
"""
CATALOG = """
[relations.spender]
path = "spender.csv"
[relations.archiv]
path = "archiv.csv"
[columns.name]
role = "identifier"
[columns.plz]
role = "quasi-identifier"
hierarchy = {builder = "masking"}
[columns.alter]
role = "quasi-identifier"
hierarchy = {builder = "intervals", width = 10}
[columns.blutgruppe]
role = "sensitive"
noise = {"00" = 0.410, A0 = 0.358, AA = 0.078, B0 = 0.102, AB = 0.045, BB = 0.007}
"""
PLAN_ONLY = """
[relations.spender]
columns = ["plz", "alter", "blutgruppe"]
[columns.plz]
role = "quasi-identifier"
"""
QUERY = "SELECT plz, alter FROM generalize(spender, k => 3, by => [plz, alter])"


Tarn = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tarn(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tarn:
    """Runs the command in the folder, in this process."""
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        with pytest.raises(SystemExit) as ended:
            run_command(list(arguments))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spender.csv").write_text(SPENDER, encoding="utf-8")
    (tmp_path / "archiv.csv").write_text(SPENDER, encoding="utf-8")
    (tmp_path / "catalog.toml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN_ONLY, encoding="utf-8")
    return tmp_path


def test_a_query_is_answered_and_verified(tarn: Tarn, folder: Path) -> None:
    run = tarn("sql", QUERY, "--catalog", "catalog.toml")
    assert run.returncode == 0, run.stderr
    assert "verified: 3-anonymous in alter, plz: every row shares it with at least 2 other rows" in run.stdout
    assert "6 rows" in run.stdout
    assert run.stdout.split()[:2] == ["plz", "alter"]
    assert "30-39" in run.stdout
    assert "warning" not in run.stderr


def test_without_a_catalog_hierarchies_are_proposed(tarn: Tarn, folder: Path) -> None:
    run = tarn("sql", QUERY, "--data", "spender=spender.csv", "--json")
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["verified"] == [{"columns": ["alter", "plz"], "k": 3, "measured": 3, "counted": "rows"}]
    assert min(Counter(map(tuple, told["data"])).values()) >= 3
    assert told["columns"] == ["plz", "alter"]
    assert told["output"] is None


def test_a_hierarchy_file_and_several_tables(tarn: Tarn, folder: Path) -> None:
    codes = ["18055", "18057", "19053", "19055"]
    (folder / "plz.csv").write_text("".join(f"{c};{c[:2]}***;*\n" for c in codes), encoding="utf-8")
    text = "SELECT plz FROM generalize((SELECT plz FROM spender UNION ALL SELECT plz FROM archiv), k => 6, by => [plz])"
    run = tarn(
        "sql", text, "--data", "spender=spender.csv", "archiv=archiv.csv", "--hierarchies", "plz=plz.csv", "--json",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert Counter(row[0] for row in json.loads(run.stdout)["data"]) == {"18***": 6, "19***": 6}


def test_the_answer_is_written_and_not_shown(tarn: Tarn, folder: Path) -> None:
    run = tarn("sql", QUERY, "--catalog", "catalog.toml", "--out", "answer.csv")
    assert run.returncode == 0, run.stderr
    assert "written to answer.csv" in run.stdout
    lines = (folder / "answer.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "plz,alter"
    assert len(lines) == 7
    assert "30-39" not in run.stdout


def test_warnings_go_to_the_error_stream_and_do_not_stop(tarn: Tarn, folder: Path) -> None:
    text = "SELECT name, blutgruppe FROM spender WHERE name <> 'Ann'"
    run = tarn("sql", text, "--catalog", "catalog.toml")
    assert run.returncode == 0
    said = lines_of(run.stderr)
    assert "warning: the identifier 'name' of 'spender' is released" in said
    assert "warning: the query picks out people by 'name'" in said
    assert any("the sensitive 'blutgruppe'" in line for line in said)


def test_late_selection_is_warned_of_and_its_degree_is_measured(tarn: Tarn, folder: Path) -> None:
    run = tarn("sql", f"{QUERY} WHERE blutgruppe <> 'B0'", "--catalog", "catalog.toml")
    assert run.returncode == 0, run.stderr
    assert "not promised, but measured: the smallest class has 2 rows" in run.stdout
    assert "can leave fewer than 3 rows" in run.stderr


def test_noise_states_its_epsilon(tarn: Tarn, folder: Path) -> None:
    text = "SELECT blutgruppe FROM randomize(spender, probability => {blutgruppe: 0.33})"
    run = tarn("sql", text, "--catalog", "catalog.toml")
    assert run.returncode == 0, run.stderr
    assert (
        "blutgruppe is noised with probability 0.33: epsilon 5.673 for one cell, among values that it may draw"
        in run.stdout
    )


def test_explain_shows_plans_rewrites_refusals_and_costs_and_runs_nothing(tarn: Tarn, folder: Path) -> None:
    text = (
        "SELECT blutgruppe FROM randomize(spender, probability => {blutgruppe: 0.33}) WHERE blutgruppe = 'AB'"
    )
    run = tarn("sql", text, "--catalog", "catalog.toml", "--explain")
    assert run.returncode == 0, run.stderr
    for said in (
        "the plan as written:",
        "αD {blutgruppe: 0.33}",
        "considered and refused:",
        "D11",
        "F reads no noised column",
        "estimated cost:",
    ):
        assert said in run.stdout
    machine = json.loads(tarn("sql", text, "--catalog", "catalog.toml", "--explain", "--json").stdout)
    assert {"plan", "steps", "refused", "cost_before", "cost_after", "warnings", "promises"} <= set(machine)
    assert "data" not in machine


def test_explain_needs_no_data(tarn: Tarn, folder: Path) -> None:
    run = tarn("sql", QUERY, "--catalog", "plan.toml", "--explain")
    assert run.returncode == 0, run.stderr
    assert "promised: 3-anonymous in alter, plz" in run.stdout
    refused(tarn("sql", QUERY, "--catalog", "plan.toml"), "say where the tables are")


def test_named_rules_are_used_and_a_misfit_is_refused_with_its_reason(tarn: Tarn, folder: Path) -> None:
    text = "SELECT plz FROM generalize(spender, k => 3, by => [plz, alter])"
    run = tarn("sql", text, "--catalog", "catalog.toml", "--rule", "G13", "--explain")
    assert run.returncode == 0, run.stderr
    assert "rewritten (explicit):" in run.stdout
    assert "G13" in run.stdout
    run = tarn("sql", text, "--catalog", "catalog.toml", "--rule", "G11", "--explain")
    assert "no column of X is in Y" in " ".join(run.stdout.split()) or "G11" in run.stdout
    refused(
        tarn("sql", text, "--catalog", "catalog.toml", "--rule", "G13", "--mode", "strict"),
        "--mode",
    )


def test_prove_a_rule_two_plans_and_a_query_against_another(tarn: Tarn, folder: Path) -> None:
    rule = tarn("sql", "--prove", "G14")
    assert rule.returncode == 0, rule.stderr
    assert "the claim (partialG(X)) holds on" in rule.stdout
    late = "SELECT * FROM generalize(spender, k => 2, by => [plz]) WHERE alter = 1"
    early = "SELECT * FROM generalize((SELECT * FROM spender WHERE alter = 1), k => 2, by => [plz])"
    partial = tarn("sql", "--prove", late, early, "--catalog", "plan.toml")
    assert partial.returncode == 0, partial.stderr
    assert partial.stdout.startswith("partially equal outside {plz}")
    told = json.loads(tarn("sql", late, "--prove", early, "--catalog", "plan.toml", "--json").stdout)
    assert told["verdict"] == "partially equal"
    different = tarn("sql", "--prove", "SELECT plz FROM spender", "SELECT DISTINCT plz FROM spender", "--catalog", "plan.toml")  # fmt: skip
    assert different.returncode == 1
    assert "the left returns" in different.stdout


def test_plans_may_come_from_files(tarn: Tarn, folder: Path) -> None:
    xml = (
        '<projection isDistinct="false"><baseRelation name="r"><attributes><attribute>A</attribute>'
        "<attribute>B</attribute></attributes></baseRelation><attributes><attribute>A</attribute></attributes>"
        "</projection>"
    )
    (folder / "plan.xml").write_text(xml, encoding="utf-8")
    run = tarn("sql", "--prove", "plan.xml", "plan.xml")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("equal")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["SELECT plz FROM spende"], ["Line 1, column 17", "no table 'spende'", "'spender'"]),
        (["SELECT plz\nFROM spender\nWHERE sleep(plz) = 'x'"], ["The function sleep is not among those"]),
        (["SELECT plz\nFROM spender\nWHERE lower(ort) = 'x'"], ["Line 3, column 13", "no column 'ort'"]),
        (["DROP TABLE spender"], ["Line 1, column 1", "no query"]),
        (["SELECT plz FROM spender; SELECT 1"], ["a second statement"]),
        (["SELECT * FROM read_csv('/etc/passwd')"], ["Line 1, column 15"]),
        ([QUERY.replace("3", "7")], ["at least 7 rows"]),
        ([QUERY, "--mode", "lax"], ["no mode of rewriting"]),
        ([QUERY, "--engine", "oracle"], ["duckdb or spark"]),
        ([QUERY, "--engine", "postgresql"], ["reads no files"]),
        ([QUERY, "--rule", "G99"], ["unknown rule 'G99'"]),
        ([QUERY, "--data", "spender"], ["NAME=FILE"]),
        ([QUERY, "--data", "duckdb:///x.db"], ["x.db"]),
        ([QUERY, "--data", "postgresql://nobody@localhost:1/x"], ["no connection"]),
        ([QUERY, "--data", "spark:folder"], ["folder: there is no such folder"]),
        ([QUERY, "--hierarchies", "altr=spender.csv"], ["did you mean 'alter'"]),
        ([QUERY, "--out", "answer.docx"], ["answer.docx"]),
        ([], ["write the query"]),
        (["--prove", "G99"], ["unknown rule 'G99'"]),
    ],
)
def test_what_is_wrong_is_one_clear_line(
    tarn: Tarn, folder: Path, arguments: list[str], words: list[str]
) -> None:
    code = 1 if "at least 7 rows" in words else 2
    refused(tarn("sql", *arguments, "--catalog", "catalog.toml"), *words, code=code)


def test_postgresql_answers_in_place(tarn: Tarn, folder: Path, postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS cli_spender")
        database.execute("CREATE TABLE cli_spender (alter int, blutgruppe text)")
        database.execute("INSERT INTO cli_spender VALUES (31, 'A0'), (34, '00'), (52, 'B0'), (57, 'AB')")
    text = "SELECT alter, blutgruppe FROM generalize(cli_spender, k => 2, by => [alter])"
    run = tarn("sql", text, "--data", postgres, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["verified"][0]["measured"] >= 2


def test_a_noisy_aggregate_spends_a_budget_until_it_is_spent(tarn: Tarn, folder: Path) -> None:
    text = "SELECT noisy_count(epsilon => 1) AS n FROM spender"
    asking = ("sql", text, "--catalog", "catalog.toml", "--user", "ann", "--budgets", "budgets.db")
    refused(tarn(*asking[:4]), "say who asks, and where budgets are kept")
    refused(tarn(*asking), "'ann' has no privacy budget for 'spender'")
    granted = tarn("sql", "--user", "ann", "--budgets", "budgets.db", "--grant", "spender=1.5")
    assert granted.stdout == "ann may spend 1.5 on spender: 0 is spent, 1.5 is left\n"
    answered = tarn(*asking, "--json")
    assert answered.returncode == 0, answered.stderr
    told = json.loads(answered.stdout)
    assert told["budgets"] == {"spender": {"user": "ann", "spent": 1.0, "left": 0.5}}
    assert isinstance(told["data"][0][0], int)
    refused(tarn(*asking), "does not suffice")
    kept = json.loads(tarn("sql", "--budgets", "budgets.db", "--json").stdout)
    assert kept["budgets"][0]["spent"] == 1.0
    assert (
        "costs an epsilon of 1 of the privacy budget for 'spender'" in tarn(*asking[:4], "--explain").stdout
    )
    refused(tarn("sql", "--grant", "spender=1"), "where budgets are kept")
    refused(tarn("sql", "--budgets", "budgets.db", "--grant", "spender"), "TABLE=EPSILON")


@pytest.mark.slow
def test_the_executable(folder: Path) -> None:
    answered = executable("sql", QUERY, "--catalog", "catalog.toml", "--json", cwd=folder)
    assert answered.returncode == 0, answered.stderr
    assert json.loads(answered.stdout)["rows"] == 6
    refused(
        executable("sql", "SELECT 1", "--data", "spender=spender.csv", cwd=folder), "Line 1, column 8", code=2
    )
    refused(
        executable("sql", QUERY.replace("3", "7"), "--catalog", "catalog.toml", cwd=folder), "7 rows", code=1
    )


def test_one_query_goes_over_two_databases_and_a_file(folder: Path, tarn: Tarn) -> None:
    for name, rows in {"north": "('a', 1), ('b', 2)", "south": "('c', 3), ('c', 3)"}.items():
        with duckdb.connect(str(folder / f"{name}.db")) as connection:
            connection.execute("CREATE TABLE visits (ward VARCHAR, n INTEGER)")
            connection.execute(f"INSERT INTO visits VALUES {rows}")
            connection.execute(f"CREATE TABLE only_{name} (ward VARCHAR)")
    (folder / "names.csv").write_text("ward;name\na;Surgery\nb;Eyes\nc;Hearts\n", encoding="utf-8")
    both = "SELECT ward FROM north.visits UNION ALL SELECT ward FROM south.visits"
    data = ["--data", "duckdb:///north.db", "--data", "duckdb:///south.db", "--data", "names=names.csv"]
    done = tarn(
        "sql",
        f"SELECT name, count(*) AS n FROM ({both}) AS v JOIN names USING (ward) GROUP BY name",
        *data,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout)["data"]) == [["Eyes", 1], ["Hearts", 2], ["Surgery", 1]]
    alone = tarn("sql", "SELECT ward FROM only_north", *data, "--json")
    assert json.loads(alone.stdout)["data"] == []
