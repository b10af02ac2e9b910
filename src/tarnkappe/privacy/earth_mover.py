"""The earth mover's distance between a class and the whole table, on a tree of the sensitive values.

All ground distances of t-closeness are lengths of paths in a tree whose edges are equally long: values
that are all equally far apart hang on a star, ordered values on a chain, categorized ones on their
hierarchy. On a tree the distance has a closed form. Cut the edge above a node: the class has a share P
of its rows below it, the whole table a share Q, and |P - Q| must cross the edge in any case; moving just
that over every edge is possible. So the distance is the sum of |P - Q| over all nodes, times the length
of an edge.

A class has few of the values, so its nodes are not all visited: `EvenTree` and `Chain` say how the sum over
the nodes that the class does not touch is known without it. A distance then costs as much as the class has
entries, times the height of the hierarchy or the steps of a binary search.

Explained in docs/explanation/guarantees.md.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.privacy.recent import remembers_last
from tarnkappe.privacy.tree_gaps import carry_up, least_gaps, sum_of_gaps, sum_of_surpluses
from tarnkappe.table import Distribution, Levels
from tarnkappe.table.grouping import Codes, Counts

LARGEST_IMPLIED_SIZE = 100
"""Where the search for the smallest close class stops."""

WORK = 10_000_000
"""How many numbers that search may hold at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class Tree(ABC):
    """Sensitive values on a tree, with their counts in the whole table.

    Nodes are numbered from the leaves up, so that a node comes before its parent. The root is the number
    after the last node; it needs no entry, since there is no edge above it.

    Attributes:
        parents: the parent of each node.
        nodes: the node (or the root) at which each value hangs.
        totals: the rows of the whole table with each value.
        edge: the length of an edge.
    """

    parents: Codes
    nodes: Codes
    totals: Counts
    edge: Fraction

    @staticmethod
    @remembers_last
    def star(totals: Counts) -> Tree:
        """Values that are all at distance 1: two edges of length 1/2."""
        num_values = len(totals)
        return EvenTree(
            np.full(num_values, num_values, np.int32),
            np.arange(num_values, dtype=np.int32),
            totals,
            Fraction(1, 2),
        )

    @staticmethod
    @remembers_last
    def chain(totals: Counts) -> Tree:
        """Ordered values: the i-th and the j-th of the d that occur are at distance |i - j| / (d - 1)."""
        steps = max(int(np.count_nonzero(totals)) - 1, 0)
        return Chain(
            np.arange(1, steps + 1, dtype=np.int32),
            np.maximum(np.cumsum(totals > 0) - 1, 0).astype(np.int32),
            totals,
            Fraction(1, max(steps, 1)),
        )

    @staticmethod
    @remembers_last
    def hierarchy(totals: Counts, levels: Levels) -> Tree:
        """Values that first meet at level h of H are at distance h / H: 2h edges of length 1 / 2H."""
        parents, first = [], 0
        for level in range(levels.height):
            first += levels.distinct(level)
            parents.append(first + levels.parents(level))
        return EvenTree(
            np.concatenate(parents).astype(np.int32),
            np.arange(len(totals), dtype=np.int32),
            totals,
            Fraction(1, 2 * levels.height),
        )

    @cached_property
    def below(self) -> Counts:
        """The rows of the whole table at and below each node; the root, the last, has them all."""
        below = np.zeros(len(self.parents) + 1, dtype=np.int64)
        np.add.at(below, self.nodes, self.totals)
        carry_up(self.parents, below)
        return below

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the whole table at and below each node."""
        return self.below / max(int(self.below[-1]), 1)

    @abstractmethod
    def distances(self, distribution: Distribution) -> npt.NDArray[np.float64]:
        """The distance of every class from the whole table; infinite for one without any value."""

    @abstractmethod
    def exact_distance(self, entries: tuple[tuple[int, int], ...]) -> Fraction:
        """The distance of one class, given as codes with their counts, without rounding."""

    def smallest_close_size(self, t: Fraction) -> int:
        """The smallest size of a class that can be within the distance t, whatever its values.

        Sizes are tried one by one with `least_gaps`. Every class within t has at least the size found,
        so this k-anonymity is implied. The search stops after `LARGEST_IMPLIED_SIZE` (sooner for huge
        trees): then the next size is no longer exact, but still a lower bound.
        """
        whole = int(self.below[-1])
        occurs = np.zeros(len(self.below), dtype=bool)
        occurs[self.nodes[self.totals > 0]] = True
        largest = min(LARGEST_IMPLIED_SIZE, WORK // len(self.below))
        for size in range(1, largest + 1):
            if self.edge * int(least_gaps(size, self.parents, occurs, self.below)) <= t * size * whole:
                return size
        return largest + 1


@dataclasses.dataclass(frozen=True, eq=False)
class EvenTree(Tree):
    """A tree in which all values hang at the same depth, a star or a hierarchy.

    The nodes of one depth divide all rows among them, those of the class and those of the table. So both
    P and Q sum to 1 over a depth, what some nodes have too much of others have too little of, and the sum
    of |P - Q| is twice the sum of the surpluses P - Q > 0. A node without a row of the class has no
    surplus: only the values of the class and the nodes above them count.
    """

    def distances(self, distribution: Distribution) -> npt.NDArray[np.float64]:
        surpluses = sum_of_surpluses(
            distribution.offsets,
            distribution.codes,
            distribution.counts,
            self.nodes,
            self.parents,
            self.shares,
        )
        return surpluses * float(2 * self.edge)

    def exact_distance(self, entries: tuple[tuple[int, int], ...]) -> Fraction:
        whole, size = int(self.below[-1]), sum(count for _, count in entries)
        surplus, inside = 0, Counter[int]()
        for code, count in entries:
            inside[int(self.nodes[code])] += count
        while inside:  # depth by depth, up to the root
            above = Counter[int]()
            for node, rows in inside.items():
                if node < len(self.parents):
                    surplus += max(rows * whole - int(self.below[node]) * size, 0)
                    above[int(self.parents[node])] += rows
            inside = above
        return 2 * self.edge * Fraction(surplus, size * whole)


@dataclasses.dataclass(frozen=True, eq=False)
class Chain(Tree):
    """Ordered values: below the i-th node are the first i values.

    From one value of the class to its next, P stays the same while Q grows. So on such a run the sum of
    |P - Q| is split where Q exceeds P, which a binary search finds: up to there it is the sum of P - Q,
    from there that of Q - P. Sums of Q over a run are differences of two sums from the start. Rows are
    whole numbers, so the sums over all runs have no rounding error; they are divided by the rows of the
    class and of the table only in the end. Where rounding puts a split beside the true one, P and Q differ
    there by a rounding error, and so does the sum.
    """

    @cached_property
    def sums(self) -> Counts:
        """The sum of `below` over the first i nodes, for each i from 0 to the number of nodes."""
        return np.concatenate([[0], np.cumsum(self.below[:-1])])

    def distances(self, distribution: Distribution) -> npt.NDArray[np.float64]:
        gaps = sum_of_gaps(
            distribution.offsets,
            distribution.codes,
            distribution.counts,
            self.nodes,
            self.shares,
            self.sums,
            max(int(self.below[-1]), 1),
        )
        return gaps * float(self.edge)

    def exact_distance(self, entries: tuple[tuple[int, int], ...]) -> Fraction:
        whole, size = int(self.below[-1]), sum(count for _, count in entries)
        ordered = sorted((int(self.nodes[code]), count) for code, count in entries)
        gaps, first, rows = 0, 0, 0
        for node, count in [*ordered, (len(self.parents), 0)]:
            fits = np.searchsorted(self.below[first:node], rows * whole // size, side="right")
            split = first + int(fits)
            above, under = (int(self.sums[end]) for end in (first, node))
            gaps += (2 * split - first - node) * rows * whole
            gaps += (above + under - 2 * int(self.sums[split])) * size
            first, rows = node, rows + count
        return self.edge * Fraction(gaps, size * whole)
