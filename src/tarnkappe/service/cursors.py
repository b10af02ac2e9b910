"""Long lists in pieces: a cursor names the last row that was seen; so none comes twice and none is missed.

Rows are ordered by when they were made and by their id, the newest first. What comes in between two pieces is
newer than both, and so is in neither.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses

import sqlalchemy as sa

from tarnkappe.errors import ParameterError

MOST_ROWS = 200


@dataclasses.dataclass(frozen=True)
class Cursor:
    """The last row that was seen.

    >>> Cursor.parse(str(Cursor(12.5, "a0")))
    Cursor(created=12.5, id='a0')
    """

    created: float
    id: str

    def __str__(self) -> str:
        return base64.urlsafe_b64encode(f"{self.created!r} {self.id}".encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """The cursor that a list was answered with."""
        try:
            created, _, row = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(" ")
            return cls(float(created), row)
        except (ValueError, binascii.Error):
            raise ParameterError(
                "service.no-cursor-take-last", "this is no cursor: take the one of the last answer"
            ) from None


def after(table: sa.Table, cursor: Cursor | None) -> sa.ColumnElement[bool]:
    """The rows of a table that come after a cursor; all of them if there is none."""
    if cursor is None:
        return sa.true()
    is_older = table.c.created < cursor.created
    return sa.or_(is_older, sa.and_(table.c.created == cursor.created, table.c.id < cursor.id))
