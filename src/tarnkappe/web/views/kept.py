"""What is kept about a table, and deleting all of it; afterwards the folder is searched for it."""

from __future__ import annotations

from fastapi import Response

from tarnkappe.service.kept import delete_and_search, kept_about
from tarnkappe.service.people import Right
from tarnkappe.web.addresses import PageRequest, rendered, sent
from tarnkappe.web.rendering import show
from tarnkappe.web.views.job_pages import kind_name
from tarnkappe.web.visit import Visit

PUBLISH = (Right.PUBLISH,)
OWN = ("upload", "draft")


@rendered("/files/{file}/kept", rights=PUBLISH)
def kept(visit: Visit, asked: PageRequest) -> Response:
    """Everything that came from an upload, with what each of it tells."""
    file = visit.house.files.get(asked.parts["file"], visit.who)
    parts = kept_about(visit.house, file.id, visit.who)
    rows = [
        {
            "what": visit.t(f"kept.{each.what}") if each.what in OWN else kind_name(visit, each.what),
            "address": "" if each.what in OWN else f"/runs/{each.id}",
            "shows": visit.t(f"kept.shows_{each.shows}"),
            "badge": {"raw": "bad", "internal": "warn", "released": "good"}[each.shows],
            "bytes": each.bytes,
            "created": each.created,
            "until": each.until,
        }
        for each in parts
    ]
    return show(
        visit,
        "kept.html",
        file=file,
        rows=rows,
        total=sum(each.bytes for each in parts),
        days=visit.house.settings.limits.keep_days,
    )


@sent("/files/{file}/delete", rights=PUBLISH)
def delete(visit: Visit, asked: PageRequest) -> Response:
    """Delete an upload with everything made from it, and show that it is gone."""
    file = visit.house.files.get(asked.parts["file"], visit.who)
    proof = delete_and_search(visit.house, file.id, visit.who)
    return show(visit, "deleted.html", file=file, proof=proof)
