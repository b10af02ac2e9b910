"""Services that run as `tarn serve` does, with a victim in them."""

from __future__ import annotations

import csv
import io
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

import tarnkappe
from tarnkappe.service.client import ServiceClient
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.settings import ServiceSettings
from tests.announced import announced
from tests.attackers.service.served import API, PATIENCE, Served

TARN = Path(sys.executable).with_name("tarn")
ROWS = 60
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier", "name": "identifier", "note": "sensitive"}


def table() -> tuple[bytes, tuple[str, ...]]:
    """Patients with a name and a note that occur nowhere else, and some of these cells."""
    people = tarnkappe.examples.hospital(rows=ROWS, seed=5).table.data.to_pylist()
    rows = [
        {"age": p["age"], "sex": p["sex"], "name": f"N{secrets.token_hex(8)}", "note": f"R{secrets.token_hex(8)}"}
        for p in people
    ]  # fmt: skip
    page = io.StringIO()
    writer = csv.DictWriter(page, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return page.getvalue().encode(), tuple(row[key] for row in rows for key in ("name", "note"))


@contextmanager
def serve(folder: Path, settings: str = "") -> Iterator[str]:
    """A real `tarn serve` on a folder; where it is."""
    (folder / "tmp").mkdir()
    (folder / "service.toml").write_text(f'[service]\nfolder = "house"\nport = 0\n{settings}')
    command = [TARN, "serve", "--settings", "service.toml", "--no-web", "--json", "--as", "root"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        try:
            url = announced(process, folder / "log")["url"]
            httpx.get(f"{url}{API}/health", timeout=PATIENCE)
            yield url
        finally:
            process.terminate()
            process.wait()


@contextmanager
def prepared(folder: Path) -> Iterator[ServiceCore]:
    """The house before its service starts."""
    house = ServiceCore(ServiceSettings(folder=folder / "house"))
    yield house
    house.close()


def token_of(house: ServiceCore, name: str, *roles: str, only: tuple[str, ...] | None = None) -> str:
    """A token of somebody, who is added if she is not there."""
    known = {person.name: person for person in house.people.all()}
    person = known.get(name) or house.people.add(name, roles)
    return house.people.tokens.make(person, "trial", only)[1]


def use(service: ServiceClient, file: str, cells: tuple[str, ...]) -> dict[str, str]:
    """Everything that a steward does with an upload; the ids of what it made."""
    columns = {name: {"role": role} for name, role in ROLES.items()}
    columns["note"]["accept"] = {"unique-code": "made-up codes, to be looked for afterwards"}
    privacy = [{"model": "k-anonymity", "k": 2}]
    search = {"suppression_limit": 0.5}
    source = {"file": file}
    groups = {"builder": "groups", "groups": {"first": [cells[0]]}, "others": "merge"}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("profile", {"input": source}),
        ("hierarchy", {"input": source, "column": "name", "hierarchy": groups}),
        ("sql", {"query": "SELECT * FROM p", "relations": {"p": source}}),
        ("anonymize", {"input": source, "columns": columns, "privacy": privacy, "search": search}),
    ]
    made = {kind: service.run(kind, document)["job"] for kind, document in asked}
    kept = {name: {"role": role} for name, role in ROLES.items() if role != "identifier"}
    checked = {"input": {"job": made["anonymize"]}, "columns": kept}
    return made | {"check": service.run("check", checked)["job"]}


@contextmanager
def upload(folder: Path, *, deleted: bool) -> Iterator[Served]:
    """A steward has used an upload in every way, and has deleted it, or not."""
    content, cells = table()
    with prepared(folder) as house:
        token = token_of(house, "ann", "steward")
        ann = house.people.get("ann")
        stored = house.files.store([content], "ward.csv", ann)
        house.drafts.save(
            stored.id, ann, {"file": stored.id, "hierarchies": {"note": {"order": list(cells)}}}, 0
        )
    with serve(folder) as url:
        service = ServiceClient(url, token, patience=PATIENCE)
        use(service, stored.id, cells)
        if deleted:
            service.remove_file(stored.id)
        yield Served(url, folder, {"ann": token}, {"file": stored.id}, cells)


@contextmanager
def tokens(folder: Path, *, roles: tuple[str, ...]) -> Iterator[Served]:
    """A steward who has other roles, too, and tokens of hers for them alone; and a stranger's."""
    content, cells = table()
    with prepared(folder) as house:
        own = token_of(house, "victim", "steward", "auditor", "admin", "physician", "reviewer")
        given = {role: token_of(house, "victim", only=(role,)) for role in roles}
        if "steward" not in roles:
            given["stranger"] = token_of(house, "stranger", "steward", "owner")
        stored = house.files.store([content], "ward.csv", house.people.get("victim"))
    with serve(folder) as url:
        made = use(ServiceClient(url, own, patience=PATIENCE), stored.id, cells)
        yield Served(url, folder / "house", given, {"file": stored.id, **made}, cells)


@contextmanager
def name_again(folder: Path, *, removed: bool) -> Iterator[Served]:
    """Bob has left, and there is a new Bob; or he has only got another token."""
    content, cells = table()
    with prepared(folder) as house:
        old = token_of(house, "bob", "steward")
        bob = house.people.get("bob")
        stored = house.files.store([content], "ward.csv", bob)
        job = house.jobs.start("profile", {"input": {"file": stored.id}}, bob)
        house.drafts.save(stored.id, bob, {"file": stored.id}, 0)
        if removed:
            house.remove_person("bob", "root")
        given = {"the new bob": token_of(house, "bob", "steward"), "the old bob": old}
    with serve(folder) as url:
        known = {"file": stored.id, "job": job.id}
        yield Served(url, folder / "house", given, known, cells)


@contextmanager
def busy(folder: Path, *, owner: str, key: bool = True, settings: str = "") -> Iterator[Served]:
    """Two stewards, one with an upload; a key for the next request, or none; limits of the service, or others."""
    content, cells = table()
    with prepared(folder) as house:
        given = {name: token_of(house, name, "steward") for name in ("ann", "vandal")}
        stored = house.files.store([content], "ward.csv", house.people.get(owner))
    with serve(folder, settings) as url:
        known = {"file": stored.id} | ({"key": secrets.token_hex(8)} if key else {})
        yield Served(url, folder / "house", given, known, cells)


NO_LIMIT = "[limits]\ncompression = 1_000_000\nunpacked_bytes = 1_000_000_000_000_000"
deleted_upload = partial(upload, deleted=True)
kept_upload = partial(upload, deleted=False)
other_roles = partial(tokens, roles=("auditor", "admin", "physician", "reviewer"))
steward_role = partial(tokens, roles=("steward",))
new_bob = partial(name_again, removed=True)
same_bob = partial(name_again, removed=False)
with_key = partial(busy, owner="ann")
without_key = partial(busy, owner="ann", key=False)
with_limits = partial(busy, owner="vandal")
without_limits = partial(busy, owner="vandal", settings=NO_LIMIT)
