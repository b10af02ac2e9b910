"""The method `regions` the slow way: sets of rows in plain Python, every cost counted anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

Rows = frozenset[int]
Good = Callable[[Rows], bool]
ONE = 2**30


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the twin: its values row by row, and the label of each value of its domain on each level."""

    name: str
    values: list[Any]
    levels: list[dict[Any, str]]
    numeric: bool
    exact: bool
    weight: float = 1.0

    @cached_property
    def as_run(self) -> bool:
        """Whether numbers are written as runs of labels of level 1: every label that occurs is an interval."""
        own = [v for v in self.values if v is not None]
        labels = self.levels[0]
        for label in {labels[v] for v in own}:
            under = [v for v in labels if labels[v] == label]
            if None in under or sorted(under) != self.between(min(under), max(under)):
                return False
        return self.numeric and not self.exact

    @cached_property
    def ordered(self) -> bool:
        return self.numeric and (self.exact or self.as_run)

    def between(self, low: Any, high: Any) -> list[Any]:
        return sorted(v for v in self.levels[0] if v is not None and low <= v <= high)

    def key(self, value: Any) -> Any:
        return self._keys[value]

    @cached_property
    def _keys(self) -> dict[Any, Any]:
        return {value: self._key(value) for value in self.values}

    def _key(self, value: Any) -> Any:
        """The place of a value: numbers in their order, labels in the order of the hierarchy, missing last."""
        occurring = sorted({v for v in self.values if v is not None})
        ascending = [*occurring, *([None] if None in self.values else [])]
        if self.ordered:
            return ascending.index(value)
        firsts = []
        for level in reversed(self.levels):
            labels = list(dict.fromkeys(level[v] for v in ascending))
            firsts.append(labels.index(level[value]))
        return (*firsts, ascending.index(value))

    def label(self, value: Any, level: int) -> str:
        if level:
            return self.levels[level - 1][value]
        return "(missing)" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    def ends(self, own: Iterable[Any]) -> tuple[Any, Any]:
        """What the written word reaches from and to, for numbers."""
        low, high = min(own), max(own)
        if self.exact:
            return low, high
        first, last = self.levels[0][low], self.levels[0][high]
        return min(self.under(first)), max(self.under(last))

    def under(self, label: str) -> list[Any]:
        return [v for v in self.levels[0] if self.levels[0][v] == label]

    def common_level(self, own: Iterable[Any]) -> int:
        level = 0
        while len({self.label(value, level) for value in own}) > 1:
            level += 1
        return level

    def hidden(self, own: set[Any]) -> int:
        """How many values of the domain the word may stand for, beyond the true one."""
        if len(own) == 1:
            return 0
        if self.ordered:
            return self.whole if None in own else len(self.between(*self.ends(own))) - 1
        level = self.common_level(own)
        label = self.label(next(iter(own)), level)
        return sum(self.label(value, level) == label for value in self.levels[0]) - 1

    @property
    def whole(self) -> int:
        return len(self.levels[0]) - 1

    def cost(self, own: set[Any], unit: float) -> int:
        if not self.whole or len(own) <= 1:
            return 0
        if self.ordered:
            return int(unit) if None in own else int(unit / self.whole * self.hidden(own))
        return int(unit * (self.hidden(own) / self.whole))

    def written(self, own: set[Any]) -> str | None:
        if len(own) == 1:
            (value,) = own
            return None if value is None else self.label(value, 0)
        if not self.ordered:
            return self.label(next(iter(own)), self.common_level(own))
        if None in own:
            return "*"
        if self.exact:
            return f"[{self.label(min(own), 0)}, {self.label(max(own), 0)}]"
        first, last = self.levels[0][min(own)], self.levels[0][max(own)]
        if first == last:
            return first
        occurring = {
            v for v in self.values if v is not None and min(self.under(first)) <= v <= max(self.under(last))
        }
        for level in self.levels[1:]:
            for label in dict.fromkeys(level.values()):
                under = [v for v in level if level[v] == label]
                met = {v for v in under if v in self.values}
                if met == occurring and len(under) == len(self.between(*self.ends(own))):
                    return label
        return f"[{first}, {last}]"


