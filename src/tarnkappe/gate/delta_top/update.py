"""What an answer does to the matching table.

For every edge (t, v, S) of an old tuple t in the answer:

    exactly one tuple of S is in the answer    the edge is kept: t uses what is that tuple's none is, but a
    new tuple has the value v   the edge waits for a new tuple (`extension`) none is, and no new tuple has v
    the edge misses a partner several are                                one of them can use what is t's;
    the others have a crowd before them

Edges that miss a partner, that got no new tuple or that are crowded are removed with all that depends on
them, or kept alive by artificial values (`artificial`). Old tuples never join old ones: whether two
modelled distributions fit together depends on all earlier answers, which the table does not have.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.delta_top.extension import extend
from tarnkappe.gate.delta_top.table import ENTRIES, MatchingArrays, add, delete, enlist
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled

KEPT, WAITING, MISSING, CROWDED = 0, 1, 2, 3


@compiled
def classify(table: MatchingArrays, members: Integers, known: int, inside: Booleans) -> None:
    """Mark the members, and note the fate of every edge of the old ones."""
    # Members are marked before any edge is looked at: a partner may come later in the list. Dead edges get a
    # fate, too, which nobody reads. `inside` is the caller's and has one byte for every tuple, so membership
    # is one look.
    values = table.head.shape[1]
    news = np.zeros(values, dtype=np.bool_)
    for tuple_ in members:
        inside[tuple_] = True
        if tuple_ >= known:
            news[table.truth[tuple_]] = True
    for tuple_ in members:
        if tuple_ >= known:
            continue
        for value in range(values):
            edge = table.head[tuple_, value]
            while edge >= 0:
                count = 0
                for place in range(table.start[edge], table.start[edge] + table.length[edge]):
                    if inside[table.partner[place]]:
                        count += 1
                if count == 1:
                    table.fate[edge] = KEPT
                elif count > 1:
                    table.fate[edge] = CROWDED
                else:
                    table.fate[edge] = WAITING if news[value] else MISSING
                edge = table.following[edge]


@compiled
def delete_fated(table: MatchingArrays, tuple_: int, fate: int) -> None:
    """Remove all edges of a tuple that have a fate."""
    # `delete` changes lives and never lists, so going on by `following` is safe while edges are removed. What
    # depends on a removed edge goes with it, and may be one that comes later here: then it is dead already.
    for value in range(table.head.shape[1]):
        edge = table.head[tuple_, value]
        while edge >= 0:
            if table.fate[edge] == fate:
                delete(table, edge)
            edge = table.following[edge]


@compiled
def delete_hopeless(table: MatchingArrays, members: Integers, known: int) -> None:
    """Remove all edges of old members that no new tuple can keep alive."""
    # Missing ones before crowded ones, tuple by tuple: each removal takes along what depends on it, so the
    # order of tuples does not change what is left, and nothing is left that was promised in vain.
    for tuple_ in members:
        if tuple_ < known:
            delete_fated(table, tuple_, MISSING)
            delete_fated(table, tuple_, CROWDED)


@compiled
def pair_new(table: MatchingArrays, members: Integers, known: int) -> None:
    """Any two new tuples with different values can have each other's."""
    # A new tuple was in no answer before, so two of them exchange without touching anybody. Always two edges,
    # there and back: one alone would be a promise that nobody keeps. Pairs of new members in time and in
    # edges.
    for one in range(len(members)):
        for two in range(one):
            t, u = members[one], members[two]
            if t >= known and u >= known and table.truth[t] != table.truth[u]:
                add(table, t, table.truth[u], -1, u)
                add(table, u, table.truth[t], -1, t)


