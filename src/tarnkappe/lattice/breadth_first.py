"""Breadth-first search: level by level from below."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.problem import Problem
from tarnkappe.lattice.search import Search, Solution
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class BreadthFirst(Search):
    """Breadth-first search: optimal for all models and losses; only satisfying nodes save tests."""

    name = "bfs"

    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Test every node that is not known to be useless, level by level."""
        traversal = Traversal(problem, progress)
        for level in traversal.levels():
            for node in level:
                if not traversal.need_not_be_tested(node):
                    traversal.check(node)
        return traversal.solution(self.name, optimal=True)
