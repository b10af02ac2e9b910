"""The strategies for answers in parts without equal values, in plain Python: the slow twin."""

from __future__ import annotations

import math
from collections import Counter

Rows = dict[int, dict[int, set[int]]]
NEVER = -math.inf


class PlainUnique:
    """One history of persons; at most one edge for each person and value."""

    def __init__(self, k: int, values: int, variant: str) -> None:
        self.k, self.values, self.variant = k, values, variant
        self.truth: dict[int, int] = {}
        self.rows: Rows = {}

    def answer(
        self, query: list[int], truth: dict[int, int], may_add: bool
    ) -> list[tuple[list[int], list[int], list[int]]] | None:
        """For each part: its people, their values, and the artificial ones; None if it must be refused."""
        before = {p: {v: set(s) for v, s in row.items()} for p, row in self.rows.items()}, dict(self.truth)
        self.old = {p for p in query if p in self.rows}
        self.truth.update(truth)
        parts = self._split(query, may_add)
        self.rows.update({p: {} for p in query if p not in self.rows})
        self.parts = parts
        published = [self._enter(number, may_add) for number in range(len(parts))]
        if any(1 + len(row) < self.k for row in self.rows.values()):
            self.rows, self.truth = before
            return None
        return published

    def _sig(self, p: int) -> set[int]:
        return {self.truth[p], *self.rows.get(p, {})}

    def _sim(self, p: int, q: int, lone: bool = False) -> float:
        a, b = self.truth[p], self.truth[q]
        if a == b:
            return NEVER
        if p not in self.old and q not in self.old:
            return 0 if lone else 2
        if p not in self.old:
            return 2 * (a in self._sig(q))
        if q not in self.old:
            return 2 * (b in self._sig(p))
        forth, back = b in self._sig(p), a in self._sig(q)
        return 2.0 * forth if forth == back else NEVER

    def _total(self, p: int, part: list[int], lone: bool = False) -> float:
        return sum(self._sim(p, q, lone) for q in part if q != p)

    def _feasible(self, p: int, part: list[int]) -> bool:
        lacking = sum(q in self.old and self.truth[p] not in self._sig(q) for q in part)
        return self.values - lacking >= self.k

    def _split(self, query: list[int], strict: bool) -> list[list[int]]:
        if len({self.truth[p] for p in query}) == len(query):
            good = all(self._sim(p, q) != NEVER for p in query for q in query if p != q)
            if not strict or (good and all(self._feasible(p, query) for p in query if p not in self.old)):
                return [query]
        parts = self._cluster_old([p for p in query if p in self.old])
        new = [p for p in query if p not in self.old]
        rest = self._fill(parts, new, query) if self.variant == "b" else self._cluster_new(parts, new)
        if strict:
            for part in parts:
                out = [p for p in part if p not in self.old and not self._feasible(p, part)]
                rest += out
                part[:] = [p for p in part if p not in out]
        rest.sort(key=query.index)
        rest.sort(key=lambda p: self.truth[p])
        if rest:
            most = max(Counter(self.truth[p] for p in rest).values())
            count = max(most, len(rest) // self.k) if self.k > 1 else most
            parts += [rest[i::count] for i in range(count)]
        return [sorted(part, key=query.index) for part in parts]

    def _cluster_old(self, old: list[int]) -> list[list[int]]:
        if not old:
            return []
        frequency = Counter(self.truth[p] for p in old)
        first = min(frequency, key=lambda v: (-frequency[v], v))
        parts = [[p] for p in old if self.truth[p] == first]
        waiting = [p for p in old if self.truth[p] != first]
        for last in (False, True):
            later = []
            for p in waiting:
                uses = [self._total(p, part) for part in parts]
                if max(uses) == NEVER or (max(uses) == 0 and self.variant == "a"):
                    parts.append([p])
                elif max(uses) == 0 and not last:
                    later.append(p)
                else:
                    parts[uses.index(max(uses))].append(p)
            waiting = later
        return parts

    def _cluster_new(self, parts: list[list[int]], new: list[int]) -> list[int]:
        def degrees(part: list[int]) -> list[float]:
            return [self._total(p, part) / 2 + 1 for p in part if p not in self.old]

        for second in (False, True) if self.variant != "c" else (False,):
            left = []
            for p in new:
                open_ = [q for q in parts if not second or (degrees(q) and min(degrees(q)) < self.k)]
                uses = [self._total(p, part, not second) for part in open_]
                if uses and max(uses) > 0:
                    open_[uses.index(max(uses))].append(p)
                else:
                    left.append(p)
            new = left
        return new

    def _fill(self, parts: list[list[int]], new: list[int], query: list[int]) -> list[int]:
        new = list(new)
        for part in parts:
            while True:
                poor = [q for q in part if q in self.old and self._total(q, part) / 2 + 1 < self.k]
                helped = [
                    (sum(self.truth[p] in self._sig(q) for q in poor), -i)
                    for i, p in enumerate(new)
                    if self._total(p, part, True) != NEVER
                ]
                if not helped or max(helped)[0] == 0:
                    break
                part.append(new.pop(-max(helped)[1]))
        return new

    def _delete(self, p: int, value: int, lost: list[tuple[int, int, set[int]]]) -> None:
        if value not in self.rows[p]:
            return
        partners = self.rows[p].pop(value)
        lost.append((p, value, partners))
        for q in partners:
            if p in self.rows[q].get(self.truth[p], set()):
                self._delete(q, self.truth[p], lost)

    def _criterion_holds(self, number: int) -> bool:
        """The cluster criterion, and that new people can reach k values, in this part and the later ones."""
        for part in self.parts[number:]:
            old = [p for p in part if p in self.old]
            if any(
                (self.truth[q] in self._sig(p)) != (self.truth[p] in self._sig(q)) for p in old for q in old
            ):
                return False
            if any(not self._feasible(p, part) for p in part if p not in self.old):
                return False
        return True

    def _enter(self, number: int, may_add: bool) -> tuple[list[int], list[int], list[int]]:
        part = self.parts[number]
        here = {self.truth[p]: p for p in part}
        old = [p for p in part if p in self.old]
        new = [p for p in part if p not in self.old]
        wanted = Counter(v for p in old for v in self.rows[p] if v not in here)
        added = set(wanted) if may_add else set()
        fresh = {p for later in self.parts[number:] for p in later if p not in self.old}
        for value in sorted(added, key=lambda v: (wanted[v], v)):
            lost: list[tuple[int, int, set[int]]] = []
            for p in old:
                self._delete(p, value, lost)
            fallen = any(1 + len(self.rows[p]) < self.k for p, _, _ in lost if p not in fresh)
            if fallen or not self._criterion_holds(number):
                for p, v, partners in lost:
                    self.rows[p][v] = partners
            else:
                added.discard(value)
        for p in old:
            for value in sorted(self.rows[p]):
                if value in added or value not in self.rows[p]:
                    continue
                q = here.get(value)
                if q is None:
                    self._delete(p, value, [])
                elif q not in self.rows[p][value]:
                    if q in new or self.truth[p] in self.rows[q]:
                        self.rows[p][value].add(q)
                        self.rows[q].setdefault(self.truth[p], set()).add(p)
                    else:
                        self._delete(p, value, [])
        for p in new:
            self.rows[p].update({self.truth[q]: {q} for q in new if q != p})
            self.rows[p].update({value: set() for value in added})
        frequency = Counter(self.truth[p] for other in self.parts for p in other)
        while may_add and any(1 + len(self.rows[p]) < self.k for p in new):
            free = [v for v in range(self.values) if v not in here and v not in added]
            if not free:
                break
            best = max(free, key=lambda v: (frequency[v], -v))
            added.add(best)
            for p in new:
                self.rows[p][best] = set()
        return part, [self.truth[p] for p in part], sorted(added)
