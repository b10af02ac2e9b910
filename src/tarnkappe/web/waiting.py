"""A page that needs a moment is shown at once, says so, and is filled when what it waits for is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nicegui import ui

from tarnkappe.web.widgets import tag

LONGEST = 120.0
"""Seconds within which a browser must have opened the page."""


@asynccontextmanager
async def waiting(text: str) -> AsyncIterator[None]:
    """Show a text until what is done within is done; the page is sent before."""
    place = tag("p", text, "soft", role="status")
    await ui.context.client.connected(timeout=LONGEST)
    try:
        yield
    finally:
        place.delete()
