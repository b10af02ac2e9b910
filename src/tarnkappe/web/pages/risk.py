"""How risky a release is: measures for three kinds of attackers, and attacks replayed on it."""

from __future__ import annotations

from typing import Any

from tarnkappe.risk import ATTACKS
from tarnkappe.service.jobs import JobRecord
from tarnkappe.service.people import Right
from tarnkappe.web.aside import aside
from tarnkappe.web.errors import shown_errors
from tarnkappe.web.pages.release_tabs import tabs
from tarnkappe.web.path import steps
from tarnkappe.web.site import page
from tarnkappe.web.visit import Visit
from tarnkappe.web.widgets import box, button, card, choice, details, empty, figure, notice, table, tag, title
from tarnkappe.web.work import Watch, beside, figures

HAVING = (
    "register-linking",
    "complementary-release",
    "sensitive-join",
    "temporal",
    "minimality",
    "differencing",
    "reconstruction",
    "knowledge-rules",
    "membership",
    "anatomy-membership",
    "anatomy-order",
)
"""Attacks that need something beside the release; the command line and the REST API take it."""
REPLAYED = tuple(name for name in ATTACKS.names if name not in HAVING)


@page("/runs/{job}/risk", "risk.title", rights=(Right.PUBLISH,))
async def risk(visit: Visit, parts: dict[str, str]) -> None:
    """Check the release, if that was not done yet, and show what was found."""
    job = await aside(visit.house.jobs.get, parts["job"], visit.who)
    steps(visit, "lattice", str(job.document.get("input", {}).get("file", "")), job.id)
    title(visit.t("risk.title"), visit.t("risk.lead"))
    tabs(visit, job.id, "risk")
    Watch(visit, job, lambda: _check(visit, job))


async def _check(visit: Visit, job: JobRecord) -> None:
    checked = await beside(visit, "check", released(job))
    Watch(visit, checked, lambda: _found(visit, job, checked.id))


def released(job: JobRecord) -> dict[str, Any]:
    """The release of a job as the input of another, with the roles of the columns that are left."""
    columns = {
        name: {"role": plan["role"]}
        for name, plan in job.document.get("columns", {}).items()
        if plan.get("role") != "identifier"
    }
    return {"input": {"job": job.id}, "columns": columns}


async def _found(visit: Visit, job: JobRecord, checked: str) -> None:
    found = await aside(figures, visit, checked)
    with box("figures"):
        figure(visit.n(found["k"]), visit.t("risk.k"))
        figure(visit.n(found["uniques"]), visit.t("risk.uniques"))
        figure(_percent(visit, found["risk"]["prosecutor_max"]), visit.t("risk.highest"))
        figure(_percent(visit, found["risk"]["prosecutor_mean"]), visit.t("risk.mean"))
    with card(visit.t("risk.attacks")):
        _attacks(visit, found["attacks"])
    with card(visit.t("risk.replay")):
        _replay(visit, job)
    if found["sensitive"]:
        with card(visit.t("risk.sensitive")):
            _sensitive(visit, found["sensitive"])
    with card(visit.t("risk.worst")):
        rows = [
            [_group(each["labels"]), visit.n(each["size"]), _percent(visit, each["risk"])]
            for each in found["worst"]
        ]
        header = [visit.t(f"risk.{key}") for key in ("group", "size", "chance")]
        table(header, rows, label=visit.t("risk.worst"), numbers=(1, 2))


def _group(labels: dict[str, str]) -> str:
    return ", ".join(f"{name}: {label}" for name, label in labels.items())


def _attacks(visit: Visit, attacks: list[dict[str, Any]]) -> None:
    if not attacks:
        empty(visit.t("risk.no_attacks"), visit.t("risk.no_attacks_help"))
        return
    rows = [
        [_attacked(visit, each), visit.n(each["victims"]), _percent(visit, each["share"])] for each in attacks
    ]
    header = [visit.t(f"risk.{key}") for key in ("attack", "victims", "share")]
    table(header, rows, label=visit.t("risk.attacks"), numbers=(1, 2))


def _attacked(visit: Visit, each: dict[str, Any]) -> str:
    """An attack with what it learns: there is one row for every sensitive column."""
    name = visit.t(f"attacks.{each['attack']}.title")
    columns = (each["parameters"].get("through"), each["parameters"].get("column"))
    learned = " → ".join(filter(None, columns))  # what is excluded, and what is learned by that
    return visit.t("risk.attack_on", attack=name, column=learned) if learned else name


def _sensitive(visit: Visit, columns: dict[str, dict[str, Any]]) -> None:
    keys = ("distinct_l", "entropy_l", "t_equal")
    rows = [[name, *(visit.n(found.get(key)) for key in keys)] for name, found in columns.items()]
    header = [visit.t("risk.column"), *(visit.t(f"risk.{key}") for key in keys)]
    table(header, rows, label=visit.t("risk.sensitive"), numbers=(1, 2, 3))


def _replay(visit: Visit, job: JobRecord) -> None:
    chosen = {"attack": REPLAYED[0]}

    def choose(name: str) -> None:
        chosen["attack"] = name

    async def start() -> None:
        with shown_errors():
            document = {**released(job), "attack": {"name": chosen["attack"]}}
            replayed = await beside(visit, "attack", document)
            place.clear()
            with place:
                Watch(visit, replayed, lambda: _outcome(visit, replayed.id))

    options = {name: visit.t(f"attacks.{name}.title") for name in REPLAYED}
    tag("p", visit.t("risk.replay_help"), "soft")
    with box("row"):
        choice(visit.t("risk.which"), options, chosen["attack"], choose)
        button(visit.t("risk.start"), start, "main")
    place = box("result")


async def _outcome(visit: Visit, job_id: str) -> None:
    result = await aside(visit.house.jobs.result, job_id, visit.who)
    found = result["figures"]
    tag("p", visit.t(f"attacks.{found['attack']}.says"))
    if found["succeeds"]:
        notice(
            "warn", visit.t("risk.succeeds", victims=visit.n(found["victims"])), visit.t("risk.succeeds_help")
        )
    else:
        notice("good", visit.t("risk.fails"))
    with details(visit.t("risk.details")):
        tag("pre", str(result["text"]))


def _percent(visit: Visit, share: float | None) -> str:
    return "–" if share is None else f"{visit.n(round(100 * share, 2))} %"
