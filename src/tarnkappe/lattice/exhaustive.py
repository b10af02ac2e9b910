"""Exhaustive search: test every node. Right for every model and loss, and the yardstick of all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import Best, Problem
from tarnkappe.lattice.search import Search, Solution
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Progress


@dataclasses.dataclass(frozen=True)
class Exhaustive(Search):
    """Test all nodes and return the best; optimal whatever the models and the loss.

    The nodes are visited as by an odometer, and each wheel keeps a roll-up of the table at the levels of
    the wheels before it, so most nodes are grouped from few tuples.
    """

    name = "exhaustive"

    def run(self, problem: Problem, progress: Progress | None = None) -> Solution:
        """Test every node that may be chosen."""
        best, total, rolled_up = Best(problem), problem.num_nodes, 0
        for checked, (node, tuples) in enumerate(visit(problem)):
            if progress and checked % 64 == 0:
                progress("searching", checked, total)
            best.offer(problem.evaluate(node, tuples))
            rolled_up += tuples is not problem.tuples
        if progress:
            progress("searching", total, total)
        return Solution(best.evaluation, True, total, total, self.name, rolled_up)


def visit(problem: Problem) -> Iterator[tuple[Node, Tuples]]:
    """All nodes that may be chosen, each with tuples from which its classes are grouped.

    The columns with most values are the slowest wheels: their higher levels merge most tuples.
    """
    ranges = problem.level_ranges
    wheels = sorted(range(len(ranges)), key=lambda i: -problem.columns[i].cardinality)

    def turn(wheel: int, node: Node, tuples: Tuples) -> Iterator[tuple[Node, Tuples]]:
        column = wheels[wheel]
        for level in ranges[column]:
            node = (*node[:column], level, *node[column + 1 :])
            if wheel + 1 == len(wheels):
                yield node, tuples
            else:
                if level > 0:
                    tuples = problem.roll_up(node, tuples)
                yield from turn(wheel + 1, node, tuples)

    return turn(0, problem.lattice.bottom, problem.tuples)
