from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tarnkappe.state import Store
from tests.conftest import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A server whose tables may be dropped."""
    with postgres_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """Where an empty store can be opened, more than once."""
    if request.param == "sqlite":
        return tmp_path / "state.db"
    uri: str = request.getfixturevalue("postgres")
    with psycopg.connect(uri) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return uri


@pytest.fixture
def store(place: str | Path) -> Iterator[Store]:
    opened = Store.open(place)
    yield opened
    opened.close()
