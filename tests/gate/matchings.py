"""Matchings of small histories as the theory has them: one permutation for each answer.

The occurrence of a value in an answer is named after the tuple that truly has it, so a matching of one answer is a
permutation of its tuples: `m[t] = u` says that t uses what is u's. Answers here have no artificial values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

Truth = Mapping[int, str]
Permutation = dict[int, int]
Matching = list[Permutation]
Rows = dict[int, set[tuple[str, frozenset[int]]]]


def original(graphs: Sequence[Sequence[int]]) -> Matching:
    return [{t: t for t in graph} for graph in graphs]


def with_swaps(
    graphs: Sequence[Sequence[int]], *swaps: Mapping[int, int] | Sequence[tuple[int, int]]
) -> Matching:
    """The matching with the given swaps, answer by answer."""
    matching = original(graphs)
    for permutation, pairs in zip(matching, swaps, strict=True):
        for t, u in pairs:
            permutation[t], permutation[u] = u, t
    return matching


def distribution(truth: Truth, matching: Matching) -> dict[int, str] | None:
    """The value of each tuple, or None if it differs between answers: then the matching is not valid."""
    found: dict[int, str] = {}
    for permutation in matching:
        for t, u in permutation.items():
            if found.setdefault(t, truth[u]) != truth[u]:
                return None
    return found


def all_valid(truth: Truth, graphs: Sequence[Sequence[int]]) -> Iterator[Matching]:
    for chosen in itertools.product(*(itertools.permutations(graph) for graph in graphs)):
        matching = [
            dict(zip(graph, places, strict=True)) for graph, places in zip(graphs, chosen, strict=True)
        ]
        if distribution(truth, matching) is not None:
            yield matching


def equivalent_edges(truth: Truth, one: Matching, other: Matching) -> set[int]:
    """The tuples that use different occurrences of the same value: partial SA-equivalence if there are any."""
    return {
        t
        for first, second in zip(one, other, strict=True)
        for t in first
        if first[t] != second[t] and truth[first[t]] == truth[second[t]]
    }


def is_fully_equivalent(truth: Truth, one: Matching, other: Matching) -> bool:
    return one != other and all(
        truth[first[t]] == truth[second[t]] for first, second in zip(one, other, strict=True) for t in first
    )


def without_equivalent_edges(truth: Truth, reference: Matching, matching: Matching) -> Matching:
    """The same distribution without edges that are SA-equivalent to the reference."""
    result = [dict(permutation) for permutation in matching]
    for wanted, permutation in zip(reference, result, strict=True):
        while wrong := wrong_occurrences(truth, wanted, permutation):
            t = wrong[0]
            other = next(u for u in permutation if permutation[u] == wanted[t])
            permutation[other], permutation[t] = permutation[t], wanted[t]
    return result


def wrong_occurrences(truth: Truth, wanted: Permutation, permutation: Permutation) -> list[int]:
    """The tuples that use another occurrence of the wanted value."""
    return [t for t, u in permutation.items() if u != wanted[t] and truth[u] == truth[wanted[t]]]


def as_printed(truth: Truth, wanted: Permutation, matching: Permutation) -> Permutation:
    """What the literature prints instead: edges and partners are looked up in the matching as it was at first."""
    result = dict(matching)
    for t in wrong_occurrences(truth, wanted, matching):
        other = next(u for u in matching if matching[u] == wanted[t])
        result[other], result[t] = matching[t], wanted[t]
    return result


def cycles(permutation: Permutation) -> list[tuple[int, ...]]:
    """The cycles of the symmetric difference to the original matching."""
    found, seen = [], set[int]()
    for start in permutation:
        cycle = []
        t = start
        while t not in seen and permutation[t] != t:
            seen.add(t)
            cycle.append(t)
            t = permutation[t]
        if cycle:
            found.append(tuple(cycle))
    return found


def components(truth: Truth, matching: Matching) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Cycles that cannot be separated, since they share a tuple whose value changes."""
    groups = [[(i, cycle)] for i, permutation in enumerate(matching) for cycle in cycles(permutation)]
    value = distribution(truth, matching) or {}
    merged = True
    while merged:
        merged = False
        for one, other in itertools.combinations(groups, 2):
            tuples = [
                {t for _, cycle in group for t in cycle if value[t] != truth[t]} for group in (one, other)
            ]
            if tuples[0] & tuples[1]:
                one += other
                groups.remove(other)
                merged = True
                break
    return groups


