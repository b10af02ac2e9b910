"""A policy decides: what is answered, what is refused and why, what is paid and logged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import AccessError, JobError, ParameterError, TarnkappeError, VerificationError
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.grants import grant
from tarnkappe.policy.policy_file import AccessPolicy
from tests.algebra.everyday import FIXTURE, QUERIES, written
from tests.policy.clinic import POLICY, write


@pytest.fixture(scope="module")
def enforcer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enforcer]:
    path = write(tmp_path_factory.mktemp("clinic"))
    with Enforcer(AccessPolicy.load(path)) as enforcer:
        yield enforcer


HOW = {"P": ("post-processing",), "A": ("noisy", "public")}


@pytest.mark.parametrize("query", QUERIES, ids=[str(n) for n in range(1, len(QUERIES) + 1)])
def test_an_everyday_query_is_decided_as_the_fixture_says(query: dict[str, Any], enforcer: Enforcer) -> None:
    text = written(query["sql"])
    if query["enforced"] == "R":
        with pytest.raises(AccessError) as refused:
            enforcer.ask("ann", text, by="test")
        assert str(refused.value).startswith("refused: ")
        assert query["reason"] in str(refused.value)
        return
    answer = enforcer.ask("ann", text, by="test")
    assert answer.verdict.how in HOW[query["enforced"]]
    assert answer.verdict == enforcer.judge("ann", text)
    if "columns" in query:
        assert answer.table.column_names == query["columns"]
    if "pays" in query:
        assert answer.verdict.costs == {"table patients": query["pays"], "space patient": query["pays"]}


def test_six_are_refused_and_all_others_answered() -> None:
    assert [query["enforced"] for query in QUERIES].count("R") == 6
    assert len(QUERIES) == 31


RAW_PLZ = {str(plz) for plz in FIXTURE["tables"]["patients"]["plz"]}


def test_nothing_raw_is_seen_after_the_budget_is_spent(tmp_path: Path) -> None:
    with Enforcer(AccessPolicy.load(write(tmp_path))) as enforcer:
        enforcer.ask("ann", "SELECT noisy_count(epsilon => 3) AS n FROM patients", by="test")
        with pytest.raises(AccessError, match="does not suffice"):
            enforcer.ask("ann", "SELECT noisy_count(epsilon => 1) AS n FROM patients", by="test")
        shown = enforcer.ask("ann", "SELECT * FROM patients", by="test").table
        assert not RAW_PLZ & set(shown.column("plz").to_pylist())
        enforcer.ask("bob", "SELECT noisy_count(epsilon => 1) AS n FROM patients", by="test")
        told = [(entry.event, dict(entry.details)) for entry in enforcer._log.entries()]
    events = [event for event, _ in told]
    assert {"policy release", "policy paid", "policy refused", "policy answered"} <= set(events)
    asked = [details for event, details in told if event == "policy paid"]
    assert {details["user"] for details in asked} == {"ann", "bob"}
    assert all(details["policy"] and details["by"] == "test" for details in asked)
    everything = json.dumps(told)
    assert "18055" not in everything
    assert "Ann" not in everything


@pytest.mark.parametrize(
    "query",
    [
        "SELECT plz FROM patients WHERE name = 'Ann'",
        "SELECT p.plz FROM patients p JOIN visits v ON p.pid = v.pid",
        "SELECT plz FROM patients ORDER BY admitted",
        "SELECT plz FROM patients ORDER BY pid LIMIT 1",
        "SELECT DISTINCT name FROM patients",
        "SELECT plz, count(*) AS n FROM patients GROUP BY plz HAVING max(name) > 'B'",
        "SELECT plz FROM patients WHERE EXISTS (SELECT 1 FROM visits v WHERE v.ward = 'A')",
        "SELECT plz FROM patients WHERE plz IN (SELECT ward FROM visits)",
        "SELECT (SELECT max(ward) FROM visits) AS w FROM patients",
        "SELECT noisy_count(epsilon => 1) AS n, max(age) AS m FROM patients",
        "SELECT noisy_count(epsilon => 1) AS n FROM visits UNION ALL SELECT pid FROM visits",
        "SELECT n, pid FROM (SELECT noisy_count(epsilon => 1) AS n FROM visits) CROSS JOIN visits",
        "WITH v AS (SELECT * FROM visits) SELECT * FROM v",
        "WITH v AS (SELECT * FROM visits) SELECT noisy_count(epsilon => 1) AS n, (SELECT max(ward) FROM v) AS w FROM v",
        "SELECT noisy_count(epsilon => 1) AS n FROM patients p JOIN patients q ON p.plz = q.plz",
        "SELECT * FROM generalize(visits, k => 2, by => [ward])",
        "SELECT * FROM slice((SELECT pid, ward FROM visits), groups => [[pid], [ward]])",
        "SELECT * FROM read_csv('patients.csv')",
        "SELECT * FROM 'patients.csv'",
        "SELECT * FROM duckdb_tables()",
        "SELECT * FROM information_schema.tables",
        "SELECT current_setting('temp_directory') AS s FROM icd",
        "SELECT getenv('HOME') AS s FROM icd",
        "SELECT * FROM patients FOR UPDATE",
        "DROP TABLE patients",
    ],
)
def test_what_is_not_granted_is_refused_wherever_it_stands(query: str, enforcer: Enforcer) -> None:
    with pytest.raises(TarnkappeError):
        enforcer.ask("ann", query, by="test")


def test_raw_rights_show_everything_but_identifiers(enforcer: Enforcer) -> None:
    shown = enforcer.ask("stu", "SELECT * FROM patients", by="test").table
    assert set(shown.column_names) == {"plz", "age", "sex", "diagnosis", "cost", "admitted"}
    with pytest.raises(AccessError, match="'visits' may not be read"):
        enforcer.ask("stu", "SELECT count(*) AS n FROM visits", by="test")
    with pytest.raises(AccessError, match="in no group"):
        enforcer.ask("eve", "SELECT 1 AS n FROM icd", by="test")


def test_a_named_change_that_is_made_is_answered(enforcer: Enforcer) -> None:
    refused = "SELECT avg(age) AS a FROM patients WHERE diagnosis = 'hiv'"
    with pytest.raises(
        AccessError, match=r"Write noisy_mean\(age, epsilon => 0.5, lower => 0, upper => 120\)"
    ):
        enforcer.ask("bob", refused, by="test")
    better = "SELECT noisy_mean(age, epsilon => 0.5, lower => 0, upper => 120) AS a FROM patients WHERE diagnosis = 'hiv'"
    assert enforcer.ask("bob", better, by="test").table.num_rows == 1


def test_a_release_is_made_once_and_a_changed_one_is_noticed(tmp_path: Path) -> None:
    policy = AccessPolicy.load(write(tmp_path))
    query = "SELECT plz, age, sex, diagnosis, cost FROM patients"
    with Enforcer(policy) as enforcer:
        first = enforcer.ask("ann", query, by="test").table.to_pylist()
    with Enforcer(policy) as enforcer:
        again = enforcer.ask("ann", query, by="test").table.to_pylist()
    assert sorted(map(str, first)) == sorted(map(str, again))
    (kept,) = policy.state.glob("patients-*.parquet")
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    with pytest.raises(VerificationError, match="is not the one that the log tells of"):
        Enforcer(policy)


def test_granting_needs_another_right_than_asking(tmp_path: Path) -> None:
    policy = AccessPolicy.load(write(tmp_path))
    with pytest.raises(AccessError, match="is no owner"):
        grant(policy, "ann", "ann", "patients", Fraction(5))
    grant(policy, "olga", "ann", "patients", Fraction(5))
    with Enforcer(policy) as enforcer:
        enforcer.ask("ann", "SELECT noisy_count(epsilon => 7) AS n FROM patients", by="test")
        events = [entry.event for entry in enforcer._log.entries()]
    assert "policy granted" in events
    with pytest.raises(JobError, match="give these rights to different people"):
        AccessPolicy.load(write(tmp_path, policy=POLICY.replace('["olga"]', '["ann"]')))


def test_a_grant_counts_from_the_next_query_on(tmp_path: Path) -> None:
    policy = AccessPolicy.load(write(tmp_path))
    with Enforcer(policy) as enforcer:
        query = "SELECT noisy_count(epsilon => 7) AS n FROM patients"
        with pytest.raises(AccessError, match="does not suffice"):
            enforcer.ask("ann", query, by="test")
        grant(policy, "olga", "ann", "patients", Fraction(5))
        assert enforcer.ask("ann", query, by="test").table.num_rows == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('accept = ["diagnosis"]', "", "k alone promises nothing about its values"),
        (
            'columns = ["plz", "age", "sex"',
            'columns = ["name", "age", "sex"',
            "is an identifier and is never shown",
        ),
        ("public = true", "", "say whose rows these are"),
        ('see = "aggregates"', 'see = "everything"', "see is one of"),
        ("k = 3", "k = 1", "at least 2"),
        ('see = "aggregates"', 'see = "protected"', "has no protected form"),
        ('sex = {role = "quasi-identifier", hierarchy = "sex.hierarchy.csv"}', "", "needs a hierarchy"),
        ("epsilon = 9.0", "epsilon = -1", "a number from 0 on"),
        ("[values]", "[vlaues]", "vlaues"),
    ],
)
def test_a_policy_that_protects_less_than_it_seems_is_not_loaded(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in POLICY
    with pytest.raises(JobError, match=message):
        AccessPolicy.load(write(tmp_path, policy=POLICY.replace(old, new)))


def test_what_noise_relies_on_is_verified_before_anybody_asks(tmp_path: Path) -> None:
    path = write(tmp_path, policy=POLICY.replace("rows_per_person = 5", "rows_per_person = 4"))
    with pytest.raises(ParameterError, match="somebody has more than 4 rows"):
        Enforcer(AccessPolicy.load(path))


def test_groups_of_noisy_aggregates_are_the_list_and_not_the_data(tmp_path: Path) -> None:
    path = write(tmp_path)
    listed = tmp_path / "plz.hierarchy.csv"
    listed.write_text(listed.read_text(encoding="utf-8") + "99999;9999*;*\n", encoding="utf-8")
    with Enforcer(AccessPolicy.load(path)) as enforcer:
        query = "SELECT plz, noisy_count(epsilon => 1) AS n FROM patients GROUP BY plz"
        shown = enforcer.ask("ann", query, by="test").table.column("plz").to_pylist()
    assert sorted(map(str, shown)) == [*sorted(RAW_PLZ), "99999"]
