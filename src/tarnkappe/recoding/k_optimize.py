"""k-Optimize: the least loss that one partition of every quasi-identifier into intervals can have, proven.

`partitions.py` tells what is searched, `set_enumeration.py` how value sets are excluded below a node of the
tree. Here nodes are kept in a queue, the one with the least bound first. A round takes the first few of them,
searches below each on a core of its own for a fixed amount of work and puts back what is left open. So at
every moment the best value set found is known, and the least bound in the queue is one that nothing goes
below. As rounds and shares of work do not depend on time or cores, the same job gives the same output.

The search starts from good value sets (`climbing.py`): the better the best one is, the more is excluded.
"""

from __future__ import annotations

import heapq
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import numpy as np

from tarnkappe.errors import NoSolutionError
from tarnkappe.lattice import SearchProblem
from tarnkappe.recoding.deadline import Patience, patience
from tarnkappe.recoding.method import Method, Recoding
from tarnkappe.recoding.set_enumeration import Incumbent, Masks, explore, new_stack
from tarnkappe.recoding.value_set_search import Standing
from tarnkappe.recoding.value_sets import ValueSets, require_sizes_only, value_sets
from tarnkappe.schema import Seconds, param
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts, Progress

BATCH = 8
"""How many open nodes a round searches."""
BUDGET = 16_000_000
"""How much work a round spends on each: about a tenth of a second."""
SECONDS_A_BUDGET, SECONDS_A_CLIMBED_VALUE = 0.1, 2e-7
"""What a budget takes, and a climb for each cell and value: typical figures by which work is counted."""
MOST_CLIMBS, CLIMBED_CELLS, VALUES_A_CLIMB = 16, 400_000, 8
"""How often the search climbs before it starts: less often on large tables and where values are few."""


class KOptimize(Method, kw_only=True):
    """Optimal single-dimension partitioning (Bayardo and Agrawal 2005)."""

    name = "k-optimize"
    cites = ("bayardo2005",)
    summary = (
        "Cuts every column into intervals, the same for all rows, with the least discernibility or "
        "classification loss, proven or with a bound; promises k-anonymity. Right where a column must have "
        "one set of intervals and quality is worth some minutes."
    )
    keeps_level_limits = True

    seconds: Annotated[
        Seconds | None,
        param("when to stop with the best result so far; without it, never", kind="seconds", unit="seconds"),
    ] = None

    def check(self, problem: SearchProblem) -> None:
        """Refuse also models for which the bounds do not hold."""
        super().check(problem)
        require_sizes_only(self.name, problem)

    def recode(self, rows: Tuples, problem: SearchProblem, progress: Progress | None = None) -> Recoding:
        """Search until the best value set is proven, or until time is up."""
        self.check(problem)
        sets = value_sets(problem)
        with patience(self.seconds) as own:
            search = KOptimizeRun(sets, progress)
            stopped = search.run(own)
        if search.head is None:
            promised = ", ".join(map(str, problem.models))
            raise NoSolutionError(
                "recoding.found-no-intervals-meet",
                "{name} found no intervals that meet {promised} with at most {limit} of {num_rows} rows "
                "suppressed: raise the greatest levels or the limit",
                name=self.name,
                promised=promised,
                limit=problem.limit,
                num_rows=problem.tuples.num_rows,
            )
        looked = (
            f"{search.nodes:,} nodes of the set-enumeration tree looked at, {len(search.open):,} left open"
        )
        return sets.recoding(rows, search.head, (looked,), bound=search.bound, stopped=stopped)


class KOptimizeRun:
    """A search that knows its best value set and a bound at every moment.

    Attributes:
        head: the best value set, or None if none is known to suppress few enough rows.
        cost: what it costs.
        nodes: how many nodes of the tree were looked at.
        open: the nodes that are left, each with its bound, a number that breaks ties, its head and its tail.
    """

    def __init__(self, sets: ValueSets, progress: Progress | None = None) -> None:
        self._sets = sets
        self._progress = progress
        self.head: Mask | None = None
        self.cost = int(np.iinfo(np.int64).max)
        self.nodes = 0
        own = sets.alphabet
        self.open: list[tuple[int, int, Mask, Mask]] = [(sets.least, 0, own.required, own.free)]
        self._numbered = 0

    @property
    def bound(self) -> int:
        """A cost that no value set goes below."""
        return min(self.open[0][0], self.cost) if self.open else self.cost

    def run(self, own: Patience) -> str:
        """Search until all is proven; or until time is up, and then why."""
        self._start(own)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            while self.open:
                if own.over:
                    return own.over
                batch = [heapq.heappop(self.open) for _ in range(min(BATCH, len(self.open)))]
                # All of a round start from the same best cost, so that it does not matter who is first.
                done = list(pool.map(self._explore, batch))
                own.spend(SECONDS_A_BUDGET * len(batch))
                for node, found in zip(batch, done, strict=True):
                    self._learn(node[0], *found)
                self.open = [node for node in self.open if node[0] < self.cost]
                heapq.heapify(self.open)
                if self._progress and self.head is not None:
                    note = f"loss {self.cost:,}, at least {self.bound:,}"
                    self._progress("value sets", self.nodes, self.nodes + len(self.open), note)
        return ""

    def _start(self, own: Patience) -> None:
        """Climb from the empty value set, then from changed copies of the best, always the same ones."""
        letters, hill = self._sets.alphabet, self._sets.hill
        random = np.random.default_rng(0)
        best, head = hill.exchange(letters.required)
        climbs = min(CLIMBED_CELLS // len(hill.cells.sizes), int(letters.free.sum()) // VALUES_A_CLIMB)
        for _ in range(min(MOST_CLIMBS, climbs)):
            self._offer(best, head)
            own.spend(SECONDS_A_CLIMBED_VALUE * len(hill.cells.sizes) * letters.size)
            if own.over:
                return
            dropped = random.random(letters.size) < random.random()
            added = random.random(letters.size) < 3 / letters.size
            standing, other = hill.exchange(letters.required | (letters.free & ((head & ~dropped) | added)))
            if standing <= best:
                best, head = standing, other
        self._offer(best, head)

    def _offer(self, standing: Standing, head: Mask) -> None:
        if standing.excess == 0 and standing.cost < self.cost:
            self.cost, self.head = standing.cost, head

    def _explore(self, node: tuple[int, int, Mask, Mask]) -> tuple[int, int, Mask, Masks, Masks, Counts]:
        sets = self._sets
        values = sets.alphabet.size
        best = Incumbent(np.array([self.cost], np.int64), np.zeros(values, dtype=bool))
        heads, tails = (
            np.empty((2 * values + 4, values), dtype=bool),
            np.empty((2 * values + 4, values), dtype=bool),
        )
        bounds = np.empty(2 * values + 4, np.int64)
        hill = sets.hill
        stack = new_stack(hill.cells, values)
        nodes, left = explore(
            stack,
            hill.cells,
            node[2],
            node[3],
            hill.numbering,
            hill.price,
            best,
            BUDGET,
            heads,
            tails,
            bounds,
        )
        return nodes, int(best.cost[0]), best.head, heads[:left].copy(), tails[:left].copy(), bounds[:left]

    def _learn(
        self, least: int, nodes: int, cost: int, head: Mask, heads: Masks, tails: Masks, bounds: Counts
    ) -> None:
        self.nodes += nodes
        if cost < self.cost:
            self.cost, self.head = cost, head
        for own_head, own_tail, bound in zip(heads, tails, bounds.tolist(), strict=True):
            self._numbered += 1
            heapq.heappush(self.open, (max(bound, least), self._numbered, own_head, own_tail))
