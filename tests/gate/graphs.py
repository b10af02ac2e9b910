"""Query graphs and valid matchings, spelled out for small histories and for readers of the theory.

The query graph of a result has a node for each of its tuples and a node for each published value (one for
each occurrence), and an edge between a tuple and every node whose value is in all results that have the
tuple. A matching chooses one node for each tuple, in each graph. It is valid if no node is chosen twice and
a tuple has the same value in every graph; each valid matching is a distribution, and each distribution is
at least one valid matching.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tarnkappe.gate.knowledge import Integers, Knowledge

Matching = list[dict[int, int]]
"""For each graph: for each tuple the place of its node."""


@dataclass(frozen=True)
class QueryGraph:
    """The graph of one result: tuples, the values of the nodes, and edges (a tuple, the place of a node)."""

    tuples: tuple[int, ...]
    nodes: tuple[int, ...]
    edges: frozenset[tuple[int, int]]


def query_graphs(knowledge: Knowledge) -> list[QueryGraph]:
    """The graphs of all results. A later result removes edges from earlier graphs and never adds any."""
    graphs = []
    for result in range(knowledge.results):
        counts = knowledge.counts(result).tolist()
        nodes = tuple(value for value, count in enumerate(counts) for _ in range(count))
        tuples = tuple(knowledge.members(result).tolist())
        edges = {
            (tuple_, place)
            for tuple_ in tuples
            for place, value in enumerate(nodes)
            if value in knowledge.candidates(tuple_)
        }
        graphs.append(QueryGraph(tuples, nodes, frozenset(edges)))
    return graphs


def is_valid(graphs: Sequence[QueryGraph], matching: Matching) -> bool:
    """Whether a matching covers all tuples, no node twice, and gives each tuple one value everywhere."""
    values: dict[int, int] = {}
    for graph, chosen in zip(graphs, matching, strict=True):
        if set(chosen) != set(graph.tuples) or len(set(chosen.values())) < len(chosen):
            return False
        for tuple_, place in chosen.items():
            if (tuple_, place) not in graph.edges or values.setdefault(
                tuple_, graph.nodes[place]
            ) != graph.nodes[place]:
                return False
    return True


def distribution_of(graphs: Sequence[QueryGraph], matching: Matching) -> dict[int, int]:
    """The value that a valid matching gives to each tuple."""
    return {
        tuple_: graph.nodes[place]
        for graph, chosen in zip(graphs, matching, strict=True)
        for tuple_, place in chosen.items()
    }


def matching_of(graphs: Sequence[QueryGraph], distribution: Sequence[int] | Integers) -> Matching:
    """One valid matching for a distribution: of equal nodes, earlier tuples of a result take the earlier
    ones.

    The choice is the same every time. So the matching of the true distribution, which the approximations
    refer to, stays fixed in the graphs that it has when more are added.
    """
    matching = []
    for graph in graphs:
        left = {
            value: [p for p, node in enumerate(graph.nodes) if node == value] for value in set(graph.nodes)
        }
        matching.append({tuple_: left[int(distribution[tuple_])].pop(0) for tuple_ in graph.tuples})
    return matching
