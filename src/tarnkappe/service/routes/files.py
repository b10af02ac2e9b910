"""Uploads."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tarnkappe.service.cursors import Cursor
from tarnkappe.service.kept import kept_about
from tarnkappe.service.routes.access import PROBLEMS, AfterCursor, Id, TheHouse, Who, name_next
from tarnkappe.service.routes.models import FileOut, KeptOut, Preview, ProposalIn

router = APIRouter(
    tags=["files"], responses={code: PROBLEMS[code] for code in (400, 401, 403, 404, 413, 422)}
)
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/files", summary="Upload a table or a hierarchy", status_code=201, openapi_extra=BODY)
async def upload(
    request: Request,
    house: TheHouse,
    who: Who,
    name: Annotated[
        str,
        Query(
            min_length=1, max_length=1000, description="Its suffix tells the format.", examples=["ward.csv"]
        ),
    ],
) -> FileOut:
    """Send the file as the body. It goes to the disk as it comes, and is refused if it is too large, not what
    its name says, or would become too large when it is unpacked.
    """
    return FileOut.model_validate(await house.files.receive(request.stream(), name, who))


@router.get("/files", summary="Your uploads")
def list_files(
    house: TheHouse,
    who: Who,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    after: AfterCursor = None,
) -> list[FileOut]:
    """The newest first. The header `Link` of an answer names the next piece, if there is one."""
    listed = house.files.list(who, limit + 1, None if after is None else Cursor.parse(after))
    name_next(response, "files", listed, limit)
    return [FileOut.model_validate(file) for file in listed[:limit]]


@router.get("/files/{file_id}", summary="An upload")
def get_file(file_id: Id, house: TheHouse, who: Who) -> FileOut:
    """Its name, size and hash. The file is not handed out here; who may run jobs on it sees its rows: a
    profile shows the first ones, and a query may return them all.
    """
    return FileOut.model_validate(house.files.get(file_id, who))


@router.delete("/files/{file_id}", summary="Delete an upload", status_code=204)
def remove_file(file_id: Id, house: TheHouse, who: Who) -> None:
    """With all that was made from it: its profile, its draft, every job and every release. Take along first
    what you want to keep.
    """
    house.remove_file(file_id, who)


@router.get("/files/{file_id}/kept", summary="What is kept about an upload")
def what_is_kept(file_id: Id, house: TheHouse, who: Who) -> list[KeptOut]:
    """The upload, what was decided about it, and every job with what it has made; all of it goes with it."""
    return [KeptOut.model_validate(each) for each in kept_about(house, file_id, who)]


@router.get("/files/{file_id}/profile", summary="Its columns, with proposed roles and why")
async def profile(file_id: Id, house: TheHouse, who: Who) -> dict[str, Any]:
    """A job looks at the table the first time."""
    return await house.profile(file_id, who)


@router.post("/files/{file_id}/proposal", summary="A whole release, with the reasons")
async def proposal(file_id: Id, given: ProposalIn, house: TheHouse, who: Who) -> dict[str, Any]:
    """What `tarn look` shows: how the file is read, what each column is and why, what is promised. What you
    state wins over what is found. `document` is the job of the kind `anonymize` that makes the release.
    """
    stated = given.model_dump(exclude_unset=True, exclude={"reading"}, by_alias=True)
    return await house.propose(file_id, stated, who, given.reading)


@router.post("/files/{file_id}/hierarchy", summary="How a column would generalize")
async def preview(file_id: Id, given: Preview, house: TheHouse, who: Who) -> dict[str, Any]:
    """The levels that a builder gives a column; without a builder, a proposal and why."""
    return await house.preview(file_id, given.column, given.hierarchy, who)
