"""A real service in a process of its own, and a real browser that looks at it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.announced import announced
from tests.web.steps import PATIENCE, Service, Walk

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PICTURES = os.environ.get("TARN_PICTURES")
"""Where pictures for the docs go (`make pictures`); otherwise they are taken and thrown away."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of this machine, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no browser is installed: apt install chromium")
    with playwright.sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@contextmanager
def running(folder: Path, *options: str) -> Iterator[dict[str, str]]:
    """A `tarn serve`, and what it prints at its start: where it is, and the link that works once."""
    command = [str(Path(sys.executable).with_name("tarn")), "serve", "--folder", str(folder), "--port", "0"]
    with (
        folder.with_suffix(".log").open("w") as log,
        subprocess.Popen(
            [*command, "--json", "--as", "Ann", *options], stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield announced(process, folder.with_suffix(".log"))
        finally:
            process.terminate()


@contextmanager
def entered(browser: Browser, folder: Path, *options: str) -> Iterator[Service]:
    """A service that somebody has entered by the link."""
    with running(folder, *options) as said:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(said["link"])
        page.wait_for_url("**/files")
        cookies = context.cookies()
        context.close()
        yield Service(said["url"], said["link"], cookies, folder.with_suffix(".log"))


@pytest.fixture(scope="session")
def service(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with nothing in it; `Ann`, who started it, has all roles."""
    with entered(browser, tmp_path_factory.mktemp("service") / "house") as made:
        yield made


@pytest.fixture
def walk(browser: Browser, service: Service, tmp_path: Path) -> Iterator[Callable[..., Walk]]:
    """Walks through pages, each with its own window; no error shows in its console, and no other host is asked."""
    walks: list[Walk] = []

    def begin(
        *,
        who: str = "Ann",
        at: Service = service,
        width: int = 1100,
        height: int = 780,
        language: str = "en",
        **options,
    ) -> Walk:
        context = browser.new_context(
            viewport={"width": width, "height": height}, locale=language, accept_downloads=True, **options
        )
        if who:
            context.add_cookies(at.cookies)
        made = Walk(context.new_page(), at, Path(PICTURES) if PICTURES else tmp_path)
        walks.append(made)
        return made

    yield begin
    for each in walks:
        each.page.context.close()
        assert each.troubles == []
        assert each.foreign == [], "the browser was sent to other hosts"
