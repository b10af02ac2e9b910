"""Jobs: ask, watch, cancel, take the results."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Query, Request, Response
from fastapi import Path as InPath
from fastapi.responses import StreamingResponse

from tarnkappe.service.core import ServiceCore
from tarnkappe.service.cursors import Cursor
from tarnkappe.service.downloads import MEDIA, Form, Formulas, style_of, table_as, whole
from tarnkappe.service.jobs import JobRecord
from tarnkappe.service.people import Account
from tarnkappe.service.routes.access import PROBLEMS, AfterCursor, Id, TheHouse, Who, name_next
from tarnkappe.service.routes.examples import JOB_EXAMPLES
from tarnkappe.service.routes.models import JobIn, JobOut, ResultOut
from tarnkappe.service.work.anonymize import MANIFEST

router = APIRouter(
    tags=["jobs"], responses={code: PROBLEMS[code] for code in (400, 401, 403, 404, 409, 413, 422)}
)
HEARTBEAT = 15.0
"""Seconds after which a watcher hears something, so that both sides notice a line that was cut."""
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Of reports: they are looked at, nothing in them runs."""


@router.post("/jobs", summary="Ask for a job", status_code=201)
def start_job(
    given: Annotated[JobIn, Body(openapi_examples=JOB_EXAMPLES)],
    house: TheHouse,
    who: Who,
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=200, description="The same key again: the same job.")
    ] = None,
) -> JobOut:
    """The document is read at once, and refused with a reason if it makes no sense. The job runs in a process
    of its own, under the limits of this service, when its turn comes. A request that comes again with
    the same `Idempotency-Key` makes no second job; with another document it is refused.
    """
    return _told(house.jobs.start(given.kind, given.document, who, idempotency_key))


@router.get("/jobs", summary="Your jobs")
def list_jobs(
    house: TheHouse,
    who: Who,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    after: AfterCursor = None,
) -> list[JobOut]:
    """The newest first. The header `Link` of an answer names the next piece, if there is one."""
    listed = house.jobs.list(who, limit + 1, None if after is None else Cursor.parse(after))
    name_next(response, "jobs", listed, limit)
    return [_told(job) for job in listed[:limit]]


@router.get("/jobs/{job_id}", summary="A job")
def get_job(job_id: Id, house: TheHouse, who: Who) -> JobOut:
    """Where it stands."""
    return _told(house.jobs.get(job_id, who))


@router.get("/jobs/{job_id}/document", summary="What was asked")
def get_document(job_id: Id, house: TheHouse, who: Who) -> dict[str, Any]:
    """The document as it was sent."""
    return dict(house.jobs.get(job_id, who).document)


@router.delete("/jobs/{job_id}", summary="Forget a job", status_code=204)
def remove_job(job_id: Id, house: TheHouse, who: Who) -> None:
    """With all that it has made; one that runs is cancelled first."""
    house.jobs.remove(job_id, who)


@router.post("/jobs/{job_id}/cancel", summary="End a job without a result")
def cancel_job(job_id: Id, house: TheHouse, who: Who) -> JobOut:
    """One that has ended stays as it is."""
    return _told(house.jobs.cancel(job_id, who))


@router.post("/jobs/{job_id}/finish", summary="End the search with the best found so far")
def finish_job(job_id: Id, house: TheHouse, who: Who) -> JobOut:
    """The best found so far is verified and released like any other, and marked as not proven optimal."""
    house.jobs.finish_early(job_id, who)
    return _told(house.jobs.get(job_id, who))


@router.get(
    "/jobs/{job_id}/events",
    summary="Watch a job",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "Events."}
    },
)
async def watch_job(
    request: Request,
    job_id: Id,
    house: TheHouse,
    who: Who,
    after: Annotated[int, Query(ge=0, description="Only events with a greater number.")] = 0,
    last_event_id: Annotated[int, Header(ge=0)] = 0,
) -> StreamingResponse:
    """Server-sent events: `progress` with stage, done, total and note, and `state`, the last one the end."""
    await asyncio.to_thread(house.jobs.get, job_id, who)
    events = _events(house, job_id, who, max(after, last_event_id), request.state.is_current)
    return StreamingResponse(events, media_type="text/event-stream")


@router.get("/jobs/{job_id}/result", summary="What a job has found")
def get_result(job_id: Id, house: TheHouse, who: Who) -> ResultOut:
    """Figures, words, and the names of the files that it has made."""
    return ResultOut(**house.jobs.result(job_id, who))


@router.get(
    "/jobs/{job_id}/files/{what}",
    summary="Take what a job has made",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {
                media.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
                for media in MEDIA.values()
            },
            "description": "The file.",
        }
    },
)
def take_file(
    job_id: Id,
    what: Annotated[str, InPath(description="As `files` of the result names it.", examples=["release"])],
    house: TheHouse,
    who: Who,
    format: Annotated[Form, Query(description="Of tables.")] = Form.PARQUET,
    formulas: Annotated[
        Formulas, Query(description="In CSV: what becomes of texts that a spreadsheet program would run.")
    ] = Formulas.NEUTRALIZE,
) -> StreamingResponse:
    """Tables in the format that is asked for, everything else as it is. CSV is written as the file was that
    the rows come from, or for Excel. The manifest has the hash of the Parquet file.
    """
    path = house.jobs.file(job_id, what, who)
    house.log.append("result taken", {"job": job_id, "what": what, "by": who.name})
    is_table = path.suffix == ".parquet"
    name = Path(path.name).with_suffix(format.suffix) if is_table else Path(path.name)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if path.suffix == ".html":
        headers["Content-Security-Policy"] = PAGE_POLICY
    style = style_of(path.with_name(MANIFEST), format)
    content = table_as(path, format, formulas, style) if is_table else whole(path)
    return StreamingResponse(content, media_type=MEDIA[name.suffix], headers=headers)


async def _events(
    house: ServiceCore, job_id: str, who: Account, after: int, is_current: Callable[[], bool]
) -> AsyncIterator[str]:
    events = house.jobs.progress(job_id, who, after)
    following = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=HEARTBEAT)
            if not await asyncio.to_thread(is_current):
                return  # she was logged out, or may do less than when she began to watch
            if not done:
                yield ": still here\n\n"
                continue
            event = following.result()
            if event is None:
                return
            kind = "state" if "state" in event else "progress"
            yield f"id: {event['n']}\nevent: {kind}\ndata: {json.dumps(event)}\n\n"
            following = asyncio.ensure_future(anext(events, None))
    finally:
        following.cancel()


def _told(job: JobRecord) -> JobOut:
    return JobOut(**{key: value for key, value in job.to_dict().items() if key != "owner"})
