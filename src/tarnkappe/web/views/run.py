"""One run: how far it is, then the verdict, what it costs, releases nearly as good, and what to take."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from typing import Any

from fastapi import Response

from tarnkappe.errors import ParameterError
from tarnkappe.report.verdict import LEAST_ALIKE, VerdictCode
from tarnkappe.service.downloads import Form
from tarnkappe.service.jobs import JobRecord, JobState
from tarnkappe.service.people import Right
from tarnkappe.service.work.anonymize import verdict_on
from tarnkappe.texts import told
from tarnkappe.web.addresses import PageRequest, redirect, rendered, sent
from tarnkappe.web.reasons import in_words
from tarnkappe.web.rendering import show, show_part
from tarnkappe.web.texts import has
from tarnkappe.web.views.job_pages import beside_job, file_of, kind_name, progress_of, views_of, way
from tarnkappe.web.visit import Visit

PUBLISH = (Right.PUBLISH,)
FORMATS = ("csv", "csv-for-excel", "xlsx", "parquet", "arrow")
SIGNS = {"unfit": "bad", "open": "warn", "weak": "warn", "fit": "good"}


@rendered("/runs/{job}", rights=PUBLISH)
def run(visit: Visit, asked: PageRequest) -> Response:
    """Progress while it runs, the verdict and everything else when it has ended."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    content: dict[str, Any] = {"job": job, "kind": kind_name(visit, job.kind), "file": file_of(job)}
    content |= {"way": way(job, "run"), "key": secrets.token_hex(16), "progress": None}
    if not job.has_ended:
        content["progress"] = progress_of(visit, job)
    elif job.state is not JobState.DONE:
        content["why"] = told(visit.language, job.error)
    elif job.kind == "anonymize":
        content |= _result(visit, job, waits=asked.query.get("alternatives") != "1")
    else:
        content["said"] = visit.house.jobs.result(job.id, visit.who)["text"]
    return show(visit, "run.html", **content)


@rendered("/runs/{job}/progress", rights=PUBLISH, is_page=False)
def progress(visit: Visit, asked: PageRequest) -> Response:
    """The part of the page that changes while a job runs; once it has ended the page is loaded again."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    told = None if job.has_ended else progress_of(visit, job)
    return show_part(visit, "run.html", "working", job=job, progress=told)


@rendered("/runs/{job}/alternatives", rights=PUBLISH, is_page=False)
def alternatives(visit: Visit, asked: PageRequest) -> Response:
    """The part of the page with other releases; looking for them begins when it is first shown."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    again = asked.query.get("again", "")[:32]
    return show_part(visit, "run.html", "alternatives", **_alternatives(visit, job, again))


@sent("/runs/{job}/cancel", rights=PUBLISH)
def cancel(visit: Visit, asked: PageRequest) -> Response:
    """End it without a result."""
    visit.house.jobs.cancel(asked.parts["job"], visit.who)
    return redirect(f"/runs/{asked.parts['job']}")


@sent("/runs/{job}/finish", rights=PUBLISH)
def finish(visit: Visit, asked: PageRequest) -> Response:
    """End the search with the best found so far."""
    visit.house.jobs.finish_early(asked.parts["job"], visit.who)
    return redirect(f"/runs/{asked.parts['job']}")


@sent("/runs/{job}/again", rights=PUBLISH)
def again(visit: Visit, asked: PageRequest) -> Response:
    """The same once more; who clicks twice gets one run."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    new = visit.house.jobs.start(job.kind, job.document, visit.who, asked.field("key") or None)
    return redirect(f"/runs/{new.id}")


@sent("/runs/{job}/take", rights=PUBLISH)
def take(visit: Visit, asked: PageRequest) -> Response:
    """Release one of the alternatives in place of the best."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    found = beside_job(visit, "alternatives", job, without_levels(job.document)).figures
    options = [] if found is None else found["alternatives"]
    number = asked.field("option")
    if not number.isdecimal() or int(number) >= len(options):
        raise ParameterError("web.choose-alternatives", "choose one of the alternatives")
    document = at_levels(job.document, options[int(number)]["levels"])
    new = visit.house.jobs.start("anonymize", document, visit.who, asked.field("key") or None)
    return redirect(f"/runs/{new.id}")


