"""The way from a file to its release, shown on every page of it."""

from __future__ import annotations

from tarnkappe.web.navigation import STEPS, step_addresses
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, link, tag


def steps(visit: Visit, current: str, file: str = "", job: str = "") -> None:
    """Where on the way the visitor is; what lies ahead is a link as soon as it can be visited."""
    addresses = step_addresses(file, job)
    with box("", "nav", aria_label=visit.t("steps.label")), box("steps", "ol"):
        for name in STEPS:
            with box("", "li"):
                now = "step" if name == current else None
                if name in addresses:
                    link(visit.t(f"steps.{name}"), addresses[name], aria_current=now)
                else:
                    tag("span", visit.t(f"steps.{name}"), aria_current=now)
