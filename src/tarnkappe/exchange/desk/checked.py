"""A request with its checks and decisions, as the log proves them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from tarnkappe.errors import AccessError
from tarnkappe.exchange.desk.logged import (
    Logged,
)
from tarnkappe.exchange.desk.packages import Package
from tarnkappe.exchange.desk.states import RequestState
from tarnkappe.exchange.request import DataRequest

Signed = tuple[Mapping[str, Any], str]
"""What somebody said, and the signature under it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Checked:
    """The last check of a request, as it was made.

    Attributes:
        row: as it is kept.
        digest: stands for it: what decisions are about.
        time: when it was made.
        content: the recommendation, as plain data.
        package: the package, if there is one and it is still here.
        marks: who is in it, row by row.
    """

    row: sa.Row[Any]
    digest: str
    time: str
    content: Mapping[str, Any]
    package: Package | None
    marks: Sequence[bytes]


@dataclasses.dataclass(frozen=True, eq=False)
class Decision:
    """A decision that counts."""

    content: Mapping[str, Any]
    signature: str


@dataclasses.dataclass(frozen=True, eq=False)
class Whole:
    """A request with everything that was verified of it."""

    row: sa.Row[Any]
    request: DataRequest
    state: RequestState
    logged: Logged
    check: Checked | None = None
    decisions: Sequence[Decision] = ()

    @property
    def agreed(self) -> list[Decision]:
        """The decisions that accept the package."""
        return [each for each in self.decisions if each.content["accepts"] is True]

    def require_check(self) -> Checked:
        """The last check, which decisions are about."""
        if self.check is None:
            raise AccessError("exchange.request-not-been-checked", "the request has not been checked yet")
        return self.check