def without_levels(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without fixed levels: so every release of a table has the same alternatives."""
    kept = {key: copy.deepcopy(value) for key, value in document.items() if key != "output"}
    for said in kept.get("columns", {}).values():
        if isinstance(said, dict):
            said.pop("level", None)
    return kept


def at_levels(document: Mapping[str, Any], levels: Mapping[str, int]) -> dict[str, Any]:
    """The document with one level for each of some columns."""
    chosen = copy.deepcopy(dict(document))
    for name, level in levels.items():
        said = {key: each for key, each in chosen["columns"][name].items() if not key.endswith("level")}
        chosen["columns"][name] = {**said, "level": level}
    return chosen


def _result(visit: Visit, job: JobRecord, *, waits: bool) -> dict[str, Any]:
    told = visit.house.jobs.result(job.id, visit.who)
    found = told["figures"]
    has_lattice = bool(found.get("levels"))  # where every cell has its own level there is no other node
    return {
        "found": found,
        "views": [view for view in views_of(visit, job.id) if has_lattice or view[0] != "lattice"],
        "loss": _loss(visit, found),
        "verdict": _verdict(visit, job, found),
        "promises": _promises(visit, found),
        "levels": _levels(visit, found),
        "formats": {form: Form(form).suffix for form in FORMATS},
        "files": told["files"],
        **(_alternatives(visit, job, is_first=waits) if has_lattice else {}),
    }


def _verdict(visit: Visit, job: JobRecord, found: dict[str, Any]) -> dict[str, Any]:
    verdict = verdict_on(job.document, found)
    code = str(verdict.code)
    values: dict[str, object] = {
        "columns": ", ".join(verdict.unprotected),
        "alike": verdict.alike,
        "least": LEAST_ALIKE["internal"],
        "audience": visit.t(f"audience.{verdict.audience}") if verdict.audience else "",
    }
    roles: dict[str, list[str]] = {}
    for name, said in job.document.get("columns", {}).items():
        roles.setdefault(str(said.get("role", "") if isinstance(said, Mapping) else said), []).append(name)
    return {
        "kind": SIGNS[code.partition(".")[0]],
        "text": visit.t(f"verdict.{code.replace('.', '_')}", **values),
        "next_audience": _next_audience(visit, verdict.code, verdict.audience),
        "protected": {
            name: ", ".join(_named(visit, each) for each in said) for name, said in verdict.protected.items()
        },
        "identifiers": ", ".join(roles.get("identifier", [])),
        "coarser": ", ".join(roles.get("quasi-identifier", [])),
    }


def _next_audience(visit: Visit, code: VerdictCode, audience: str) -> str:
    """What a wider circle would ask for."""
    wider = {"internal": "partner", "partner": "public"}.get(audience)
    if code is not VerdictCode.FIT or wider is None:
        return ""
    return visit.t("verdict.wider", audience=visit.t(f"audience.{wider}"), least=LEAST_ALIKE[wider])


def _named(visit: Visit, promise: Mapping[str, Any]) -> str:
    key = f"models.{promise['model']}.title"
    title = visit.t(key) if has(key) else str(promise["model"])
    demanded = _demanded(promise, besides=("column",))
    return f"{title} ({demanded})" if demanded else title


def _demanded(promise: Mapping[str, Any], besides: tuple[str, ...] = ()) -> str:
    unsaid = ("model", "value", "holds", *besides)
    return ", ".join(f"{name} = {value}" for name, value in promise.items() if name not in unsaid and value)


def _loss(visit: Visit, found: dict[str, Any]) -> str:
    name = visit.t(f"losses.{found['loss_measure']}")
    unproven = "loss_levels" if found.get("optimal_levels") else "loss_found"
    return visit.t("run.loss_optimal" if found["optimal"] else f"run.{unproven}", loss=name)


def _promises(visit: Visit, found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for each in found["verified"]:
        key = f"models.{each['model']}.title"
        holds = visit.t("run.holds" if each["holds"] else "run.broken")
        title = visit.t(key) if has(key) else each["model"]
        rows.append([title, _demanded(each), visit.n(each["value"]), holds])
    return rows


def _levels(visit: Visit, found: dict[str, Any]) -> list[list[str]]:
    stories = {story["name"]: story for story in found.get("stories", [])}
    rows = []
    for name, level in (found.get("levels") or {}).items():
        story = stories.get(name, {})
        before, after = story.get("distinct_before"), story.get("distinct_after")
        rows.append([name, str(level), visit.n(before), visit.n(after)])
    return rows


def _alternatives(visit: Visit, job: JobRecord, again: str = "", is_first: bool = False) -> dict[str, Any]:
    """What the part with other releases shows; the page itself comes without waiting for them."""
    content: dict[str, Any] = {"job": job, "key": secrets.token_hex(16), "options": [], "trouble": ""}
    if is_first:
        return content | {"seeking": True}
    beside = beside_job(visit, "alternatives", job, without_levels(job.document), again)
    if beside.figures is None:
        is_over = beside.job is None or beside.job.has_ended
        return content | {"seeking": not is_over, "trouble": beside.trouble if is_over else ""}
    levels = visit.house.jobs.result(job.id, visit.who)["figures"].get("levels")
    options = beside.figures["alternatives"]
    return content | {
        "seeking": False,
        "options": [
            {
                "is_best": number == 0,
                "is_chosen": each["levels"] == levels,
                "words": _words(visit, each["words"]),
                "keeps": _words(visit, each["keeps"]),
                "loses": _words(visit, each["loses"]),
                "more": visit.n(round(100 * each["difference"], 1)),
                "suppressed": visit.n(each["suppressed"]),
                "proven": each["proven"],
                "columns": list(each["words"]),
                "sample": [list(row.values()) for row in each["sample"]],
            }
            for number, each in enumerate(options)
        ],
    }


def _words(visit: Visit, words: Mapping[str, str]) -> dict[str, str]:
    return {name: in_words(visit.language, word) for name, word in words.items()}
