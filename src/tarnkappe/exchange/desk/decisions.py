"""What people decide, as they sign it.

A decision names the request, the check and the package by their digests, who decides, by which duty and
with which key, and when. The reason stays in the house, since it may tell about patients: what is signed is
the digest of it and a random number. So who gets a package can verify the decisions that let it go, and
learns no reason.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tarnkappe.errors import AccessError, ParameterError
from tarnkappe.exchange.staff import Duty
from tarnkappe.state import Statement

FIELDS = (
    "request",
    "check",
    "check_digest",
    "package",
    "accepts",
    "person",
    "duty",
    "public_key",
    "time",
    "reason",
    "salt",
)
PRIVATE = ("reason", "salt")
AHEAD = timedelta(minutes=5)
"""Clocks differ."""


def new_decision(**said: Any) -> dict[str, Any]:
    """A decision that can be signed now."""
    time = datetime.now(UTC).isoformat(timespec="microseconds")
    return {**said, "time": time, "salt": secrets.token_hex(16)}


def public_part(content: Mapping[str, Any]) -> dict[str, Any]:
    """What others may see of a decision, and what is signed."""
    said = {key: value for key, value in content.items() if key not in PRIVATE}
    reason = Statement("reason", {key: content.get(key) for key in PRIVATE})
    return {**said, "reason_digest": reason.digest}


def decision_statement(content: Mapping[str, Any]) -> Statement:
    """What somebody signs to decide."""
    return Statement("decision", public_part(content))


def require_form(content: Mapping[str, Any]) -> None:
    """Refuse what is no decision, before anything of it is believed."""
    texts = set(FIELDS) - {"check", "accepts", "package"}
    good = set(content) == set(FIELDS) and all(isinstance(content[name], str) for name in texts)
    good = good and type(content["check"]) is int and type(content["accepts"]) is bool
    good = good and (content["package"] is None or isinstance(content["package"], str))
    if not good:
        raise AccessError(
            "exchange.no-decision-part-missing",
            "this is no decision: a part is missing, or is none that belongs here",
        )
    if not content["reason"].strip():
        raise AccessError("exchange.decision-needs-reason", "a decision needs a reason")
    try:
        decision_statement(content)
        Duty(content["duty"])
    except (ParameterError, ValueError):
        raise AccessError(
            "exchange.no-decision-part-wrong", "this is no decision: a part has the wrong form"
        ) from None
    if not time_of(content["time"]) <= datetime.now(UTC) + AHEAD:
        raise AccessError(
            "exchange.decision-future-set-clock", "this decision is from the future: set your clock"
        )


def time_of(text: object) -> datetime:
    """A time that somebody wrote, as an instant."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        raise AccessError(
            "exchange.decision-not-say-when-made", "this decision does not say when it was made"
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
