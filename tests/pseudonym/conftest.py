from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tarnkappe.pseudonym import KeyPair, Vault, VaultMember, VaultRole
from tarnkappe.state import Key, Store

PEOPLE = {
    "rita": VaultRole.REGISTRAR,
    "quinn": VaultRole.REQUESTER,
    "quentin": VaultRole.REQUESTER,
    "ada": VaultRole.APPROVER,
}
FIELDS = ("surname", "given", "born")


@dataclasses.dataclass
class Staff:
    """The people of a vault with their keys."""

    keys: dict[str, Key]

    @classmethod
    def of(cls, *names: str) -> Staff:
        return cls({name: Key.new() for name in names})

    def member(self, name: str, role: VaultRole) -> VaultMember:
        return VaultMember(name, role, KeyPair.of(self.keys[name]).public)

    def __getitem__(self, name: str) -> tuple[str, Key]:
        return name, self.keys[name]


@dataclasses.dataclass
class Clock:
    time: datetime = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def forward(self, **passed: float) -> None:
        self.time += timedelta(**passed)


@pytest.fixture
def staff() -> Staff:
    return Staff.of(*PEOPLE, "mallory")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    if request.param == "sqlite":
        return tmp_path / "vault.db"
    uri: str = request.getfixturevalue("postgres")
    name = f"vault_{uuid.uuid4().hex}"  # the server is shared with other tests
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return uri.replace("/postgres?", f"/{name}?")


@pytest.fixture
def store(place: str | Path) -> Iterator[Store]:
    opened = Store.open(place)
    yield opened
    opened.close()


@pytest.fixture
def vault(store: Store, staff: Staff, clock: Clock) -> Vault:
    made = Vault.create(store, "asthma", FIELDS, [staff.member(name, role) for name, role in PEOPLE.items()])
    made.now = clock
    return made
