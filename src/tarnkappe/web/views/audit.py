"""Who did what: the audit log of the service, the newest entries first, page by page."""

from __future__ import annotations

from fastapi import Response

from tarnkappe.service.people import Right
from tarnkappe.web.addresses import PageRequest, rendered, sent
from tarnkappe.web.plain_details import plain_details
from tarnkappe.web.rendering import show, show_part
from tarnkappe.web.visit import Visit

READ = (Right.READ_LOG,)
SHOWN = 50


@rendered("/audit", rights=READ)
def audit(visit: Visit, asked: PageRequest) -> Response:
    """The newest entries, or those before a number."""
    before = asked.query.get("before", "")
    entries = visit.house.log.newest(SHOWN + 1, int(before[:18]) if before.isdecimal() else None)
    rows = [
        [entry.number, entry.time[:19].replace("T", " "), entry.event, plain_details(entry.details)]
        for entry in entries[:SHOWN]
    ]
    older = rows[-1][0] if len(entries) > SHOWN else None
    return show(visit, "audit.html", rows=rows, older=older, is_first=not before, verified=None)


@sent("/audit/verify", rights=READ)
def verify(visit: Visit, asked: PageRequest) -> Response:
    """Read the whole log and compute it again; what was changed, added or taken out is found."""
    del asked
    number = visit.house.log.verify()
    return show_part(visit, "audit.html", "verifying", verified=number, head=visit.house.log.head)
