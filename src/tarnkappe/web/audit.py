"""An audit log on a page: verified, with its head, the newest entries first."""

from __future__ import annotations

from typing import Any

from tarnkappe.web.plain_details import plain_details
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import notice, table, tag

NEWEST = 200


def show_log(visit: Visit, log: dict[str, Any]) -> None:
    """The entries of a log, which was verified when it was read."""
    notice("good", visit.t("log.whole", number=visit.n(log["number"])))
    tag("p", visit.t("log.head"), "soft small")
    tag("code", log["head"], "formula")
    rows = [
        [entry["time"][:19].replace("T", " "), entry["event"], plain_details(entry["details"])]
        for entry in reversed(log["entries"][-NEWEST:])
    ]
    header = [visit.t(f"log.{key}") for key in ("time", "event", "details")]
    table(header, rows, label=visit.t("log.title"), heads=False)
