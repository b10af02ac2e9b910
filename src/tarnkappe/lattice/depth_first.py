"""Depth-first search: test a node, then go up from it; every node is tested or shown to be useless."""

from __future__ import annotations

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


class DepthFirst(Search):
    """Depth-first search in the total order: optimal for all models and losses.

    Neighbouring nodes are tested one after the other, from below, so that roll-ups serve well.
    """

    name = "dfs"

    def search(self, traversal: Traversal) -> None:
        """Search from every node that is not yet known to be useless, level by level."""
        for level in traversal.levels():
            for node in sorted(level, key=traversal.problem.order):
                if not traversal.need_not_be_tested(node):
                    self._go_up(node, traversal)

    def _go_up(self, start: Node, traversal: Traversal) -> None:
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if traversal.need_not_be_tested(node):
                continue
            traversal.check(node)
            waiting.extend(reversed(traversal.successors(node)))