def is_minimal(truth: Truth, matching: Matching) -> bool:
    return len(components(truth, matching)) == 1


def part_with(matching: Matching, component: list[tuple[int, tuple[int, ...]]]) -> Matching:
    """The matching on one component, and the original elsewhere."""
    result = [{t: t for t in permutation} for permutation in matching]
    for i, cycle in component:
        result[i].update({t: matching[i][t] for t in cycle})
    return result


def difference(matching: Matching) -> set[tuple[int, int, int]]:
    """The edges in which a matching differs from the original."""
    return {(i, t, u) for i, permutation in enumerate(matching) for t, u in permutation.items() if t != u}


def largest_cycle(matching: Matching) -> int:
    """The smallest r for which it is a delta-r-matching."""
    return max((len(cycle) for permutation in matching for cycle in cycles(permutation)), default=0)


def is_path_conform(matching: Matching) -> bool:
    return all(
        other[t] == u
        for permutation in matching
        for t, u in permutation.items()
        if t != u
        for other in matching
        if t in other and u in other
    )


def is_delta_top(truth: Truth, matching: Matching) -> bool:
    identity = original([list(permutation) for permutation in matching])
    return (
        distribution(truth, matching) is not None
        and largest_cycle(matching) == 2
        and not equivalent_edges(truth, identity, matching)
        and is_path_conform(matching)
        and is_minimal(truth, matching)
    )


def swaps_of(truth: Truth, graph: Sequence[int]) -> Iterator[Permutation]:
    """All ways to swap pairs of tuples with different values."""

    def extend(left: list[int], so_far: Permutation) -> Iterator[Permutation]:
        if not left:
            yield so_far
            return
        t, rest = left[0], left[1:]
        yield from extend(rest, so_far | {t: t})
        for u in rest:
            if truth[t] != truth[u]:
                yield from extend([x for x in rest if x != u], so_far | {t: u, u: t})

    return extend(list(graph), {})


def all_delta_top(truth: Truth, graphs: Sequence[Sequence[int]]) -> list[Matching]:
    chosen = itertools.product(*(list(swaps_of(truth, graph)) for graph in graphs))
    return [list(matching) for matching in chosen if is_delta_top(truth, list(matching))]


def table_of(truth: Truth, graphs: Sequence[Sequence[int]], matchings: Sequence[Matching]) -> Rows:
    """The rows of a table that has all edges of some matchings."""
    rows: Rows = {t: set() for graph in graphs for t in graph}
    for matching in matchings:
        value = distribution(truth, matching) or {}
        for t in rows:
            partners = frozenset(m[t] for m in matching if t in m and m[t] != t)
            if partners:
                rows[t].add((value[t], partners))
    return rows


def extracted(
    truth: Truth, graphs: Sequence[Sequence[int]], rows: Rows, start: int, value: str
) -> list[Matching]:
    """All matchings that a table yields for a tuple and a value, by following edges back, with backtracking."""
    found: list[Matching] = []

    def search(chosen: dict[int, tuple[str, frozenset[int]]], todo: list[tuple[int, int]]) -> None:
        if not todo:
            matching = original(graphs)
            for permutation in matching:
                for t, (_, partners) in chosen.items():
                    here = [u for u in partners if u in permutation]
                    if t in permutation and len(here) != 1:
                        return
                    if t in permutation:
                        permutation[t] = here[0]
                if len(set(permutation.values())) < len(permutation):
                    return
            if matching not in found:
                found.append(matching)
            return
        (t, partner), rest = todo[0], todo[1:]
        if t in chosen:
            if partner in chosen[t][1]:
                search(chosen, rest)
            return
        for edge in sorted(rows[t], key=str):
            if edge[0] == truth[partner] and partner in edge[1]:
                search(chosen | {t: edge}, [*rest, *((u, t) for u in edge[1])])

    for edge in sorted(rows[start], key=str):
        if edge[0] == value:
            search({start: edge}, [(u, start) for u in edge[1]])
    return found
