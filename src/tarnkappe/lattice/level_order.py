"""In which order a search goes through the nodes of one level, where its result or its cost depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from tarnkappe.lattice.lattice import Node
from tarnkappe.lattice.problem import SearchProblem


class LevelOrder(StrEnum):
    """The order of the nodes of one level."""

    TOTAL = "total"
    """The total order of the problem, which does not depend on the order of the columns."""
    LEXICOGRAPHIC = "lexicographic"
    """By the levels of the columns in their given order, descending: as published, to compare counts."""

    def sort(self, nodes: Iterable[Node], problem: SearchProblem) -> list[Node]:
        """The nodes of a level in this order."""
        if self is LevelOrder.LEXICOGRAPHIC:
            return sorted(nodes, reverse=True)
        return sorted(nodes, key=problem.order)
