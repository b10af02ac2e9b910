"""Which new tuple is given to which old one: the four algorithms that decide it.

An answer has old tuples with edges that live on only if a new tuple joins them: the new tuple truly has the
value that the old one takes, and takes the value that the old one gives up. All old tuples of one call have
the same true value, and a new tuple goes to at most one of them, since two of them may be in one
distribution and then need two different partners. What is given:

    pending[i, v]   how many edges of the i-th old tuple wait for a new tuple with value v
    kept[i, v]      whether it keeps the value v in any case
    current[i]      how many values it has without the pending edges
    fresh[x]        the value of the x-th new tuple

and the result says for each new tuple the old one that gets it, or -1. All pending edges of a tuple and value
share their fate, and new tuples with the same value are interchangeable; so the work is on pairs (i, v).

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers
from tarnkappe.native import compiled

MAX_EDGES, MAX_ANONYMITY, SIMPLE_MATCHING, CLONE_MATCHING = 0, 1, 2, 3


@compiled
def extend(
    algorithm: int, pending: Integers, kept: Booleans, current: Integers, fresh: Integers
) -> NDArray[np.int64]:
    """The distribution of the new tuples to the old ones."""
    # `current` is copied where an algorithm counts in it: the caller's stays true. `deal_rounds` comes last,
    # with what no degree needs; `left` must be what no step has used.
    chosen = np.full(len(fresh), -1, dtype=np.int64)
    if algorithm == MAX_EDGES:
        max_edges(pending, fresh, chosen)
    elif algorithm == MAX_ANONYMITY:
        max_anonymity(pending, kept, current.copy(), fresh, chosen)
    else:
        left = np.zeros(pending.shape[1], dtype=np.int64)
        for value in fresh:
            left[value] += 1
        extended = np.zeros(pending.shape, dtype=np.bool_)
        if algorithm == SIMPLE_MATCHING:
            grow_evenly(pending, kept, current.copy(), fresh, left, extended, chosen)
        else:
            clone_matching(pending, kept, current.copy(), fresh, left, extended, chosen)
            deal_rounds(pending, extended, False, fresh, left, chosen)
        deal_rounds(pending, extended, True, fresh, left, chosen)
    return chosen


@compiled
def max_edges(pending: Integers, fresh: Integers, chosen: NDArray[np.int64]) -> None:
    """As many edges as possible live on: the tuples with most edges come first, in turns."""
    # Value by value, as new tuples with one value are interchangeable. Those who wait come first after
    # sorting, so taking turns modulo their number never reaches anybody else.
    for value in range(pending.shape[1]):
        turns, key = np.arange(len(pending)), np.empty(len(pending), dtype=np.int64)
        waiting = turn = 0
        for old in range(len(pending)):
            key[old] = -pending[old, value]
            waiting += pending[old, value] > 0
        sort_stably(turns, key)
        for new in range(len(fresh)):
            if waiting and fresh[new] == value:
                chosen[new] = turns[turn % waiting]
                turn += 1


@compiled
def sort_stably(order: NDArray[np.int64], key: NDArray[np.int64]) -> None:
    """Sort by a key; what is equal keeps its order."""
    # Insertion: the arrays hold the members of one answer and are nearly sorted from round to round.
    # Stability makes the choice among equals that of the order of members, hence the same on every run.
    for place in range(1, len(order)):
        item, at = order[place], place
        while at > 0 and key[order[at - 1]] > key[item]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


@compiled
def max_anonymity(
    pending: Integers, kept: Booleans, current: Integers, fresh: Integers, chosen: NDArray[np.int64]
) -> None:
    """The tuple with the fewest values comes next, and of those the one with the fewest ways to get more.

    New tuples with frequent values are used up first, so that rare values stay available. The second phase
    deals out what is left evenly.
    """
    olds, values = pending.shape
    left = np.zeros(values, dtype=np.int64)
    for value in fresh:
        left[value] += 1
    extended = np.zeros(pending.shape, dtype=np.bool_)
    order, queue = np.arange(olds), np.arange(len(fresh))
    options, rank = np.zeros(olds, dtype=np.int64), np.zeros(len(fresh), dtype=np.int64)
    times = np.zeros(olds, dtype=np.int32)
    for again in (False, True):
        while True:
            for old in range(olds):
                options[old] = 0
                for value in range(values):
                    if pending[old, value] and left[value] and (again or not extended[old, value]):
                        options[old] += 1
            for new in range(len(fresh)):
                rank[new] = -left[fresh[new]]
            sort_stably(order, options)
            sort_stably(queue, rank)
            best = -1
            for place in range(olds):
                poor = int(order[place])
                weight = times if again else current
                if options[poor] and (best < 0 or weight[poor] < weight[best]):
                    best = poor
            if best < 0:
                break
            for place in range(len(fresh)):
                new = int(queue[place])
                value = int(fresh[new])
                if chosen[new] < 0 and pending[best, value] and (again or not extended[best, value]):
                    chosen[new] = best
                    left[value] -= 1
                    if again:
                        times[best] += 1
                    elif not kept[best, value]:
                        current[best] += 1
                    extended[best, value] = True
                    break


@compiled
def deal(demand: NDArray[np.int64], allowed: Booleans, left: NDArray[np.int64]) -> Booleans:
    """Give each old tuple as many different values as it demands, as far as they last: a maximum flow.

    In the terms of the theory this is a largest unique matching in the clone graph in which a tuple has as
    many nodes as it demands values.
    """
    olds, values = allowed.shape
    taken = np.zeros(allowed.shape, dtype=np.bool_)
    used = np.zeros(values, dtype=np.int64)
    giver, given = np.empty(values, dtype=np.int64), np.empty(values, dtype=np.int64)
    queue = np.empty(values, dtype=np.int64)
    for old in range(olds):
        for _ in range(demand[old]):
            giver[:] = -1
            count, at, end = 0, 0, -1
            for value in range(values):
                if allowed[old, value] and not taken[old, value]:
                    giver[value], given[value], queue[count] = old, -1, value
                    count += 1
            while at < count and end < 0:
                value = queue[at]
                at += 1
                if used[value] < left[value]:
                    end = value
                    continue
                for other in range(olds):
                    if taken[other, value]:
                        for instead in range(values):
                            if giver[instead] < 0 and allowed[other, instead] and not taken[other, instead]:
                                giver[instead], given[instead], queue[count] = other, value, instead
                                count += 1
            if end < 0:
                break
            used[end] += 1
            while end >= 0:
                taken[giver[end], end] = True
                if given[end] >= 0:
                    taken[giver[end], given[end]] = False
                end = given[end]
    return taken


@compiled
def hand_out(
    taken: Booleans,
    fresh: Integers,
    left: NDArray[np.int64],
    extended: Booleans,
    chosen: NDArray[np.int64],
) -> int:
    """Turn pairs of a tuple and a value into new tuples; returns how many."""
    # `deal` has taken no more pairs with a value than new tuples are left, so the inner loop finds one; with
    # more, it would run off the end. The first free one is as good as any: those with one value are
    # interchangeable.
    count = 0
    for old in range(taken.shape[0]):
        for value in range(taken.shape[1]):
            if taken[old, value]:
                new = 0
                while chosen[new] >= 0 or fresh[new] != value:
                    new += 1
                chosen[new] = old
                left[value] -= 1
                extended[old, value] = True
                count += 1
    return count


@compiled
def possible(
    pending: Integers, extended: Booleans, again: bool, left: NDArray[np.int64]
) -> tuple[Booleans, NDArray[np.int64]]:
    """Which pairs can be extended, and for each old tuple how many."""
    # Computed anew in each round, since `left` and `extended` change with all that is dealt. A pair counts
    # once unless `again`: a second new tuple raises no degree.
    allowed = np.zeros(pending.shape, dtype=np.bool_)
    options = np.zeros(pending.shape[0], dtype=np.int64)
    for old in range(pending.shape[0]):
        for value in range(pending.shape[1]):
            if pending[old, value] and left[value] and (again or not extended[old, value]):
                allowed[old, value] = True
                options[old] += 1
    return allowed, options


@compiled
def deal_rounds(
    pending: Integers,
    extended: Booleans,
    again: bool,
    fresh: Integers,
    left: NDArray[np.int64],
    chosen: NDArray[np.int64],
) -> None:
    """Deal out what is left, to everybody one in each round; `again` also for pairs that have some."""
    # Everybody gets one in each round, by a flow, so nobody takes two while another could have one. Each
    # round uses up at least one new tuple, or it is the last.
    while True:
        allowed, options = possible(pending, extended, again, left)
        if not hand_out(deal(np.minimum(options, 1), allowed, left), fresh, left, extended, chosen):
            return


@compiled
def grow_evenly(
    pending: Integers,
    kept: Booleans,
    current: Integers,
    fresh: Integers,
    left: NDArray[np.int64],
    extended: Booleans,
    chosen: NDArray[np.int64],
) -> None:
    """In each round as many as possible of the tuples with the fewest values get one more."""
    # Only the poorest take part in a round: a flow over all would serve those first who are easy to serve.
    # Degrees are raised before new tuples are handed out, both from the same pairs; each round gives at least
    # one.
    while True:
        allowed, options = possible(pending, extended, False, left)
        fewest = -1
        for old in range(len(options)):
            if options[old] and (fewest < 0 or current[old] < fewest):
                fewest = current[old]
        if fewest < 0:
            return
        demand = np.zeros(len(options), dtype=np.int64)
        for old in range(len(options)):
            demand[old] = 1 if options[old] and current[old] == fewest else 0
        taken = deal(demand, allowed, left)
        raise_degrees(taken, kept, current)
        hand_out(taken, fresh, left, extended, chosen)


@compiled
def raise_degrees(taken: Booleans, kept: Booleans, current: Integers) -> None:
    """Count the values that were just given."""
    # A value that is kept anyway is no new one. Reads what `deal` found, before `hand_out` marks the pairs as
    # extended: the two lists are the same pairs, and each is counted once.
    for old in range(taken.shape[0]):
        for value in range(taken.shape[1]):
            if taken[old, value] and not kept[old, value]:
                current[old] += 1


@compiled
def clones(current: Integers, options: NDArray[np.int64], news: int) -> NDArray[np.int64]:
    """How many values each old tuple should get: first what it lacks to the richest, then evenly more."""
    # Nobody is planned more than there are options, or the flow could not be complete. What is over is shared
    # evenly among those with options left; every round gives each of them at least one, so it ends.
    olds = 0
    richest = 0
    for old in range(len(options)):
        if options[old]:
            olds += 1
            richest = max(richest, current[old])
    nodes = np.zeros(len(options), dtype=np.int64)
    for old in range(len(options)):
        if options[old]:
            nodes[old] = min(richest - current[old], options[old])
    if nodes.sum() == 0:
        for old in range(len(options)):
            nodes[old] = 1 if options[old] else 0
    total = nodes.sum()
    while True:
        open_ = 0
        for old in range(len(options)):
            open_ += nodes[old] < options[old]
        share = (news - total) // open_ if open_ else 0
        if share < 1:
            return nodes
        for old in range(len(options)):
            more = min(options[old] - nodes[old], share)
            nodes[old] += more
            total += more


@compiled
def clone_matching(
    pending: Integers,
    kept: Booleans,
    current: Integers,
    fresh: Integers,
    left: NDArray[np.int64],
    extended: Booleans,
    chosen: NDArray[np.int64],
) -> None:
    """The smallest degree becomes as large as possible: all values of a round are dealt in one flow.

    Values that a tuple keeps anyway do not raise its degree and wait for the next phase.
    """
    useful = pending * (kept == 0)
    while True:
        allowed, options = possible(useful, extended, False, left)
        if options.sum() == 0:
            return
        news = 0
        for value in range(len(left)):
            if allowed[:, value].any():
                news += left[value]
        nodes = clones(current, options, news)
        lowest, highest = -1, 0
        for old in range(len(options)):
            if options[old]:
                lowest = current[old] if lowest < 0 else min(lowest, current[old])
                highest = max(highest, nodes[old] + current[old])
        least, most = lowest + 1, highest
        best = deal(levelled(nodes, options, current, least), allowed, left)
        while least < most:  # is the flow complete up to this degree?
            level = (least + most + 1) // 2
            demand = levelled(nodes, options, current, level)
            taken = deal(demand, allowed, left)
            if taken.sum() == demand.sum():
                least, best = level, taken
            else:
                most = level - 1
        raise_degrees(best, kept, current)
        hand_out(best, fresh, left, extended, chosen)


@compiled
def levelled(
    nodes: NDArray[np.int64], options: NDArray[np.int64], current: Integers, level: int
) -> NDArray[np.int64]:
    """How many values everybody needs up to a degree, but not more than planned."""
    # Grows with `level`, by which the caller halves: a flow that is complete up to a degree is so below it.
    # Nobody gets a demand without an option, or no flow would be complete.
    demand = np.zeros(len(nodes), dtype=np.int64)
    for old in range(len(nodes)):
        if options[old]:
            demand[old] = max(0, min(nodes[old], level - current[old]))
    return demand
