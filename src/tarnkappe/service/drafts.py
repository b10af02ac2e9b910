"""What was decided about a file so far: one draft a file, with a revision, so that no tab undoes another."""

from __future__ import annotations

import dataclasses
import datetime
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import ConflictError, Reason
from tarnkappe.service.people import Account, Right
from tarnkappe.service.tables import DRAFTS
from tarnkappe.state import Store


@dataclasses.dataclass(frozen=True)
class KeptDraft:
    """A draft as it was kept: its content, how often and when it was changed, and how long it is."""

    content: Mapping[str, Any]
    revision: int
    changed: float = 0.0
    bytes: int = 0


class Drafts:
    """The drafts of a house; each dies with its file."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock

    def load(self, file_id: str, who: Account) -> KeptDraft | None:
        """What was kept about one of her files."""
        who.require(Right.PUBLISH)
        mine = sa.select(DRAFTS).where(DRAFTS.c.file == file_id, DRAFTS.c.owner == who.id)
        with self._store.reading() as connection:
            row = connection.execute(mine).first()
        if row is None:
            return None
        return KeptDraft(json.loads(row.content), row.revision, row.changed, len(row.content))

    def save(self, file_id: str, who: Account, content: Mapping[str, Any], seen: int) -> int:
        """Keep a draft, if nobody has changed it since revision `seen` (0: there was none); its new revision.

        Raises:
            ConflictError: somebody has; what he kept stays, and nothing is written.
        """
        who.require(Right.PUBLISH)
        kept = {"content": json.dumps(content), "changed": self._clock(), "revision": seen + 1}
        mine = sa.and_(DRAFTS.c.file == file_id, DRAFTS.c.owner == who.id)
        with self._store.writing() as connection:
            row = connection.execute(sa.select(DRAFTS).where(mine)).first()
            if (0 if row is None else row.revision) != seen:
                raise ConflictError.because(_told(None if row is None else row.changed))
            if row is None:
                connection.execute(sa.insert(DRAFTS).values(file=file_id, owner=who.id, **kept))
            else:
                connection.execute(sa.update(DRAFTS).where(mine).values(kept))
        return seen + 1


def _told(changed: float | None) -> Reason:
    if changed is None:
        return Reason(
            "service.file-deleted-another-tab",
            "the file was deleted in another tab: your change was not kept",
        )
    when = datetime.datetime.fromtimestamp(changed, datetime.UTC).strftime("%H:%M:%S")
    return Reason(
        "service.changed-another-tab-utc",
        "this was changed in another tab at {when} UTC: your last change was not kept, the other one was; "
        "load the page again and repeat yours",
        when=when,
    )
