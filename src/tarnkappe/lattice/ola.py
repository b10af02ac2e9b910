"""OLA: divide the lattice into ever smaller sub-lattices with a failing bottom and a satisfying top."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.lattice.lattice import Node, nodes_between
from tarnkappe.lattice.level_order import LevelOrder
from tarnkappe.lattice.practical import PracticalSearch, require_case_1
from tarnkappe.lattice.traversal import NodeKnowledge, Traversal
from tarnkappe.schema import param


class OLA(PracticalSearch, kw_only=True):
    """Optimal Lattice Anonymization (El Emam et al. 2009): optimal where criterion and loss are monotone.

    Few tests, but far apart in the lattice, so that roll-ups serve less; how many depends on the order of
    the nodes.
    """

    name = "ola"
    cites = ("elemam2009",)

    order: Annotated[
        LevelOrder,
        param(
            "how the nodes of a level are gone through: in a total order, or lexicographically as published"
        ),
    ] = LevelOrder.TOTAL

    def search(self, traversal: Traversal) -> None:
        """Find all satisfying nodes with no satisfying node below; the best of them is the best of all."""
        self.take_for_granted(traversal)
        require_case_1(self.name, traversal)
        _Division(traversal, LevelOrder(self.order)).divide(traversal.bottom, traversal.top)
        # The top of the whole lattice is never the middle of a sub-lattice.
        if not traversal.best.found and not traversal.knows(traversal.top, NodeKnowledge.CHECKED):
            traversal.check(traversal.top)


class _Division:
    def __init__(self, traversal: Traversal, order: LevelOrder) -> None:
        self._traversal = traversal
        self._order = order
        self._divided: set[tuple[Node, Node]] = set()

    def divide(self, bottom: Node, top: Node) -> None:
        """Find the lowest satisfying nodes of a sub-lattice.

        Each of them is reached: from a node of the middle level that lies above or below it, the sub-lattice
        on its side contains it too.
        """
        if (bottom, top) in self._divided or self._is_classified(bottom, top):
            return
        self._divided.add((bottom, top))
        if sum(top) - sum(bottom) <= 1:
            self._satisfies(bottom)
            return
        middle = nodes_between(bottom, top, (sum(bottom) + sum(top)) // 2)
        for node in self._order.sort(middle, self._traversal.problem):
            if self._satisfies(node):
                self.divide(bottom, node)
            else:
                self.divide(node, top)

    def _satisfies(self, node: Node) -> bool:
        if not self._traversal.knows(node, NodeKnowledge.GOOD | NodeKnowledge.BAD):
            self._traversal.check(node)
        return self._traversal.knows(node, NodeKnowledge.GOOD)

    def _is_classified(self, bottom: Node, top: Node) -> bool:
        return self._traversal.all_known(bottom, top, NodeKnowledge.GOOD | NodeKnowledge.BAD)
