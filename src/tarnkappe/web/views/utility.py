"""What a release is good for: what may be told to everybody, and what stays with those who may publish."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Response

from tarnkappe.report.column_pictures import draw_story, ends
from tarnkappe.report.release_page import UNNAMED
from tarnkappe.service.jobs import JobRecord
from tarnkappe.service.people import Right
from tarnkappe.web.addresses import PageRequest, redirect, rendered
from tarnkappe.web.rendering import percent, picture, show, show_part
from tarnkappe.web.views.job_pages import beside_job, views_of, way
from tarnkappe.web.views.share_bar import draw_shares
from tarnkappe.web.visit import Visit

PUBLISH = (Right.PUBLISH,)
SUMMARIES = ("mean", "median", "deviation", "least", "greatest", "distinct")
MOST_PAIRS = 15


@rendered("/runs/{job}/utility", rights=PUBLISH)
def utility(visit: Visit, asked: PageRequest) -> Response:
    """The page; what has to be measured first comes into it when it is there."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    if job.kind != "anonymize" or not job.has_ended:
        return redirect(f"/runs/{job.id}")
    part = "internal" if asked.query.get("part") == "internal" else "public"
    content = _content(visit, job, part)
    return show(visit, "utility.html", way=way(job, "lattice"), views=views_of(visit, job.id), **content)


@rendered("/runs/{job}/utility/{part}", rights=PUBLISH, is_page=False)
def utility_part(visit: Visit, asked: PageRequest) -> Response:
    """The part that is filled when it was measured."""
    job = visit.house.jobs.get(asked.parts["job"], visit.who)
    part = "internal" if asked.parts["part"] == "internal" else "public"
    return show_part(visit, "utility.html", "measured", **_content(visit, job, part))


def _content(visit: Visit, job: JobRecord, part: str) -> dict[str, Any]:
    document = {key: value for key, value in job.document.items() if key != "output"}
    beside = beside_job(visit, "utility", job, {**document, "release": {"job": job.id}})
    content: dict[str, Any] = {"job": job, "part": part, "beside": beside, "columns": []}
    found = beside.figures
    if found is None:
        is_over = beside.job is None or beside.job.has_ended
        return content | {"seeking": not is_over, "trouble": beside.trouble if is_over else ""}
    told = found[part]
    content |= {"seeking": False, "trouble": "", "told": told, "columns": _columns(visit, told["columns"])}
    if part == "internal":
        stories = visit.house.jobs.result(job.id, visit.who)["figures"].get("stories") or []
        content |= {
            "stories": [_story(visit, story) for story in stories],
            "summaries": _summaries(visit, told["summaries"], found["dates"]),
            "pairs": _pairs(visit, told["dependence"]["pairs"]),
        }
    return content


def _columns(visit: Visit, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each column: how many cells are exact, coarser or hidden, in words and as a bar."""
    rows = []
    for name, told in columns.items():
        shares = [told[key]["value"] for key in ("exact", "coarse", "hidden")]
        words = [
            visit.t(f"utility.{key}", share=percent(visit, share))
            for key, share in zip(("exact", "coarse", "hidden"), shares, strict=True)
            if share
        ]
        width = told["mean_width"]["value"]
        within = visit.t("utility.within", width=visit.n(width, 3)) if width is not None else ""
        label = ", ".join(words)
        rows.append({"name": name, "words": label, "within": within, "bar": draw_shares(shares, label)})
    return rows


def _story(visit: Visit, story: Mapping[str, Any]) -> dict[str, Any]:
    name = story["name"]
    drawn = draw_story(
        story, visit.t("utility.label", column=name), visit.t("utility.tip"), visit.t("utility.rare_tip")
    )
    return {
        "name": name,
        "before": visit.n(story["distinct_before"]),
        "after": visit.n(story["distinct_after"]),
        "lost": visit.n(round(100 * story["lost"], 1)),
        "picture": picture(drawn),
        "ends": [visit.t("utility.unnamed") if end == UNNAMED else end for end in ends(story)],
    }


def _summaries(visit: Visit, summaries: Mapping[str, Any], dates: Sequence[str]) -> list[list[str]]:
    """Before and after, for every figure that the scale of a column allows; dates are told in seconds."""
    rows = []
    for name, told in summaries.items():
        for key in SUMMARIES:
            if key in told:
                is_date = name in dates and key != "distinct"
                before, after = told[key]["original"], told[key]["release"]
                said = [_date(each) if is_date else visit.n(each) for each in (before, after)]
                rows.append([name, visit.t(f"utility.{key}"), *said])
    return rows


def _date(seconds: float | None) -> str:
    """A date that is counted in seconds."""
    if seconds is None:
        return "–"
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "–"


def _pairs(visit: Visit, pairs: list[dict[str, Any]]) -> list[list[str]]:
    """How two columns hang together before and after, the greatest change first."""
    known = [each for each in pairs if each["value"] is not None]
    known.sort(key=lambda each: -each["value"])
    return [
        [" × ".join(each["columns"]), visit.n(each["original"], 3), visit.n(each["release"], 3)]
        for each in known[:MOST_PAIRS]
    ]
