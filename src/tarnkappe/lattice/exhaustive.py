"""Exhaustive search: test every node. Right for every model and loss, and the yardstick of all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tarnkappe.lattice.groups import Groups
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal


@dataclasses.dataclass(frozen=True)
class Exhaustive(Search):
    """Test all nodes and return the best; optimal whatever the models and the loss.

    The nodes are visited as by an odometer, and each wheel keeps the classes at the levels of the wheels
    before it, so most nodes are grouped from few classes.
    """

    name = "exhaustive"

    def search(self, traversal: Traversal) -> None:
        """Test every node that may be chosen."""
        for base, groups in visit(traversal.checker.bottom):
            traversal.keep_time()
            traversal.checker.count(base)
            traversal.learn(traversal.checker.judge(groups))


def visit(bottom: Groups) -> Iterator[tuple[Groups, Groups]]:
    """The classes of every node that may be chosen, each with the classes that they were made from.

    The columns with most values are the slowest wheels: their higher levels merge most classes.
    """
    problem = bottom.frame.problem
    ranges = problem.level_ranges
    wheels = sorted(range(len(ranges)), key=lambda i: -problem.columns[i].cardinality)

    def turn(wheel: int, base: Groups, groups: Groups) -> Iterator[tuple[Groups, Groups]]:
        if wheel == len(wheels):
            yield base, groups
            return
        column = wheels[wheel]
        yield from turn(wheel + 1, base, groups)
        for level in ranges[column][1:]:
            base, groups = groups, groups.at((*groups.node[:column], level, *groups.node[column + 1 :]))
            yield from turn(wheel + 1, base, groups)

    return turn(0, bottom, bottom)
