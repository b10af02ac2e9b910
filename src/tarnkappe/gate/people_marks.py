"""How people are called in the store: by marks under the owner's key."""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.snapshot import Rows, Snapshot
from tarnkappe.state.key import Key


class PeopleMarks:
    """The marks of the people of a snapshot, each worked out when it is wanted for the first time."""

    def __init__(self, key: Key, snapshot: Snapshot) -> None:
        self._key, self._snapshot = key, snapshot
        self._marks: list[str] = [""] * snapshot.people

    def of(self, rows: Rows | None) -> list[str]:
        """The marks of the people in some rows, or in all."""
        marks, wanted = self._marks, range(len(self._marks)) if rows is None else rows.tolist()
        new = [row for row in wanted if not marks[row]]
        if new:
            keys = self._snapshot.keys(np.array(new, dtype=np.int64))
            for row, key in zip(new, keys, strict=True):
                marks[row] = self._key.mark("person", [key]).hex()
        return [marks[row] for row in wanted]
