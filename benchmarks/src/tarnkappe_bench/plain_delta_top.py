"""The strategies of `gate.delta_top` in plain Python: dictionaries, lists and sets, and nothing compiled.

They decide exactly as the compiled ones, which the tests check, and `tarn bench gate` compares how long
both take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

Partners = frozenset[int]
Edge = tuple[int, int, Partners]


class PlainTable:
    """For each tuple and value the partners of its edges, newest first; what was done can be undone."""

    def __init__(self) -> None:
        self.truth: list[int] = []
        self.rows: list[dict[int, list[Partners]]] = []
        self.log: list[tuple[bool, int, int, Partners, int]] = []

    def degree(self, tuple_: int) -> int:
        """How many values a tuple can have."""
        return 1 + len(self.rows[tuple_])

    def edges(self, tuple_: int) -> Iterator[tuple[int, Partners]]:
        """The edges of a tuple, by value."""
        for value in sorted(self.rows[tuple_]):
            for partners in list(self.rows[tuple_][value]):
                yield value, partners

    def add(self, tuple_: int, value: int, partners: Partners) -> None:
        """Add an edge."""
        self.rows[tuple_].setdefault(value, []).insert(0, partners)
        self.log.append((True, tuple_, value, partners, 0))

    def remove(self, tuple_: int, value: int, partners: Partners) -> None:
        """Remove an edge and nothing else."""
        group = self.rows[tuple_][value]
        place = group.index(partners)
        del group[place]
        if not group:
            del self.rows[tuple_][value]
        self.log.append((False, tuple_, value, partners, place))

    def delete(self, tuple_: int, value: int, partners: Partners) -> None:
        """Remove an edge, and every edge back that nothing else asks for."""
        if partners not in self.rows[tuple_].get(value, []):
            return
        self.remove(tuple_, value, partners)
        for partner in partners:
            if not any(partner in other for other in self.rows[tuple_].get(value, [])):
                own = self.truth[tuple_]
                for back in [b for b in self.rows[partner].get(own, []) if tuple_ in b]:
                    self.delete(partner, own, back)

    def undo(self, mark: int) -> None:
        """Take back all that was done after a place of the log."""
        while len(self.log) > mark:
            added, tuple_, value, partners, place = self.log.pop()
            if added:
                self.rows[tuple_][value].remove(partners)
                if not self.rows[tuple_][value]:
                    del self.rows[tuple_][value]
            else:
                self.rows[tuple_].setdefault(value, []).insert(place, partners)


class PlainDeltaTop:
    """One history. `extension` is one of the functions of `plain_extension`."""

    def __init__(
        self, k: int, values: int, extension: Callable[..., list[int]], alternatives: int = 8
    ) -> None:
        self.k, self.values, self.extension, self.alternatives = k, values, extension, alternatives
        self.table = PlainTable()

    def answer(self, members: list[int], truth: list[int], may_add: bool) -> Counter[int] | None:
        """The artificial values of an answer, or None if it must be refused."""
        table = self.table
        known = len(table.truth)
        table.truth += truth[known:]
        table.rows += [{} for _ in truth[known:]]
        table.log = []
        added = self._enter(members, known, may_add)
        touched = {tuple_ for _, tuple_, *_ in table.log} | set(members)
        if min(table.degree(tuple_) for tuple_ in touched) < self.k:
            table.undo(0)
            del table.truth[known:], table.rows[known:]
            return None
        return added

    def _enter(self, members: list[int], known: int, may_add: bool) -> Counter[int]:
        table, inside = self.table, set(members)
        old = [t for t in members if t < known]
        new = [t for t in members if t >= known]
        news = {table.truth[t] for t in new}
        waiting: set[Edge] = set()
        missing: set[Edge] = set()
        crowded: list[Edge] = []
        for t in old:
            for value, partners in table.edges(t):
                here = len(partners & inside)
                if here > 1:
                    crowded.append((t, value, partners))
                elif here == 0:
                    (waiting if value in news else missing).add((t, value, partners))
        if not may_add:
            for edge in [*missing, *crowded]:
                table.delete(*edge)
        for one, t in enumerate(new):
            for u in new[:one]:
                if table.truth[t] != table.truth[u]:
                    table.add(t, table.truth[u], frozenset([u]))
                    table.add(u, table.truth[t], frozenset([t]))
        not_kept = waiting | missing | set(crowded)
        for own in range(self.values):
            self._extend(own, old, new, waiting, not_kept, missing, may_add)
        if not may_add:
            return Counter()
        added = self._leave_out(members, known, missing, crowded)
        self._serve_new(members, known, added)
        return +added

    def _extend(
        self,
        own: int,
        old: list[int],
        new: list[int],
        waiting: set[Edge],
        not_kept: set[Edge],
        missing: set[Edge],
        may_add: bool,
    ) -> None:
        table = self.table
        olds, pending, kept = [], [], []
        for t in old:
            edges = list(table.edges(t)) if table.truth[t] == own else []
            mine = [(value, partners) for value, partners in edges if (t, value, partners) in waiting]
            if mine:
                olds.append(t)
                pending.append(Counter(value for value, _ in mine))
                kept.append({value for value, partners in edges if (t, value, partners) not in not_kept})
        fresh = [table.truth[x] for x in new]
        current = [1 + len(values) for values in kept]
        chosen = self.extension(pending, kept, current, fresh) if olds else []
        for place, t in enumerate(olds):
            for value in sorted(pending[place]):
                lists = [p for p in table.rows[t].get(value, []) if (t, value, p) in waiting]
                joining = [
                    x for x, to in zip(new, chosen, strict=True) if to == place and table.truth[x] == value
                ]
                if joining:
                    self._join(t, value, lists, joining)
                elif may_add:
                    missing.update((t, value, partners) for partners in lists)
        if not may_add:
            for t in olds:
                for value, partners in list(table.edges(t)):
                    if (t, value, partners) in waiting:
                        table.delete(t, value, partners)

    def _join(self, t: int, value: int, edges: list[Partners], news: list[int]) -> None:
        pairs = [(turn % len(edges), turn % len(news)) for turn in range(max(len(edges), len(news)))]
        every = [(e, n) for e in range(len(edges)) for n in range(len(news))]
        rest = [pair for pair in every if pair not in set(pairs)]
        for e, n in pairs + rest[: max(0, self.alternatives - len(pairs))]:
            self.table.add(t, value, edges[e] | {news[n]})
        for x in news:
            self.table.add(x, self.table.truth[t], frozenset([t]))
        for partners in edges:
            self.table.remove(t, value, partners)

    def _leave_out(
        self,
        members: list[int],
        known: int,
        missing: set[Edge],
        crowded: list[Edge],
    ) -> Counter[int]:
        table = self.table
        wanted: Counter[tuple[int, int]] = Counter((t, value) for t, value, _ in missing)
        for t, _, partners in crowded:
            for u in partners & set(members):
                wanted[u, table.truth[t]] += 0
        layers: dict[tuple[int, int], list[int]] = {}
        for value in range(self.values):
            counts: Counter[int] = Counter()
            asking = [t for t in members if (t, value) in wanted]
            asking.sort(key=lambda t: (not wanted[t, value], table.degree(t)))
            for t in asking:
                layers.setdefault((value, counts[table.truth[t]]), []).append(t)
                counts[table.truth[t]] += 1
        added = Counter(value for value, _ in layers)
        goals = {x: min(self.k, self._reach(x, added)) for x in members if x >= known}
        without: set[tuple[int, int]] = set()
        for value, layer in sorted(layers, key=lambda node: (len(layers[node]), -node[1], node[0])):
            mark, before = len(table.log), set(without)
            for t in sorted(layers[value, layer], key=members.index):
                without.add((t, value))
                for partners in list(table.rows[t].get(value, [])):
                    if (t, value, partners) in missing:
                        table.delete(t, value, partners)
                for owner, wish, crowd in crowded:
                    alone = sum((u, value) in without for u in crowd & set(members))
                    if table.truth[owner] == value and t in crowd and alone > 1:
                        table.delete(owner, wish, crowd)
            added[value] -= 1
            lost = {tuple_ for _, tuple_, *_ in table.log[mark:]}
            if any(t < known and table.degree(t) < self.k for t in lost) or any(
                self._reach(x, added) < goal for x, goal in goals.items()
            ):
                table.undo(mark)
                added[value] += 1
                without = before
        return added

    def _reach(self, x: int, added: Counter[int]) -> int:
        own = self.table.truth[x]
        more = [v for v in added if added[v] > 0 and v != own and v not in self.table.rows[x]]
        return self.table.degree(x) + len(more)

    def _serve_new(self, members: list[int], known: int, added: Counter[int]) -> None:
        table = self.table
        new = [t for t in members if t >= known]
        frequency = Counter(table.truth[t] for t in members)
        for t in new:
            for value in range(self.values):
                if added[value] > 0 and value != table.truth[t]:
                    table.add(t, value, frozenset())
        while poor := [t for t in new if table.degree(t) < self.k]:
            poorest = min(poor, key=table.degree)

            def lacks(t: int, value: int) -> bool:
                return value != table.truth[t] and value not in table.rows[t]

            options = [value for value in range(self.values) if lacks(poorest, value)]
            if not options:
                return
            best = max(options, key=lambda v: (sum(lacks(t, v) for t in poor), frequency[v], -v))
            added[best] += 1
            for t in new:
                if best != table.truth[t]:
                    table.add(t, best, frozenset())
