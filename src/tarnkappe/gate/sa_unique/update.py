"""What a part without equal values does to the matching table.

If no value ever occurred twice in a published part, every value that a tuple can take beside its own is
taken in exactly one modelled distribution: there is at most one edge for each tuple and value. Two
distributions that exchange the same two values can then be merged, so that, unlike in `delta_top`, old
tuples may join old tuples.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.delta_top.extension import sort_stably
from tarnkappe.gate.delta_top.table import ENTRIES, FULL, MatchingArrays, add, delete, enlist, names, undo
from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled


@compiled
def owners(table: MatchingArrays, members: Integers) -> Integers:
    """The member that truly has a value, or -1."""
    # In a part no value occurs twice, so one tuple a value is enough; with equal values the last would win
    # and the others would be forgotten. Values in memory, members in time.
    found = np.full(table.head.shape[1], -1, dtype=np.int32)
    for tuple_ in members:
        found[table.truth[tuple_]] = tuple_
    return found


@compiled
def lengthen(table: MatchingArrays, edge: int, more: int) -> None:
    """Replace an edge by one with one more partner."""
    # The longer edge is added before the shorter one is counted out, so that the tuple never loses the value
    # in between, and no degree falls. Not `delete`, which would take along what depends on the edge.
    add(table, table.owner[edge], table.value[edge], edge, more)
    enlist(table, edge, -1)


@compiled
def living(table: MatchingArrays, tuple_: int, value: int) -> int:
    """The edge of a tuple and value, or -1."""
    # There is at most one live edge for a tuple and value here, so the first is it. Dead ones stay in the
    # list until `commit` and are passed over.
    edge = table.head[tuple_, value]
    while edge >= 0 and not table.live[edge]:
        edge = table.following[edge]
    return int(edge)


@compiled
def enter_part(table: MatchingArrays, members: Integers, known: int, added: Booleans) -> None:
    """Enter a part in which the marked values are artificial.

    An edge with a value that nobody has in the part lives on if the value is artificial; one whose value a
    member has lives on if the two name each other already, or can begin to.
    """
    here = owners(table, members)
    for tuple_ in members:
        if tuple_ >= known:
            continue
        for value in range(len(here)):
            edge, partner = living(table, tuple_, value), here[value]
            if edge < 0 or added[value]:
                continue
            if partner < 0:
                delete(table, edge)
            elif not names(table, edge, partner):
                back = living(table, partner, table.truth[tuple_])
                if partner >= known:
                    lengthen(table, edge, partner)
                    add(table, partner, table.truth[tuple_], -1, tuple_)
                elif back >= 0:
                    lengthen(table, edge, partner)
                    lengthen(table, back, tuple_)
                else:
                    delete(table, edge)
    for one in range(len(members)):
        t = members[one]
        if t < known:
            continue
        for two in range(one):
            u = members[two]
            if u >= known:
                add(table, t, table.truth[u], -1, u)
                add(table, u, table.truth[t], -1, t)
        for value in range(len(added)):
            if added[value] and here[value] < 0:
                add(table, t, value, -1, -1)


@compiled
def breaks(
    table: MatchingArrays, known: int, k: int, where: Integers, who: Integers, number: int, mark: int
) -> bool:
    """Whether removals since a place of the journal left somebody fewer than k values, or broke the cluster
    criterion of this part or a later one, or took from a new tuple there what it needs to reach k values.

    `where` is the part of each tuple (-1: none), `who` for each part and value the member that has it.
    """
    # Only edges in the journal after `mark` are looked at, whoever else there is: work is that of the
    # removals. A degree is asked first, since it needs no part; a tuple of an earlier part has been entered
    # and cannot break.
    values = table.head.shape[1]
    for entry in range(mark, table.size[ENTRIES]):
        edge = abs(table.journal[entry]) - 1
        owner, value = table.owner[edge], table.value[edge]
        if table.degree[owner] < k:
            return True
        if where[owner] < number or owner >= known:
            continue
        other = who[where[owner], value]
        if other < 0:
            continue
        if other < known:
            if (table.alive[owner, value] > 0) != (table.alive[other, table.truth[owner]] > 0):
                return True
            continue
        left = values
        for member in who[where[owner]]:
            if member >= 0 and member < known and table.alive[member, value] == 0:
                left -= 1
        if left < k:
            return True
    return False


@compiled
def needed_values(
    table: MatchingArrays, members: Integers, known: int, k: int, where: Integers, who: Integers, number: int
) -> Booleans:
    """Which artificial values the old members of a part need.

    At first all that keep an edge alive; then one after the other, those with the fewest users first, is left
    out unless that breaks something.
    """
    values = table.head.shape[1]
    users = np.zeros(values, dtype=np.int64)
    for tuple_ in members:
        for value in range(values):
            if tuple_ < known and who[number, value] < 0 and table.alive[tuple_, value]:
                users[value] += 1
    added = users > 0
    order = np.arange(values)
    sort_stably(order, users)
    for place in range(values):
        value = int(order[place])
        if not added[value]:
            continue
        mark = table.size[ENTRIES]
        for tuple_ in members:
            if tuple_ < known and table.alive[tuple_, value]:
                delete(table, living(table, tuple_, value))
        if breaks(table, known, k, where, who, number, mark):
            undo(table, mark)
        else:
            added[value] = False
    return added


@compiled
def serve_new_of_part(
    table: MatchingArrays, members: Integers, known: int, k: int, who: Integers, number: int, added: Booleans
) -> None:
    """More artificial values, of those that the part does not have, until all new members have k values.

    Values that are frequent in the other parts of the answer come first: they surprise nobody.
    """
    # Nobody poor leaves `best` at -1 and ends it; so does a part that has all values already. An added value
    # serves all new members at once. Values times parts in each round, and each round uses up a value.
    values = table.head.shape[1]
    while not table.size[FULL]:
        poor = False
        for tuple_ in members:
            poor = poor or (tuple_ >= known and table.degree[tuple_] < k)
        best, most = -1, -1
        for value in range(values):
            frequency = 0
            for other in range(len(who)):
                frequency += who[other, value] >= 0
            if poor and who[number, value] < 0 and not added[value] and frequency > most:
                best, most = value, frequency
        if best < 0:
            return
        added[best] = True
        for tuple_ in members:
            if tuple_ >= known:
                add(table, tuple_, best, -1, -1)


def enter_parts(
    table: MatchingArrays, members: Integers, part: NDArray[np.int64], known: int, k: int, may_add: bool
) -> Booleans:
    """Enter all parts of an answer; returns for each part which values are artificial."""
    values, parts = table.head.shape[1], part.max() + 1
    where = np.full(table.head.shape[0], -1, dtype=np.int32)
    who = np.full((parts, values), -1, dtype=np.int32)
    for place in range(len(members)):
        where[members[place]] = part[place]
        who[part[place], table.truth[members[place]]] = members[place]
    added = np.zeros((parts, values), dtype=np.bool_)
    for number in range(parts):
        mine = members[part == number]
        if may_add:
            added[number] = needed_values(table, mine, known, k, where, who, number)
        enter_part(table, mine, known, added[number])
        if may_add:
            serve_new_of_part(table, mine, known, k, who, number, added[number])
    return added
