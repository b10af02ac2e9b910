"""Prove that everything that a gate has answered kept its promise."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import count
from typing import Any

from tarnkappe.errors import ParameterError
from tarnkappe.service.people import Right
from tarnkappe.service.work.documents import RestGate
from tarnkappe.service.work.kind import JobContext, JobKind, JobOutcome


class GateProof(JobKind):
    """Look at all answers of a gate again, offline."""

    name = "gate-proof"
    right = Right.WATCH_GATE
    document = RestGate

    @classmethod
    def check(cls, document: Mapping[str, Any]) -> None:
        if "gate" not in document:
            raise ParameterError("service.name-gate", "name the 'gate'")

    @classmethod
    def run(cls, document: Mapping[str, Any], work: JobContext) -> JobOutcome:
        from tarnkappe.gate.audit import audit  # loads solvers
        from tarnkappe.gate.history_store import store_to_look_at
        from tarnkappe.gate.policy import GatePolicy

        policy, number = GatePolicy.load(document["gate"]), count(1)
        with store_to_look_at(policy.store) as store:
            proven = audit(
                policy, store, None, lambda what: work.progress("proving", done := next(number), done, what)
            )
        text = "\n".join(map(str, proven))
        return JobOutcome(
            {"proven": [dataclasses.asdict(one) for one in proven]}, text or "nothing was answered yet"
        )
