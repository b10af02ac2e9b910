"""No page and no route calls the store or a file on the event loop: who waits for a disk keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import uvicorn

pytest.importorskip("nicegui", reason="NiceGUI is not installed")

from tarnkappe.federation.contract import Partitioning, Protocol
from tarnkappe.service.app import create_app
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.people.people import csrf_of
from tarnkappe.service.security import API
from tarnkappe.service.settings import ServiceSettings
from tarnkappe.web import mount
from tarnkappe.web.addresses import ADDRESSES
from tarnkappe.web.site import PAGES
from tests.conftest import ROOT
from tests.federation.federations import example
from tests.federation.site_files import write_sites
from tests.service.test_rights import ENDLESS, NOBODYS, OPERATIONS
from tests.web.test_other_parts import asked_gate, asked_site
from tests.web.test_views import COLUMNS, LIMITS, PATIENTS

pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"  # NiceGUI leaves coroutines when its application ends
)
OURS = str(ROOT / "src" / "tarnkappe")
FILES = {
    "open",
    "os.listdir",
    "os.scandir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "sqlite3.connect",
}
"""What Python tells of calls that wait for a disk."""

FRAMEWORKS = tuple(f"/site-packages/{name}/" for name in ("fastapi", "starlette", "nicegui"))


class Watcher:
    """Notes where in our code something waits for a disk or a database in a thread that has an event loop."""

    def __init__(self) -> None:
        self.is_on, self.found, self.beside = False, set[str](), 0
        sys.addaudithook(self._audit)  # it stays for the rest of the process, and does nothing
        self.statement = lambda *_: self._note("statement")

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.is_on = True
        sa.event.listen(sa.Engine, "before_cursor_execute", self.statement)
        try:
            yield
        finally:
            self.is_on = False
            sa.event.remove(sa.Engine, "before_cursor_execute", self.statement)

    def _audit(self, event: str, _: tuple[Any, ...]) -> None:
        if self.is_on and event in FILES:
            self._note(event)

    def _note(self, what: str) -> None:
        if asyncio._get_running_loop() is None:
            self.beside += 1
            return
        frame, frames = sys._getframe(), list[str]()
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib") or (
                not frames and any(lib in name for lib in FRAMEWORKS)
            ):
                return  # what is loaded, and what frameworks read of themselves, is read once
            if name.startswith(OURS):
                frames.append(f"{name.removeprefix(OURS)}:{frame.f_lineno}")
            frame = frame.f_back
        if frames:
            self.found.add(f"{what}: {' < '.join(frames[:6])}")


@pytest.fixture(scope="module")
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> ServiceCore:
    """One with a gate, an institution and a federation: their pages show something."""
    folder = tmp_path_factory.mktemp("loop")
    (folder / "federation").mkdir()
    write_sites(folder / "federation", example(Protocol.RING, Partitioning.HORIZONTAL), patience=1)
    settings = ServiceSettings(
        folder=folder / "house",
        port=0,
        limits=LIMITS,
        gates={"gate": asked_gate(folder / "gate")},
        sites={"site": asked_site(folder / "site")},
        federations={"federation": folder / "federation" / "job.toml"},
    )
    return ServiceCore(settings)


@pytest.fixture(scope="module")
def client(house: ServiceCore) -> Iterator[httpx.Client]:
    server = uvicorn.Server(
        uvicorn.Config(create_app(house, mount), "127.0.0.1", 0, log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as made:
        yield made
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def ann(house: ServiceCore, client: httpx.Client) -> Account:
    return house.people.add("ann", list(ServiceRole))


@pytest.fixture(scope="module")
def ids(house: ServiceCore, ann: Account) -> dict[str, str]:
    """What addresses can name: an upload, and a job of it that has ended."""
    file = house.files.store([PATIENTS.encode()], "patients.csv", ann).id
    document = {
        "input": {"file": file},
        "columns": COLUMNS,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "search": {"suppression_limit": 0.05},
    }
    job = house.jobs.start("anonymize", document, ann).id
    while not house.jobs.get(job, ann).has_ended:
        time.sleep(0.05)
    return {"file": file, "file_id": file, "job": job, "job_id": job, "what": "release", "release": job}


def filled(path: str, ids: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda part: ids.get(part[1], NOBODYS), path)


def session(house: ServiceCore, who: Account) -> dict[str, str]:
    """A new one, that the service has to look up."""
    secret = house.people.use_link(house.people.make_link(who.name)).secret
    house.people._forget()
    return {"Cookie": f"tarn_session={secret}", "X-CSRF-Token": csrf_of(secret)}


def test_the_watcher_sees_what_waits_on_the_loop_and_nothing_else(
    watcher: Watcher, house: ServiceCore
) -> None:
    async def waits() -> None:
        house.people.all()
        await asyncio.to_thread(house.people.all)

    watcher.found.clear()
    watcher.beside = 0
    with watcher.watching():
        asyncio.run(waits())
    assert {found.partition(":")[0] for found in watcher.found} >= {"statement"}
    assert watcher.beside, "what was done in a thread"
    watcher.found.clear()


def test_no_route_waits_for_the_store_or_a_file_on_the_loop(
    watcher: Watcher, house: ServiceCore, client: httpx.Client, ann: Account, ids: dict[str, str]
) -> None:
    with watcher.watching():
        for method, path, has_body in OPERATIONS:
            for known in ({}, ids) if method == "GET" else ({},):
                body = {"json": {}} if has_body else {}
                asked = filled(path, known)
                with client.stream(method, asked, headers=session(house, ann), **body) as answer:
                    for _ in answer.iter_bytes():
                        if path.endswith(ENDLESS):
                            break
                assert answer.status_code != 500, (method, asked)
    assert watcher.found == set()


def test_no_page_waits_for_the_store_or_a_file_on_the_loop(
    watcher: Watcher, house: ServiceCore, client: httpx.Client, ann: Account, ids: dict[str, str]
) -> None:
    paths = {each.path for each in ADDRESSES} | {each.path for each in PAGES}
    assert len(paths) > 20
    with watcher.watching():
        for path in sorted(paths):
            for known in ({}, ids):
                query = {"file": known["file"], "job": known["job"]} if known else {}
                answer = client.get(filled(path, known), params=query, headers=session(house, ann))
                assert answer.status_code < 500, path
        for asset in ("/assets/icon.svg", "/login", "/nothing-here"):
            client.get(asset, headers=session(house, ann))
    assert watcher.beside, "the pages show something"
    assert watcher.found == set()


def test_somebody_comes_in_without_waiting_on_the_loop(
    watcher: Watcher, house: ServiceCore, client: httpx.Client
) -> None:
    house.people.add("bob", [ServiceRole.STEWARD], "correct horse battery")
    with watcher.watching():
        for password in ("wrong", "correct horse battery"):
            client.post(f"{API}/session", json={"name": "bob", "password": password})
            client.post("/login", data={"name": "bob", "password": password})
    assert watcher.found == set()
