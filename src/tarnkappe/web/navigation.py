"""Where the parts of the service are, who may enter them, and the files that are the same for everybody."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from tarnkappe.service.people import Right
from tarnkappe.web.visit import Rights

ASSETS = Path(__file__).parent / "assets"

PARTS: tuple[tuple[str, str, Rights], ...] = (
    ("/files", "parts.files", (Right.PUBLISH,)),
    ("/runs", "parts.runs", (Right.PUBLISH,)),
    ("/compare", "parts.compare", (Right.PUBLISH,)),
    ("/sql", "parts.sql", (Right.PUBLISH,)),
    ("/gate", "parts.gate", (Right.WATCH_GATE,)),
    ("/exchange", "parts.exchange", (Right.REVIEW, Right.READ_LOG)),
    ("/federation", "parts.federation", (Right.FEDERATE,)),
    ("/people", "parts.people", (Right.MANAGE,)),
    ("/audit", "parts.audit", (Right.READ_LOG,)),
    ("/me", "parts.me", ()),
)
"""The parts of the service: address, name, and the rights of which one is needed to enter."""
OWN = "/me"
"""The part about oneself; where there is room, the name of the visitor leads to it."""


@cache
def asset(name: str) -> str:
    """The address of a file of ours; it changes with the content, so that browsers may keep it for ever."""
    mark = hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()[:12]
    return f"/assets/{name}?{mark}"


STEPS = ("files", "columns", "hierarchies", "privacy", "run", "lattice", "download")
"""The way from a file to its release."""


def step_addresses(file: str = "", job: str = "") -> dict[str, str]:
    """Where the steps are that can be visited already."""
    addresses = {"files": "/files"}
    if file:
        addresses |= {name: f"/files/{file}/{name}" for name in ("columns", "hierarchies", "privacy")}
    if job:
        addresses |= {
            "run": f"/runs/{job}",
            "lattice": f"/runs/{job}/lattice",
            "download": f"/runs/{job}#download",
        }
    return addresses
