"""Refusing what nobody reads in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import JobError, Reason
from tarnkappe.schema import near
from tarnkappe.schema.problem import meant_or


def refuse_unknown(content: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Refuse a key that is not known, with the nearest that is."""
    for key in content:
        if key not in known:
            meant = near(key, known)
            hint = meant_or(meant, Reason("schema.known", "known are {known}", known=", ".join(known)))
            raise JobError(
                "job.what-key-hint-unknown", "unknown {what} '{key}': {hint}", what=what, key=key, hint=hint
            )
