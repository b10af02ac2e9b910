"""Two made-up institutions, ready to be tried: A asks, B has patients. Nothing in it is for production."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from tarnkappe.errors import OutputError
from tarnkappe.exchange.staff import Duty
from tarnkappe.exchange.statistics import Statistics
from tarnkappe.exchange.statistics.example import (
    AGES,
    CATALOGUE,
    DISEASES,
    MEDICATIONS,
    OCCUPATIONS,
    ORIGINS,
    SEXES,
    facts,
    patients,
)
from tarnkappe.federation.certificates import Authority
from tarnkappe.pseudonym import KeyPair, Vault, VaultMember, VaultRole
from tarnkappe.state import Key, Signer, Store

NAMES = ("A", "B")
STAFF = {"Stew": Duty.STEWARD, "Ann": Duty.PHYSICIAN, "Cleo": Duty.SECOND_REVIEWER, "Aud": Duty.AUDITOR}
VAULT = {"Rita": VaultRole.REGISTRAR, "Ann": VaultRole.REQUESTER, "Paul": VaultRole.APPROVER}
"""Ann asks the vault who somebody is; Paul, who has no other duty, agrees."""
STATED = ("lawfully_collected", "own_competence", "correctable", "operation_covered")
PLAN: dict[str, Any] = {
    "values": {
        "age": [f"{age}-{age + 9}" for age in AGES],
        "sex": list(SEXES),
        "origin": list(ORIGINS),
        "occupation": list(OCCUPATIONS),
        "diagnosis": list(DISEASES),
        "medication": list(MEDICATIONS),
    },
    "tables": [
        {"of": ["age", "sex"]},
        {"given": "medication", "of": ["age"]},
        {"given": "medication", "of": ["sex"]},
        {"given": "medication", "of": ["occupation"]},
    ],
}


def make(folder: Path, people: int = 3000, seed: int = 0) -> list[Path]:
    """Write everything that two institutions need into a folder; their site files."""
    if folder.exists() and any(folder.iterdir()):
        raise OutputError(
            "exchange.something-already-name-new",
            "{folder}: there is something already: name a new folder",
            folder=folder,
        )
    authority = Authority(folder / "certificates")
    members = {}
    for name in NAMES:
        authority.issue(name)
        public = Signer(Key.load(folder / f"{name}.sign.key", create=True)).public
        purposes = ["research", "teaching", "clinical"]
        members[name] = {"purposes": purposes, "bound_to_secrecy": True, "public_key": public}
    authority.revoke()
    write_toml(folder / "network.toml", {"members": members})
    write_toml(folder / "counted.toml", PLAN)
    keys = {name: Key.load(folder / "keys" / f"{name}.key", create=True) for name in {*STAFF, *VAULT}}
    people_file = {
        name: {"duties": [str(duty)], "public_key": Signer(keys[name]).public} for name, duty in STAFF.items()
    }
    write_toml(folder / "staff.toml", {"people": people_file})
    roles = [VaultMember(name, role, KeyPair.of(keys[name]).public) for name, role in VAULT.items()]
    with Store.open(folder / "vault.db") as store:
        Vault.create(store, "exchange", ["patient"], roles)
    write_toml(folder / "catalogue.toml", CATALOGUE)
    thresholds = {"k": 5, "l": 2, "base": 50, "suppression": 0.05}
    policy = {"rules": ["gdpr"], "statistics_budget": 2.0, "thresholds": thresholds}
    write_toml(folder / "policy.toml", policy | {"statements": dict.fromkeys(STATED, True)})
    with Store.open(folder / "statistics.db") as store:
        Statistics(store).add(facts(), "made-up census", "0" * 64)
    ports = {name: _free_port() for name in NAMES}
    sites = []
    for number, name in enumerate(NAMES):
        fill(folder / f"{name}-patients.db", patients(people, seed + number))
        other = next(each for each in NAMES if each != name)
        sites.append(folder / f"{name}.toml")
        write_toml(sites[-1], _site(name, other, ports))
    return sites


def _site(name: str, other: str, ports: Mapping[str, int]) -> dict[str, Any]:
    return {
        "name": name,
        "store": f"{name}.db",
        "keys": {"sign": f"{name}.sign.key", "seal": f"{name}.seal.key", "marks": f"{name}.marks.key"},
        "catalogue": "catalogue.toml",
        "policy": "policy.toml",
        "staff": "staff.toml",
        "network": "network.toml",
        "statistics": "statistics.db",
        "counted": "counted.toml",
        "listen": f"127.0.0.1:{ports[name]}",
        "patients": {
            "database": f"sqlite:///{name}-patients.db",
            "table": "patients",
            "patient": "patient",
        },
        "vault": {"store": "vault.db", "project": "exchange", "registrar": "Rita", "key": "keys/Rita.key"},
        "certificates": {
            "certificate": f"certificates/{name}.pem",
            "key": f"certificates/{name}.key",
            "authority": "certificates/authority.pem",
            "revoked": "certificates/revoked.pem",
        },
        "peers": {other: f"127.0.0.1:{ports[other]}"},
    }


def fill(path: Path, people: pa.Table) -> None:
    """Write patients into a new database, in a table of this name."""
    rows = people.to_pylist()
    engine = sa.create_engine(f"sqlite:///{path.absolute()}")
    kinds = {"age": sa.Integer, "weight": sa.Integer}
    table = sa.Table(
        "patients", sa.MetaData(), *(sa.Column(name, kinds.get(name, sa.String)) for name in rows[0])
    )
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(sa.insert(table), rows)
    engine.dispose()
    path.chmod(0o600)


def write_toml(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of sections, keys and values, as the exchange reads them."""
    path.write_text("\n".join(_toml(content, ())) + "\n", encoding="utf-8")


def _toml(content: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    """A section: its plain keys first, then its sections and lists of sections."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in content.items() if not _is_section(value)]
    for key, value in content.items():
        name = ".".join(map(_key, (*place, key)))
        if isinstance(value, Mapping) and _is_section(value):
            own = _toml(value, (*place, key))
            header = [] if all(line.startswith("[") or not line for line in own) else [f"[{name}]"]
            lines += ["", *header, *own]
        elif _is_section(value):
            lines += [line for each in value for line in ("", f"[[{name}]]", *_toml(each, (*place, key)))]
    return lines


def _is_section(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "builder" not in value and "sign" not in value
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
