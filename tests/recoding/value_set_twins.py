"""Value sets the slow way: every one of them is tried, in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Value = tuple[str, Any]
Row = Mapping[str, Any]
INFINITE = float("inf")


def numbered(orders: Mapping[str, Sequence[Any]]) -> list[Value]:
    """All values of all columns in one list."""
    return [(name, value) for name in sorted(orders) for value in orders[name]]


def intervals(row: Row, orders: Mapping[str, Sequence[Any]], chosen: set[Value]) -> tuple[int, ...]:
    """The interval of a row in each column: how many chosen values are not above its own."""
    return tuple(
        sum((name, value) in chosen for value in orders[name][1 : orders[name].index(row[name]) + 1])
        for name in sorted(orders)
    )


def classes(
    rows: Sequence[Row], orders: Mapping[str, Sequence[Any]], chosen: set[Value]
) -> dict[tuple[int, ...], list[Row]]:
    found: dict[tuple[int, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[intervals(row, orders, chosen)].append(row)
    return found


def cost(
    rows: Sequence[Row],
    orders: Mapping[str, Sequence[Any]],
    chosen: set[Value],
    k: int,
    limit: int,
    label: str | None = None,
) -> float:
    """Discernibility, or the classification loss of a label; infinite above the suppression limit."""
    total = suppressed = 0
    for members in classes(rows, orders, chosen).values():
        if len(members) < k:
            suppressed += len(members)
            total += len(members) * (len(rows) if label is None else 1)
        elif label is None:
            total += len(members) ** 2
        else:
            total += len(members) - max(Counter(row[label] for row in members).values())
    return INFINITE if suppressed > limit else total


def every_value_set(orders: Mapping[str, Sequence[Any]]) -> Iterator[set[Value]]:
    free = [(name, value) for name in sorted(orders) for value in orders[name][1:]]
    for number in range(len(free) + 1):
        yield from map(set, itertools.combinations(free, number))


def tree(
    alphabet: Sequence[int], without: Mapping[tuple[int, ...], set[int]]
) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The set-enumeration tree as the source draws it: head to tail, some values removed from some tails."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}

    def grow(head: tuple[int, ...], tail: tuple[int, ...]) -> None:
        tail = tuple(value for value in tail if value not in without.get(head, set()))
        found[head] = tail
        for place, value in enumerate(tail):
            grow((*head, value), tail[place + 1 :])

    grow((), tuple(alphabet))
    return found


def published_search(
    rows: Sequence[Row],
    orders: Mapping[str, Sequence[Any]],
    k: int,
    limit: int,
    *,
    empty_means_pruned: bool = False,
) -> float:
    """K-OPTIMIZE as it is published. Read carelessly, PRUNE takes an empty tail for a node without hope."""

    def bound(head: set[Value], allowed: set[Value]) -> float:
        by_head, by_all = classes(rows, orders, head), classes(rows, orders, allowed)
        total = 0
        for row in rows:
            if len(by_head[intervals(row, orders, head)]) < k:
                total += len(rows)
            else:
                total += max(k, len(by_all[intervals(row, orders, allowed)]))
        return total

    def prune(head: set[Value], tail: list[Value], best: float) -> tuple[bool, list[Value]]:
        if bound(head, head | set(tail)) >= best:
            return True, []
        left = list(tail)
        for value in tail:
            rest = [other for other in left if other != value]
            hopeless, below = prune(head | {value}, rest, best)
            if hopeless or (empty_means_pruned and not below):
                left = rest
        return prune(head, left, best) if left != tail else (False, left)

    def search(head: set[Value], tail: list[Value], best: float) -> float:
        best = min(best, cost(rows, orders, head, k, limit))
        tail = prune(head, tail, best)[1]
        while tail:
            value, tail = tail[0], tail[1:]
            best = search(head | {value}, tail, best)
            tail = prune(head, tail, best)[1]
        return best

    return search(set(), [(name, v) for name in sorted(orders) for v in orders[name][1:]], INFINITE)
