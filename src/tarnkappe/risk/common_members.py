"""How many members two groupings of the same people share for certain.

The people are divided twice, once into left and once into right groups of known sizes; some pairs of
groups are known to have nobody in common. Every way to fill the pairs that agrees with the sizes is a
flow from left to right. The number of people in a pair is certain if it is the same in all flows.

Why this finds exactly the certain ones: take any flow, and let an arc lead from a left to a right group
where people could be added (every allowed pair) and back where some could be taken away (every pair
with people). A pair can be changed iff a cycle of arcs leads through it that is more than going there
and back. A pair without people lies on a cycle iff both ends are in one strongly connected component.
A pair with people lies on one unless it is a bridge of its component: if neither end reaches the other
without the pair, the component falls apart into what each end reaches, with no arc between them.

Explained in docs/explanation/attacks.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are used

from tarnkappe.native import compiled
from tarnkappe.risk.pairs import Pairs

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def certain_shares(lefts: Counts, rights: Counts, allowed: Pairs) -> Counts | None:
    """For each allowed pair how many people are in it for certain, -1 if that is not certain.

    Returns None if the sizes and the pairs contradict each other: these cannot be the same people.

    >>> one = Pairs(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> certain_shares(np.array([2, 2]), np.array([1, 3]), one)
    array([1, 1, 2])
    """
    if lefts.sum() != rights.sum():
        return None
    flow = _some_flow(lefts, rights, allowed)
    if flow is None:
        return None
    right_node = allowed.right + len(lefts)
    nodes = len(lefts) + len(rights)
    filled = flow > 0
    start = np.concatenate([allowed.left, right_node[filled]])
    end = np.concatenate([right_node, allowed.left[filled]])
    arcs = scipy.sparse.csr_array((np.ones(len(start), np.int8), (start, end)), shape=(nodes, nodes))
    _, component = scipy.sparse.csgraph.connected_components(arcs, directed=True, connection="strong")
    inside = component[allowed.left] == component[right_node]
    bridge = np.zeros(len(flow), dtype=bool)
    within = np.flatnonzero(inside)
    bridge[within] = _bridges(nodes, allowed.left[within], right_node[within])
    return np.where(~inside | (filled & bridge), flow, -1)


def _some_flow(lefts: Counts, rights: Counts, allowed: Pairs) -> Counts | None:
    source, sink = len(lefts) + len(rights), len(lefts) + len(rights) + 1
    right_node = allowed.right + len(lefts)
    start = np.concatenate([np.full(len(lefts), source), allowed.left, len(lefts) + np.arange(len(rights))])
    end = np.concatenate([np.arange(len(lefts)), right_node, np.full(len(rights), sink)])
    most = np.minimum(lefts[allowed.left], rights[allowed.right])
    capacity = np.concatenate([lefts, most, rights]).astype(np.int32)
    graph = scipy.sparse.csr_array((capacity, (start, end)), shape=(sink + 1, sink + 1))
    found = scipy.sparse.csgraph.maximum_flow(graph, source, sink)
    if found.flow_value != lefts.sum():
        return None
    return np.asarray(scipy.sparse.csr_array(found.flow)[allowed.left, right_node], dtype=np.int64).ravel()


def _bridges(nodes: int, start: Counts, end: Counts) -> Mask:
    """Which edges of an undirected graph are on no cycle."""
    edge = np.tile(np.arange(len(start), dtype=np.int64), 2)
    a, b = np.concatenate([start, end]), np.concatenate([end, start])
    order = np.argsort(a, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=nodes))]).astype(np.int64)
    return _bridges_of(offsets, b[order], edge[order], len(start))


@compiled
def _bridges_of(offsets: Counts, neighbour: Counts, edge: Counts, edges: int) -> Mask:
    """Tarjan's search for bridges, with its own stack."""
    # Its own stack, since components may have thousands of groups and recursion has no room for them. The
    # edge one came by is passed over by its number: a second edge to the same neighbour is a way back.
    # `lowest` of a node is final only when its places are used up, so bridges are decided on the way back.
    # Nodes and edges in time.
    nodes = len(offsets) - 1
    found = np.zeros(edges, np.bool_)
    entered = np.full(nodes, -1, np.int64)
    lowest = np.zeros(nodes, np.int64)
    by_edge = np.full(nodes, -1, np.int64)
    place = offsets[:-1].copy()
    stack = np.empty(nodes, np.int64)
    time = 0
    for root in range(nodes):
        if entered[root] >= 0:
            continue
        depth = 0
        stack[0] = root
        entered[root] = lowest[root] = time
        time += 1
        while depth >= 0:
            node = stack[depth]
            if place[node] < offsets[node + 1]:
                other, over = neighbour[place[node]], edge[place[node]]
                place[node] += 1
                if over == by_edge[node]:
                    continue
                if entered[other] >= 0:
                    lowest[node] = min(lowest[node], entered[other])
                else:
                    depth += 1
                    stack[depth] = other
                    by_edge[other] = over
                    entered[other] = lowest[other] = time
                    time += 1
            else:
                depth -= 1
                if depth >= 0:
                    above = stack[depth]
                    lowest[above] = min(lowest[above], lowest[node])
                    if lowest[node] > entered[above]:
                        found[by_edge[node]] = True
    return found