@dataclasses.dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    good: Good
    least: int

    @cached_property
    def by_name(self) -> list[Column]:
        return sorted(self.columns, key=lambda column: column.name)

    def cost(self, rows: Iterable[int]) -> int:
        own = frozenset(rows)
        if own not in self._known:
            total = sum(column.weight for column in self.columns) or 1.0
            self._known[own] = sum(
                c.cost({c.values[r] for r in own}, ONE * c.weight / total) for c in self.columns
            )
        return self._known[own]

    @cached_property
    def _known(self) -> dict[Rows, int]:
        return {}

    def sum(self, *classes: Iterable[int]) -> int:
        return sum(len(list(each)) * self.cost(each) for each in classes)

    def allowed(self, rows: Iterable[int]) -> bool:
        own = frozenset(rows)
        return len(own) >= self.least and self.good(own)


# ------------------------------------------------------------------ cuts


def blocks(
    table: Table, rows: list[int], block: int, balance: float, large: int, lopsided: int, inside: bool = False
) -> list[list[list[int]]]:
    """The classes of each block, blocks and classes and rows in the order of the tree."""
    fits = inside or len(rows) <= max(block, 8 * table.least)
    sides = cut(table, rows, balance)
    if sides is not None and len(rows) >= large and lopsided * min(map(len, sides)) < len(rows):
        sides = cut(table, rows, 0)
    if sides is None:
        return [[rows]]
    found = [each for side in sides for each in blocks(table, side, block, balance, large, lopsided, fits)]
    if fits and not inside:
        return [[own for each in found for own in each]]
    return found


def cut(table: Table, rows: list[int], balance: float) -> list[list[int]] | None:
    candidates = []
    for column in table.by_name:
        for inside in sides(column, rows):
            outside = [row for row in rows if row not in inside]
            if min(len(inside), len(outside)) >= table.least:
                estimate = sum(
                    float(round(4096 * len(side) ** (1 - balance))) * table.cost(side)
                    for side in (sorted(inside), outside)
                )
                candidates.append((estimate, inside))
    for _, inside in sorted(candidates, key=lambda each: each[0]):
        outside = [row for row in rows if row not in inside]
        if table.allowed(inside) and table.allowed(outside):
            return [outside, [row for row in rows if row in inside]]
    return None


def sides(column: Column, rows: list[int]) -> list[set[int]]:
    key = {row: column.key(column.values[row]) for row in rows}
    places = sorted(set(key.values()))
    found = [{row for row in rows if key[row] <= place} for place in places[:-1]]
    if len(places) > 1 and not column.ordered:
        level = column.common_level({column.values[row] for row in rows}) - 1
        of = {row: column.label(column.values[row], level) for row in rows}
        children = list(dict.fromkeys(of[row] for row in sorted(rows, key=key.__getitem__)))
        found += [{row for row in rows if of[row] == child} for child in children[1:-1]]
    return found


# ------------------------------------------------------------------ refinement


