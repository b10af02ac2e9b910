"""Roles, and what each of them may do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from enum import StrEnum

from tarnkappe.errors import AccessError, ParameterError


class Right(StrEnum):
    """Something that not everybody may do."""

    PUBLISH = "publish"
    """Upload tables, run jobs on them, take the results."""
    REVIEW = "review"
    """See the requests of the exchange."""
    DECIDE = "decide"
    """Decide about them."""
    READ_LOG = "read-log"
    """Read and verify the audit log."""
    WATCH_GATE = "watch-gate"
    """See what a gate has answered."""
    FEDERATE = "federate"
    """See federations and start them."""
    MANAGE = "manage"
    """Say who may do what."""


class ServiceRole(StrEnum):
    """What somebody is in the house."""

    STEWARD = "steward"
    PHYSICIAN = "physician"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"
    OWNER = "owner"
    ADMIN = "admin"

    @classmethod
    def parse(cls, names: Iterable[str]) -> frozenset[ServiceRole]:
        """The roles with these names."""
        try:
            return frozenset(map(cls, names))
        except ValueError as error:
            raise ParameterError(
                "service.error-what-roles", "{error}: the roles are {what}", error=error, what=", ".join(cls)
            ) from None


RIGHTS: dict[ServiceRole, frozenset[Right]] = {
    ServiceRole.STEWARD: frozenset({Right.PUBLISH, Right.REVIEW, Right.FEDERATE}),
    ServiceRole.PHYSICIAN: frozenset({Right.REVIEW, Right.DECIDE}),
    ServiceRole.REVIEWER: frozenset({Right.REVIEW, Right.DECIDE}),
    ServiceRole.AUDITOR: frozenset({Right.READ_LOG, Right.WATCH_GATE}),
    ServiceRole.OWNER: frozenset({Right.PUBLISH, Right.WATCH_GATE}),
    ServiceRole.ADMIN: frozenset({Right.MANAGE}),
}
"""Who manages people does not see data: he would have to give himself another role, which is logged."""


@dataclasses.dataclass(frozen=True)
class Account:
    """Somebody who uses the service.

    Attributes:
        name: by which others know her; it may be somebody else's when she is gone.
        roles: what she is in the house.
        id: who she is; nobody else ever gets it. What she owns is owned by the id.
        has_used_name: whether somebody else had her name before.

    >>> ann = Account("ann", frozenset({ServiceRole.AUDITOR}))
    >>> ann.may(Right.READ_LOG), ann.may(Right.MANAGE)
    (True, False)
    """

    name: str
    roles: frozenset[ServiceRole]
    id: str = ""
    has_used_name: bool = False

    @property
    def rights(self) -> frozenset[Right]:
        """All that her roles allow."""
        return frozenset(right for role in self.roles for right in RIGHTS[role])

    def may(self, right: Right) -> bool:
        """Whether she may do something."""
        return right in self.rights

    def require(self, right: Right) -> None:
        """Refuse what she may not do."""
        if not self.may(right):
            able = " or ".join(role for role in ServiceRole if right in RIGHTS[role])
            raise AccessError(
                "service.needs-role-ask-manages",
                "this needs the role {able}: ask who manages the people of this service",
                able=able,
            )

    def require_own_name(self) -> None:
        """Refuse to speak by name, where others know people by names alone, for who got a used one."""
        if self.has_used_name:
            raise AccessError(
                "service.somebody-else-name",
                "somebody else had your name here before, and the other side knows people by name: ask who "
                "manages the people of this service for a name that nobody had",
            )
