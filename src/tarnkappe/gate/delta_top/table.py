"""The matching table: for every tuple the values that it can exchange, and with whom.

The table models a part of all distributions, as differences to the true one. An *edge* (t, v, S) says: in
some modelled distribution t has the value v, and in each result that has t it uses the occurrence of v
which truly belongs to the one tuple of S that is in that result (all tuples of S truly have v), or an
artificial one if none is. Every tuple of S has an edge back, with the true value of t, that names t:
whoever takes must give. The signature of t is its true value and the values of its edges. An edge that
belongs to no distribution would be a promise that nobody can keep; a missing one only costs artificial
values.

    tuples     truth[t], degree[t]     the true value; how many values t can have
               head[t, v], alive[t, v] the first edge of t with v, or -1; how many there are
    edges      owner, value            t and v
               following               the next edge of the same tuple and value, or -1
               start, length           where S is in `partner`
               live, fate              whether it is there; what the answer at hand does to it
    journal    +e + 1 or -e - 1        what was added and removed since the last commit: the way back, and the
                                       queue of removals that have not been followed up
    size       edges, partners, journal entries, whether there was no room, live edges

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.errors import GuaranteeError, ParameterError
from tarnkappe.gate.growing import Growing
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled

EDGES, PARTNERS, ENTRIES, FULL, LIVE = 0, 1, 2, 3, 4


class MatchingArrays(NamedTuple):
    """The arrays of the table, as the kernels take them."""

    truth: Integers
    degree: Integers
    head: Integers
    alive: Integers
    owner: Integers
    value: Integers
    following: Integers
    start: Integers
    length: Integers
    live: Booleans
    fate: NDArray[np.int8]
    partner: Integers
    journal: Integers
    size: NDArray[np.int64]


@compiled
def names(table: MatchingArrays, edge: int, tuple_: int) -> bool:
    """Whether an edge names a tuple as a partner."""
    # A search from left to right: edges have as many partners as results have kept apart, a handful. Partners
    # lie in one array, from `start` on, so nothing is allocated for an edge.
    place, end = table.start[edge], table.start[edge] + table.length[edge]
    while place < end and table.partner[place] != tuple_:
        place += 1
    return bool(place < end)


@compiled
def enlist(table: MatchingArrays, edge: int, sign: int) -> None:
    """Count an edge in (1) or out (-1), and note it in the journal."""
    # The only place where an edge becomes live or not: flags, numbers and journal cannot come to differ. The
    # degree changes only when the first edge with a value comes or the last one goes, which is asked after
    # counting.
    tuple_, value = table.owner[edge], table.value[edge]
    table.live[edge] = sign > 0
    table.alive[tuple_, value] += sign
    if table.alive[tuple_, value] == (1 if sign > 0 else 0):
        table.degree[tuple_] += sign
    table.size[LIVE] += sign
    table.journal[table.size[ENTRIES]] = sign * (edge + 1)
    table.size[ENTRIES] += 1


@compiled
def add(table: MatchingArrays, tuple_: int, value: int, like: int, more: int) -> None:
    """Add an edge with the partners of another edge (-1: of none) and one more (-1: no more)."""
    # Edges are only ever appended, partners as well: `undo` gives both back by lowering two numbers. Without
    # room nothing is written and FULL is set; the caller makes a larger table. `like` may be any earlier
    # edge.
    count = (table.length[like] if like >= 0 else 0) + (1 if more >= 0 else 0)
    edge, first = table.size[EDGES], table.size[PARTNERS]
    if edge >= len(table.owner) or first + count > len(table.partner):
        table.size[FULL] = 1
        return
    place = first
    if like >= 0:
        for other in range(table.start[like], table.start[like] + table.length[like]):
            table.partner[place] = table.partner[other]
            place += 1
    if more >= 0:
        table.partner[place] = more
    table.owner[edge], table.value[edge] = tuple_, value
    table.start[edge], table.length[edge] = first, count
    table.fate[edge] = 0
    table.following[edge] = table.head[tuple_, value]
    table.head[tuple_, value] = edge
    table.size[EDGES] = edge + 1
    table.size[PARTNERS] = first + count
    enlist(table, edge, 1)


@compiled
def delete(table: MatchingArrays, edge: int) -> None:
    """Remove an edge, and every edge that can be in no modelled distribution without it.

    When the last edge with which t takes the value of u is gone, nobody can have what u gave: all edges
    with which u takes the value of t, naming t, go as well, and so on. Edges that name other partners stay.
    """
    if not table.live[edge]:
        return
    at = table.size[ENTRIES]
    enlist(table, edge, -1)
    while at < table.size[ENTRIES]:
        gone = -table.journal[at] - 1
        at += 1
        tuple_, value = table.owner[gone], table.value[gone]
        for place in range(table.start[gone], table.start[gone] + table.length[gone]):
            partner = table.partner[place]
            other, still = table.head[tuple_, value], False
            while other >= 0 and not still:
                still = table.live[other] and names(table, other, partner)
                other = table.following[other]
            if still:
                continue
            back = table.head[partner, table.truth[tuple_]]
            while back >= 0:
                if table.live[back] and names(table, back, tuple_):
                    enlist(table, back, -1)
                back = table.following[back]


@compiled
def undo(table: MatchingArrays, mark: int) -> None:
    """Take back all that was done after a place of the journal."""
    # Backwards, as a later edge may stand at the head before an earlier one. `enlist` writes one more entry,
    # so two are taken off: the one undone and the one that says so. An added edge is the last one there is,
    # by then.
    while table.size[ENTRIES] > mark:
        entry = table.journal[table.size[ENTRIES] - 1]
        if entry < 0:
            enlist(table, -entry - 1, 1)
        else:
            edge = entry - 1
            enlist(table, edge, -1)
            table.head[table.owner[edge], table.value[edge]] = table.following[edge]
            table.size[EDGES] = edge
            table.size[PARTNERS] = table.start[edge]
        table.size[ENTRIES] -= 2


@compiled
def commit(table: MatchingArrays) -> None:
    """Forget the way back: edges that are gone leave the lists."""
    # Lists are cleaned only where the journal says that an edge is gone. `following` of a dead edge is still
    # read to go on, so dead edges are jumped over and not changed. After this nothing can be undone.
    for entry in range(table.size[ENTRIES]):
        edge = -table.journal[entry] - 1
        if edge < 0:
            continue
        tuple_, value = table.owner[edge], table.value[edge]
        last, at = -1, table.head[tuple_, value]
        while at >= 0:
            if table.live[at]:
                if last < 0:
                    table.head[tuple_, value] = at
                else:
                    table.following[last] = at
                last = at
            at = table.following[at]
        if last < 0:
            table.head[tuple_, value] = -1
        else:
            table.following[last] = -1
    table.size[ENTRIES] = 0


@compiled
def compact(table: MatchingArrays, into: MatchingArrays) -> None:
    """Write all edges, tuple by tuple and in their order, into a table that shares the arrays of tuples."""
    # The tuples' arrays are shared, so degrees stay; lists keep their order, on which choices among equals
    # rest. Only after `commit`: a dead edge in a list would come to life here.
    edges = partners = 0
    for tuple_ in range(table.head.shape[0]):
        for value in range(table.head.shape[1]):
            last, edge = -1, table.head[tuple_, value]
            while edge >= 0:
                into.owner[edges], into.value[edges] = tuple_, value
                into.start[edges], into.length[edges] = partners, table.length[edge]
                into.live[edges], into.following[edges] = True, -1
                for place in range(table.start[edge], table.start[edge] + table.length[edge]):
                    into.partner[partners] = table.partner[place]
                    partners += 1
                if last < 0:
                    into.head[tuple_, value] = edges
                else:
                    into.following[last] = edges
                last, edge = edges, table.following[edge]
                edges += 1
    into.size[EDGES], into.size[PARTNERS], into.size[ENTRIES] = edges, partners, 0


@compiled
def in_order(table: MatchingArrays) -> Integers:
    """All live edges, those of one tuple and value in the order in which `add` must meet them."""
    # `add` puts an edge at the head of its list, so the last of a list must be added first: places are filled
    # from the back. `alive` tells the length of each list before it is walked.
    order = np.empty(table.size[LIVE], dtype=np.int32)
    count = 0
    for tuple_ in range(table.head.shape[0]):
        for value in range(table.head.shape[1]):
            edge = table.head[tuple_, value]
            place = count + table.alive[tuple_, value]
            count = place
            while edge >= 0:
                if table.live[edge]:
                    place -= 1
                    order[place] = edge
                edge = table.following[edge]
    return order


@compiled
def refill(
    table: MatchingArrays, owner: Integers, value: Integers, length: Integers, partner: Integers
) -> None:
    """Add edges in the order of `in_order`, to a table with room for them."""
    # `add` counts the edge in; its partners are then written behind it as they come, and PARTNERS is set
    # last, or the next edge would begin where this one does.
    place = 0
    for edge in range(len(owner)):
        add(table, owner[edge], value[edge], -1, -1)
        table.length[edge] = length[edge]
        for _ in range(length[edge]):
            table.partner[place] = partner[place]
            place += 1
        table.size[PARTNERS] = place


class MatchingTable:
    """A matching table that grows with its tuples, values and edges, and can go back to its last commit."""

    def __init__(self, values: int) -> None:
        self.values = values
        self._truth = Growing(np.int32)
        self._degree = Growing(np.int32)
        self._head = Growing(np.int32, values)
        self._alive = Growing(np.int32, values)
        self._size = np.zeros(5, dtype=np.int64)
        self._committed = 0
        self.unique = True
        self._next_unique = True
        self._edges: tuple[NDArray[Any], ...] = _room(256, 1024)

    @property
    def tuples(self) -> int:
        """How many tuples have a row, those of an answer that is not committed included."""
        return len(self._truth)

    @property
    def arrays(self) -> MatchingArrays:
        """The arrays, for kernels; valid until the table grows."""
        rows = (self._truth.rows, self._degree.rows, self._head.rows, self._alive.rows)
        return MatchingArrays._make((*rows, *self._edges, self._size))

    def add_tuples(self, truth: Integers) -> None:
        """Rows without edges for new tuples with these true values."""
        count = len(truth)
        self._truth.add(truth)
        self._degree.add(np.ones(count, dtype=np.int32))
        self._head.add(np.full((count, self.values), -1, dtype=np.int32))
        self._alive.add(np.zeros((count, self.values), dtype=np.int32))

    def widen(self, values: int) -> None:
        """Make room for values that turned up later."""
        more = values - self.values
        for name, filler in (("_head", -1), ("_alive", 0)):
            old: Growing[np.int32] = getattr(self, name)
            wider = Growing(np.int32, values)
            wider.add(np.hstack([old.rows, np.full((len(old), more), filler, dtype=np.int32)]))
            setattr(self, name, wider)
        self.values = values

    def grow(self) -> None:
        """Twice the room for edges, after a kernel had too little."""
        self._size[FULL] = 0
        self._make_room(2 * len(self.arrays.owner), 2 * len(self.arrays.partner))

    def use(self, unique: bool) -> None:
        """Say how the next answer is processed. The rules for answers without equal values may merge modelled
        distributions, which is sound only if no earlier answer was processed by the other rules.
        """
        if unique and not self.unique:
            raise ParameterError(
                "gate.history-answers-equal-values",
                "this history has answers with equal values: the strategy 'sa-unique' can go before "
                "'clone-matching' and the like, but not after them",
            )
        self._next_unique = unique

    def keep(self) -> None:
        """What was done since the last commit is final."""
        commit(self.arrays)
        self.unique = self.unique and self._next_unique
        self._committed = self.tuples
        if self._size[EDGES] > 2 * self._size[LIVE] + 1024:
            old = self.arrays
            self._edges = _room(len(old.owner), len(old.partner))
            compact(old, self.arrays)

    def roll_back(self) -> None:
        """What was done since the last commit has never happened."""
        undo(self.arrays, 0)
        for column in (self._truth, self._degree, self._head, self._alive):
            column.cut(self._committed)

    def rows(self) -> dict[int, dict[int, list[tuple[int, ...]]]]:
        """For each tuple and value the partners of its edges, for readers and tests."""
        table, found = self.arrays, {}
        for tuple_ in range(self.tuples):
            row: dict[int, list[tuple[int, ...]]] = {}
            for value in np.flatnonzero(table.alive[tuple_]).tolist():
                row[value], edge = [], int(table.head[tuple_, value])
                while edge >= 0:
                    if table.live[edge]:
                        first = int(table.start[edge])
                        named = table.partner[first : first + int(table.length[edge])]
                        row[value].append(tuple(sorted(named.tolist())))
                    edge = int(table.following[edge])
            found[tuple_] = row
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """The edges, as `load` takes them; those of an answer that is not committed are among them."""
        table = self.arrays
        order = in_order(table)
        spans = zip(table.start[order].tolist(), table.length[order].tolist(), strict=True)
        named = [table.partner[first : first + count] for first, count in spans]
        return {
            "owner": table.owner[order],
            "value": table.value[order],
            "length": table.length[order],
            "partner": np.concatenate(named) if named else np.empty(0, dtype=np.int32),
            "unique": np.array([self.unique and self._next_unique]),
        }

    def load(self, truth: Integers, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over edges, into a table without tuples."""
        columns = {name: np.asarray(state[name], dtype=np.int32) for name in ("owner", "value", "length")}
        partner = np.asarray(state["partner"], dtype=np.int32)
        count = len(columns["owner"])
        sound = (
            all(len(column) == count and (count == 0 or column.min() >= 0) for column in columns.values())
            and columns["length"].sum() == len(partner)
            and (count == 0 or (columns["owner"].max() < len(truth) and columns["value"].max() < self.values))
            and (len(partner) == 0 or (partner.min() >= 0 and partner.max() < len(truth)))
        )
        if not sound:
            raise GuaranteeError(
                "gate.state-not-belong-history",
                "the state does not belong to this history: use the one saved with it",
            )
        self.add_tuples(truth)
        self._make_room(count + 256, len(partner) + 1024)
        refill(self.arrays, columns["owner"], columns["value"], columns["length"], partner)
        self.unique = self._next_unique = bool(np.asarray(state["unique"]).all())
        self.keep()

    def _make_room(self, edges: int, partners: int) -> None:
        columns = _room(edges, partners)
        if self._size[LIVE] or self._size[EDGES]:
            for column, old in zip(columns, self._edges, strict=True):
                column[: len(old)] = old
        self._edges = columns


def _room(edges: int, partners: int) -> tuple[NDArray[Any], ...]:
    """Empty columns: owner, value, following, start, length, live, fate, partner, journal."""
    numbers = [np.zeros(edges, dtype=np.int32) for _ in range(5)]
    journal = np.zeros(2 * edges + 2, dtype=np.int32)
    flags = (np.zeros(edges, dtype=np.bool_), np.zeros(edges, dtype=np.int8))
    return (*numbers, *flags, np.zeros(partners, dtype=np.int32), journal)
