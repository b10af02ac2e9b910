"""A real service on a real port, without pages; jobs run in real processes."""

from __future__ import annotations

import dataclasses
import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow.csv
import pytest
import uvicorn

from tarnkappe.service.app import create_app
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account
from tarnkappe.service.settings import Limits, ServiceSettings
from tarnkappe.table import examples

LIMITS = Limits(jobs_at_once=2, job_seconds=120.0, upload_bytes=50 * 2**20, request_bytes=2**20)


@dataclasses.dataclass
class Running:
    """A service that runs."""

    house: ServiceCore
    url: str

    def client(self, who: Account, **options: object) -> httpx.Client:
        """Somebody's program, which shows a token."""
        _, secret = self.house.people.tokens.make(who, "test")
        return httpx.Client(
            base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=120
        )

    def somebody(self, name: str, *roles: str) -> Account:
        """Somebody with roles, made if she is not there."""
        known = {person.name: person for person in self.house.people.all()}
        return known.get(name) or self.house.people.add(name, roles)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("service")
    house = ServiceCore(ServiceSettings(folder=folder, port=0, limits=LIMITS))
    config = uvicorn.Config(
        create_app(house), "127.0.0.1", 0, log_config=None, access_log=False, server_header=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Running(house, f"http://127.0.0.1:{port}")
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def steward(service: Running) -> Iterator[httpx.Client]:
    with service.client(service.somebody("stella", "steward")) as client:
        yield client


@pytest.fixture(scope="session")
def patients() -> bytes:
    """Some patients as CSV, with the columns of the examples in the OpenAPI document."""
    table = examples.hospital(rows=300, seed=1).table.data.select(["age", "sex", "postcode", "diagnosis"])
    page = io.BytesIO()
    pyarrow.csv.write_csv(table, page)
    return page.getvalue()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceCore]:
    """A house that runs no jobs."""
    made = ServiceCore(ServiceSettings(folder=tmp_path / "house", limits=LIMITS))
    yield made
    made.close()


@pytest.fixture
def ann(house: ServiceCore) -> Account:
    return house.people.add("ann", ["steward"])
