"""The web application as `tarn serve` starts it, and pages that are less careful."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.attackers.service.other_hosts import Entered

PAGES = (
    "/login", "/files", "/runs", "/compare", "/sql", "/gate", "/exchange", "/federation", "/settings",
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
