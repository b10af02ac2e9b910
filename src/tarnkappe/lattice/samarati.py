"""Samarati's search: binary search for the lowest level that has a satisfying node."""

from __future__ import annotations

from typing import Annotated

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.lattice import Node, nodes_between
from tarnkappe.lattice.level_order import LevelOrder
from tarnkappe.lattice.search import Search
from tarnkappe.lattice.traversal import Traversal
from tarnkappe.loss import Height, Loss
from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.schema import param


class Samarati(Search, kw_only=True):
    """Binary search over the levels (Samarati 2001): optimal for the loss `height` and monotone criteria.

    A level without a satisfying node shows that none lies below, a level with one that it is high enough.
    Nothing is learnt about single nodes, and other losses than the height are refused.
    """

    name = "samarati"
    cites = ("samarati2001",)

    order: Annotated[
        LevelOrder,
        param(
            "how the nodes of a level are gone through: in a total order, or lexicographically as published"
        ),
    ] = LevelOrder.TOTAL

    def search(self, traversal: Traversal) -> None:
        """Search for a satisfying node of the least height."""
        if not traversal.monotone:
            raise ParameterError(
                "lattice.search-samarati-needs-criterion",
                "the search 'samarati' needs a criterion that is monotone with this suppression limit: use "
                "'flash-2p' or 'auto', which are right for all",
            )
        if not _is_height(traversal.problem.loss):
            raise ParameterError(
                "lattice.search-samarati-finds-least-height",
                "the search 'samarati' finds the least height and nothing else: choose the loss 'height' "
                "without weights, or a search such as 'auto', which minimizes every loss",
            )
        low, high = sum(traversal.bottom), sum(traversal.top)
        while low <= high:
            middle = (low + high) // 2
            if self._has_satisfying_node(middle, traversal):
                high = middle - 1
            else:
                low = middle + 1

    def _has_satisfying_node(self, level: int, traversal: Traversal) -> bool:
        nodes: list[Node] = LevelOrder(self.order).sort(
            nodes_between(traversal.bottom, traversal.top, level), traversal.problem
        )
        return any(traversal.check(node).satisfied for node in nodes)


def _is_height(loss: Loss) -> bool:
    return (
        isinstance(loss, Height)
        and not loss.weights
        and loss.aggregate
        in (AggregateFunction.SUM, AggregateFunction.MEAN)  # both grow with the sum of the levels
    )
