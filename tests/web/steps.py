"""What people do in the browser, in their words."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PATIENCE = 120_000
"""Milliseconds; a machine that does much else is slow, and nothing is won by giving up early."""
FEW_COLOURS = 96


@dataclasses.dataclass(frozen=True)
class Service:
    """A service that runs: its address, the link of its start, who is logged in, and its log."""

    url: str
    link: str
    cookies: list[Any]
    log: Path


class Walk:
    """Somebody walks through the pages."""

    def __init__(self, page: Page, service: Service, pictures: Path) -> None:
        self.page, self.service, self._pictures = page, service, pictures
        self.troubles: list[str] = []
        self.foreign: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda said: self.troubles.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: self._note_foreign(asked.url))

    def _note_foreign(self, address: str) -> None:
        own = (self.service.url, self.service.url.replace("http", "ws", 1), "data:", "blob:")
        if not address.startswith(own):
            self.foreign.append(address)

    def open(self, path: str) -> Walk:
        """Go to a page."""
        self.page.goto(self.service.url + path)
        return self

    def button(self, name: str) -> Locator:
        """A button by what it says."""
        return self.page.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press a button."""
        self.button(name).first.click()

    def follow(self, name: str) -> None:
        """Follow a link."""
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def see(self, text: str) -> Locator:
        """Wait until a text can be seen."""
        found = self.page.get_by_text(text).first
        found.wait_for()
        return found

    def heading(self, text: str) -> None:
        """Wait for a heading."""
        self.page.get_by_role("heading", name=text).first.wait_for()

    def picture(self, name: str, *, whole: bool = False) -> Path:
        """Take a picture of what can be seen, with few colours, so that it is small.

        Those whose names begin with `web-` are for the docs; others are only looked at.
        """
        from PIL import Image

        self.page.evaluate("document.activeElement?.blur()")
        taken = Image.open(io.BytesIO(self.page.screenshot(full_page=whole, animations="disabled")))
        path = self._pictures / f"{name}.png"
        if self._pictures.name == "images" and not name.startswith("web-"):
            return path
        taken.convert("RGB").quantize(FEW_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        return path

    def look_at(self, selector: str) -> None:
        """Scroll to something."""
        self.page.evaluate(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")

    def is_narrow(self) -> bool:
        """Whether nothing sticks out of the page to the side."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"))
