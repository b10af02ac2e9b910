"""Which artificial values would help somebody, where no solver can say it.

Everybody had k values before the new answer. So for each value that somebody has lost there is a witness of
the history so far that shows it and that only the new answer contradicts: some values are used there more
often than published. Local search makes the contradiction as small as it can; what is left are the labels
to add.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.gate.local_search import Scratch, enter
from tarnkappe.gate.pool import Pool


class Guess:
    """The search for one answer, which is published with more than enough of every label.

    Attributes:
        pool: witnesses of the history without the answer.
        kind: the kind of each tuple in that history.
        members: the tuples of the answer.
        counts: how often each label is meant to be published.
    """

    def __init__(
        self,
        pool: Pool,
        kind: Integers,
        members: Integers,
        counts: Integers,
        steps: int,
        state: NDArray[np.uint64],
    ) -> None:
        self.pool, self.kind, self.members, self.counts = pool, kind, members, counts
        self.steps, self.state = steps, state
        self.view = pool.knowledge.view
        self.old = members[members < len(kind)]
        self._shown = np.zeros((pool.knowledge.kinds, pool.knowledge.values), dtype=np.int32)
        self._degree = np.zeros(pool.knowledge.kinds, dtype=np.int32)
        self._scratch = Scratch.of(self.view)

    def nearest(self, tuple_: int, lacking: Booleans, most: int) -> list[tuple[Integers, frozenset[int]]]:
        """Distributions that show values which a tuple lacks, and the labels that each needs more often."""
        found = []
        for value, (witness, mate) in sorted(self._starts(tuple_, lacking).items())[:most]:
            distribution = self._search(tuple_, value, witness, mate)
            used = np.bincount(distribution[self.members], minlength=len(self.counts))
            found.append((distribution, frozenset(np.flatnonzero(used > self.counts).tolist())))
        return found

    def _starts(self, tuple_: int, lacking: Booleans) -> dict[int, tuple[int, int]]:
        """For values that a tuple lacks, a witness in which it, or a mate of the same kind, has the value."""
        if tuple_ >= len(self.kind):
            return {int(value): (0, tuple_) for value in np.flatnonzero(lacking)}
        mates = np.flatnonzero(self.kind == self.kind[tuple_])
        used = [np.bincount(row, minlength=len(self.counts)) for row in self.pool.values[:, self.old]]
        excess = np.maximum(np.array(used) - self.counts, 0).sum(axis=1)
        starts: dict[int, tuple[int, int]] = {}
        for witness in np.argsort(excess, kind="stable").tolist():
            for mate in mates.tolist():
                value = int(self.pool.values[witness, mate])
                if lacking[value]:
                    starts.setdefault(value, (witness, mate))
        return starts

    def _search(self, tuple_: int, value: int, witness: int, mate: int) -> Integers:
        """The distribution nearest to what is published that starts from a witness and keeps the tuple's
        value.
        """
        known, cells = self.pool.values.shape[1], self.pool.frees.shape[1]
        distribution = np.full(len(self.view.newest), -1, dtype=np.int32)
        distribution[:known] = self.pool.values[witness]
        if mate != tuple_:
            distribution[mate] = distribution[tuple_]
        distribution[tuple_] = value
        free = np.empty(len(self.view.capacity), dtype=np.int32)
        free[:cells], free[cells:] = self.pool.frees[witness], self.counts
        newest = len(self.view.cell) - 1
        enter(
            self.view,
            distribution,
            free,
            self.view.label[:0],  # no floors: guesses are for those who may add what is needed
            0,
            self._scratch,
            tuple_,
            newest,
            self._shown,
            self._degree,
            0,
            self.steps,
            self.state,
        )
        return distribution
