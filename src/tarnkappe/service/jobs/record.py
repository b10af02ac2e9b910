"""What is kept of a job."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import Reason


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclasses.dataclass(frozen=True)
class JobRecord:
    """A job.

    Attributes:
        id: its name.
        kind: what it does.
        owner: the id of whose it is; nobody else sees it.
        document: what was asked.
        state: where it stands.
        created: when it was asked for, in seconds since 1970.
        started: when it last began.
        finished: when it ended.
        attempts: how often it began.
        exit_code: of an ended one, as of the command: 0; 1 if a guarantee does not hold; 2 if it failed.
        error: why it failed, or why it began anew: a reason, or the text of an older version.
    """

    id: str
    kind: str
    owner: str
    document: Mapping[str, Any] = dataclasses.field(repr=False)
    state: JobState
    created: float
    started: float | None = None
    finished: float | None = None
    attempts: int = 0
    exit_code: int | None = None
    error: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state in ENDED

    def to_dict(self) -> dict[str, Any]:
        """Everything but the document, for JSON."""
        told = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del told["document"]
        reason = self.error.document() if isinstance(self.error, Reason) else None
        return told | {"state": str(self.state), "error": str(self.error), "reason": reason}


def record_of(row: sa.Row[Any]) -> JobRecord:
    """A job as the store has it."""
    said = dict(row._mapping)
    said |= {"document": json.loads(said["document"]), "state": JobState(said["state"])}
    return JobRecord(**said | {"error": _reason(said["error"])})


def kept(reason: Reason | None) -> str:
    """Why a job failed, as the store has it: with code and arguments, for pages in any language."""
    return "" if reason is None else json.dumps(reason.document(), ensure_ascii=False)


def _reason(text: str) -> str:
    """What `kept` has made; version 0.1.0 kept the sentence alone."""
    if text.startswith("{"):
        with contextlib.suppress(ValueError, KeyError):
            return Reason.again(json.loads(text))
    return text
