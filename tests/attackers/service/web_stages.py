"""The web application as `tarn serve` starts it, and pages that are less careful."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.attackers.service.old_keys import Compromised
from tests.attackers.service.other_hosts import Entered
from tests.attackers.service.served import API, PATIENCE

PAGES = (
    "/login", "/files", "/runs", "/compare", "/sql", "/gate", "/exchange", "/federation", "/me", "/people",
    "/audit",
)  # fmt: skip


@contextmanager
def web_application(folder: Path) -> Iterator[Entered]:
    """A real `tarn serve` with its pages, entered by the link that it prints."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed")
    from tests.web.conftest import running

    with running(folder / "house") as said:
        yield Entered(said["link"], PAGES)


CARELESS = {
    "index.html": '<link rel="stylesheet" href="/style.css"><script type="module" src="/app.js"></script>'
    '<img src="//pixel.example.net/1.gif">',
    "style.css": '@import url("https://fonts.example.org/css?family=Roboto");',
    "app.js": 'import { draw } from "https://cdn.example.com/draw.mjs"; fetch("https://count.example.com/hit")',
}


@contextmanager
def careless_pages(folder: Path) -> Iterator[Entered]:
    """Pages with a font, a library, a counter and a picture of others."""
    for name, text in CARELESS.items():
        (folder / name).write_text(text)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Entered(f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()
            thread.join()


OLD, NEW = "correct horse battery", "staple of another stable"


def _by_herself(url: str, root: httpx.Client) -> None:
    del root
    with httpx.Client(base_url=url + API, timeout=PATIENCE) as ann:
        proof = ann.post("/session", json={"name": "ann", "password": OLD}).json()["csrf"]
        changed = ann.put("/session/password", json={"old": OLD, "new": NEW}, headers={"X-CSRF-Token": proof})
        assert changed.status_code == 204


def _by_the_admin(url: str, root: httpx.Client) -> None:
    del url
    assert root.post("/people/ann/reset").status_code == 201


def _only_her_roles(url: str, root: httpx.Client) -> None:
    del url
    assert root.patch("/people/ann", json={"roles": ["steward", "auditor"]}).status_code == 200


@contextmanager
def compromised(folder: Path, change: Callable[[str, httpx.Client], None]) -> Iterator[Compromised]:
    """A real `tarn serve`, and somebody whose password, token and links others have, too."""
    pytest.importorskip("nicegui", reason="NiceGUI is not installed")
    from tests.attackers.service.stages import prepared, token_of
    from tests.web.conftest import running

    with prepared(folder) as house:
        house.people.add("ann", ["steward"], OLD)
        house.people.add("head", ["admin"], NEW)
        token = token_of(house, "ann")
        links = tuple(f"/login/link?secret={house.people.make_link('ann')}" for _ in range(2))
    with (
        running(folder / "house") as said,
        httpx.Client(base_url=said["url"] + API, timeout=PATIENCE) as head,
    ):
        entered = head.post("/session", json={"name": "head", "password": NEW})
        head.headers["X-CSRF-Token"] = entered.json()["csrf"]
        yield Compromised(said["url"], "ann", OLD, token, links, partial(change, said["url"], head))


new_password = partial(compromised, change=_by_herself)
reset_by_admin = partial(compromised, change=_by_the_admin)
other_roles_only = partial(compromised, change=_only_her_roles)
