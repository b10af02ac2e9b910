"""The earth mover's distance between a class and the whole table, on a tree of the sensitive values.

All ground distances of t-closeness are lengths of paths in a tree whose edges are equally long: values
that are all equally far apart hang on a star, ordered values on a chain, categorized ones on their
hierarchy. On a tree the distance has a closed form. Cut the edge above a node: the class has a share P
of its rows below it, the whole table a share Q, and |P - Q| must cross the edge in any case; moving just
that over every edge is possible. So the distance is the sum of |P - Q| over all nodes, times the length
of an edge.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.table import Distribution, Levels
from tarnkappe.table.grouping import Codes, Counts

LARGEST_IMPLIED_SIZE = 100
"""Where the search for the smallest close class stops."""

WORK = 10_000_000
"""How many numbers that search may hold at a time."""

FULL = 2**62
"""What a further row costs where there is no room for one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
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

    @classmethod
    def star(cls, totals: Counts) -> Tree:
        """Values that are all at distance 1: two edges of length 1/2."""
        num_values = len(totals)
        return cls(
            np.full(num_values, num_values, np.int32),
            np.arange(num_values, dtype=np.int32),
            totals,
            Fraction(1, 2),
        )

    @classmethod
    def chain(cls, totals: Counts) -> Tree:
        """Ordered values: the i-th and the j-th of the d that occur are at distance |i - j| / (d - 1)."""
        steps = max(int(np.count_nonzero(totals)) - 1, 0)
        return cls(
            np.arange(1, steps + 1, dtype=np.int32),
            np.maximum(np.cumsum(totals > 0) - 1, 0).astype(np.int32),
            totals,
            Fraction(1, max(steps, 1)),
        )

    @classmethod
    def hierarchy(cls, totals: Counts, levels: Levels) -> Tree:
        """Values that first meet at level h of H are at distance h / H: 2h edges of length 1 / 2H."""
        parents, first = [], 0
        for level in range(levels.height):
            first += levels.distinct(level)
            parents.append(first + levels.parents(level))
        return cls(
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

    def distances(self, distribution: Distribution) -> npt.NDArray[np.float64]:
        """The distance of every class from the whole table; infinite for one without any value."""
        gaps = sum_of_gaps(
            distribution.offsets,
            distribution.codes,
            distribution.counts,
            self.nodes,
            self.parents,
            self.below / max(int(self.below[-1]), 1),
        )
        return gaps * float(self.edge)

    def exact_distance(self, entries: tuple[tuple[int, int], ...]) -> Fraction:
        """The distance of one class, given as codes with their counts, without rounding."""
        whole, size = int(self.below[-1]), sum(count for _, count in entries)
        inside = [0] * len(self.below)
        for code, count in entries:
            inside[self.nodes[code]] += count
        gaps = 0
        for node, parent in enumerate(self.parents):
            gaps += abs(inside[node] * whole - int(self.below[node]) * size)
            inside[parent] += inside[node]
        return self.edge * Fraction(gaps, size * whole)

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


@compiled
def carry_up(parents: Codes, below: Counts) -> None:
    """Add what is at each node to its parent."""
    for node in range(len(parents)):
        below[parents[node]] += below[node]


@compiled
def sum_of_gaps(
    offsets: Counts,
    codes: Codes,
    counts: Counts,
    nodes: Codes,
    parents: Codes,
    shares: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """For each class, the sum over all nodes of |share of the class - share of the table| below the node."""
    num_classes = len(offsets) - 1
    gaps = np.empty(num_classes, np.float64)
    below = np.empty(len(parents) + 1, np.int64)
    for index in range(num_classes):
        below[:] = 0
        size = 0
        for entry in range(offsets[index], offsets[index + 1]):
            below[nodes[codes[entry]]] += counts[entry]
            size += counts[entry]
        gaps[index] = 0.0 if size > 0 else np.inf
        if size > 0:
            for node in range(len(parents)):
                gaps[index] += abs(below[node] / size - shares[node])
                below[parents[node]] += below[node]
    return gaps


@compiled
def least_gaps(size: int, parents: Codes, occurs: npt.NDArray[np.bool_], below: Counts) -> int:
    """The least sum of |m N - size T| over all nodes, for the best class of `size` rows.

    At each node the class has m rows and the whole table, of N rows, has T. Let cost(m) be the least sum
    at and below a node that gets m rows. It is convex in m: a node adds the convex |m N - size T|, and
    rows are shared out among children with convex costs by giving each further row to the child where
    it costs least, which keeps the increments in ascending order. So a cost is kept as its ascending
    increments, and sharing out is merging: a value that occurs takes any number of rows for nothing.
    """
    whole = below[-1]
    increments = np.full((len(below), size), FULL, np.int64)
    for node in range(len(below)):
        if occurs[node]:
            increments[node] = 0
    merged = np.empty(size, np.int64)
    least = 0
    for node in range(len(parents)):
        least += size * below[node]
        own, above = increments[node], increments[parents[node]]
        for row in range(size):
            if own[row] < FULL:
                gap = abs((row + 1) * whole - size * below[node]) - abs(row * whole - size * below[node])
                own[row] += gap
        mine, theirs = 0, 0
        for row in range(size):
            if own[mine] <= above[theirs]:
                merged[row] = own[mine]
                mine += 1
            else:
                merged[row] = above[theirs]
                theirs += 1
        above[:] = merged
    return int(least + increments[len(parents)].sum())