@compiled
def join(table: MatchingArrays, old: int, value: int, news: Integers, most: int) -> None:
    """Let every waiting edge of a tuple and value live on with one of some new tuples.

    All combinations are possible, and there may be too many. Those are made first that let every waiting edge
    and every new tuple live on, then others up to the limit.
    """
    waiting = table.alive[old, value]
    edges = np.empty(waiting, dtype=np.int32)
    count = 0
    edge = table.head[old, value]
    while edge >= 0:
        if table.live[edge] and table.fate[edge] == WAITING:
            edges[count] = edge
            count += 1
        edge = table.following[edge]
    needed = max(count, len(news))
    for turn in range(needed):
        add(table, old, value, edges[turn % count], news[turn % len(news)])
    for e in range(count):
        for n in range(len(news)):
            first = e == n % count if len(news) >= count else n == e % len(news)
            if not first and needed < most:
                add(table, old, value, edges[e], news[n])
                needed += 1
    for new in news:
        add(table, new, table.truth[old], -1, old)
    for e in range(count):  # not `delete`: the longer edges take their places
        enlist(table, edges[e], -1)


@compiled
def extend_old(
    table: MatchingArrays, members: Integers, known: int, algorithm: int, most: int, remove: bool
) -> None:
    """Give the new tuples to the old ones, once for each true value of old tuples.

    What waited in vain misses a partner; with `remove` it is removed at once, before the next true value.
    """
    # One true value after the other: two tuples with one true value compete, others do not. What got nobody
    # is marked as missing before the next value, or it would be given again; arrays are per value, not per
    # tuple.
    values = table.head.shape[1]
    new = members[members >= known]
    fresh = table.truth[new]
    for truth in range(values):
        olds = np.empty(len(members), dtype=np.int32)
        pending = np.zeros((len(members), values), dtype=np.int32)
        kept = np.zeros((len(members), values), dtype=np.bool_)
        current = np.ones(len(members), dtype=np.int32)
        count = 0
        for tuple_ in members:
            if tuple_ >= known or table.truth[tuple_] != truth:
                continue
            waits = False
            current[count] = 1
            for value in range(values):
                pending[count, value], kept[count, value] = 0, False
                edge = table.head[tuple_, value]
                while edge >= 0:
                    if table.live[edge] and table.fate[edge] == WAITING:
                        pending[count, value] += 1
                        waits = True
                    elif table.live[edge] and table.fate[edge] == KEPT:
                        kept[count, value] = True
                    edge = table.following[edge]
                if kept[count, value]:
                    current[count] += 1
            if waits:
                olds[count] = tuple_
                count += 1
        if count == 0:
            continue
        chosen = extend(algorithm, pending[:count], kept[:count], current[:count], fresh)
        for old in range(count):
            for value in range(values):
                mine = new[(chosen == old) & (fresh == value)]
                if len(mine):
                    join(table, olds[old], value, mine, most)
        for old in range(count):
            tuple_ = olds[old]
            for value in range(values):
                edge = table.head[tuple_, value]
                while edge >= 0:
                    if table.live[edge] and table.fate[edge] == WAITING:
                        table.fate[edge] = MISSING
                    edge = table.following[edge]
        if remove:
            for old in range(count):
                delete_fated(table, olds[old], MISSING)


def enter(
    table: MatchingArrays, members: Integers, known: int, algorithm: int, most: int, inside: Booleans
) -> None:
    """An answer without artificial values: all edges without a partner are removed."""
    classify(table, members, known, inside)
    delete_hopeless(table, members, known)
    pair_new(table, members, known)
    extend_old(table, members, known, algorithm, most, True)


@compiled
def lowest(table: MatchingArrays, members: Integers) -> int:
    """The smallest degree of all members and of all tuples that lost an edge since the last commit."""
    # Only members and owners of removed edges can have lost a value since the last commit; everybody else was
    # tested before. So a test costs what the answer changed.
    least = table.head.shape[1]
    for tuple_ in members:
        least = min(least, table.degree[tuple_])
    for entry in range(table.size[ENTRIES]):
        if table.journal[entry] < 0:
            least = min(least, table.degree[table.owner[-table.journal[entry] - 1]])
    return int(least)
