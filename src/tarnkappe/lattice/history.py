"""The history: roll-ups of nodes that were tested, from which later nodes are grouped faster."""

from __future__ import annotations

import numpy as np

from tarnkappe.lattice.lattice import Node
from tarnkappe.table import Tuples

MAX_SNAPSHOTS = 200
MAX_SHARE = 0.2
"""A snapshot with more tuples than this share of the table saves too little to be kept."""


class History:
    """The snapshots of a search: at most `max_snapshots`, the least recently used goes first."""

    def __init__(
        self, tuples: Tuples, max_snapshots: int = MAX_SNAPSHOTS, max_share: float = MAX_SHARE
    ) -> None:
        self._tuples = tuples
        self._largest = max_share * tuples.num_tuples
        self._snapshots: list[Tuples] = []
        width = len(tuples.columns)
        self._nodes = np.zeros((max_snapshots, width), dtype=np.int16)
        self._sizes = np.zeros(max_snapshots, dtype=np.int64)
        self._used = np.zeros(max_snapshots, dtype=np.int64)
        self._clock = 0

    def base_for(self, node: Node) -> Tuples:
        """The smallest snapshot of a node below the given one, or the table itself."""
        count = len(self._snapshots)
        below = np.flatnonzero((self._nodes[:count, : len(node)] <= np.array(node)).all(axis=1))
        if not len(below):
            return self._tuples
        best = int(below[np.argmin(self._sizes[below])])
        self._clock += 1
        self._used[best] = self._clock
        return self._snapshots[best]

    def is_worth_keeping(self, num_classes: int, base: Tuples) -> bool:
        """Whether a roll-up of so many classes would be much smaller than what it is made from."""
        return num_classes <= self._largest and num_classes <= 0.8 * base.num_tuples

    def keep(self, node: Node, snapshot: Tuples) -> None:
        """Remember a snapshot."""
        if len(self._snapshots) < len(self._sizes):
            place = len(self._snapshots)
            self._snapshots.append(snapshot)
        else:
            place = int(np.argmin(self._used))
            self._snapshots[place] = snapshot
        self._clock += 1
        self._nodes[place, : len(node)] = node
        self._sizes[place] = snapshot.num_tuples
        self._used[place] = self._clock
