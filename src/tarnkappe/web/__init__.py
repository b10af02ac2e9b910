"""The web application: pages on the house that the REST API serves too.

`mount(app, house)` puts it under `/` of a FastAPI application, behind the routes that are there already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from tarnkappe.service.core import ServiceCore

__all__ = ["mount"]


def mount(app: FastAPI, house: ServiceCore) -> None:
    """Serve all pages of the house under `/`.

    Pages are registered once a process, since NiceGUI has one application; they show the house that was
    mounted last.
    """
    from tarnkappe.web.mounting import mount_pages  # NiceGUI takes a second to load

    mount_pages(app, house)
