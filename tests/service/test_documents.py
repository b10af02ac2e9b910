"""The attacker writes documents: no path, no address and no file of another is ever opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarnkappe.errors import JobError, NotFoundError, TarnkappeError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.documents import Resolver
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.routes.examples import FILE, JOB_EXAMPLES
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.service.work import KINDS

SETTINGS = ServiceSettings(
    databases={"clinic": "postgresql://tarn:hunter2@db/clinic"},
    gates={"clinic": Path("gate.toml")},
    sites={"north": Path("site.toml")},
    federations={"registry": Path("job.toml")},
)
INPUT = {"input": {"file": FILE}}


def only_one(file_id: str) -> Path:
    if file_id != FILE:
        raise NotFoundError("test.no-file", "you have no such file here")
    return Path("/house/files/one.csv")


def result(job_id: str, what: str) -> Path:
    if (job_id, what) not in (("job", "release"), ("job", "hierarchy")):
        raise NotFoundError("test.no-job", "you have no such job")
    return Path(f"/house/jobs/{what}.parquet")


RESOLVER = Resolver(only_one, result, SETTINGS, Account("ann", frozenset()))


@pytest.mark.parametrize("kind", KINDS.names)
def test_every_kind_of_job_has_an_example_that_resolves(kind: str) -> None:
    example = JOB_EXAMPLES[kind]["value"]
    assert example["kind"] == kind
    KINDS[kind].check(RESOLVER.resolve(example["document"], KINDS[kind]))


def test_a_table_of_a_database_is_named_once_and_used_like_a_file(tmp_path: Path) -> None:
    databases = {"clinic": "postgresql://tarn:hunter2@db/clinic"}
    house = ServiceCore(ServiceSettings(folder=tmp_path / "house", databases=databases))
    ann = house.people.add("ann", ["steward"])
    named = house.name_table("clinic", "patients", ann)
    assert (named.name, named.bytes) == ("patients (clinic)", 0)
    assert house.files.list(ann) == [named]

    def resolved(document: dict[str, Any], settings: ServiceSettings = house.settings) -> dict[str, Any]:
        resolver = Resolver(lambda id: house.files.path(id, ann), result, settings, ann)
        return resolver.resolve(document, KINDS["anonymize"])

    document = {"input": {"file": named.id, "several_rows_per_person": True}}
    assert resolved(document)["input"] == {
        "several_rows_per_person": True,
        "database": databases["clinic"],
        "table": "patients",
    }
    with pytest.raises(NotFoundError, match="no database"):
        resolved(document, ServiceSettings())  # it was taken out of the settings since
    with pytest.raises(JobError, match="not a table of a database"):
        resolved({**INPUT, "input": {"file": named.id}, "columns": {"a": {"hierarchy": {"file": named.id}}}})
    house.close()


@pytest.mark.parametrize("table", ["", "  ", "x" * 1000])
def test_only_tables_of_databases_in_the_settings_are_named(
    table: str, house: ServiceCore, ann: Account
) -> None:
    with pytest.raises(NotFoundError, match="settings"):
        house.name_table("postgresql://evil/x", "patients", ann)
    with pytest.raises(TarnkappeError):
        house.name_table("clinic", table, ann)
    with pytest.raises(TarnkappeError, match="not known"):
        house.files.store([b'{"database": "clinic", "table": "t"}'], "x.table", ann)
    assert house.files.list(ann) == []


def test_files_jobs_and_databases_become_places() -> None:
    check = KINDS["check"]
    assert RESOLVER.resolve({**INPUT}, check)["input"] == {"path": "/house/files/one.csv"}
    assert RESOLVER.resolve({"input": {"job": "job"}}, check)["input"] == {
        "path": "/house/jobs/release.parquet"
    }
    database = RESOLVER.resolve({"input": {"database": "clinic", "table": "patients"}}, check)["input"]
    assert database == {"database": SETTINGS.databases["clinic"], "table": "patients"}
    columns = {"age": {"role": "sensitive", "hierarchy": {"file": FILE}}}
    resolved = RESOLVER.resolve({**INPUT, "columns": columns}, check)
    assert resolved["columns"]["age"]["hierarchy"] == "/house/files/one.csv"


SECRET = "/etc/passwd"
ATTACKS: dict[str, tuple[str, dict[str, Any]]] = {
    "a path as input": ("anonymize", {"input": {"path": SECRET}}),
    "a path as id": ("anonymize", {"input": {"file": SECRET}}),
    "a path beside an id": ("anonymize", {"input": {"file": FILE, "path": SECRET}}),
    "a list of ids": ("anonymize", {"input": {"file": [FILE]}}),
    "an address": ("anonymize", {"input": {"database": "postgresql://evil/x", "table": "t"}}),
    "an unknown database": ("anonymize", {"input": {"database": "other", "table": "t"}}),
    "SQL to a database": (
        "anonymize",
        {"input": {"database": "clinic", "query": "SELECT pg_read_file('x')"}},
    ),
    "a database without a table": ("anonymize", {"input": {"database": "clinic"}}),
    "an engine with other reach": ("anonymize", {"input": {"file": FILE, "engine": "spark"}}),
    "a population by path": ("anonymize", {**INPUT, "population": {"path": SECRET}}),
    "a hierarchy by path": ("anonymize", {**INPUT, "columns": {"a": {"hierarchy": SECRET}}}),
    "a hierarchy by a foreign id": (
        "anonymize",
        {**INPUT, "columns": {"a": {"hierarchy": {"file": SECRET}}}},
    ),
    "noise by path": (
        "sql",
        {"relations": {"t": {"file": FILE}}, "columns": {"a": {"noise": SECRET}}, "query": "x"},
    ),
    "an output elsewhere": ("anonymize", {**INPUT, "output": {"path": "/tmp/x.csv"}}),
    "a report elsewhere": ("anonymize", {**INPUT, "output": {"report": "/tmp/x.html"}}),
    "a table as output": ("anonymize", {**INPUT, "output": {"table": "users"}}),
    "a history elsewhere": ("anonymize", {**INPUT, "history": {"store": "/tmp/x.db", "key": SECRET}}),
    "people by path": ("attack", {**INPUT, "people": {"path": SECRET}, "attack": {"name": "linking"}}),
    "an earlier release by path": (
        "attack",
        {**INPUT, "earlier": [{"path": SECRET}], "attack": {"name": "linking"}},
    ),
    "a relation by path": ("sql", {"query": "SELECT 1", "relations": {"t": {"path": SECRET}}}),
    "a relation by columns": ("sql", {"query": "SELECT 1", "relations": {"t": {"columns": ["a"]}}}),
    "a gate by path": ("gate-proof", {"gate": SECRET}),
    "a site by path": ("request-check", {"site": SECRET, "request": "x"}),
    "a federation by path": ("federate", {"federation": SECRET}),
    "another name": ("gate-proof", {"gate": "clinic", "by": "root"}),
    "a section that is none": ("anonymize", {"input": SECRET}),
    "columns that are none": ("anonymize", {**INPUT, "columns": [SECRET]}),
    "depth": ("anonymize", {**INPUT, "search": {"a": [[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]}}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_document_reaches_beyond_the_house(attack: str) -> None:
    kind, document = ATTACKS[attack]
    with pytest.raises((JobError, NotFoundError)):
        RESOLVER.resolve(document, KINDS[kind])


def test_an_address_with_a_password_is_in_no_error() -> None:
    document = {"input": {"database": "clinic"}}
    with pytest.raises(JobError) as error:
        RESOLVER.resolve(document, KINDS["check"])
    assert "hunter2" not in str(error.value)
    assert "hunter2" not in repr(SETTINGS)


def test_the_input_of_a_job_must_be_the_owners(house: ServiceCore, ann: Account) -> None:
    stored = house.files.store([b"age\n34\n"], "ward.csv", ann)
    eve = Account("eve", frozenset(ServiceRole))
    with pytest.raises(NotFoundError):
        house.jobs.start("profile", {"input": {"file": stored.id}}, eve)
    assert house.jobs.list(eve) == []


STATEMENTS = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "COPY patients TO '/tmp/stolen.csv'",
    "ATTACH '/tmp/x.db' AS x",
    "SELECT * FROM patients; DROP TABLE patients",
    "INSTALL httpfs",
    "CREATE TABLE x AS SELECT * FROM patients",
    "SELECT getenv('HOME') FROM patients",
    "PRAGMA database_list",
    "SET memory_limit = '1TB'",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM information_schema.tables",
    "CALL pragma_version()",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_sql_goes_through_the_parser_alone(statement: str, tmp_path: Path) -> None:
    """Of the text of a query only what the parser understands reaches an engine."""
    from tarnkappe.service.work import JobContext

    (tmp_path / "t.csv").write_text("age\n34\n")
    document = {"query": statement, "relations": {"patients": {"path": str(tmp_path / "t.csv")}}}
    with pytest.raises(TarnkappeError):
        KINDS["sql"].run(document, JobContext(tmp_path, lambda *_: None))
    assert not Path("/tmp/stolen.csv").exists()


def test_wrong_documents_are_refused_before_anything_is_kept(house: ServiceCore, ann: Account) -> None:
    stored = house.files.store([b"age\n34\n"], "ward.csv", ann)
    table = {"input": {"file": stored.id}}
    wrong = [
        ("anonymize", {**table, "privacy": [{"model": "k-anonimity", "k": 5}]}),
        ("anonymize", {**table, "privacy": [{"model": "k-anonymity"}]}),
        ("anonymize", {**table, "serch": {}}),
        ("anonymize", {**table, "search": {"algorithm": "magic"}}),
        ("anonymize", {}),
        ("check", {**table, "check": {"worst": -1}}),
        ("check", {**table, "check": {"measures": ["x"]}}),
        ("attack", {**table, "attack": {}}),
        ("attack", {**table, "attack": {"name": "magic"}}),
        ("attack", {**table, "attack": {"name": "homogeneity", "magic": 1}}),
        ("compare", {**table, "compare": {"methods": "all"}}),
        ("sql", {"query": "", "relations": {"t": {"file": stored.id}}}),
        ("sql", {"query": "SELECT 1"}),
        ("hierarchy", table),
        ("magic", table),
        ("anonymize", {**table, "privacy": [{"model": 5}]}),
        ("anonymize", {**table, "privacy": [{"model": "k-anonymity", "k": "x"}]}),
        ("anonymize", {**table, "search": {"loss": 5}}),
        ("check", {**table, "check": {"measures": 5}}),
        ("hierarchy", {**table, "column": "age", "hierarchy": {"builder": ["x"]}}),
    ]
    for kind, document in wrong:
        with pytest.raises(TarnkappeError):
            house.jobs.start(kind, document, ann)
    assert house.jobs.list(ann) == []
