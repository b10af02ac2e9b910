"""Artificial values for an answer: as few as keep everybody's degree at k.

An artificial value is one more occurrence of a value in the answer. One occurrence serves one old tuple of
each true value, since a modelled distribution exchanges two values only: tuples with different true values
never meet in one. New tuples may share it with everybody, since a distribution in which a new tuple takes
an artificial value has nobody else in it yet.

At first everything is kept alive: tuple t gets its own occurrence of v if it has an edge with v that misses
a partner, or if it is one of a crowd that needs v. Then one occurrence after the other, those with the
fewest users first, is left out, with all edges that only it kept alive, unless somebody would fall below k.
What remains is needed: leaving out more later could only make it worse.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.delta_top.extension import sort_stably
from tarnkappe.gate.delta_top.table import ENTRIES, FULL, LIVE, MatchingArrays, add, delete, names, undo
from tarnkappe.gate.delta_top.update import CROWDED, MISSING, classify, extend_old, pair_new
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled

NOBODY = -1


@compiled
def crowded_edges(table: MatchingArrays, members: Integers, known: int) -> Integers:
    """All crowded edges of the old members."""
    # There are no more than live edges, so the array is made once. Old members only: an edge of a new tuple
    # has no fate yet. The order is by tuple and value, as everywhere here, so the same answer leaves out the
    # same values.
    found = np.empty(table.size[LIVE], dtype=np.int32)
    count = 0
    for tuple_ in members:
        if tuple_ < known:
            for value in range(table.head.shape[1]):
                edge = table.head[tuple_, value]
                while edge >= 0:
                    if table.live[edge] and table.fate[edge] == CROWDED:
                        found[count] = edge
                        count += 1
                    edge = table.following[edge]
    return found[:count].copy()


@compiled
def wishes(table: MatchingArrays, members: Integers, known: int, crowds: Integers) -> Integers:
    """How many edges of the i-th member miss a partner with value v; NOBODY if it needs no occurrence."""
    # NOBODY and 0 differ: 0 is a member of a crowd that can do without, NOBODY needs no occurrence at all.
    # Crowds are added second and must not lower a count, hence the maximum. Members times values in memory.
    values = table.head.shape[1]
    wanted = np.full((len(members), values), NOBODY, dtype=np.int32)
    place_of = np.full(table.head.shape[0], -1, dtype=np.int32)
    for i in range(len(members)):
        place_of[members[i]] = i
        if members[i] >= known:
            continue
        for value in range(values):
            edge = table.head[members[i], value]
            while edge >= 0:
                if table.live[edge] and table.fate[edge] == MISSING:
                    wanted[i, value] = max(wanted[i, value], 0) + 1
                edge = table.following[edge]
    for edge in crowds:
        value = table.truth[table.owner[edge]]
        for place in range(table.start[edge], table.start[edge] + table.length[edge]):
            i = place_of[table.partner[place]]
            if i >= 0:
                wanted[i, value] = max(wanted[i, value], 0)
    return wanted


@compiled
def occurrences(table: MatchingArrays, members: Integers, wanted: Integers) -> Integers:
    """Which occurrence of v the i-th member gets: tuples with the same true value get different ones.

    Those that miss a partner come before those of a crowd (one of which can do without), and of these the
    ones with the lowest degrees.
    """
    mine = np.full(wanted.shape, NOBODY, dtype=np.int32)
    for value in range(wanted.shape[1]):
        for i in range(len(members)):
            if wanted[i, value] == NOBODY:
                continue
            t = members[i]
            before = 0
            for j in range(len(members)):
                u = members[j]
                if j == i or wanted[j, value] == NOBODY or table.truth[u] != table.truth[t]:
                    continue
                mine_waits, other_waits = wanted[i, value] > 0, wanted[j, value] > 0
                if mine_waits != other_waits:
                    before += other_waits
                elif table.degree[u] != table.degree[t]:
                    before += table.degree[u] < table.degree[t]
                else:
                    before += j < i
            mine[i, value] = before
    return mine


@compiled
def withdraw(
    table: MatchingArrays,
    members: Integers,
    mine: Integers,
    value: int,
    layer: int,
    crowds: Integers,
    without: Booleans,
) -> None:
    """Leave out one occurrence of a value, and remove the edges that nothing else keeps alive."""
    # Two passes over nothing but what the occurrence kept alive. A crowd lives while at most one of its
    # members is without an occurrence, since one of them may use what is t's. `without` is set before it is
    # counted. All removals go into the journal, so the caller can take them back.
    for i in range(len(members)):
        if mine[i, value] != layer:
            continue
        tuple_ = members[i]
        without[i, value] = True
        edge = table.head[tuple_, value]
        while edge >= 0:
            if table.fate[edge] == MISSING:
                delete(table, edge)
            edge = table.following[edge]
        for crowd in crowds:
            if table.live[crowd] and table.truth[table.owner[crowd]] == value and names(table, crowd, tuple_):
                alone = 0
                for j in range(len(members)):
                    if names(table, crowd, members[j]) and without[j, value]:
                        alone += 1
                if alone > 1:
                    delete(table, crowd)


@compiled
def reach(table: MatchingArrays, tuple_: int, added: Integers) -> int:
    """How many values a new tuple can have if it may use all artificial ones."""
    # The degree counts what it has; an artificial value helps only where it is new. Never stored: it changes
    # with every occurrence that is left out, and is asked for new members alone.
    count = table.degree[tuple_]
    for value in range(len(added)):
        if added[value] > 0 and value != table.truth[tuple_] and table.alive[tuple_, value] == 0:
            count += 1
    return int(count)


@compiled
def hurts(
    table: MatchingArrays, members: Integers, known: int, k: int, added: Integers, goal: Integers, mark: int
) -> bool:
    """Whether somebody has fallen below k since a place of the journal."""
    # Only owners of edges in the journal after `mark` can have fallen, so nobody else is looked at: the work
    # is that of the removals and not of the table. New tuples have no edges of their own yet and are asked by
    # `reach`.
    for entry in range(mark, table.size[ENTRIES]):
        owner = table.owner[abs(table.journal[entry]) - 1]
        if owner < known and table.degree[owner] < k:
            return True
    fallen = False
    for i in range(len(members)):
        fallen = fallen or (members[i] >= known and reach(table, members[i], added) < goal[i])
    return fallen


@compiled
def leave_out(
    table: MatchingArrays,
    members: Integers,
    known: int,
    k: int,
    given: Integers,
    may_add: bool,
    added: Integers,
) -> None:
    """Decide which artificial values are needed for the old tuples, beyond those that are given.

    If none may be added, the others are left out whoever falls below k.
    """
    # The order decides the result: few users first, of equally few the last occurrence. Every step is tried,
    # tested and taken back by the journal.
    crowds = crowded_edges(table, members, known)
    wanted = wishes(table, members, known, crowds)
    mine = occurrences(table, members, wanted)
    without = np.zeros(wanted.shape, dtype=np.bool_)
    values = wanted.shape[1]
    users = np.zeros((values, len(members)), dtype=np.int64)
    added[:] = given
    for i in range(len(members)):
        for value in range(values):
            if mine[i, value] >= 0:
                users[value, mine[i, value]] += 1
                added[value] = max(added[value], mine[i, value] + 1)
    goal = np.zeros(len(members), dtype=np.int32)
    for i in range(len(members)):
        if members[i] >= known:
            goal[i] = min(k, reach(table, members[i], added))
    nodes = np.empty((values * len(members), 2), dtype=np.int64)
    keys = np.empty(len(nodes), dtype=np.int64)
    count = 0
    for value in range(values):
        for layer in range(len(members)):
            if users[value, layer]:
                nodes[count] = value, layer
                keys[count] = users[value, layer] * (len(members) + 1) + len(members) - layer
                count += 1
    order = np.arange(count)
    sort_stably(order, keys)
    for place in order:
        value, layer = nodes[place]
        if layer < given[value]:
            continue
        mark = table.size[ENTRIES]
        withdraw(table, members, mine, value, layer, crowds, without)
        added[value] -= 1
        if may_add and hurts(table, members, known, k, added, goal, mark):
            undo(table, mark)
            added[value] += 1
            for i in range(len(members)):
                if mine[i, value] == layer:
                    without[i, value] = False


@compiled
def serve_new(
    table: MatchingArrays, members: Integers, known: int, k: int, added: Integers, may_add: bool
) -> None:
    """New tuples use the artificial values, and get more of them as long as they have fewer than k values.

    The value that helps most of them comes next, and of those the one that is most frequent in the answer.
    """
    # Helped people and frequency are one weight: frequency is at most the members, so the first decides. It
    # ends when nobody is poor, nothing helps, or the table is full, which the caller sees and enlarges it.
    values = len(added)
    frequency = np.zeros(values, dtype=np.int64)
    for tuple_ in members:
        frequency[table.truth[tuple_]] += 1
        for value in range(values):
            if tuple_ >= known and added[value] > 0 and value != table.truth[tuple_]:
                add(table, tuple_, value, -1, -1)
    while may_add:
        poorest = -1
        for tuple_ in members:
            poor = tuple_ >= known and table.degree[tuple_] < k
            if poor and (poorest < 0 or table.degree[tuple_] < table.degree[poorest]):
                poorest = tuple_
        if poorest < 0 or table.size[FULL]:
            return
        best, most = -1, -1
        for value in range(values):
            if value == table.truth[poorest] or table.alive[poorest, value]:
                continue
            helped = 0
            for tuple_ in members:
                if (
                    tuple_ >= known
                    and table.degree[tuple_] < k
                    and value != table.truth[tuple_]
                    and not table.alive[tuple_, value]
                ):
                    helped += 1
            weight = helped * (len(members) + 1) + frequency[value]
            if weight > most:
                best, most = value, weight
        if best < 0:
            return
        added[best] += 1
        for tuple_ in members:
            if tuple_ >= known and best != table.truth[tuple_]:
                add(table, tuple_, best, -1, -1)


def enter_with_artificial(
    table: MatchingArrays,
    members: Integers,
    known: int,
    k: int,
    algorithm: int,
    most: int,
    given: Integers,
    may_add: bool,
    inside: Booleans,
) -> Integers:
    """An answer with artificial values, at least those that are given; returns how many of each."""
    added = np.zeros(table.head.shape[1], dtype=np.int32)
    classify(table, members, known, inside)
    pair_new(table, members, known)
    extend_old(table, members, known, algorithm, most, False)
    leave_out(table, members, known, k, given, may_add, added)
    serve_new(table, members, known, k, added, may_add)
    return added
