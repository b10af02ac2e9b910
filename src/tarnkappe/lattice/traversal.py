"""What a search knows of the nodes, and the test that teaches it more.

A test answers for other nodes too, as far as the models and the loss are proven to allow it:

| | criterion monotone | an implied criterion is monotone | neither |
|---|---|---|---|
| **loss monotone** | 1 | 3 | 5 |
| **loss not monotone** | 2 | 4 | 6 |

In cases 1 and 2 all nodes below a failing node fail and all above a satisfying one satisfy. In cases 3 and 4
this holds for the implied criterion only: where it fails, everything below fails the full one. In cases 1,
3 and 5 nothing above a satisfying node can be better, so it need not be tested, and whether it satisfies
stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag

import numpy as np

from tarnkappe.errors import ParameterError
from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.effort import EvaluationSettings
from tarnkappe.lattice.lattice import Node, nodes_between
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.lattice.search_run import Attempt
from tarnkappe.table.encoding import Progress

MAX_NODES = 100_000_000
"""One byte is kept of what is known of each node."""


class NodeKnowledge(IntFlag):
    """What is known of a node."""

    CHECKED = 1
    GOOD = 2
    BAD = 4
    SUB_GOOD = 8
    SUB_BAD = 16
    NO_BETTER = 32
    """It lies above a satisfying node and cannot be better than that."""
    VISITED = 64


NEED_NOT_BE_TESTED = NodeKnowledge.CHECKED | NodeKnowledge.BAD | NodeKnowledge.NO_BETTER


def is_too_large(problem: SearchProblem) -> bool:
    """Whether a lattice has more nodes than a `Traversal` can keep."""
    return problem.lattice.num_nodes > MAX_NODES


class Traversal(Attempt):
    """The state of a search that keeps what is known of every node.

    The arguments are those of an `Attempt`.
    """

    def __init__(
        self,
        problem: SearchProblem,
        progress: Progress | None = None,
        *,
        effort: EvaluationSettings | None = None,
        implied_criteria: bool = True,
        lower_bounds: bool = False,
        seconds: float | None = None,
    ) -> None:
        if is_too_large(problem):
            raise ParameterError(
                "lattice.combinations-levels-more-can-searched",
                "there are {num_nodes:,} combinations of levels, more than the {max_nodes:,} that can be "
                "searched to the end: take 'best-first', which says how far from the least possible loss "
                "its result may be, or fewer quasi-identifiers or flatter hierarchies",
                num_nodes=problem.lattice.num_nodes,
                max_nodes=MAX_NODES,
            )
        super().__init__(
            problem,
            progress,
            effort=effort,
            implied_criteria=implied_criteria,
            lower_bounds=lower_bounds,
            seconds=seconds,
        )
        self._known = np.zeros([height + 1 for height in problem.lattice.heights], dtype=np.uint8)

    def knows(self, node: Node, what: NodeKnowledge) -> bool:
        """Whether one of some facts is known of a node."""
        # Asked at every step of a search: on plain numbers this is ten times faster than on flags.
        return int.__and__(self._known.item(node), what) != 0

    def all_known(self, bottom: Node, top: Node, what: NodeKnowledge) -> bool:
        """Whether one of some facts is known of every node from one to another."""
        box = tuple(slice(low, high + 1) for low, high in zip(bottom, top, strict=True))
        return bool((self._known[box] & np.uint8(what)).all())

    def mark(self, node: Node, what: NodeKnowledge) -> None:
        """Note a fact about one node."""
        self._known[node] |= np.uint8(what)

    def mark_above(self, node: Node, what: NodeKnowledge) -> None:
        """Note a fact about a node and everything above it."""
        self._known[tuple(slice(level, None) for level in node)] |= np.uint8(what)

    def mark_below(self, node: Node, what: NodeKnowledge) -> None:
        """Note a fact about a node and everything below it."""
        self._known[tuple(slice(level + 1) for level in node)] |= np.uint8(what)

    def learn(self, found: NodeCheck) -> None:
        """Note what follows from a test, for other nodes too, and remember the node if it is the best."""
        super().learn(found)
        self._mark_others(found)

    def _mark_others(self, found: NodeCheck) -> None:
        evaluation, node = found.evaluation, found.evaluation.node
        self.mark(
            node, NodeKnowledge.CHECKED | (NodeKnowledge.GOOD if evaluation.satisfied else NodeKnowledge.BAD)
        )
        if self.monotone:
            if evaluation.satisfied:
                self.mark_above(node, NodeKnowledge.GOOD)
            else:
                self.mark_below(node, NodeKnowledge.BAD)
        elif self.implied:
            if found.sub_good:
                self.mark_above(node, NodeKnowledge.SUB_GOOD)
            else:
                self.mark_below(node, NodeKnowledge.SUB_BAD | NodeKnowledge.BAD)
        is_bounded = self.lower_bounds and found.bound is not None and found.bound > self.best.ceiling
        if is_bounded or (self.loss_monotone and evaluation.satisfied):
            self._give_up_above(node)

    def _give_up_above(self, node: Node) -> None:
        for above in self.successors(node):
            self.mark_above(above, NodeKnowledge.NO_BETTER)

    def filling(self) -> list[tuple[int, int, int]]:
        """For each level from below: its nodes, how many need not be tested any more, how many satisfy."""
        box = tuple(slice(low, high + 1) for low, high in zip(self.bottom, self.top, strict=True))
        known = self._known[box]
        heights = sum(np.ogrid[tuple(slice(size) for size in known.shape)]) + np.zeros(known.shape, np.int64)
        of_level = heights.ravel()
        settled = (known & np.uint8(NEED_NOT_BE_TESTED | NodeKnowledge.GOOD)) != 0
        counts = (
            np.bincount(of_level),
            np.bincount(of_level, settled.ravel()),
            np.bincount(of_level, ((known & np.uint8(NodeKnowledge.GOOD)) != 0).ravel()),
        )
        return [(int(all_), int(some), int(good)) for all_, some, good in zip(*counts, strict=True)]

    def is_spent(self, node: Node) -> bool:
        """Whether nothing above a node will be tested any more."""
        return all(self.need_not_be_tested(above) for above in self._directly_above(node))

    def is_hopeless(self, node: Node) -> bool:
        """Whether a node and everything above it is shown to be worse than the best found."""
        if not self.lower_bounds or not self.best.found:
            return False
        bound = self.problem.loss.lower_bound_at(self.problem.tuples, self.problem.columns, node)
        if bound is None or bound <= self.best.ceiling:
            return False
        self.mark_above(node, NodeKnowledge.NO_BETTER)
        return True

    def need_not_be_tested(self, node: Node) -> bool:
        """Whether a node was tested, or cannot satisfy, or cannot be better than one that was."""
        return self.knows(node, NEED_NOT_BE_TESTED)

    def successors(self, node: Node) -> list[Node]:
        """The direct generalizations that may be chosen, in the total order."""
        return sorted(self._directly_above(node), key=self.problem.order)

    def _directly_above(self, node: Node) -> Iterator[Node]:
        for index, (level, greatest) in enumerate(zip(node, self.top, strict=True)):
            if level < greatest:
                yield (*node[:index], level + 1, *node[index + 1 :])

    def levels(self) -> Iterator[list[Node]]:
        """The nodes that may be chosen, level by level from below."""
        for level in range(sum(self.bottom), sum(self.top) + 1):
            yield list(nodes_between(self.bottom, self.top, level))
