"""Flash in two phases: exclude by binary search along paths, then search what is left depth first."""

from __future__ import annotations

import dataclasses
import heapq

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Order
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Known, Traversal


@dataclasses.dataclass(frozen=True)
class FlashTwoPhase(Search):
    """Optimal for all models and losses; it skips what the case of the decision table allows.

    Phase 1 builds long paths upward through nodes of which nothing is known and looks by binary search for
    the lowest node that meets the monotone criterion (the full one, or an implied one). Phase 2 visits
    what lies above that node, as far as it can still be better. New paths start at nodes that failed:
    they are low, and a roll-up of them is at hand. Without a monotone criterion phase 2 does all the work.
    """

    name = "flash-2p"

    def search(self, traversal: Traversal) -> None:
        """Search the whole lattice."""
        run_flash(traversal)


def run_flash(traversal: Traversal) -> None:
    """Search until every node is tested or shown to be useless."""
    paths = _Paths(traversal)
    for level in traversal.levels():
        for node in sorted((n for n in level if not paths.skips(n)), key=traversal.problem.order):
            if not paths.skips(node):
                paths.start(node)


class _Paths:
    def __init__(self, traversal: Traversal) -> None:
        self._traversal = traversal
        self._queue: list[tuple[Order, Node]] = []
        self._is_binary = traversal.monotone or bool(traversal.implied)
        found, failed = (Known.GOOD, Known.BAD) if traversal.monotone else (Known.SUB_GOOD, Known.SUB_BAD)
        self._found = found
        self._settled = found | failed if self._is_binary else Known.CHECKED
        # In case 1 nothing above the lowest satisfying node of a path can be better.
        self._has_second_phase = traversal.case != 1

    def skips(self, node: Node) -> bool:
        """Whether no path needs to lead through a node."""
        return self._traversal.knows(node, self._settled | Known.NO_BETTER) or self._traversal.is_hopeless(
            node
        )

    def start(self, node: Node) -> None:
        """Search a path from a node, and then from the nodes that failed on it."""
        if not self._is_binary:
            self._search_above(node)
            return
        self._search_path(node)
        while self._queue:
            _, failed = heapq.heappop(self._queue)
            for above in self._traversal.successors(failed):
                if not self.skips(above):
                    self._search_path(above)

    def _search_path(self, node: Node) -> None:
        head = self._lowest(self._path_from(node))
        if head is not None and self._has_second_phase:
            self._search_above(head)

    def _path_from(self, node: Node) -> list[Node]:
        path = [node]
        while True:
            above = next((up for up in self._traversal.successors(path[-1]) if not self.skips(up)), None)
            if above is None:
                return path
            path.append(above)

    def _lowest(self, path: list[Node]) -> Node | None:
        low, high, lowest = 0, len(path) - 1, None
        while low <= high:
            middle = (low + high) // 2
            node = path[middle]
            self._traversal.check(node)
            if self._traversal.knows(node, self._found):
                lowest, high = node, middle - 1
            else:
                heapq.heappush(self._queue, (self._traversal.problem.order(node), node))
                low = middle + 1
        return lowest

    def _search_above(self, head: Node) -> None:
        traversal = self._traversal
        waiting = [head]
        while waiting:
            node = waiting.pop()
            if node is not head and self._is_done(node):
                continue
            traversal.mark(node, Known.VISITED)
            if not traversal.knows(node, Known.CHECKED):
                traversal.check(node)
            waiting.extend(up for up in reversed(traversal.successors(node)) if not self._is_done(up))

    def _is_done(self, node: Node) -> bool:
        done = Known.VISITED | Known.BAD | Known.SUB_BAD | Known.NO_BETTER
        if self._traversal.knows(node, Known.CHECKED):
            done &= ~Known.BAD  # it failed by itself; what lies above it may still satisfy
        return self._traversal.knows(node, done) or self._traversal.is_hopeless(node)
