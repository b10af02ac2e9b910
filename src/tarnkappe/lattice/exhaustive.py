"""Exhaustive search: test every node. Right for every model and loss, and the yardstick of all others."""

from __future__ import annotations

import dataclasses

from tarnkappe.lattice.problem import Best, Problem
from tarnkappe.lattice.search import Search, Solution
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Exhaustive(Search):
    """Test all nodes and return the best; optimal whatever the models and the loss."""

    name = "exhaustive"

    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Test every node that may be chosen."""
        best = Best(problem)
        total = problem.num_nodes
        for checked, node in enumerate(problem.nodes()):
            if progress and checked % 64 == 0:
                progress("searching", checked, total)
            best.offer(problem.evaluate(node))
        if progress:
            progress("searching", total, total)
        return Solution(best.evaluation, optimal=True, checked=total, nodes=total, algorithm=self.name)
