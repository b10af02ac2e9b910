"""How soon a page comes while the service works: 100 clients with small jobs, and 2 long jobs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.errors import TarnkappeError
from tarnkappe.service.client import ServiceClient
from tarnkappe.table import examples, write
from tarnkappe.table.encoding import Progress

LIMITS = {"page_seconds_p95": 0.2}
"""What `make bench-check` holds us to."""
CLIENTS = 100
LONG_JOBS = 2
SECONDS = 40.0
"""How long pages are asked for while all are at work."""
IDLE_PAGES = 50
PAUSE = 0.05


def run(progress: Progress | None = None, *, rows: int = 200_000, seconds: float = SECONDS) -> dict[str, Any]:
    """Ask for pages before and, for some seconds, while clients ask for jobs; long jobs have so many rows."""
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder)) as (url, link, token):
        browser = _browser(link)
        _pages(browser, url, number=5)  # the first pages load what later ones have
        idle = _pages(browser, url, number=IDLE_PAGES)
        service = ServiceClient(url, token, patience=600.0)
        long, small = _documents(service, Path(folder), rows)
        long_jobs = [service.start("lattice", long) for _ in range(LONG_JOBS)]
        stop, counted = threading.Event(), _Counted()
        clients = [
            threading.Thread(target=_client, args=(url, token, small, stop, counted), daemon=True)
            for _ in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        busy = _pages(browser, url, seconds=seconds, progress=progress)
        states = [service.job(job)["state"] for job in long_jobs]
        stop.set()
        return {
            "clients": CLIENTS,
            "long_jobs": LONG_JOBS,
            "long_job_states": states,
            "pages": len(busy),
            "page_seconds_p50": float(np.quantile(busy, 0.5)),
            "page_seconds_p95": float(np.quantile(busy, 0.95)),
            "page_seconds_worst": max(busy),
            "idle_page_seconds_p95": float(np.quantile(idle, 0.95)),
            "page_p95_ratio": float(np.quantile(busy, 0.95) / np.quantile(idle, 0.95)),
            "small_jobs_asked": counted.asked,
            "small_jobs_done": counted.done,
            "small_jobs_failed": counted.failed,
        }


class _Counted:
    def __init__(self) -> None:
        self.asked = self.done = self.failed = 0


@contextmanager
def _service(folder: Path) -> Iterator[tuple[str, str, str]]:
    """A service of its own process: its address, a link and a token."""
    start = "from tarnkappe.cli import main; main()"
    options = [
        "--folder",
        str(folder / "service"),
        "--port",
        "0",
        "--token-file",
        str(folder / "token"),
        "--json",
    ]
    command = [sys.executable, "-c", start, "serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline()]
            while lines[-1] not in ("}\n", ""):  # nothing more is said by a service that has ended
                lines.append(process.stdout.readline())
            told = json.loads("".join(lines))
            token = (folder / "token").read_text().strip()
            _wait_for(told["url"])
            yield told["url"], told["link"], token
        finally:
            process.terminate()


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/api/v1/health", timeout=10).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TarnkappeError("bench.service-not-start", "the service did not start")


def _browser(link: str) -> urllib.request.OpenerDirector:
    """A browser that is logged in."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    browser.open(link, timeout=60).close()
    return browser


def _pages(
    browser: urllib.request.OpenerDirector,
    url: str,
    *,
    number: int | None = None,
    seconds: float = 0.0,
    progress: Progress | None = None,
) -> list[float]:
    """The seconds until each of some pages was there, whole."""
    took: list[float] = []
    begin = time.perf_counter()
    while len(took) < number if number is not None else time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        with browser.open(f"{url}/", timeout=120) as page:
            page.read()
        took.append(time.perf_counter() - start)
        if progress is not None:
            progress("asking for pages", int(start - begin), int(seconds))
        time.sleep(PAUSE)
    return took


def _documents(service: ServiceClient, folder: Path, rows: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A job that takes long, and one that does not."""
    made = {}
    for name, size in (("long", rows), ("small", 500)):
        example = examples.hospital(rows=size, seed=1).table
        write(example, folder / f"{name}.parquet")
        columns = {column: {"role": str(role)} for column, role in example.roles.items()}
        table = {"input": {"file": service.upload(folder / f"{name}.parquet")}, "columns": columns}
        made[name] = table
    privacy = {"privacy": [{"model": "k-anonymity", "k": 5}], "search": {"suppression_limit": 0.05}}
    return {**made["long"], **privacy}, made["small"]


def _client(url: str, token: str, document: dict[str, Any], stop: threading.Event, counted: _Counted) -> None:
    """Ask for a small job, wait for it, ask again."""
    service = ServiceClient(url, token, patience=600.0)
    while not stop.is_set():
        try:
            counted.asked += 1
            service.run("check", document)
            counted.done += 1
        except TarnkappeError:
            counted.failed += not stop.is_set()
