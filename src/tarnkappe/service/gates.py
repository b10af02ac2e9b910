"""The gates of the house, as their owner watches them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tarnkappe.errors import NotFoundError
from tarnkappe.gate.history_store import HistoryStore, store_to_look_at
from tarnkappe.gate.monitor import ASKED
from tarnkappe.gate.policy import GatePolicy
from tarnkappe.gate.roster import changed_people, held_back_for
from tarnkappe.service.people import Account, Right
from tarnkappe.state import AuditLog, Store


class Gates:
    """The gates that the settings name, read from their own stores."""

    def __init__(self, policies: Mapping[str, Path]) -> None:
        self._policies = policies

    def names(self, who: Account) -> list[str]:
        """Which gates there are."""
        who.require(Right.WATCH_GATE)
        return sorted(self._policies)

    def status(self, name: str, who: Account) -> dict[str, Any]:
        """What a gate protects, and what it has answered so far, without asking the gate."""
        with self._opened(name, who) as (policy, store):
            histories = HistoryStore(store)
            told = []
            for history, column in histories.histories():
                entries = list(histories.entries(history, column))
                values = sum(len(block.values) for entry in entries for block in entry.blocks)
                people = sum(len(block.people) for entry in entries for block in entry.blocks)
                told.append(
                    {
                        "history": history,
                        "column": column,
                        "answers": len(entries),
                        "people": sum(len(entry.newcomers) for entry in entries),
                        "values": values,
                        "artificial": values - people,
                        "timeline": [_step(entry) for entry in entries],
                    }
                )
            return {
                "table": policy.table,
                "k": {column.name: column.k for column in policy.sensitive},
                "quasi_identifiers": list(policy.quasi_identifiers),
                "on_violation": policy.on_violation,
                "strategy": policy.strategy,
                "collusion": policy.collusion,
                "warnings": list(policy.warnings),
                "left_out": 0
                if policy.answers_everybody
                else len(
                    changed_people(store).union(*(held_back_for(store, one) for one in policy.sensitive))
                ),
                "histories": told,
                "asked": [
                    {"time": e.time, **e.details} for e in AuditLog(store).entries() if e.event == ASKED
                ],
            }

    def log(self, name: str, who: Account) -> dict[str, Any]:
        """The audit log of a gate: who was answered when; it was verified now."""
        with self._opened(name, who) as (_, store):
            log = AuditLog(store)
            entries = log.verified()
            return {
                "number": len(entries),
                "head": entries[-1].hash if entries else log.head,
                "entries": [dataclasses.asdict(entry) for entry in entries],
            }

    @contextmanager
    def _opened(self, name: str, who: Account) -> Iterator[tuple[GatePolicy, Store]]:
        who.require(Right.WATCH_GATE)
        if name not in self._policies:
            raise NotFoundError(
                "service.no-gate-name-settings",
                "there is no gate of this name: the settings of the service list them",
            )
        policy = GatePolicy.load(self._policies[name])
        with store_to_look_at(policy.store) as store:
            yield policy, store


def _step(entry: Any) -> dict[str, int]:
    values = sum(len(block.values) for block in entry.blocks)
    people = sum(len(block.people) for block in entry.blocks)
    return {
        "people": people,
        "newcomers": len(entry.newcomers),
        "values": values,
        "artificial": values - people,
    }
