"""The proof that a matching table tells the truth: for every value that it claims, a distribution.

From an edge one follows its partners: each needs an edge back, which has partners of its own, until nobody
is left. All tuples on the way take the values of their edges, everybody else keeps the true one. Whether
that contradicts no published result is then counted, not believed; so a table that was damaged, or whoever
made it, cannot deceive.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.delta_top.table import MatchingArrays, names
from tarnkappe.gate.knowledge import Integers, KnowledgeArrays
from tarnkappe.native import compiled


@compiled
def follow(table: MatchingArrays, edge: int, chosen: Integers, moved: Integers) -> int:
    """The edges of a distribution that has an edge: `chosen` for each tuple that is moved. Returns how many
    are, or -1 if somebody would need two.
    """
    # Breadth first, each tuple once: `chosen` says who is moved and by which edge. Whoever is reached again
    # must name the tuple in turn, or two distributions would be mixed. The count is negated, not lost: the
    # caller clears by it.
    count, at = 1, 0
    moved[0] = table.owner[edge]
    chosen[moved[0]] = edge
    while at < count:
        tuple_ = moved[at]
        own = chosen[tuple_]
        at += 1
        for place in range(table.start[own], table.start[own] + table.length[own]):
            partner = table.partner[place]
            if chosen[partner] < 0:
                back = table.head[partner, table.truth[tuple_]]
                while back >= 0 and not (table.live[back] and names(table, back, tuple_)):
                    back = table.following[back]
                if back < 0:
                    count = -count
                    break
                chosen[partner] = back
                moved[count] = partner
                count += 1
            elif not names(table, chosen[partner], tuple_):
                count = -count
                break
        if count < 0:
            break
    return count


@compiled
def is_possible(
    table: MatchingArrays,
    view: KnowledgeArrays,
    spare: Integers,
    chosen: Integers,
    moved: Integers,
    count: int,
) -> bool:
    """Whether the moved tuples can have the values of their edges, everybody else having the true ones."""
    # Everybody moved gives up a cell in all results that have him, then takes another; only after all of them
    # are counted can a cell be called overdrawn. The third loop takes everything back, whatever was found, so
    # `spare` is as before: memory and time are those of the moved tuples and not of all results.
    possible = True
    for at in range(count):
        tuple_ = moved[at]
        membership = view.newest[tuple_]
        while membership >= 0:
            cells = view.cell[view.result[membership]]
            spare[cells[table.truth[tuple_]]] += 1
            taken = cells[table.value[chosen[tuple_]]]
            if taken < 0:
                possible = False
            else:
                spare[taken] -= 1
            membership = view.earlier[membership]
    for at in range(count):
        tuple_ = moved[at]
        membership = view.newest[tuple_]
        while membership >= 0:
            taken = view.cell[view.result[membership]][table.value[chosen[tuple_]]]
            if taken >= 0 and spare[taken] < 0:
                possible = False
            membership = view.earlier[membership]
    for at in range(count):
        tuple_ = moved[at]
        membership = view.newest[tuple_]
        while membership >= 0:
            cells = view.cell[view.result[membership]]
            spare[cells[table.truth[tuple_]]] -= 1
            if cells[table.value[chosen[tuple_]]] >= 0:
                spare[cells[table.value[chosen[tuple_]]]] += 1
            membership = view.earlier[membership]
    return possible


@compiled
def spare_room(truth: Integers, view: KnowledgeArrays) -> Integers:
    """How often each value was published beyond its true owners; negative if the truth is contradicted."""
    # By the truth alone: what was published less its true owners. A cell of -1 says that a true value was
    # never published where its owner is, so one negative number stands for all. Memberships in time.
    spare = view.capacity.copy()
    for membership in range(len(view.member)):
        cell = view.cell[view.result[membership], truth[view.member[membership]]]
        if cell < 0:
            return np.full(1, -1, dtype=np.int32)
        spare[cell] -= 1
    return spare


@compiled
def proven_degrees(table: MatchingArrays, view: KnowledgeArrays) -> Integers:
    """For how many values of each tuple there is a distribution, by the table and checked by the results."""
    # It asks the results, not the table, whether a distribution fits: a damaged table can only prove less.
    # The true value is proven by the truth itself. `chosen` is cleared after each try by the list of the
    # moved, so that a try costs what it moves; one proof for each value is enough.
    tuples, values = table.head.shape
    degrees = np.zeros(tuples, dtype=np.int32)
    spare = spare_room(table.truth, view)
    if (spare < 0).any():
        return degrees
    chosen = np.full(tuples, -1, dtype=np.int32)
    moved = np.empty(tuples, dtype=np.int32)
    for tuple_ in range(tuples):
        degrees[tuple_] = 1
        for value in range(values):
            edge, shown = table.head[tuple_, value], value == table.truth[tuple_]
            while edge >= 0 and not shown:
                count = follow(table, edge, chosen, moved)
                shown = count > 0 and is_possible(table, view, spare, chosen, moved, count)
                for at in range(abs(count)):
                    chosen[moved[at]] = -1
                if shown:
                    degrees[tuple_] += 1
                edge = table.following[edge]
    return degrees
