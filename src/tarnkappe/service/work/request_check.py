"""Check a request of the exchange, as its steward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.service.people import Right
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome


class RequestCheck(JobKind):
    """Let the desk of a site check a request, and keep its recommendation."""

    name = "request-check"
    right = Right.REVIEW
    sections = ("site", "request")
    restarts = False

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        if "site" not in document or not isinstance(document.get("request"), str):
            raise ParameterError("name the 'site' and the digest of the 'request'")

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        from tarnkappe.exchange.reports import physician_report  # loads a database library
        from tarnkappe.exchange.site import ExchangeSite

        with ExchangeSite.load(document["site"]) as own:
            desk, digest = own.desk(), document["request"]
            work.progress("checking the request", 0, 1)
            desk.check(digest, document["by"])
            found = desk.recommendation(digest)
            text = physician_report(found, desk.request(digest).to_dict())
            return JobOutcome({**found, "state": str(desk.state(digest))}, text)
