"""Millions of random small sequences against enumeration: the attacker, and the sequences, compiled.

The attacker here shares nothing with the strategies: he has the members and the counts of every result, and tries
distributions one by one.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.gate.delta_top.artificial import leave_out, serve_new
from tarnkappe.gate.delta_top.table import FULL, MatchingArrays, commit, undo
from tarnkappe.gate.delta_top.update import classify, delete_hopeless, extend_old, lowest, pair_new
from tarnkappe.gate.sa_unique.clusters import fits_together, split
from tarnkappe.gate.sa_unique.update import enter_part, needed_values, serve_new_of_part
from tarnkappe.native import compiled

DELTA_TOP, SA_UNIQUE, COMBINED, FORBIDDEN = 0, 1, 2, 3
SOUND, UNSOUND, LOST, NO_ROOM = 0, 1, 2, 3
ANSWERED, REFUSED, ADDED = 0, 1, 2


@compiled
def attack(inside: np.ndarray, counts: np.ndarray, tuples: int) -> np.ndarray:
    """Which values each tuple has in some distribution. `inside[r, t]`: result r has t; `counts[r, v]`."""
    results, values = counts.shape
    shown = np.zeros((tuples, values), dtype=np.bool_)
    left = np.empty_like(counts)
    chosen = np.empty(tuples, dtype=np.int64)
    order = np.empty(tuples, dtype=np.int64)
    for tuple_ in range(tuples):
        for value in range(values):
            if shown[tuple_, value]:
                continue
            left[:] = counts
            for place in range(tuples):
                order[place] = place
            order[0], order[tuple_] = tuple_, 0
            chosen[:] = -1
            depth = 0
            while 0 <= depth < tuples:
                at = order[depth]
                old = chosen[at]
                if old >= 0:
                    for r in range(results):
                        left[r, old] += inside[r, at]
                new = old + 1
                if depth == 0:
                    new = value if old < 0 else values
                while new < values:
                    fits = True
                    for r in range(results):
                        if inside[r, at] and left[r, new] <= 0:
                            fits = False
                            break
                    if fits or depth == 0:
                        break
                    new += 1
                if new < values and depth == 0 and not fits:
                    new = values
                if new >= values:
                    chosen[at] = -1
                    depth -= 1
                    continue
                chosen[at] = new
                for r in range(results):
                    left[r, new] -= inside[r, at]
                depth += 1
            if depth == tuples:
                for place in range(tuples):
                    shown[place, chosen[place]] = True
    return shown


@compiled
def empty_table(tuples: int, values: int, edges: int) -> MatchingArrays:
    whole = np.zeros(edges, dtype=np.int32)
    return MatchingArrays(
        np.zeros(tuples, dtype=np.int32),
        np.ones(tuples, dtype=np.int32),
        np.full((tuples, values), -1, dtype=np.int32),
        np.zeros((tuples, values), dtype=np.int32),
        whole.copy(),
        whole.copy(),
        whole.copy(),
        whole.copy(),
        whole.copy(),
        np.zeros(edges, dtype=np.bool_),
        np.zeros(edges, dtype=np.int8),
        np.zeros(8 * edges, dtype=np.int32),
        np.zeros(2 * edges + 2, dtype=np.int32),
        np.zeros(5, dtype=np.int64),
    )


@compiled
def play(seed: int, family: int, how: int, seen: np.ndarray) -> int:
    """One random sequence through a strategy; counts what was seen, and says whether the attacker won."""
    np.random.seed(seed)
    people, values = np.random.randint(3, 10), np.random.randint(2, 6)
    k, may_add = np.random.randint(1, min(values, 4) + 1), np.random.random() < 0.7
    most = np.random.randint(1, 9)
    truth = np.random.randint(0, values, people)
    number = np.full(people, -1, dtype=np.int64)
    table = empty_table(people, values, 3000)
    inside = np.zeros((64, people), dtype=np.int64)
    counts = np.zeros((64, values), dtype=np.int64)
    nothing = np.zeros(values, dtype=np.int32)
    known = results = 0
    unique = True
    for _ in range(6):
        query = np.random.permutation(people)[: np.random.randint(1, people)]
        now = known
        for person in query:
            if number[person] < 0:
                number[person] = now
                table.truth[now] = truth[person]
                now += 1
        members = number[query].astype(np.int32)
        part = np.zeros(len(members), dtype=np.int64)
        allowed = family == FORBIDDEN or (family == COMBINED and unique)
        whole = allowed and fits_together(table, members, known, k, part)
        if family == SA_UNIQUE:
            part = split(table, members, known, k, how, may_add)
        parts = part.max() + 1
        added = np.zeros((parts, values), dtype=np.int32)
        if family == SA_UNIQUE or whole:
            where = np.full(people, -1, dtype=np.int32)
            who = np.full((parts, values), -1, dtype=np.int32)
            for place in range(len(members)):
                where[members[place]] = part[place]
                who[part[place], table.truth[members[place]]] = members[place]
            for p in range(parts):
                mine = members[part == p]
                labels = np.zeros(values, dtype=np.bool_)
                if may_add:
                    labels = needed_values(table, mine, known, k, where, who, p)
                enter_part(table, mine, known, labels)
                if may_add:
                    serve_new_of_part(table, mine, known, k, who, p, labels)
                added[p] = labels
        else:
            marks = np.zeros(people, dtype=np.bool_)
            classify(table, members, known, marks)
            if not may_add:
                delete_hopeless(table, members, known)
            pair_new(table, members, known)
            extend_old(table, members, known, how, most, not may_add)
            if may_add:
                leave_out(table, members, known, k, nothing, True, added[0])
                serve_new(table, members, known, k, added[0], True)
        if table.size[FULL]:
            return NO_ROOM
        if lowest(table, members) < k:
            undo(table, 0)
            seen[REFUSED] += 1
            for person in query:
                if number[person] >= known:
                    number[person] = -1
            continue
        commit(table)
        unique = unique and (family == SA_UNIQUE or whole)
        seen[ANSWERED] += 1
        seen[ADDED] += added.any()
        for p in range(parts):
            counts[results] = added[p]
            for place in range(len(members)):
                if part[place] == p:
                    inside[results, members[place]] = 1
                    counts[results, table.truth[members[place]]] += 1
            results += 1
        known = now
        possible = attack(inside[:results], counts[:results], known)
        for tuple_ in range(known):
            if possible[tuple_].sum() < k:
                return LOST
            for value in range(values):
                if table.alive[tuple_, value] > 0 and not possible[tuple_, value]:
                    return UNSOUND
    return SOUND


@compiled
def play_many(first: int, count: int, family: int, how: int, seen: np.ndarray) -> int:
    """The seed of the first sequence in which the attacker won, or -1."""
    for seed in range(first, first + count):
        if play(seed, family, how, seen) != SOUND:
            return seed
    return -1
