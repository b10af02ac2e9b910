"""Breadth-first search: level by level from below."""

from __future__ import annotations

from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


class BreadthFirst(Search):
    """Breadth-first search: optimal for all models and losses; only satisfying nodes save tests."""

    name = "bfs"

    def search(self, traversal: Traversal) -> None:
        """Test every node that is not known to be useless, level by level."""
        for level in traversal.levels():
            for node in level:
                if not traversal.need_not_be_tested(node):
                    traversal.check(node)
