"""Slow and obviously correct: everything by enumerating all distributions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tarnkappe.gate import Knowledge

Result = tuple[Sequence[int], Sequence[int]]
"""The tuples of a result, and the multiset of its values."""


def distributions(results: Sequence[Result]) -> Iterator[dict[int, int]]:
    """All ways to give every tuple one value such that no value is used more often than published."""
    left = [Counter(values) for _, values in results]
    places: dict[int, list[int]] = {}
    for place, (members, _) in enumerate(results):
        for member in members:
            places.setdefault(member, []).append(place)
    tuples = sorted(places)
    chosen: dict[int, int] = {}

    def extend(depth: int) -> Iterator[dict[int, int]]:
        if depth == len(tuples):
            yield dict(chosen)
            return
        member = tuples[depth]
        for value in sorted(left[places[member][0]]):
            if all(left[place][value] > 0 for place in places[member]):
                for place in places[member]:
                    left[place][value] -= 1
                chosen[member] = value
                yield from extend(depth + 1)
                for place in places[member]:
                    left[place][value] += 1

    return extend(0)


def signatures(results: Sequence[Result]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {member: set() for members, _ in results for member in members}
    for distribution in distributions(results):
        for member, value in distribution.items():
            found[member].add(value)
    return found


def degree(results: Sequence[Result]) -> int:
    """The smallest degree of anonymity."""
    return min(len(signature) for signature in signatures(results).values())


def fewest_artificial(
    results: Sequence[Result], members: Sequence[int], real: Sequence[int], values: int, k: int
) -> int | None:
    """How many artificial values the next result needs, by trying all multisets."""
    for size in range(values * len(members) + 1):
        for added in itertools.combinations_with_replacement(range(values), size):
            if degree([*results, (members, [*real, *added])]) >= k:
                return size
    return None


def knowledge_of(results: Sequence[Result], values: int) -> Knowledge:
    knowledge = Knowledge(values)
    for members, given in results:
        knowledge.publish(list(members), np.bincount(np.asarray(given), minlength=values))
    return knowledge


def published(knowledge: Knowledge) -> list[Result]:
    """What a gate has published so far, in the form of this module."""
    return [
        (
            knowledge.members(result).tolist(),
            [value for value, count in enumerate(knowledge.counts(result).tolist()) for _ in range(count)],
        )
        for result in range(knowledge.results)
    ]


def numbered(
    queries: Sequence[Sequence[int]], truth: dict[int, int]
) -> tuple[list[list[int]], np.ndarray, list[int]]:
    """Queries with tuples numbered in the order of their first return, the truth in that order, and the names."""
    names: list[int] = []
    for query in queries:
        names += [tuple_ for tuple_ in query if tuple_ not in names]
    number = {name: place for place, name in enumerate(names)}
    return (
        [[number[t] for t in query] for query in queries],
        np.array([truth[name] for name in names], dtype=np.int32),
        names,
    )


def random_history(
    rng: np.random.Generator, tuples: int, values: int, results: int, extra: float
) -> tuple[list[Result], np.ndarray]:
    """Random queries on a random table; each result gets artificial values with some probability."""
    truth = {t: int(v) for t, v in enumerate(rng.integers(0, values, tuples))}
    sizes = rng.integers(1, max(2, tuples - 1), results)
    queries = [rng.choice(tuples, size, replace=False).tolist() for size in sizes]
    members, known, _ = numbered(queries, truth)
    history = []
    for who in members:
        added = rng.integers(0, values, rng.integers(1, 3)).tolist() if rng.random() < extra else []
        history.append((who, known[who].tolist() + added))
    return history, known
