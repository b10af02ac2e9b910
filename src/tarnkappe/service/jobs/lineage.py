"""Which uploads a job comes from: what was made from an upload goes with it, through any number of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import NotFoundError
from tarnkappe.service.tables import FILES, JOBS, LINEAGE

ID = re.compile(r"[0-9a-f]{32}")


def note_lineage(connection: sa.Connection, job_id: str, files: Iterable[str]) -> None:
    """A job comes from these uploads."""
    for file_id in sorted(set(files)):
        connection.execute(sa.insert(LINEAGE).values(job=job_id, file=file_id))


def uploads_behind(connection: sa.Connection, files: Iterable[str], jobs: Iterable[str]) -> set[str]:
    """The uploads behind what a document names, all of which must be there now.

    It was looked up before, without a lock: somebody may have deleted it since.
    """
    behind = set()
    for table, ids in ((FILES, set(files)), (JOBS, set(jobs))):
        there = set(connection.execute(sa.select(table.c.id).where(table.c.id.in_(ids))).scalars())
        if there != ids:
            raise NotFoundError(
                "service.what-document-names-deleted", "what the document names was deleted a moment ago"
            )
        behind |= there if table is FILES else set()
    of_jobs = sa.select(LINEAGE.c.file).where(LINEAGE.c.job.in_(set(jobs)))
    return behind | set(connection.execute(of_jobs).scalars())


def made_from(connection: sa.Connection, file_id: str) -> list[str]:
    """The jobs that come from an upload."""
    return list(connection.execute(sa.select(LINEAGE.c.job).where(LINEAGE.c.file == file_id)).scalars())


def without_upload(connection: sa.Connection) -> list[str]:
    """The jobs that come from an upload that is not there."""
    there = sa.select(FILES.c.id)
    return sorted(
        set(connection.execute(sa.select(LINEAGE.c.job).where(LINEAGE.c.file.not_in(there))).scalars())
    )


def named_in(document: Any) -> Iterator[str]:
    """All ids of files and jobs that a document names."""
    if isinstance(document, str):
        if ID.fullmatch(document):
            yield document
    elif isinstance(document, Mapping):
        for key, value in document.items():
            if key in ("file", "job") or not isinstance(value, str):
                yield from named_in(value)
    elif isinstance(document, list):
        for value in document:
            if not isinstance(value, str):
                yield from named_in(value)
