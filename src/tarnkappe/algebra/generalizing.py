"""The reference algorithm of generalization: every node of the level lattice, the best by a fixed key.

The key is (sum of squared class sizes, sum of normalized levels, levels in the order of column names): the
smallest groups first, then the lowest levels, then a fixed order. It reads the generalized columns alone,
so that rules may move columns, other rows' order and sensitive values about without changing the choice.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

from tarnkappe.algebra.distribution import Row, Rows
from tarnkappe.algebra.world import Ladder, World
from tarnkappe.errors import NoSolutionError


def generalize(
    rows: Rows,
    columns: tuple[str, ...],
    by: Sequence[str],
    k: int,
    world: World,
    person: str | None = None,
) -> Rows:
    """The rows with the columns `by` lifted to the best levels on which they are k-anonymous.

    A column that is general already is lifted from the highest level found in it, so a column of mixed
    levels is brought to one level first. Names that are no columns are passed over. With a `person` column,
    classes have k different people, and levels are a function of the set of (combination, person) alone.

    Raises:
        NoSolutionError: there are fewer than k rows, or people.
    """
    names = sorted(set(by) & set(columns))
    if not names or k == 1:
        return rows
    if len(rows) < k:
        raise NoSolutionError(
            "algebra.generalization-k-needs-least-rows",
            "a generalization to k = {k} needs at least {k} rows; there {rows:is|are} {rows}",
            k=k,
            rows=len(rows),
        )
    positions = [columns.index(name) for name in names]
    ladders = [world.ladder(name) for name in names]
    if person is None:
        levels = best_levels(Counter(tuple(row[i] for i in positions) for row in rows), ladders, k)
    else:
        who = columns.index(person)
        pairs = {(tuple(row[i] for i in positions), row[who]) for row in rows}
        people = len({each for _, each in pairs if each is not None})
        if people < k:
            raise NoSolutionError(
                "algebra.generalization-k-needs-least-people",
                "a generalization to k = {k} needs at least {k} people; there {people:is|are} {people}",
                k=k,
                people=people,
            )
        levels = best_levels_of_people(pairs, ladders, k)
    return tuple(_lifted(row, positions, ladders, levels) for row in rows)


def best_levels(counts: Counter[Row], ladders: Sequence[Ladder], k: int) -> tuple[int, ...]:
    """The levels that the key prefers among those on which all classes have at least k rows."""

    def sizes_at(levels: tuple[int, ...]) -> tuple[Counter[Row], int]:
        sizes: Counter[Row] = Counter()
        for row, times in counts.items():
            sizes[_lifted(row, range(len(row)), ladders, levels)] += times
        return sizes, min(sizes.values())

    return _best(list(counts), ladders, k, sizes_at)


def best_levels_of_people(
    pairs: Collection[tuple[Row, Any]], ladders: Sequence[Ladder], k: int
) -> tuple[int, ...]:
    """The levels on which all classes have at least k different people; a missing person is nobody.

    The size of a class is its number of different pairs of the input. A number of people would not do: it
    falls when classes with common people merge, so that the choice would not be a least general one.
    """

    def sizes_at(levels: tuple[int, ...]) -> tuple[Counter[Row], int]:
        sizes: Counter[Row] = Counter()
        people: dict[Row, set[Any]] = {}
        for row, person in pairs:
            label = _lifted(row, range(len(row)), ladders, levels)
            sizes[label] += 1
            people.setdefault(label, set()).update(() if person is None else (person,))
        return sizes, min(map(len, people.values()))

    return _best([row for row, _ in pairs], ladders, k, sizes_at)


def _best(
    rows: Sequence[Row],
    ladders: Sequence[Ladder],
    k: int,
    sizes_at: Callable[[tuple[int, ...]], tuple[Counter[Row], int]],
) -> tuple[int, ...]:
    starts = [max(ladder.level(row[i]) for row in rows) for i, ladder in enumerate(ladders)]
    lattice = itertools.product(
        *(range(start, ladder.height + 1) for start, ladder in zip(starts, ladders, strict=True))
    )
    best = None
    for levels in lattice:
        sizes, smallest = sizes_at(levels)
        if smallest < k:
            continue
        heights = (Fraction(level, ladder.height) for level, ladder in zip(levels, ladders, strict=True))
        height = sum(heights, Fraction(0))
        key = (sum(size * size for size in sizes.values()), height, levels)
        best = key if best is None else min(best, key)
    if best is None:
        raise NoSolutionError(
            "algebra.no-levels-hierarchies-reach", "no levels of the hierarchies reach k = {k}", k=k
        )
    return best[2]


def _lifted(row: Row, positions: Sequence[int], ladders: Sequence[Ladder], levels: Sequence[int]) -> Row:
    cells = list(row)
    for i, ladder, level in zip(positions, ladders, levels, strict=True):
        cells[i] = ladder.lift(cells[i], level)
    return tuple(cells)
