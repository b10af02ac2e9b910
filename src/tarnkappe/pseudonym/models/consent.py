"""Graded consent: what somebody agrees to, for how long, and until he changes his mind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any


class ConsentScope(IntEnum):
    """What data are used for; who agrees to more agrees to less."""

    THIS_STUDY = 1
    DISEASE_AREA = 2
    ANY_MEDICAL_RESEARCH = 3


@dataclasses.dataclass(frozen=True)
class Consent:
    """A declaration of consent.

    >>> from datetime import UTC
    >>> given = Consent(ConsentScope.DISEASE_AREA, datetime(2031, 1, 1, tzinfo=UTC))
    >>> summer = datetime(2030, 7, 1, tzinfo=UTC)
    >>> given.covers(ConsentScope.THIS_STUDY, summer), given.covers(ConsentScope.ANY_MEDICAL_RESEARCH, summer)
    (True, False)
    >>> given.withdrawn(summer).covers(ConsentScope.THIS_STUDY, summer)
    False
    """

    scope: ConsentScope
    valid_until: datetime
    withdrawn_at: datetime | None = None

    def covers(self, use: ConsentScope, now: datetime) -> bool:
        """Whether a use is agreed to at a time."""
        is_withdrawn = self.withdrawn_at is not None and self.withdrawn_at <= now
        return use <= self.scope and now < self.valid_until and not is_withdrawn

    def withdrawn(self, now: datetime) -> Consent:
        """The same, withdrawn; who has withdrawn before has withdrawn then."""
        return dataclasses.replace(self, withdrawn_at=self.withdrawn_at or now)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "scope": int(self.scope),
            "valid_until": self.valid_until.isoformat(),
            "withdrawn_at": self.withdrawn_at and self.withdrawn_at.isoformat(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Consent:
        """From plain data."""
        gone = data["withdrawn_at"]
        return cls(
            ConsentScope(data["scope"]),
            datetime.fromisoformat(data["valid_until"]),
            None if gone is None else datetime.fromisoformat(gone),
        )
