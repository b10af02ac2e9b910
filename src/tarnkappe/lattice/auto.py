"""The search that is chosen when none is named."""

from __future__ import annotations

import heapq
from typing import Annotated, ClassVar

import numpy as np

from tarnkappe.lattice.best_first import DEFAULT_SECONDS, BestFirst
from tarnkappe.lattice.border_search import Sweep
from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.compiled_sweep import CompiledSweep
from tarnkappe.lattice.core import run
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.exhaustive import check_everything
from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.lattice.solution import Solution
from tarnkappe.lattice.space import CHECKED, CLOSED, FAILED, FOUND, NO_BETTER, VISITED, NodeSpace
from tarnkappe.native import is_ready
from tarnkappe.schema import param
from tarnkappe.table.encoding import Progress

LARGEST = 2_000_000
"""So many nodes are laid out in memory, with some 60 bytes each."""


LOOKS = 40
"""So many times, at equal distances, it is asked whether the bounds exclude enough."""

MUCH = 0.3
"""If such a part of the lattice is open, all of it is tested in a row: no test is then as cheap."""


WORTH_LOADING = 500
"""On fewer nodes a search is over before its compiled form is loaded."""

WORTH_COMPILING = 100_000
"""To compile it takes longer than a search of fewer nodes; it is done once, and then it is there for all."""


class ManyOpenError(Exception):
    """So much of the lattice is open that choosing what to test does not pay."""


