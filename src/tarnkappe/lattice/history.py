"""The history: snapshots of nodes that were tested, from which later nodes are grouped faster.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt

from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.groups import PackedClasses
from tarnkappe.lattice.lattice import Node, is_generalization
from tarnkappe.native import compiled
from tarnkappe.table.grouping import Counts

Levels = npt.NDArray[np.int16]


FEW_CLASSES = 5000
"""From so few classes a test is made at once."""


class SnapshotCache:
    """The snapshots of a search.

    When there is no room, those go first from which nothing will be grouped any more (`is_spent`), then the
    least recently used. Several threads may ask at once.
    """

    def __init__(
        self, bottom: PackedClasses, effort: EvaluationSettings, is_spent: Callable[[Node], bool]
    ) -> None:
        self._bottom = bottom
        self._effort = effort
        self._is_spent = is_spent
        self._snapshots: list[PackedClasses] = []
        self._nodes = np.zeros((effort.snapshots, len(bottom.node)), dtype=np.int16)
        self._sizes = np.zeros(effort.snapshots, dtype=np.int64)
        self._used = np.zeros(effort.snapshots, dtype=np.int64)
        self._bytes = 0
        self._clock = 0
        self._next_look = 0
        self._last = bottom
        columns = bottom.frame.problem.columns
        self._wheels = sorted(range(len(columns)), key=lambda i: -columns[i].cardinality)
        self._useless: set[Node] = set()
        self._lock = Lock()
        self.hits = 0
        """How many tests started from a snapshot."""

    def base_for(self, node: Node) -> PackedClasses:
        """The fewest classes at hand of a node below the given one."""
        with self._lock:
            base = self._bottom
            last = self._last
            if (
                self._effort.roll_up
                and last.num_classes < base.num_classes
                and is_generalization(node, last.node)
            ):
                base = last
            if self._snapshots:
                count, wanted = len(self._snapshots), np.array(node, np.int16)
                best = smallest_below(self._nodes[:count], self._sizes, wanted, base.num_classes)
                if best >= 0:
                    self._clock += 1
                    self._used[best] = self._clock
                    self.hits += 1
                    base = self._snapshots[best]
            return base

    def stone_for(self, base: PackedClasses, node: Node) -> Node | None:
        """A node between two, at which a test may stop on its way for the sake of later tests.

        The columns with most values are lifted first and always in the same order, so that many nodes have
        a stone in common. Each test makes at most one, on top of those that were made before.
        """
        if not self._effort.stepping_stones or base.num_classes < FEW_CLASSES:
            return None
        for column in self._wheels:
            if base.node[column] < node[column]:
                stone = (*base.node[:column], node[column], *base.node[column + 1 :])
                if stone == node:
                    return None
                if stone not in self._useless:
                    return stone
        return None

    def offer_stone(self, groups: PackedClasses, base: PackedClasses) -> None:
        """Keep the classes of a stepping stone, if they are much fewer than those they were made from."""
        with self._lock:
            if groups.num_classes > 0.8 * base.num_classes:
                self._useless.add(groups.node)
            else:
                self._make_room(groups.nbytes)
                self._put(len(self._snapshots), groups)

    def offer(self, groups: PackedClasses, base: PackedClasses, *, keep: bool) -> None:
        """Take note of classes that were just made from others; they are kept if that will save work."""
        with self._lock:
            self._last = groups
            largest = self._effort.snapshot_share * self._bottom.num_classes
            small = groups.num_classes <= largest and groups.num_classes <= 0.8 * base.num_classes
            if keep and small and self._effort.snapshots:
                self._make_room(groups.nbytes)
                if self._bytes + groups.nbytes <= self._effort.megabytes * 2**20:
                    self._put(len(self._snapshots), groups)

    def _make_room(self, needed: int) -> None:
        full = self._effort.megabytes * 2**20 - needed
        if len(self._snapshots) < self._effort.snapshots and self._bytes <= full:
            return
        if self._clock >= self._next_look:  # all snapshots are looked through, so not at every test
            self._next_look = self._clock + self._effort.snapshots
            for place in reversed(range(len(self._snapshots))):
                if self._is_spent(self._snapshots[place].node):
                    self._drop(place)
        while self._snapshots and (len(self._snapshots) >= self._effort.snapshots or self._bytes > full):
            self._drop(int(np.argmin(self._used[: len(self._snapshots)])))

    def _put(self, place: int, groups: PackedClasses) -> None:
        self._snapshots.append(groups)
        self._clock += 1
        self._nodes[place] = groups.node
        self._sizes[place] = groups.num_classes
        self._used[place] = self._clock
        self._bytes += groups.nbytes

    def _drop(self, place: int) -> None:
        """Forget one snapshot; the last one takes its place."""
        last = len(self._snapshots) - 1
        self._bytes -= self._snapshots[place].nbytes
        self._snapshots[place] = self._snapshots[last]
        self._snapshots.pop()
        for facts in (self._nodes, self._sizes, self._used):
            facts[place] = facts[last]


@compiled
def smallest_below(nodes: Levels, sizes: Counts, wanted: Levels, largest: int) -> int:
    """The snapshot with the fewest classes, at most so many, of a node below the wanted one, or -1."""
    # One pass over levels of 16 bits; `largest` falls with every find, so most snapshots are passed by after
    # one comparison. Of equally small ones the last is taken.
    best = -1
    for place in range(len(nodes)):
        if sizes[place] <= largest:
            below = True
            for column in range(len(wanted)):
                if nodes[place, column] > wanted[column]:
                    below = False
                    break
            if below:
                best, largest = place, sizes[place]
    return best
