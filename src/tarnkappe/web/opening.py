"""Opening the pages that the server writes: their addresses, the way in, and the files beside them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Response
from fastapi.staticfiles import StaticFiles

from tarnkappe.service.core import ServiceCore
from tarnkappe.web import views
from tarnkappe.web.addresses import ADDRESSES, serve_address
from tarnkappe.web.login import open_entrance
from tarnkappe.web.navigation import ASSETS


class Assets(StaticFiles):
    """Files whose addresses change with their content, so that browsers may keep them."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """The file, to be kept."""
        answer = super().file_response(*args, **kwargs)
        answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return answer


def open_views(app: FastAPI, house: ServiceCore) -> None:
    """Serve them from an application; no socket and no other framework is needed for them."""
    assert views.__all__, "importing the views has registered them"
    for address in ADDRESSES:
        serve_address(app, address, lambda: house)
    open_entrance(app, lambda: house)
    app.mount("/assets", Assets(directory=ASSETS), name="assets")
