"""Reading rows of the log, and refusing what does not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tarnkappe.errors import Reason, VerificationError
from tarnkappe.state.chain import TAMPERED
from tarnkappe.state.heads import Head
from tarnkappe.state.merkle import Frontier
from tarnkappe.state.statement import Seals, Statement


def _require(seals: Seals, statement: Statement, seal: object, where: str) -> None:
    try:
        seals.require(statement, seal)
    except VerificationError:
        raise VerificationError(
            "state.not-written",
            "{tampered} {where}: that was not written here",
            tampered=TAMPERED,
            where=where,
        ) from None


def _require_not_before(kept: Head | None, tree: Frontier, sealed: bool) -> None:
    if kept is None:
        return
    if kept.size > tree.size or (kept.size and not sealed):
        raise VerificationError.because(_behind(kept, tree.size))
    if kept.size == tree.size and kept.root != tree.root.hex():
        raise VerificationError(
            "state.not-head-file-knows",
            "{tampered}: it is not the one that the head file knows",
            tampered=TAMPERED,
        )


def _behind(kept: Head, size: int) -> Reason:
    return Reason(
        "state.database-older-head-log",
        "the database is older than the head of its log, or its log was cut: {size:,} entries were kept "
        "until {time}, and {size_2:,} sealed ones are there",
        size=kept.size,
        time=kept.time[:19],
        size_2=size,
    )


def _said(row: Mapping[str, Any], event: str) -> Any:
    return _details(row) if row["event"] == event else None


def _details(row: Mapping[str, Any]) -> Any:
    try:
        return json.loads(row["details"])
    except (ValueError, TypeError, RecursionError):
        raise VerificationError(
            "state.tampered-number-entry",
            "{tampered} at entry {number}",
            tampered=TAMPERED,
            number=row["number"],
        ) from None