class Block:
    """Slots with the rows of a class each, or nothing; rows are given by their place in the block."""

    def __init__(self, table: Table, classes: list[list[int]]) -> None:
        self.table = table
        self.rows = [row for own in classes for row in own]
        number = max(len(classes), len(self.rows) // table.least) + 1
        self.slots: list[list[int]] = [list(own) for own in classes]
        self.slots += [[] for _ in range(number - len(classes))]
        self.clock = 1
        self.changed = [1] * number
        self.tried: dict[Any, int] = {}

    def order(self, rows: Iterable[int]) -> list[int]:
        return sorted(rows, key=self.rows.index)

    def refine(self, sweeps: int) -> list[list[int]]:
        enough = max(1, ONE // 100_000 * len(self.rows))
        for _ in range(sweeps):
            if self.sweep() < enough:
                break
        if self.resplit():
            for _ in range(2):
                if self.sweep() < enough:
                    break
        return [own for own in self.slots if own]

    def total(self) -> int:
        return self.table.sum(*self.slots)

    def sweep(self) -> int:
        before = self.total()
        for row in self.rows:
            if self.is_worth_trying(
                ("place", row), next(s for s, own in enumerate(self.slots) if row in own)
            ):
                self.place(row)
        for slot in range(len(self.slots)):
            if self.table.cost(self.slots[slot]) and self.is_worth_trying(("dissolve", slot), slot):
                self.dissolve(slot)
        for slot in range(len(self.slots)):
            large = len(self.slots[slot]) >= 2 * self.table.least and self.table.cost(self.slots[slot])
            if large and self.is_worth_trying(("split", slot), slot):
                self.split(slot)
        return before - self.total()

    def is_worth_trying(self, what: Any, slot: int) -> bool:
        """Only if the class has changed since it was tried before."""
        if self.changed[slot] <= self.tried.get(what, 0):
            return False
        self.tried[what] = self.clock
        return True

    def put(self, slot: int, rows: Iterable[int]) -> None:
        self.slots[slot] = self.order(rows)
        self.clock += 1
        self.changed[slot] = self.clock

    def place(self, row: int) -> None:
        table, own = self.table, next(s for s, rows in enumerate(self.slots) if row in rows)
        here = set(self.slots[own])
        saving = table.sum(here) - table.sum(here - {row})
        if saving <= 0:
            return
        may_leave = table.allowed(here - {row})
        best, price = -1, saving
        for other, there in enumerate(self.slots):
            if other != own and there:
                rise = table.sum([*there, row]) - table.sum(there)
                if rise < price and (not may_leave or table.allowed([*there, row])):
                    best, price = other, rise
        if best < 0:
            return
        there = set(self.slots[best])
        if may_leave:
            self.put(own, here - {row})
            self.put(best, there | {row})
            return
        if not self.exchange(row, own, best):
            self.chain(row, own, best, price)

    def exchange(self, row: int, own: int, other: int) -> bool:
        table, here, there = self.table, set(self.slots[own]), set(self.slots[other])
        best, least = None, table.sum(here, there)
        for partner in self.order(there):
            new = here - {row} | {partner}, there - {partner} | {row}
            total = table.sum(*new)
            if total < least and all(map(table.allowed, new)):
                best, least = partner, total
        if best is None:
            return False
        self.put(own, here - {row} | {best})
        self.put(other, there - {best} | {row})
        return True

    def chain(self, row: int, own: int, other: int, price: int) -> None:
        table, here, there = self.table, set(self.slots[own]), set(self.slots[other])
        if not table.allowed(there | {row}):
            return
        best, most = None, 0
        for partner in self.rows:
            third = next((s for s, rows in enumerate(self.slots) if partner in rows))
            if third in (own, other):
                continue
            left = set(self.slots[third]) - {partner}
            saving = table.sum(self.slots[third]) - table.sum(left)
            gain = saving - price - table.sum(here - {row} | {partner}) + table.sum(here)
            if gain > most and table.allowed(left) and table.allowed(here - {row} | {partner}):
                best, most = partner, gain
        if best is None:
            return
        third = next(s for s, rows in enumerate(self.slots) if best in rows)
        self.put(third, set(self.slots[third]) - {best})
        self.put(own, here - {row} | {best})
        self.put(other, there | {row})

    def dissolve(self, own: int) -> None:
        table = self.table
        before, total = table.sum(self.slots[own]), 0
        slots = [list(rows) for rows in self.slots]
        for row in self.slots[own]:
            best, price = -1, before - total
            for other, there in enumerate(slots):
                if other != own and there:
                    rise = table.sum([*there, row]) - table.sum(there)
                    if rise < price and table.allowed([*there, row]):
                        best, price = other, rise
            if best < 0:
                return
            slots[best] = self.order([*slots[best], row])
            total += price
        if total < before:
            slots[own] = []
            for slot, rows in enumerate(slots):
                if rows != self.slots[slot]:
                    self.put(slot, rows)

    def split(self, own: int) -> None:
        pool = self.slots[own]
        seed = max(pool, key=lambda row: (self.table.cost({pool[0], row}), -pool.index(row)))
        before = self.table.sum(pool)
        total, part = self.grow(pool, seed, before)
        if total < before:
            new = next(s for s, rows in enumerate(self.slots) if not rows)
            self.put(own, set(pool) - set(part))
            self.put(new, part)

    def grow(self, pool: list[int], seed: int, best: int) -> tuple[int, list[int]]:
        table, part, found = self.table, [seed], list[int]()
        while len(part) < len(pool) - table.least:
            others = [row for row in pool if row not in part]
            nearest = min(others, key=lambda row: (table.cost([*part, row]), pool.index(row)))
            if table.sum([*part, nearest]) >= best:
                break
            part.append(nearest)
        for size in range(len(part), table.least - 1, -1):
            rest = [row for row in pool if row not in part[:size]]
            total = table.sum(part[:size], rest)
            if total < best and table.allowed(part[:size]) and table.allowed(rest):
                best, found = total, part[:size]
        return best, found

    def resplit(self) -> int:
        table, before_all = self.table, self.total()
        for own in range(len(self.slots)):
            if not self.slots[own] or not table.cost(self.slots[own]):
                continue
            others = [s for s, rows in enumerate(self.slots) if rows and s != own]
            here = self.slots[own]
            rise = {s: table.sum([*here, *self.slots[s]]) - table.sum(here, self.slots[s]) for s in others}
            for other in sorted(others, key=lambda s: (rise[s], s))[:3]:
                pool = self.order([*self.slots[own], *self.slots[other]])
                before = best = table.sum(self.slots[own], self.slots[other])
                part: list[int] = []
                for seed in range(4):
                    total, found = self.grow(pool, pool[seed * len(pool) // 4], best)
                    if total < best:
                        best, part = total, found
                if best < before:
                    self.put(own, part)
                    self.put(other, set(pool) - set(part))
        return before_all - self.total()


# ------------------------------------------------------------------ the whole


def classes_of(
    table: Table, rows: list[int], *, block: int, large: int, lopsided: int, refine: bool, sweeps: int
) -> list[list[list[int]]]:
    """The classes of each block, with a balance of 0.1."""
    found = blocks(table, rows, block, 0.1, large, lopsided)
    if not refine:
        return found
    return [Block(table, own).refine(sweeps) for own in found]


def suppressed(table: Table, found: list[list[list[int]]], limit: int, price: int) -> list[int]:
    """The rows to leave out, taken from the classes."""
    gone: list[int] = []
    tree_order = [row for block in found for row in _rows_in_order(block)]
    while len(gone) < limit:
        offers = []
        for block in found:
            for own in block:
                best, most = None, price
                for row in sorted(own, key=tree_order.index):
                    saving = table.sum(own) - table.sum([r for r in own if r != row])
                    if saving > most and table.allowed([r for r in own if r != row]):
                        best, most = row, saving
                if best is not None:
                    offers.append((-most, tree_order.index(best), best, own))
        if not offers:
            break
        for _, _, row, own in sorted(offers, key=lambda each: each[:2])[: limit - len(gone)]:
            own.remove(row)
            gone.append(row)
    return gone


def _rows_in_order(block: list[list[int]]) -> list[int]:
    return [row for own in block for row in own]


def bound(table: Table, rows: Sequence[int]) -> int:
    """The sum over the rows of the pair cost of the (least - 1)-th nearest other row."""
    if table.least == 1:
        return 0
    return sum(
        sorted(table.cost({row, other}) for other in rows if other != row)[table.least - 2] for row in rows
    )


def optimum(table: Table, rows: Sequence[int]) -> int | None:
    """The least sum of all divisions into allowed classes, by trying them all."""
    best: int | None = None
    for division in divisions(list(rows), table.least):
        if all(map(table.allowed, division)):
            total = table.sum(*division)
            best = total if best is None else min(best, total)
    return best


def divisions(rows: list[int], least: int) -> Iterable[list[list[int]]]:
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for chosen in range(2 ** len(others)):
        own = [first, *(row for bit, row in enumerate(others) if chosen >> bit & 1)]
        left = [row for row in others if row not in own]
        if len(own) >= least and (not left or len(left) >= least):
            for rest in divisions(left, least):
                yield [own, *rest]
