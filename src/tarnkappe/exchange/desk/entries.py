"""What a check and a decision write down, so that it can be verified whenever it counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from tarnkappe.exchange.checking import Recommendation
from tarnkappe.exchange.desk.checked import Checked
from tarnkappe.exchange.desk.logged import (
    COHORTS,
    CONSENTED,
    DECIDED,
    MOVES,
    ROW,
    TOLD,
    WITHDRAWN,
    Logged,
    registers,
    row_digest,
)
from tarnkappe.exchange.desk.packages import Package
from tarnkappe.exchange.desk.states import RequestEvent
from tarnkappe.exchange.desk.tables import DECISIONS
from tarnkappe.exchange.desk.whole import measured
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.state import AuditLog, Statement
from tarnkappe.table import Role


def known_registers(connection: sa.Connection, logged: Logged) -> dict[str, Any]:
    """What is known of patients and of earlier packages, if it is as it was left."""
    for name in (WITHDRAWN, CONSENTED, TOLD, COHORTS):
        logged.require_register(connection, name)
    return registers(connection, WITHDRAWN, CONSENTED, TOLD, COHORTS)


def order_statement(
    request: str, steward: str, roles: Mapping[str, Role], reasons: Mapping[str, str]
) -> Statement:
    """The order to check a request: also which classes the steward changes for it, and why."""
    changed = {name: str(role) for name, role in roles.items()}
    content: dict[str, Any] = {"request": request, "person": steward, "roles": changed}
    return Statement("order", content | ({"reasons": dict(reasons)} if reasons else {}))


def check_statement(
    number: int, steward: str, found: Recommendation, package: Package, limits: Thresholds
) -> dict[str, Any]:
    """What a check says of its package; everything of it is verified again before the package leaves."""
    size, rows = None if package.content is None else len(package.content), package.table.num_rows
    return {
        "request": found.request.digest,
        "number": number,
        "by": steward,
        "verdict": str(found.verdict),
        "columns": package.columns,
        "thresholds": {"k": limits.k, "l": limits.l},
        "measured": None if size is None else measured(package.table),
        "rows": rows,
        "package": None if size is None else {"sha256": package.digest, "bytes": size, "rows": rows},
    }


def note_decision(
    log: AuditLog,
    connection: sa.Connection,
    check: Checked,
    content: Mapping[str, Any],
    signature: str,
    event: RequestEvent,
    rest: Mapping[str, Any],
) -> None:
    """Keep a decision and log it, with what follows from it."""
    values = {
        "digest": check.row.digest,
        "number": check.row.number,
        "person": content["person"],
        "accepts": content["accepts"],
        "content": json.dumps(dict(content), ensure_ascii=False),
        "signature": signature,
    }
    connection.execute(sa.insert(DECISIONS).values(values))
    told = {"request": check.row.digest, "check": check.row.number, "by": content["person"]}
    told |= {"accepts": content["accepts"], "reason": content["reason"], "signature": signature}
    told |= {MOVES: str(event), ROW: row_digest(values, DECISIONS), **rest}
    log.append(DECIDED, told, connection)
