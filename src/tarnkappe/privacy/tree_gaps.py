"""Kernels of the earth mover's distance on a tree: by how much classes and the table differ at its nodes.

`earth_mover.py` says why the sums over nodes are the distance. Nodes are numbered from the leaves up, so that
a node comes before its parent; the root comes last and has no entry. A class is entries of codes and counts.

Explained in docs/explanation/guarantees.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.table.grouping import Codes, Counts

FULL = 2**62
"""What a further row costs where there is no room for one."""

CROWDED = 4
CROWDED_CHAIN = 16
"""A tree or a chain of at most so many nodes per entry of a class is walked node by node: it is faster."""

FEW = 24
"""So many numbers, or fewer, are sorted by insertion: it is faster."""


@compiled
def carry_up(parents: Codes, below: Counts) -> None:
    """Add what is at each node to its parent."""
    # Nodes are numbered so that a parent comes after its children: one pass carries everything to the top. In
    # any other order a node would hand on its rows before all of them have arrived.
    for node in range(len(parents)):
        below[parents[node]] += below[node]


@compiled
def sum_of_surpluses(
    offsets: Counts,
    codes: Codes,
    counts: Counts,
    nodes: Codes,
    parents: Codes,
    shares: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """For each class, the sum of its surpluses over the table at the nodes of an `EvenTree`.

    Nodes are visited in their order or in that in which they were touched, in both cases depth by depth:
    all that is below a node has been added to it before its turn comes.
    """
    surpluses = np.empty(len(offsets) - 1, np.float64)
    below = np.zeros(len(parents) + 1, np.int64)
    touched = np.empty(len(parents) + 1, np.int32)
    for index in range(len(surpluses)):
        size, found, surplus = 0, 0, 0.0
        for entry in range(offsets[index], offsets[index + 1]):
            node = nodes[codes[entry]]
            if below[node] == 0:
                touched[found] = node
                found += 1
            below[node] += counts[entry]
            size += counts[entry]
        if len(parents) <= CROWDED * found:
            for node in range(len(parents)):
                surplus += max(below[node] - shares[node] * size, 0.0)
                below[parents[node]] += below[node]
            below[:] = 0
        else:
            done = 0
            while done < found:
                node = touched[done]
                done += 1
                surplus += max(below[node] - shares[node] * size, 0.0)
                parent = parents[node]
                if parent < len(parents):
                    if below[parent] == 0:
                        touched[found] = parent
                        found += 1
                    below[parent] += below[node]
                below[node] = 0
        surpluses[index] = surplus / size if size > 0 else np.inf
    return surpluses


@compiled
def sum_of_gaps(
    offsets: Counts,
    codes: Codes,
    counts: Counts,
    nodes: Codes,
    shares: npt.NDArray[np.float64],
    sums: Counts,
    whole: int,
) -> npt.NDArray[np.float64]:
    """For each class, the sum over the nodes of a `Chain` of |share of the class - share of the table|."""
    # `inside` is all zeros between two classes: each of the two ways clears what it used. Where a class
    # touches a sixteenth of the chain or more, walking over all of it is faster than sorting and searching.
    gaps = np.empty(len(offsets) - 1, np.float64)
    steps = len(shares) - 1
    inside = np.zeros(steps + 1, np.int64)
    touched = np.empty(steps + 1, np.int32)
    for index in range(len(gaps)):
        size = 0
        for entry in range(offsets[index], offsets[index + 1]):
            inside[nodes[codes[entry]]] += counts[entry]
            size += counts[entry]
        found = offsets[index + 1] - offsets[index]
        if size == 0:
            gaps[index] = np.inf
        elif steps <= CROWDED_CHAIN * found:
            gaps[index] = gaps_node_by_node(inside, size, shares)
        else:
            for place in range(found):
                touched[place] = nodes[codes[offsets[index] + place]]
            sort(touched[:found])
            gaps[index] = gaps_run_by_run(inside, touched[:found], size, shares, sums, whole)
    return gaps


@compiled
def gaps_node_by_node(inside: Counts, size: int, shares: npt.NDArray[np.float64]) -> float:
    """The sum of gaps on a chain where most nodes are touched; clears what the class has inside."""
    # Two numbers run along the chain; the last node is left out, as nothing crosses above it. Counts stay
    # whole and are compared with `shares * size`, so that one division at the end rounds, not one at each
    # node.
    rows, gap = 0, 0.0
    for node in range(len(shares) - 1):
        rows += inside[node]
        gap += abs(rows - shares[node] * size)
    inside[:] = 0
    return gap / size


@compiled
def gaps_run_by_run(
    inside: Counts, touched: Codes, size: int, shares: npt.NDArray[np.float64], sums: Counts, whole: int
) -> float:
    """The sum of gaps on a chain where few nodes are touched; clears what the class has inside."""
    # Between two touched nodes the share of the class is constant and that of the table rises: one binary
    # search finds where the sign of the gap turns, and prefix `sums` give both parts. Sums are whole numbers
    # until the end, so nothing cancels. `touched` must be sorted and `inside[last]` added after the run that
    # ends there.
    of_class, of_table, first, rows = 0, 0, 0, 0
    for run in range(len(touched) + 1):
        last = touched[run] if run < len(touched) else len(shares) - 1
        split, end = first, last if rows > 0 else first
        if rows == size:
            split = last
        share = rows / size
        while split < end:
            middle = (split + end) // 2
            if shares[middle] <= share:
                split = middle + 1
            else:
                end = middle
        of_class += (2 * split - first - last) * rows
        of_table += sums[first] + sums[last] - 2 * sums[split]
        rows += inside[last]
        inside[last] = 0
        first = last
    return of_class / size + of_table / whole


@compiled
def sort(numbers: Codes) -> None:
    """Sort a few numbers in place (what Numba has for it needs memory each time)."""
    # Insertion for few numbers, which is what a class has; without it the allocations of `sort` take most of
    # the time of a check. In place: it is given a part of a longer array.
    if len(numbers) > FEW:
        numbers.sort()
        return
    for place in range(1, len(numbers)):
        number = numbers[place]
        while place > 0 and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number


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
