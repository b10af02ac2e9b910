"""Check a request of the exchange, as its steward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.service.people import Right
from tarnkappe.service.work.documents import RestRequestCheck
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome


class RequestCheck(JobKind):
    """Let the desk of a site check a request, and keep its recommendation.

    `roles` gives attributes another class for this request, `reasons` says why where that protects less, and
    `expert` is the finding of an expert, with the keys of `ExpertDetermination`.
    """

    name = "request-check"
    right = Right.REVIEW
    document = RestRequestCheck
    restarts = False

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        if "site" not in document or not isinstance(document.get("request"), str):
            raise ParameterError(
                "service.name-site-digest-request", "name the 'site' and the digest of the 'request'"
            )
        for name in ("roles", "reasons"):
            said = document.get(name, {})
            if not isinstance(said, Mapping) or not all(isinstance(text, str) for text in said.values()):
                raise ParameterError(
                    "service.text-attribute-names",
                    "'{name}' is a text for each attribute that it names",
                    name=name,
                )
        if not isinstance(document.get("expert", {}), Mapping):
            raise ParameterError(
                "service.expert-finding-expert-parts",
                "'expert' is the finding of an expert, with its parts by name",
            )

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        from tarnkappe.exchange.facts import ExpertDetermination
        from tarnkappe.exchange.reports import physician_report  # loads a database library
        from tarnkappe.exchange.site import ExchangeSite
        from tarnkappe.table import Role

        expert = document.get("expert")
        roles = {name: Role.parse(role) for name, role in document.get("roles", {}).items()}
        with ExchangeSite.load(document["site"]) as own:
            desk, digest = own.desk(), document["request"]
            work.progress("checking the request", 0, 1)
            found_by = None if expert is None else ExpertDetermination.from_dict(expert)
            reasons = document.get("reasons", {})
            desk.check(digest, document["by"], roles, less_protected=reasons, expert=found_by)
            found = desk.recommendation(digest)
            text = physician_report(found, desk.request(digest).to_dict())
            return JobOutcome({**found, "state": str(desk.state(digest))}, text)
