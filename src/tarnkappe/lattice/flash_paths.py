"""The work of the Flash family, piece by piece, for one thread or several.

Phase 1 builds long paths upward through nodes of which nothing is known and looks by binary search for the
lowest node of a path that meets the monotone criterion (the full one, or an implied one). Phase 2 visits,
depth first, what lies above that node, as far as it can still be better. New paths start at nodes that
failed: they are low, and a roll-up of them is at hand. Without a monotone criterion phase 2 does all the
work.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Order
from tarnkappe.lattice.traversal import NodeKnowledge, Traversal

Job = Callable[[], None]


class _CalledOffError(Exception):
    """The work was called off."""


class Paths:
    """What is to be done next, and what is under way.

    Several threads may ask for jobs and do them at once. What is known of the nodes, the jobs that wait and
    the best so far are read and changed under one lock, which is free while a node is tested. A node is in
    one path at a time and is tested once.

    Args:
        traversal: the search that the work belongs to.
        first_phase: whether to exclude nodes by binary search before visiting what is left.
    """

    def __init__(self, traversal: Traversal, *, first_phase: bool = True) -> None:
        self.changed = threading.Condition()
        """The lock; whoever waits for work is told through it that there may be some."""
        self._traversal = traversal
        self._is_binary = first_phase and (traversal.monotone or bool(traversal.implied))
        # In case 1 nothing above the lowest satisfying node of a path can be better.
        self._has_second_phase = traversal.case != 1
        found, failed = (
            (NodeKnowledge.GOOD, NodeKnowledge.BAD)
            if traversal.monotone
            else (NodeKnowledge.SUB_GOOD, NodeKnowledge.SUB_BAD)
        )
        self._found = found
        self._settled = found | failed | NodeKnowledge.NO_BETTER
        self._visited = NodeKnowledge.VISITED | NodeKnowledge.SUB_BAD | NodeKnowledge.NO_BETTER
        self._outer = self._from_below()
        self._above_failed: deque[Node] = deque()
        self._failed: list[tuple[Order, Node]] = []
        self._to_visit: list[Node] = []
        self._in_path: set[Node] = set()
        self._under_test: set[Node] = set()
        self.is_stopped = False

    def next_job(self) -> Job | None:
        """Something to do, or None if there is nothing to do until a job that is under way ends.

        When no job is under way either, every node is tested or shown to be useless: one that was passed
        over because it was in a path is settled when that path ends.
        """
        with self.changed:
            while self._to_visit:
                node = self._to_visit.pop()
                if not self._is_done(node):
                    return self._visit_of(node)
            for node in self._starts():
                if not self._is_binary:
                    return self._visit_of(node)
                path = self._path_from(node)
                self._in_path.update(path)
                return partial(self._search_path, path)
            return None

    def stop(self) -> None:
        """Let no further test begin. It takes no lock, so that an interrupted thread may call it."""
        self.is_stopped = True

    def _from_below(self) -> Iterator[Node]:
        for level in self._traversal.levels():
            yield from sorted((n for n in level if not self._skips(n)), key=self._traversal.problem.order)

    def _starts(self) -> Iterator[Node]:
        """Where a path may start now: first above nodes that failed, the least general of them first."""
        while True:
            if self._above_failed:
                node = self._above_failed.popleft()
            elif self._failed:
                self._above_failed.extend(self._traversal.successors(heapq.heappop(self._failed)[1]))
                continue
            else:
                lowest = next(self._outer, None)
                if lowest is None:
                    return
                node = lowest
            if not self._skips(node):
                yield node

    def _skips(self, node: Node) -> bool:
        """Whether no path needs to lead through a node."""
        if not self._is_binary:
            return self._is_done(node)
        return (
            node in self._in_path
            or self._traversal.knows(node, self._settled)
            or self._traversal.is_hopeless(node)
        )

    def _is_done(self, node: Node) -> bool:
        """Whether a node need not be visited."""
        if self._traversal.knows(node, self._visited):
            return True
        # A tested node failed by itself; what lies above it may still satisfy.
        if self._traversal.knows(node, NodeKnowledge.BAD) and not self._traversal.knows(
            node, NodeKnowledge.CHECKED
        ):
            return True
        return self._traversal.is_hopeless(node)

    def _path_from(self, node: Node) -> list[Node]:
        path = [node]
        while True:
            above = next((up for up in self._traversal.successors(path[-1]) if not self._skips(up)), None)
            if above is None:
                return path
            path.append(above)

    def _search_path(self, path: list[Node]) -> None:
        head = self._lowest(path)
        with self.changed:
            self._in_path.difference_update(path)
            if head is not None and self._has_second_phase:
                self._to_visit.append(head)

    def _lowest(self, path: list[Node]) -> Node | None:
        low, high, lowest = 0, len(path) - 1, None
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            if not self._is_known(node):
                self._test(node)
            with self.changed:
                if self._traversal.knows(node, self._found):
                    lowest, high = node, middle - 1
                elif self._traversal.knows(node, NodeKnowledge.NO_BETTER):
                    high = middle - 1
                else:
                    heapq.heappush(self._failed, (self._traversal.problem.order(node), node))
                    self.changed.notify_all()
                    low = middle + 1
        return lowest

    def _is_known(self, node: Node) -> bool:
        # Tests elsewhere on the path never settle a node that is still in question; other threads do.
        with self.changed:
            return self._traversal.knows(node, self._settled)

    def _visit_of(self, node: Node) -> Job:
        self._traversal.mark(node, NodeKnowledge.VISITED)
        return partial(self._visit, node)

    def _visit(self, node: Node) -> None:
        self._test(node)
        with self.changed:
            above = reversed(self._traversal.successors(node))
            self._to_visit.extend(up for up in above if not self._is_done(up))

    def _test(self, node: Node) -> None:
        with self.changed:
            if self._traversal.knows(node, NodeKnowledge.CHECKED) or node in self._under_test:
                return
            if self.is_stopped:
                raise _CalledOffError
            self._under_test.add(node)
        self._traversal.keep_time()
        found = self._traversal.checker.check(node)
        with self.changed:
            self._under_test.discard(node)
            self._traversal.learn(found)
