"""Whether a gate's answers follow who came and went."""

from __future__ import annotations

from collections.abc import Sequence

from tarnkappe.errors import VerificationError
from tarnkappe.gate.answer import HistoryEntry
from tarnkappe.gate.policy_columns import Sensitive
from tarnkappe.gate.roster import held_back_for
from tarnkappe.gate.roster_log import RosterEntry
from tarnkappe.state.store import Store


def _is_noted(column: Sensitive, entries: Sequence[HistoryEntry]) -> bool:
    """Whether it was noted who changed and where the list comes from."""
    return column.values is not None and all(len(one.stored) >= len(one.newcomers) for one in entries)


def _follows_the_roster(store: Store, column: Sensitive, entries: Sequence[HistoryEntry]) -> None:
    """Check that a gate that does not count with changes and lists left out whom it had to."""
    held_back = held_back_for(store, column)
    known: set[object] = set()
    for place, entry in enumerate(entries, start=1):
        for person, _ in entry.newcomers:
            if person in known:
                raise VerificationError(
                    "gate.answer-somebody-value-changed",
                    "answer {place} has somebody whose value had changed",
                    place=place,
                )
            if person in held_back:
                raise VerificationError(
                    "gate.answer-somebody-held-back",
                    "answer {place} has somebody who is held back for a list of values",
                    place=place,
                )
            known.add(person)


def _were_there(
    roster: Sequence[RosterEntry], history: str, column: str, entries: Sequence[HistoryEntry]
) -> None:
    """Check that whoever was in an answer was in the table; an older version did not note who was."""
    waiting = list(roster)
    here: frozenset[str] = frozenset()
    for place, entry in enumerate(entries, start=1):
        while waiting and waiting[0].precedes(history, column, place):
            here = (here | waiting[0].came) - waiting.pop(0).went
        noted = len(waiting) < len(roster)
        if noted and not all(person in here for block in entry.blocks for person in block.people):
            raise VerificationError(
                "gate.answer-somebody-not-table",
                "answer {place} has somebody who was not in the table",
                place=place,
            )
