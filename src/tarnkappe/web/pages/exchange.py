"""The inbox of the exchange: requests of others, what is recommended and why, and the decision."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from tarnkappe.exchange.desk.states import RequestState
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.audit import show_log
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import (
    area,
    box,
    button,
    card,
    empty,
    field,
    figure,
    header_row,
    link,
    notice,
    scroll,
    table,
    tag,
    title,
)
from tarnkappe.web.work import Watch, start_once

OPEN = (RequestState.RECEIVED, RequestState.CHECKED, RequestState.HALF_AGREED)
BADGES = {
    RequestState.ACCEPTED: "good",
    RequestState.SENT: "good",
    RequestState.DELIVERED: "good",
    RequestState.REJECTED: "bad",
    RequestState.EXPIRED: "warn",
}


@page("/exchange", "exchange.title", rights=(Right.REVIEW, Right.READ_LOG))
async def exchange(visit: Visit, parts: dict[str, str]) -> None:
    """All requests of a site; or, with a digest, one of them."""
    title(visit.t("exchange.title"), visit.t("exchange.lead"))
    sites = visit.house.exchange.names(visit.who)
    if not sites:
        empty(visit.t("exchange.none"), visit.t("exchange.none_help"))
        tag("pre", visit.t("exchange.none_example"))
        return
    site = parts.get("site", sites[0])
    if len(sites) > 1:
        with box("links card", "nav", aria_label=visit.t("exchange.sites")):
            for name in sites:
                link(name, _address(name), aria_current="page" if name == site else None)
    if "request" in parts:
        found = await aside(visit.house.exchange.request, site, parts["request"], visit.who)
        with box("", "p"):
            link(visit.t("exchange.back"), _address(site))
        text = None
        if found["preview"] is not None:
            show = visit.house.exchange.preview_text
            text = await aside(show, site, parts["request"], visit.who, visit.language)
        _request(visit, site, found, text)
        return
    _inbox(visit, site, await aside(visit.house.exchange.requests, site, visit.who))
    if visit.who.may(Right.READ_LOG):
        with card(visit.t("log.title")):
            show_log(visit, await aside(visit.house.exchange.log, site, visit.who))


def _address(site: str, digest: str = "") -> str:
    return "/exchange?" + urlencode({"site": site, **({"request": digest} if digest else {})})


def _inbox(visit: Visit, site: str, requests: list[dict[str, Any]]) -> None:
    if not requests:
        empty(visit.t("exchange.empty"), visit.t("exchange.empty_help"))
        return
    with card(visit.t("exchange.requests")), scroll(visit.t("exchange.requests")), box("", "table"):
        header_row([visit.t(f"exchange.{key}") for key in ("request", "from", "purpose", "state")])
        with box("", "tbody"):
            for each in sorted(
                requests, key=lambda request: (request["state"] not in OPEN, request["received"])
            ):
                with box("", "tr"):
                    with box("", "th", scope="row"):
                        link(each["id"], _address(site, each["digest"]))
                    tag("td", f"{each['requester']} ({each['institution']})")
                    tag("td", visit.t(f"purposes.{each['purpose']}"))
                    with box("", "td"):
                        _badge(visit, each["state"])


def _badge(visit: Visit, state: str) -> None:
    tag(
        "span",
        visit.t(f"request_states.{state.replace(' ', '_')}"),
        f"badge {BADGES.get(RequestState(state), '')}",
    )


def _request(visit: Visit, site: str, found: dict[str, Any], text: str | None) -> None:
    t = visit.t
    with card(t("exchange.asked")):
        _badge(visit, found["state"])
        anchor = found["anchor"]
        rows = [
            [t("exchange.from"), f"{found['requester']} ({found['institution']})"],
            [t("exchange.purpose"), t(f"purposes.{found['purpose']}")],
            [t("exchange.question"), found["question"]],
            [t("exchange.whose"), f"{anchor['attribute']} = {', '.join(map(str, anchor['values']))}"],
            [t("exchange.wanted"), ", ".join(each["name"] for each in found["wanted"])],
            [t("exchange.operation"), t(f"operations.{found['operation'].replace('-', '_')}")],
        ]
        if found["legal_basis"]:
            said = ", ".join(f"{name}: {reference}" for name, reference in found["legal_basis"].items())
            rows.append([t("exchange.legal_basis"), said])
        table([t("exchange.what"), t("exchange.value")], rows, label=t("exchange.asked"))
        if found["state"] in OPEN and visit.who.may(Right.REVIEW):
            _check_button(visit, site, found["digest"])
    if text is not None:
        with card(t("exchange.preview")), scroll(t("exchange.preview")):
            tag("pre", text)
    if found["recommendation"]:
        _recommendation(visit, found["recommendation"])
    if found["state"] in OPEN[1:] and visit.who.may(Right.DECIDE):
        _decision(visit, site, found["digest"])


def _check_button(visit: Visit, site: str, digest: str) -> None:
    async def check() -> None:
        with shown_errors():
            job = await start_once(visit, "request-check", {"site": site, "request": digest})
            place.clear()
            with place:
                Watch(visit, job, lambda: ui.navigate.to(_address(site, digest)))

    button(visit.t("exchange.check"), check)
    place = box("result")


def _recommendation(visit: Visit, found: dict[str, Any]) -> None:
    t = visit.t
    with card(t("exchange.recommendation")):
        kind = "bad" if found["verdict"] == "refuse" else "good"
        notice(kind, t(f"verdicts.{found['verdict'].replace(' ', '_')}"))
        if found["rows"] is not None:
            with box("figures"):
                figure(visit.n(found["rows"]), t("exchange.records", base=visit.n(found["base"])))
                figure(visit.n(found["k"]), t("exchange.k"))
                figure(visit.n(found["l"]), t("exchange.l"))
        rows = [[step["step"], step["question"], step["reply"], step["answer"]] for step in found["steps"]]
        header = [t(f"exchange.{key}") for key in ("step", "asked_itself", "reply", "answer")]
        table(header, rows, label=t("exchange.steps"))
        if found["attributes"]:
            tag("h3", t("exchange.attributes"))
            rows = [[each["attribute"], each["action"], each["reason"]] for each in found["attributes"]]
            header = [t(f"exchange.{key}") for key in ("attribute", "action", "reason")]
            table(header, rows, label=t("exchange.attributes"))
        human = [rule for rule in found["rules"] if rule["outcome"] == "needs a human"]
        if human:
            tag("h3", t("exchange.human"))
            rows = [[rule["title"], str(rule["paragraph"]), "; ".join(rule["evidence"])] for rule in human]
            header = [t(f"exchange.{key}") for key in ("rule", "paragraph", "evidence")]
            table(header, rows, label=t("exchange.human"))


def _decision(visit: Visit, site: str, digest: str) -> None:
    said = {"reason": "", "key": ""}
    with card(visit.t("exchange.decide")):
        tag("p", visit.t("exchange.decide_help"), "soft")
        area(visit.t("exchange.why"), "", lambda text: said.update(reason=text), rows=3, live=True)
        hint = visit.t("exchange.key_help")
        field(
            visit.t("exchange.key"),
            "",
            lambda key: said.update(key=key),
            hint=hint,
            kind="password",
            live=True,
        )

        async def decide(accepts: bool) -> None:
            with shown_errors():
                decide_now = visit.house.exchange.decide_with_key
                reason, key = said["reason"], said["key"]
                await aside(decide_now, site, digest, visit.who, accepts=accepts, reason=reason, key=key)
                ui.navigate.to(_address(site, digest))

        with box("line"):
            button(visit.t("exchange.accept"), lambda: decide(True), "main")
            button(visit.t("exchange.reject"), lambda: decide(False), "danger")
