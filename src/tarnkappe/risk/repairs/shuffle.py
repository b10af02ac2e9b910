"""Shuffle: a new random order of the rows."""

from __future__ import annotations

import secrets

import pyarrow as pa

from tarnkappe.risk.attacks import Attack, Target
from tarnkappe.risk.repairs.repair import Repair, RepairProposal, released_rows, replay, stopped

MOST_ORDERS = 20


class Shuffle(Repair):
    """Give the rows a random order, from the operating system's randomness. No cell changes.

    An order may by chance say the same as before, in a small table; then another one is drawn.
    """

    name = "shuffle"

    @classmethod
    def propose(cls, attack: Attack, target: Target) -> RepairProposal | None:
        table = released_rows(target)
        for _ in range(MOST_ORDERS):
            order = list(range(table.num_rows))
            secrets.SystemRandom().shuffle(order)
            shuffled = table.with_data(table.data.take(pa.array(order, pa.int64())))
            after = replay(attack, target, shuffled)
            if stopped(after):
                return RepairProposal(cls.name, "Shuffle the rows.", shuffled, 0, 0, True, after)
        return None
