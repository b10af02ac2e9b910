"""Clone graphs as the theory has them: several nodes for an old tuple, and matchings without clone edges."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

Node = str
Matching = set[tuple[Node, Node]]


class CloneGraph:
    """Old nodes, of which those that differ only in primes are clones; new nodes; who may get whom."""

    def __init__(
        self, demand: Sequence[int], allowed: Sequence[Sequence[bool]], fresh: Sequence[int]
    ) -> None:
        names = {f"{i}" + "'" * c: i for i, n in enumerate(demand) for c in range(n)}
        self.new = [f"{chr(65 + value)}{x}" for x, value in enumerate(fresh)]
        self.near = {node: [x for x in self.new if allowed[i][ord(x[0]) - 65]] for node, i in names.items()}

    @classmethod
    def named(cls, old: dict[Node, str], new: list[Node]) -> CloneGraph:
        graph = cls([], [], [])
        graph.new = new
        graph.near = {node: [x for x in new if x[0] in values] for node, values in old.items()}
        return graph

    def is_unique(self, matching: Matching) -> bool:
        given = [(old.rstrip("'"), new[0]) for old, new in matching]
        ends = [old for old, _ in matching], [new for _, new in matching]
        return len(set(given)) == len(given) and all(len(set(side)) == len(side) for side in ends)

    def stays_unique(self, matching: Matching, *paths: Sequence[Node]) -> bool:
        """Whether augmenting along some paths leaves a matching without clone edges."""
        for path in paths:
            matching = augmented(matching, path)
        return self.is_unique(matching)

    def is_hidden(self, old: Node, new: Node, matching: Matching) -> bool:
        """Whether an edge is a clone edge of an edge of the matching."""
        return any(o != old and o.rstrip("'") == old.rstrip("'") and x[0] == new[0] for o, x in matching)


def augmented(matching: Matching, path: Sequence[Node]) -> Matching:
    """Exchange the edges of a path: old, new, old, new, ..."""
    along = {(path[i], path[i + 1]) for i in range(0, len(path), 2)}
    back = {(path[i + 1], path[i]) for i in range(1, len(path) - 1, 2)}
    return (matching - back) | along


def levels(graph: CloneGraph, matching: Matching) -> tuple[dict[Node, int], list[Node]]:
    """The distances from the uncovered old nodes, without clone edges, and the nearest uncovered new nodes."""
    partner = {new: old for old, new in matching}
    covered = {old for old, _ in matching}
    distance = {old: 0 for old in graph.near if old not in covered}
    queue, found = deque(distance), list[Node]()
    while queue:
        old = queue.popleft()
        if found and distance[old] + 1 > distance[found[0]]:
            break
        for new in graph.near[old]:
            if new not in distance and (old, new) not in matching and not graph.is_hidden(old, new, matching):
                distance[new] = distance[old] + 1
                if new not in partner:
                    found.append(new)
                else:
                    distance[partner[new]] = distance[new] + 1
                    queue.append(partner[new])
    return distance, found


def one_by_one(graph: CloneGraph) -> Matching:
    """Algorithm 6.7: augment along one shortest path after the other."""
    matching: Matching = set()
    while True:
        distance, ends = levels(graph, matching)
        if not ends:
            return matching
        path = back_to_start(graph, matching, distance, ends[0], set(), set())
        assert path is not None
        matching = augmented(matching, path)


def in_phases(graph: CloneGraph) -> Matching:
    """Algorithm 6.8: Hopcroft-Karp that hides the clone edges of the paths it has chosen."""
    matching: Matching = set()
    while True:
        distance, ends = levels(graph, matching)
        visited: set[Node] = set()
        chosen: Matching = set()
        paths = []
        for end in ends:
            path = back_to_start(graph, matching, distance, end, visited, chosen)
            if path is not None:
                paths.append(path)
                chosen |= {(path[i], path[i + 1]) for i in range(0, len(path), 2)}
        if not paths:
            return matching
        for path in paths:
            matching = augmented(matching, path)


def back_to_start(
    graph: CloneGraph,
    matching: Matching,
    distance: dict[Node, int],
    new: Node,
    visited: set[Node],
    chosen: Matching,
) -> list[Node] | None:
    """A path to a new node along decreasing distances that meets no visited node and no hidden edge."""
    visited.add(new)
    for old in graph.near:
        if (
            old in visited
            or new not in graph.near[old]
            or (old, new) in matching
            or distance.get(old, -1) != distance[new] - 1
            or graph.is_hidden(old, new, matching)
            or graph.is_hidden(old, new, chosen)
        ):
            continue
        visited.add(old)
        if distance[old] == 0:
            return [old, new]
        before = next(x for o, x in matching if o == old)
        if before not in visited:
            path = back_to_start(graph, matching, distance, before, visited, chosen)
            if path is not None:
                return [*path, old, new]
    return None
