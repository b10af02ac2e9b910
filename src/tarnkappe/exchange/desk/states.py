"""The states of a request and what leads from one to another: all that is not listed is refused."""

from __future__ import annotations

from enum import StrEnum

from tarnkappe.errors import AccessError


class RequestState(StrEnum):
    """Where a request stands."""

    RECEIVED = "received"
    CHECKED = "checked"
    HALF_AGREED = "half agreed"
    """One physician agreed; a second has to."""
    ACCEPTED = "accepted"
    """Everybody agreed; the package may leave and has not left."""
    SENT = "sent"
    """The requester has begun to fetch the package: it counts as having left, whatever became of the call."""
    REJECTED = "rejected"
    DELIVERED = "delivered"
    """The requester confirmed that he has the answer; it is not sent again."""
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class RequestEvent(StrEnum):
    """What can happen to a request."""

    CHECK = "check"
    AGREE_FIRST = "first agreement"
    AGREE_LAST = "last agreement"
    REJECT = "rejection"
    WITHDRAW = "withdrawal"
    EXPIRE = "expiry"
    CHECK_AGAIN = "return to the check"
    SEND = "sending"
    CONFIRM = "confirmation"


S, E = RequestState, RequestEvent
TRANSITIONS: dict[tuple[RequestState, RequestEvent], RequestState] = {
    (S.RECEIVED, E.CHECK): S.CHECKED,
    (S.CHECKED, E.CHECK): S.CHECKED,
    (S.HALF_AGREED, E.CHECK): S.CHECKED,
    (S.CHECKED, E.AGREE_FIRST): S.HALF_AGREED,
    (S.CHECKED, E.AGREE_LAST): S.ACCEPTED,
    (S.HALF_AGREED, E.AGREE_LAST): S.ACCEPTED,
    (S.RECEIVED, E.REJECT): S.REJECTED,
    (S.CHECKED, E.REJECT): S.REJECTED,
    (S.HALF_AGREED, E.REJECT): S.REJECTED,
    (S.RECEIVED, E.WITHDRAW): S.WITHDRAWN,
    (S.CHECKED, E.WITHDRAW): S.WITHDRAWN,
    (S.HALF_AGREED, E.WITHDRAW): S.WITHDRAWN,
    (S.RECEIVED, E.EXPIRE): S.EXPIRED,
    (S.CHECKED, E.EXPIRE): S.EXPIRED,
    (S.HALF_AGREED, E.EXPIRE): S.EXPIRED,
    (S.CHECKED, E.CHECK_AGAIN): S.RECEIVED,
    (S.HALF_AGREED, E.CHECK_AGAIN): S.RECEIVED,
    (S.ACCEPTED, E.CHECK_AGAIN): S.RECEIVED,
    (S.ACCEPTED, E.SEND): S.SENT,
    (S.SENT, E.SEND): S.SENT,
    (S.SENT, E.CONFIRM): S.DELIVERED,
    (S.REJECTED, E.CONFIRM): S.DELIVERED,
}
"""Everything that may happen."""

HELD_BACK = frozenset(start for start, event in TRANSITIONS if event is RequestEvent.CHECK_AGAIN)
"""The states in which there is a package that has not left."""

OPEN = frozenset({RequestState.RECEIVED, RequestState.CHECKED, RequestState.HALF_AGREED})
"""The states in which nothing is decided yet."""

ANSWERED = frozenset({RequestState.ACCEPTED, RequestState.SENT, RequestState.REJECTED})
"""The states in which the requester can fetch an answer."""


def after(state: RequestState, event: RequestEvent) -> RequestState:
    """The state that an event leads to.

    >>> after(RequestState.RECEIVED, RequestEvent.CHECK).value
    'checked'
    """
    if (state, event) not in TRANSITIONS:
        raise AccessError(
            "exchange.request-allows", "a request that is {state} allows no {event}", state=state, event=event
        )
    return TRANSITIONS[state, event]
