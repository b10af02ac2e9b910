"""Mondrian the slow way: one region after the other, in plain Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
Region = list[int]
Good = Callable[[Region], bool]


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the twin: its values row by row, and for labels the label of each value on each level."""

    name: str
    values: list[Any]
    levels: list[dict[Any, str]] | None = None
    """None: numbers, written as intervals."""

    def key(self, value: Any) -> Any:
        """The place of a value: numbers in their order, labels in the order of the hierarchy, missing last."""
        occurring = sorted({v for v in self.values if v is not None})
        ascending = [*occurring, *([None] if None in self.values else [])]
        if self.levels is None:
            return ascending.index(value)
        firsts = []
        for level in reversed(self.levels):
            labels = list(dict.fromkeys(level[v] for v in ascending))
            firsts.append(labels.index(level[value]))
        return (*firsts, ascending.index(value))

    def label_at(self, value: Any, level: int) -> str:
        assert self.levels is not None
        if level:
            return self.levels[level - 1][value]
        return "(missing)" if value is None else str(value)

    def common_level(self, region: Region) -> int:
        level = 0
        while len({self.label_at(self.values[row], level) for row in region}) > 1:
            level += 1
        return level

    def width(self, region: Region) -> float:
        own = [self.values[row] for row in region]
        if len(set(own)) == 1:
            return -1.0
        if self.levels is None:
            if None in own:
                return 1.0
            there = [v for v in self.values if v is not None]
            return (max(own) - min(own)) / (max(there) - min(there))
        level = self.common_level(region)
        label = self.label_at(own[0], level)
        under = sum(self.label_at(value, level) == label for value in self.levels[0])
        return (under - 1) / (len(self.levels[0]) - 1)

    def written(self, region: Region, row: int) -> str | None:
        own = [self.values[each] for each in region]
        if len(set(own)) == 1:
            return None if own[0] is None else str(own[0])
        if self.levels is None:
            return "*" if None in own else f"[{min(own)}, {max(own)}]"
        return self.label_at(own[0], self.common_level(region))


def regions(columns: Sequence[Column], good: Good, mode: str, prefer: Sequence[str] = ()) -> list[Region]:
    """The regions of a table; `good` tells whether some rows may be a class."""
    columns = sorted(
        columns, key=lambda c: (prefer.index(c.name) if c.name in prefer else len(prefer), c.name)
    )
    rows = sorted(range(len(columns[0].values)), key=lambda r: (*(c.key(c.values[r]) for c in columns), r))
    found: list[Region] = []
    waiting = [rows]
    while waiting:
        region = waiting.pop()
        parts = cut(columns, region, good, mode)
        if parts is None:
            found.append(region)
        else:
            waiting += parts
    return found


def cut(columns: Sequence[Column], region: Region, good: Good, mode: str) -> list[Region] | None:
    widest = sorted(columns, key=lambda c: -c.width(region))
    for column in widest:
        if column.width(region) >= 0:
            for parts in tries(column, region, good, mode):
                if len(parts) >= 2 and all(map(good, parts)):
                    return parts
    for column in widest if mode != "strict" else ():
        if column.width(region) >= 0:
            parts = halves(column, region)
            if all(map(good, parts)):
                return parts
    return None


def tries(column: Column, region: Region, good: Good, mode: str) -> list[list[Region]]:
    if column.levels is not None:
        return [children(column, region, good)]
    own = column.values
    missing = [row for row in region if own[row] is None]
    found = [[[row for row in region if own[row] is not None], missing]]
    if mode == "relaxed":
        return [*found, halves(column, region)]
    middle = column.key(own[median(column, region)])
    for low in (lambda key: key <= middle, lambda key: key < middle):
        below = [row for row in region if low(column.key(own[row]))]
        found.append([below, [row for row in region if row not in below]])
    return [[part for part in parts if part] for parts in found]


def median(column: Column, region: Region) -> int:
    """A row with the lower median."""
    ascending = sorted(region, key=lambda row: column.key(column.values[row]))
    return ascending[(len(region) - 1) // 2]


def halves(column: Column, region: Region) -> list[Region]:
    middle = column.key(column.values[median(column, region)])
    keys = {row: column.key(column.values[row]) for row in region}
    below = [row for row in region if keys[row] < middle]
    at = [row for row in region if keys[row] == middle]
    chosen = {*below, *at[: len(region) // 2 - len(below)]}
    return [[row for row in region if row in chosen], [row for row in region if row not in chosen]]


def children(column: Column, region: Region, good: Good) -> list[Region]:
    level = column.common_level(region) - 1
    by_child: dict[str, Region] = {}
    for row in sorted(region, key=lambda row: column.key(column.values[row])):
        by_child.setdefault(column.label_at(column.values[row], level), []).append(row)
    alone = [rows for rows in by_child.values() if good(rows)]
    pool = [row for rows in by_child.values() if not good(rows) for row in rows]
    step = 1
    while pool and not good(pool) and alone:
        smallest = sorted(range(len(alone)), key=lambda i: (len(alone[i]), i))[:step]
        pool += [row for i in smallest for row in alone[i]]
        alone = [rows for i, rows in enumerate(alone) if i not in smallest]
        step *= 2
    parts = [pool, *alone] if pool else alone
    order = {row: place for place, row in enumerate(region)}
    return [sorted(part, key=order.__getitem__) for part in parts]


def release(columns: Sequence[Column], found: Sequence[Region]) -> list[dict[str, str | None]]:
    """What each row is written as."""
    written: list[dict[str, str | None]] = [{} for _ in columns[0].values]
    for region in found:
        for row in region:
            written[row] = {column.name: column.written(region, row) for column in columns}
    return written