class Hunt(Attempt):
    """An attempt that knows the lower bound of every node before it tests the first."""

    def begin(self) -> None:
        """Lay out the nodes."""
        self.checker.counts_keepable = True
        self.space = NodeSpace(self.problem, lower_bounds=self.lower_bounds)
        self.next_look = self._distance = max(self.problem.num_nodes // LOOKS, 50)

    def learn(self, found: NodeCheck) -> None:
        """Note what follows from a test for other nodes."""
        super().learn(found)
        space, evaluation = self.space, found.evaluation
        index = space.index(evaluation.node)
        space.mark(index, CHECKED)
        if self.monotone or self.implied:
            good = evaluation.satisfied if self.monotone else found.sub_good
            if good:
                space.mark_above(index, FOUND)
            else:
                space.mark_below(index, FAILED)
        if self.loss_monotone and evaluation.satisfied:
            space.mark_above(index, NO_BETTER, itself=False)
        if self.lower_bounds:
            # A bound that is too low today may exclude nodes tomorrow, when something better is found.
            if found.bound is not None:
                space.raise_above(index, found.bound)
            self._bound_below(index, found)

    def _bound_below(self, index: int, found: NodeCheck) -> None:
        """Note what nodes below a node lose at least, if one of them is open."""
        state = found.keepable
        if state is None or not self.space.is_open_below(index, CLOSED, self.best.ceiling):
            return
        levels = [
            range(low, level + 1) for low, level in zip(self.space.low, found.evaluation.node, strict=True)
        ]
        bounds = self.problem.loss.lower_bounds_below(state, levels, least_size=self.checker.least_size)
        if bounds is not None:
            self.space.raise_below(index, bounds)

    def test(self, index: int) -> NodeCheck:
        """Test a node, unless so many are open that all should be tested."""
        self.look()
        return self.examine(self.space.node(index))

    def look(self) -> None:
        """After some tests, end the search if so many nodes are open that all should be tested."""
        if len(self.tests) >= self.next_look:
            self.next_look += self._distance
            # What is not known to meet the criterion may soon be excluded by the dozen.
            surely = FOUND if self.monotone or self.implied else 0
            is_open = (self.space.known & (CLOSED | surely) == surely) & (
                self.space.least <= self.best.ceiling
            )
            if np.count_nonzero(is_open) > MUCH * len(is_open):
                raise ManyOpenError

    def is_open(self, node: Node) -> bool:
        """Whether nothing is known of a node that makes testing it useless."""
        index = self.space.index(node)
        return not self.is_closed(index, CLOSED) and bool(self.space.least[index] <= self.best.ceiling)

    def visit_above(self, head: int) -> None:
        """Test what lies above a node that meets the criterion and may be better than the best found."""
        if self.case == 1:  # nothing is
            return
        space, waiting, done = self.space, [head], VISITED | FAILED | NO_BETTER
        while waiting:
            index = waiting.pop()
            if index != head and self.is_closed(index, done):
                continue
            space.mark(index, VISITED)
            if not self.is_closed(index, CHECKED) and space.least[index] <= self.best.ceiling:
                self.test(index)
            above = reversed(space.successors(index).tolist())
            waiting.extend(each for each in above if not self.is_closed(each, done))

    def is_closed(self, index: int, facts: int) -> bool:
        """Whether one of some facts is known of a node, or nothing above it can be better."""
        space = self.space
        return bool(space.known[index] & facts) or space.bounds[index] > self.best.ceiling

    def test_open(self) -> None:
        """Test what is neither tested nor excluded, the most hopeful first."""
        space, position = self.space, 0
        while True:
            position = space.next_open(space.by_bound, position, CLOSED, self.best.ceiling)
            if position == len(space.by_bound):
                return
            self.test(int(space.by_bound[position]))

    def is_spent(self, node: Node) -> bool:
        """Whether nothing above a node will be tested any more."""
        space = self.space
        above = space.successors(space.index(node))
        closed = space.known[above] & CLOSED > 0
        return bool(np.all(closed | (space.bounds[above] > self.best.ceiling)))


class AutoSearch(Search, kw_only=True):
    """The fewest tests of all searches: optimal for all models and losses.

    Each loss knows a bound that neither a node nor anything above it goes below, from the levels alone and,
    often better, from the classes of a node that was tested. Nodes whose bound exceeds the best loss found
    are hopeless, and what is left is searched

    - with a monotone criterion by a `Sweep`: a forecast tells which node to test;
    - where only an implied criterion is monotone, along paths as by `flash-2p`. No path starts at a hopeless
      node. With suppression a path ends below the first hopeless node, and its last node is tested first: it
      will most likely fail, and everything below it with it. Without suppression few nodes separate what
      satisfies from what does not, and binary search along whole paths finds them with fewer tests;
    - where neither is, in the order of the bounds;
    - if the bounds exclude little, node by node as by `exhaustive`.

    Snapshots may be large, since what is hopeful is low in the lattice. At the end every node was tested,
    cannot satisfy, or cannot be better.
    """

    name = "auto"
    state: ClassVar[type[Attempt]] = Hunt

    lower_bounds: Annotated[
        bool, param("whether nodes are skipped that provably cannot beat the best found")
    ] = True
    effort: Annotated[
        EvaluationSettings, param("how tests are made: what they start from, how much memory that may take")
    ] = EvaluationSettings(snapshot_share=1.0, stepping_stones=True)

    def run(self, problem: SearchProblem, progress: Progress | None = None) -> Solution:
        """Search the lattice of a problem; one that is too large to be laid out is left to `best-first`."""
        if problem.num_nodes <= LARGEST:
            return super().run(problem, progress)
        seconds = DEFAULT_SECONDS if self.seconds is None else self.seconds
        search = BestFirst(seconds=seconds, implied_criteria=self.implied_criteria, effort=self.effort)
        return search.run(problem, progress)

    def search(self, hunt: Attempt) -> None:
        """Search the whole lattice."""
        assert isinstance(hunt, Hunt)
        hunt.begin()
        try:
            if hunt.monotone:
                nodes = hunt.problem.num_nodes
                worth_it = nodes >= (WORTH_LOADING if is_ready(run) else WORTH_COMPILING)
                sweep = CompiledSweep.of(hunt) if worth_it else None
                (sweep or Sweep(hunt)).search()
            elif hunt.implied:
                _Paths(hunt).search()
            hunt.test_open()
        except ManyOpenError:
            check_everything(hunt, hunt.is_open)


class _Paths:
    def __init__(self, hunt: Hunt) -> None:
        self._hunt = hunt
        self._space = hunt.space
        self._queue: list[tuple[int, int]] = []
        self._goes_far = hunt.problem.limit == 0

    def search(self) -> None:
        """Search a path from every node of which nothing is known, and from those that failed on it."""
        space, position = self._space, 0
        while True:
            position = space.next_open(
                space.order, position, FOUND | FAILED | NO_BETTER, self._hunt.best.ceiling
            )
            if position == len(space.order):
                return
            self._search_path(int(space.order[position]))
            while self._queue:
                _, failed = heapq.heappop(self._queue)
                for above in space.successors(failed).tolist():
                    if not self._hunt.is_closed(above, FOUND | FAILED | NO_BETTER):
                        self._search_path(above)

    def _search_path(self, start: int) -> None:
        """Look for the lowest node of a path that meets the criterion, then visit what lies above it."""
        hunt = self._hunt
        path = self._space.path(
            start, FOUND | FAILED, NO_BETTER, hunt.best.ceiling, far=self._goes_far
        ).tolist()
        low, high, lowest = 0, len(path) - 1, None
        middle = high if hunt.best.found and not self._goes_far else high // 2
        while low <= high:
            hunt.test(path[middle])
            if self._space.known[path[middle]] & FOUND:
                lowest, high = path[middle], middle - 1
            else:
                heapq.heappush(self._queue, (int(self._space.rank[path[middle]]), path[middle]))
                low = middle + 1
            middle = (low + high) // 2
        if lowest is not None:
            hunt.visit_above(lowest)
