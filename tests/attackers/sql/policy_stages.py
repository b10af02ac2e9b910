"""A clinic under a policy, and the same tables without one."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from tarnkappe.errors import TarnkappeError
from tarnkappe.policy.enforcer import Enforcer
from tarnkappe.policy.policy_file import AccessPolicy
from tests.attackers.sql.join_releases import Shown
from tests.attackers.sql.write_queries import Port
from tests.policy.clinic import POLICY, write

NAMES = (
    "Adler",
    "Bergmann",
    "Claasen",
    "Dornbusch",
    "Ehlers",
    "Falke",
    "Grube",
    "Hansen",
    "Ibsen",
    "Jahnke",
    "Krohn",
    "Lohse",
)
PIDS = tuple(7_340_001 + 17 * n for n in range(12))
PLZ = ("18055",) * 3 + ("18057",) * 2 + ("18059",) * 3 + ("18106",) * 3 + ("18107",)
DAYS = tuple(f"2024-{1 + n // 4:02}-{1 + n:02}" for n in range(12))
TABLES: dict[str, dict[str, list[Any]]] = {
    "patients": {
        "pid": list(PIDS),
        "name": list(NAMES),
        "plz": list(PLZ),
        "age": [34, 36, 35, 61, 62, 66, 23, 25, 27, 41, 45, 48],
        "sex": list("fmfmffmfmmff"),
        "diagnosis": ["flu", "flu", "hiv", "flu", "asthma", "flu", "hiv", "asthma", "flu", "asthma", "flu", "hiv"],
        "cost": [9.5, 20.0, 100.0] * 4,
        "admitted": list(DAYS),
    },
    "visits": {"pid": [PIDS[0]] * 5 + list(PIDS[1:]), "ward": list("AABAAAABBBAABABA")},
    "icd": {"code": ["flu", "hiv", "asthma"], "chapter": ["J", "B", "J"]},
}  # fmt: skip
SECRETS = (*NAMES, *map(str, PIDS), *sorted(set(PLZ)), *DAYS)


@contextmanager
def enforced(folder: Path, statements: int = 80) -> Iterator[Port]:
    with Enforcer(AccessPolicy.load(write(folder, TABLES))) as enforcer:

        def ask(query: str) -> str:
            try:
                answer = enforcer.ask("ann", query, by="test")
            except TarnkappeError as error:
                return f"error: {error}"
            return str(answer.table.to_pydict())

        shown = ask("SELECT * FROM patients")
        assert not any(plz in shown for plz in PLZ), "the release shows no whole postal code"
        yield Port(ask, SECRETS, statements, frozenset(PLZ))


@contextmanager
def enforced_for_long(folder: Path) -> Iterator[Port]:
    with enforced(folder, 10_000) as port:
        yield port


@contextmanager
def unenforced(folder: Path) -> Iterator[Port]:
    """The files, read by DuckDB itself."""
    write(folder, TABLES)
    with chdir(folder), duckdb.connect() as connection:  # there, since what is asked may write files
        for name in TABLES:
            path = folder / f"{name}.csv"
            connection.execute(f"CREATE VIEW {name} AS FROM read_csv('{path}', all_varchar = true)")

        def ask(query: str) -> str:
            try:
                return str(connection.execute(query).fetchall())
            except duckdb.Error:
                return "error"

        yield Port(ask, SECRETS, 20)


KNOWN = ("plz", "age", "sex")


@contextmanager
def one_policy(folder: Path) -> Iterator[Shown]:
    """Three people of two groups under one policy, who ask in their own ways."""
    text = POLICY + MORE_PEOPLE
    yield _shown(folder, [(text, "ann"), (text, "bob"), (text, "eve")])


@contextmanager
def two_policies(folder: Path) -> Iterator[Shown]:
    """The same table under two policies, which protect it by different columns: no promise speaks of both."""
    by_age = POLICY.replace('columns = ["plz", "age", "sex",', 'columns = ["age",')
    by_place = POLICY.replace('columns = ["plz", "age", "sex",', 'columns = ["plz", "sex",')
    yield _shown(folder, [(by_age, "ann"), (by_place, "ann")])


MORE_PEOPLE = """
[groups.guests]
members = ["eve"]
[[groups.guests.may]]
table = "patients"
see = "protected"
"""


def _shown(folder: Path, asked: list[tuple[str, str]]) -> Shown:
    releases = []
    places: dict[str, Path] = {}
    for text, user in asked:
        place = places.setdefault(text, folder / str(len(places)))
        if not place.exists():
            place.mkdir()
            write(place, TABLES, text)
        with Enforcer(AccessPolicy.load(place / "policy.toml")) as enforcer:
            rows = enforcer.ask(user, "SELECT * FROM patients", by="test").table.to_pylist()
            releases.append([{**dict.fromkeys(KNOWN, ""), **row} for row in rows])
    lifts = {("", ""): frozenset({""})}
    for column in KNOWN:
        path = next(iter(places.values())) / f"{column}.hierarchy.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for first, *rest in csv.reader(file, delimiter=";"):
                lifts[column, first] = frozenset({"", first, *rest})
    patients = TABLES["patients"]
    people = {
        name: {column: str(patients[column][n]) for column in KNOWN}
        for n, name in enumerate(patients["name"])
    }
    return Shown(tuple(releases), lifts, people)
