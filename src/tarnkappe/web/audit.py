"""An audit log on a page: verified, with its head, the newest entries first."""

from __future__ import annotations

from typing import Any

from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import notice, table, tag

NEWEST = 200


def show_log(visit: Visit, log: dict[str, Any]) -> None:
    """The entries of a log, which was verified when it was read."""
    notice("good", visit.t("log.whole", number=visit.n(log["number"])))
    tag("p", visit.t("log.head"), "soft small")
    tag("code", log["head"], "formula")
    rows = [
        [entry["time"][:19].replace("T", " "), entry["event"], _plain(entry["details"])]
        for entry in reversed(log["entries"][-NEWEST:])
    ]
    header = [visit.t(f"log.{key}") for key in ("time", "event", "details")]
    table(header, rows, label=visit.t("log.title"), heads=False)


def _plain(value: Any) -> str:
    """Details without the signs of a program; what is not there is not mentioned.

    >>> _plain({"user": "eve", "columns": ["age", "sex"], "refused": None, "least": {"age": 2}})
    'user: eve, columns: age sex, least: age: 2'
    """
    if isinstance(value, dict):
        return ", ".join(
            f"{key}: {_plain(each)}" for key, each in value.items() if each not in (None, {}, [])
        )
    return " ".join(map(_plain, value)) if isinstance(value, list) else str(value)
