"""Putting the pages behind a FastAPI application."""

from __future__ import annotations

from functools import cache

from fastapi import FastAPI
from nicegui import app as pages_app
from nicegui import ui

from tarnkappe.service.core import ServiceCore
from tarnkappe.web import pages
from tarnkappe.web.addresses import not_found_by
from tarnkappe.web.data import open_data
from tarnkappe.web.layout import IN_EVERY_HEAD
from tarnkappe.web.navigation import ASSETS, asset
from tarnkappe.web.opening import open_views
from tarnkappe.web.site import PAGES, serve


def mount_pages(app: FastAPI, house: ServiceCore) -> None:
    """Serve all pages of a house under `/`: those that the server writes, then those that have a socket."""
    pages_app.state.house = house
    open_views(app, house)
    _register()
    for name in IN_EVERY_HEAD:
        asset(name)  # reads it, which no page has to wait for then
    ui.run_with(
        app,
        title="Tarnkappe",
        favicon=ASSETS / "icon.svg",
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
    open_data(pages_app, _house)
    pages_app.add_exception_handler(404, not_found_by(_house))


def _house() -> ServiceCore:
    house: ServiceCore = pages_app.state.house
    return house
