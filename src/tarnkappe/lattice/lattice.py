"""The generalization lattice: all combinations of levels, ordered component by component."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from functools import cached_property

Node = tuple[int, ...]
"""The level of each quasi-identifier."""


@dataclasses.dataclass(frozen=True)
class Lattice:
    """All nodes from (0, ..., 0), the untouched data, to the highest level of every column.

    >>> lattice = Lattice((2, 1, 5))
    >>> lattice.num_nodes, lattice.num_levels, lattice.num_strategies
    (36, 9, 168)
    """

    heights: Node

    @property
    def bottom(self) -> Node:
        """The node that changes nothing."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """The node that generalizes everything fully."""
        return self.heights

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return math.prod(height + 1 for height in self.heights)

    @property
    def num_levels(self) -> int:
        """How many different sums of levels there are."""
        return sum(self.heights) + 1

    @property
    def num_strategies(self) -> int:
        """How many paths lead from the bottom to the top."""
        return math.factorial(sum(self.heights)) // math.prod(math.factorial(h) for h in self.heights)

    @property
    def num_sublattices(self) -> int:
        """How many sub-lattices with at least two nodes there are."""
        return math.prod(math.comb(h + 2, 2) for h in self.heights) - self.num_nodes

    @cached_property
    def level_sizes(self) -> tuple[int, ...]:
        """How many nodes each level has: balls (steps) in bins (columns) of limited capacity."""
        return tuple(self.num_nodes_on(level) for level in range(self.num_levels))

    def num_nodes_on(self, level: int) -> int:
        """How many nodes have this sum of levels (inclusion and exclusion over the full columns)."""
        n = len(self.heights)
        if n == 0:
            return int(level == 0)
        return sum(
            (-1) ** size * _choose(n + level - 1 - sum(h + 1 for h in full), n - 1)
            for size in range(n + 1)
            for full in itertools.combinations(self.heights, size)
        )

    def num_nodes_on_at_most(self, level: int) -> int:
        """An upper bound of `num_nodes_on` that looks at the tallest column only."""
        n, tallest = len(self.heights), max(self.heights, default=0)
        return sum(
            (-1) ** i * math.comb(n, i) * _choose(n + level - 1 - i * (tallest + 1), n - 1)
            for i in range(n + 1)
        )

    @property
    def least_tests_in_worst_case(self) -> int:
        """How many nodes any optimal search must test in the worst case of a monotone criterion.

        The border between satisfying and other nodes may run between the two fullest levels, and every
        node beside the border must be tested.
        """
        middle = self.num_levels // 2
        return self.num_nodes_on(middle) + (self.num_nodes_on(middle - 1) if middle else 0)

    def nodes(self) -> Iterator[Node]:
        """All nodes; the last column changes fastest."""
        return itertools.product(*(range(height + 1) for height in self.heights))

    def nodes_on(self, level: int) -> Iterator[Node]:
        """All nodes with this sum of levels, in descending lexicographic order."""
        return _compositions(self.heights, level)

    def successors(self, node: Node) -> list[Node]:
        """The direct generalizations of a node."""
        return [
            (*node[:i], level + 1, *node[i + 1 :])
            for i, (level, height) in enumerate(zip(node, self.heights, strict=True))
            if level < height
        ]

    def predecessors(self, node: Node) -> list[Node]:
        """The direct specializations of a node."""
        return [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level > 0]

    def num_generalizations(self, node: Node) -> int:
        """How many other nodes lie above a node."""
        return math.prod(h - level + 1 for level, h in zip(node, self.heights, strict=True)) - 1

    def num_specializations(self, node: Node) -> int:
        """How many other nodes lie below a node."""
        return math.prod(level + 1 for level in node) - 1


def is_generalization(node: Node, other: Node) -> bool:
    """Whether a node is the other one or lies above it."""
    return all(a >= b for a, b in zip(node, other, strict=True))


def nodes_between(bottom: Node, top: Node, level: int) -> Iterator[Node]:
    """The nodes from one to another with this sum of levels, in descending lexicographic order.

    >>> list(nodes_between((1, 0), (2, 2), 2))
    [(2, 0), (1, 1)]
    """
    room = tuple(high - low for low, high in zip(bottom, top, strict=True))
    for steps in _compositions(room, level - sum(bottom)):
        yield tuple(low + step for low, step in zip(bottom, steps, strict=True))


def _choose(n: int, k: int) -> int:
    return math.comb(n, k) if n >= 0 else 0


def _compositions(heights: Node, total: int) -> Iterator[Node]:
    if not heights:
        if total == 0:
            yield ()
        return
    first, rest = heights[0], heights[1:]
    for level in range(min(first, total), max(0, total - sum(rest)) - 1, -1):
        for tail in _compositions(rest, total - level):
            yield (level, *tail)
