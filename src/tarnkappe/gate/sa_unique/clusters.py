"""How an answer is split into parts in which no value occurs twice.

Old tuples are put together if they keep each other's values alive: in a part, t keeps the value of u only
if u keeps the value of t. A part meets the *cluster criterion* if all values are different and any two old
tuples can either take each other's values, both of them, or neither can. Then entering the part removes no
edge for want of an edge back. New tuples join where they help, and the rest makes parts of its own.

`part[i]` is the part of the i-th member, or NONE.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.delta_top.extension import sort_stably
from tarnkappe.gate.delta_top.table import MatchingArrays
from tarnkappe.gate.knowledge import Integers
from tarnkappe.native import compiled

NONE = -1
NEVER = -1
"""The usefulness of a part that a tuple must not join."""

PLAIN, AT_ONCE, WHERE_NEEDED, ONE_PHASE = 0, 1, 2, 3
"""The clustering of the theory and its variants a, b, c."""


@compiled
def can_have(table: MatchingArrays, tuple_: int, value: int) -> bool:
    """Whether a value is in the signature of a tuple."""
    # The true value has no edge of its own, so both are asked. `alive` counts live edges: no list is walked.
    # Two looks at arrays, since it is asked for every pair of members.
    return bool(table.truth[tuple_] == value or table.alive[tuple_, value] > 0)


@compiled
def usefulness_of_one(table: MatchingArrays, one: int, other: int, known: int, lone: bool) -> int:
    """How many edges two tuples keep alive or make if they are in one part: 2, 0, or NEVER.

    `lone` does not count what two new tuples can always do.
    """
    # Equal values never share a part, which is asked first. Two old ones must agree in both directions: one
    # that takes without giving back would lose its edge at once.
    a, b = table.truth[one], table.truth[other]
    if a == b:
        return NEVER
    if one >= known and other >= known:
        return 0 if lone else 2
    if one >= known:
        return 2 if can_have(table, other, a) else 0
    if other >= known:
        return 2 if can_have(table, one, b) else 0
    forth, back = can_have(table, one, b), can_have(table, other, a)
    if forth != back:
        return NEVER
    return 2 if forth else 0


@compiled
def usefulness(
    table: MatchingArrays,
    members: Integers,
    known: int,
    part: NDArray[np.int64],
    place: int,
    number: int,
    lone: bool,
) -> int:
    """The sum for a member and all members of a part; NEVER if it must not join one of them."""
    # Parts are told by the numbers of members alone; a list for each would have to be kept in every try.
    # Members of an answer are few, so it is quadratic on purpose. One NEVER ends it: a sum would hide it.
    total = 0
    for other in range(len(members)):
        if part[other] == number and other != place:
            one = usefulness_of_one(table, members[place], members[other], known, lone)
            if one == NEVER:
                return NEVER
            total += one
    return total


@compiled
def cluster_old(
    table: MatchingArrays, members: Integers, known: int, variant: int, part: NDArray[np.int64]
) -> int:
    """Put the old members into parts that meet the cluster criterion; returns how many parts."""
    # The most frequent value opens a part for each of its owners: they can never be together, so fewer parts
    # are impossible. Whoever fits nowhere usefully waits for the second round, when parts have grown.
    frequency = np.zeros(table.head.shape[1], dtype=np.int64)
    for tuple_ in members:
        if tuple_ < known:
            frequency[table.truth[tuple_]] += 1
    if frequency.sum() == 0:
        return 0
    first = np.argmax(frequency)
    count = 0
    for place in range(len(members)):
        if members[place] < known and table.truth[members[place]] == first:
            part[place] = count
            count += 1
    for last in (False, True):
        for place in range(len(members)):
            if members[place] >= known or part[place] != NONE:
                continue
            best, most = NONE, NEVER
            for number in range(count):
                use = usefulness(table, members, known, part, place, number, False)
                if use > most:
                    best, most = number, use
            if most == 0 and not last and variant != AT_ONCE:
                continue
            if most == NEVER or (most == 0 and variant == AT_ONCE):
                best = count
                count += 1
            part[place] = best
    return count


@compiled
def cluster_new(
    table: MatchingArrays,
    members: Integers,
    known: int,
    k: int,
    variant: int,
    part: NDArray[np.int64],
    count: int,
) -> None:
    """Let new members join the parts of the old ones.

    First where an old tuple needs them, then where new ones have fewer than k values as yet. `poorest` is
    the smallest degree of the new members of a part, 0 if it has none.
    """
    poorest = np.zeros(count, dtype=np.int64)
    for second in (False, True):
        if second and variant == ONE_PHASE:
            return
        for place in range(len(members)):
            if members[place] < known or part[place] != NONE:
                continue
            best, most = NONE, 0
            for number in range(count):
                if second and not 0 < poorest[number] < k:
                    continue
                use = usefulness(table, members, known, part, place, number, not second)
                if use > most:
                    best, most = number, use
            if best != NONE:
                degree = usefulness(table, members, known, part, place, best, False) // 2 + 1
                poorest[best] = degree if poorest[best] == 0 else min(poorest[best] + 1, degree)
                part[place] = best


@compiled
def fill_where_needed(
    table: MatchingArrays, members: Integers, known: int, k: int, part: NDArray[np.int64], count: int
) -> None:
    """Variant b: a new member joins only where an old one has fewer than k values in its part."""
    # Degrees are computed from the part as it is now, after every joining: a new member raises those of
    # others, and the next choice must see it. It ends, as every round takes a member or stops.
    for number in range(count):
        while True:
            best, most = NONE, 0
            for place in range(len(members)):
                if members[place] < known or part[place] != NONE:
                    continue
                if usefulness(table, members, known, part, place, number, True) == NEVER:
                    continue
                helped = 0
                for other in range(len(members)):
                    if part[other] == number and members[other] < known:
                        degree = usefulness(table, members, known, part, other, number, False) // 2 + 1
                        if degree < k and can_have(table, members[other], table.truth[members[place]]):
                            helped += 1
                if helped > most:
                    best, most = place, helped
            if best == NONE:
                break
            part[best] = number


@compiled
def partition(table: MatchingArrays, members: Integers, k: int, part: NDArray[np.int64], count: int) -> int:
    """Deal those who have no part yet into parts without equal values, of at least k if possible."""
    # Sorted by value and dealt in turns: equal values come one after the other, and as there are at least as
    # many parts as equal values, they never meet. Parts of at least k come from dividing by k, rounded down.
    frequency = np.zeros(table.head.shape[1], dtype=np.int64)
    rest, key = np.empty(len(members), dtype=np.int64), np.empty(len(members), dtype=np.int64)
    waiting = 0
    for place in range(len(members)):
        if part[place] == NONE:
            rest[waiting], key[place] = place, table.truth[members[place]]
            frequency[key[place]] += 1
            waiting += 1
    if waiting == 0:
        return count
    parts = int(frequency.max())
    if k > 1:  # with k = 1 nobody needs small parts
        parts = max(parts, waiting // k)
    order = rest[:waiting].copy()
    sort_stably(order, key)
    for turn in range(waiting):
        part[order[turn]] = count + turn % parts
    return count + parts


@compiled
def lacking(
    table: MatchingArrays, members: Integers, known: int, part: NDArray[np.int64], number: int, value: int
) -> int:
    """How many old members of a part cannot have a value."""
    # New members are not counted: they can have everything that the part has. The value is that of a new
    # member, who reaches all values less those of old ones that cannot take his.
    count = 0
    for place in range(len(members)):
        if part[place] == number and members[place] < known and not can_have(table, members[place], value):
            count += 1
    return count


@compiled
def fits_together(
    table: MatchingArrays, members: Integers, known: int, k: int, part: NDArray[np.int64]
) -> bool:
    """Whether all parts meet the cluster criterion and let every new member reach k values."""
    # All pairs, since the criterion is one of pairs; and every new member, since a part may meet it and still
    # leave him fewer than k values. Members squared, and nothing is changed.
    for one in range(len(members)):
        for other in range(one):
            together = part[one] == part[other]
            if together and usefulness_of_one(table, members[one], members[other], known, False) == NEVER:
                return False
        if members[one] >= known:
            poor = lacking(table, members, known, part, part[one], table.truth[members[one]])
            if table.head.shape[1] - poor < k:
                return False
    return True


@compiled
def is_unique(table: MatchingArrays, members: Integers) -> bool:
    """Whether no two members have the same value."""
    # One byte for each value; the second owner of a value ends it. It comes before the pairs, which are
    # dearer. Only true values count: artificial ones are not known yet.
    seen = np.zeros(table.head.shape[1], dtype=np.bool_)
    for tuple_ in members:
        if seen[table.truth[tuple_]]:
            return False
        seen[table.truth[tuple_]] = True
    return True


@compiled
def split(
    table: MatchingArrays, members: Integers, known: int, k: int, variant: int, strict: bool
) -> NDArray[np.int64]:
    """The part of each member; parts are numbered in the order in which they are to be entered.

    With `strict` (artificial values may be added) even an answer without equal values is split if it does not
    meet the cluster criterion.
    """
    whole = np.zeros(len(members), dtype=np.int64)
    if is_unique(table, members) and (not strict or fits_together(table, members, known, k, whole)):
        return whole
    part = np.full(len(members), NONE, dtype=np.int64)
    count = cluster_old(table, members, known, variant, part)
    if variant == WHERE_NEEDED:
        fill_where_needed(table, members, known, k, part, count)
    else:
        cluster_new(table, members, known, k, variant, part, count)
    if strict:  # a new tuple that could not reach k values where it is goes elsewhere
        for place in range(len(members)):
            if members[place] >= known and part[place] != NONE:
                poor = lacking(table, members, known, part, part[place], table.truth[members[place]])
                if table.head.shape[1] - poor < k:
                    part[place] = NONE
    partition(table, members, k, part, count)
    return part
