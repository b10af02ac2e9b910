"""Putting the pages behind a FastAPI application."""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import FastAPI, Response
from fastapi.staticfiles import StaticFiles
from nicegui import app as pages_app
from nicegui import ui

from tarnkappe.service.core import ServiceCore
from tarnkappe.web import pages
from tarnkappe.web.data import open_data
from tarnkappe.web.layout import ASSETS
from tarnkappe.web.login import open_entrance
from tarnkappe.web.site import PAGES, serve

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#0b6e69" '
    'd="M16 2C9 2 5 8 5 15v12l5-3 6 5 6-5 5 3V15C27 8 23 2 16 2z"/>'
    '<circle cx="12" cy="14" r="2" fill="#fff"/>'
    '<circle cx="20" cy="14" r="2" fill="#fff"/></svg>'
)


class Assets(StaticFiles):
    """Files whose addresses change with their content, so that browsers may keep them."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, to be kept."""
        answer = super().file_response(*args, **kwargs)
        answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return answer


def mount_pages(app: FastAPI, house: ServiceCore) -> None:
    """Serve all pages of a house under `/`."""
    pages_app.state.house = house
    _register()
    ui.run_with(
        app,
        title="Tarnkappe",
        favicon=ICON,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=10.0,
        binding_refresh_interval=None,
    )


@cache
def _register() -> None:
    assert pages.__all__, "importing the pages has registered them"
    for page in PAGES:
        serve(page, _house)
    open_entrance(pages_app, _house)
    open_data(pages_app, _house)
    pages_app.mount("/assets", Assets(directory=ASSETS), name="assets")


def _house() -> ServiceCore:
    house: ServiceCore = pages_app.state.house
    return house
