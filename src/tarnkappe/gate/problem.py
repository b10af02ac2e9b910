"""The exact question: is there a distribution that gives one of some kinds one of some values?

Two forms are equivalent. One has a 0/1 variable for each tuple and value (`ilp`). This one counts: how many
tuples of a kind have a value. Tuples of one kind are interchangeable, so the counts can be dealt to them in
any way. Only the connected component of the question is looked at, since results that share no tuple,
directly or through others, do not constrain each other. Floors that bind join all components that have
founders, and the founders who were never returned are one kind more, which may have anything.

Explained in docs/explanation/gate.md.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tarnkappe.gate.knowledge import Booleans, Integers, Knowledge, KnowledgeArrays
from tarnkappe.native import compiled


@dataclasses.dataclass(frozen=True)
class Row:
    """The counts of some pairs add up to a number, or to at most that number.

    A row with a label belongs to the result that is still open: whoever asks says how often the label is
    published there, and that is its limit.
    """

    pairs: list[int]
    limit: int
    exact: bool
    label: int | None = None
    is_floor: bool = False
    """Whether they add up to at least the limit."""


@dataclasses.dataclass(frozen=True)
class AssignmentProblem:
    """Counting variables (one for each kind and value that it may have) and their constraints.

    Attributes:
        kinds: the kind of each pair.
        values: the value of each pair.
        most: the largest possible count of each pair.
        rows: the constraints; the first ones say how many tuples each kind has.
        component: which tuples the problem is about.
    """

    kinds: list[int]
    values: list[int]
    most: list[int]
    rows: list[Row]
    component: Booleans

    def pairs_of(self, wanted: Booleans) -> list[int]:
        """The pairs that are marked in a matrix of kinds and values."""
        return [
            p
            for p, (kind, value) in enumerate(zip(self.kinds, self.values, strict=True))
            if kind < len(wanted) and wanted[kind, value]
        ]

    def deal(self, counts: list[int], knowledge: Knowledge, elsewhere: Integers) -> Integers:
        """A distribution with these counts, and with the given values outside the component."""
        view = knowledge.view
        distribution = elsewhere.copy()
        inside = np.flatnonzero(self.component)
        order = inside[np.argsort(view.kind[inside], kind="stable")]
        pairs = np.lexsort((self.values, self.kinds))
        dealt = np.repeat(np.asarray(self.values)[pairs], np.asarray(counts)[pairs])
        distribution[order] = dealt[: len(order)]  # the founders who were never returned come last
        return distribution


def problem(
    knowledge: Knowledge,
    tuple_: int,
    is_open: bool = False,
    floors: Integers | None = None,
    unreturned: int = 0,
) -> AssignmentProblem:
    """The exact problem of the component of a tuple.

    If the newest result is open, how often a value is published there is not taken from the knowledge (which
    must have every value there that may be published), but from every question. Other floors than those of
    the knowledge may be given, with another number of founders who may have anything.
    """
    view = knowledge.view
    tuples, results = component(view, tuple_)
    if floors is None:
        floors, unreturned = knowledge.binding_floors, knowledge.unreturned
    floored = bool(floors.any()) and bool((tuples & view.founder).any())
    if floored:
        for founder in np.flatnonzero(view.founder).tolist():
            if not tuples[founder]:
                more, others = component(view, founder)
                tuples |= more
                results |= others
    inside = np.flatnonzero(tuples)
    kinds, representatives, sizes = np.unique(view.kind[inside], return_index=True, return_counts=True)
    allowed = view.allowed[inside[representatives]]
    owner, values = np.nonzero(allowed)
    index = np.full(allowed.shape, -1, dtype=np.int32)
    index[owner, values] = np.arange(len(owner))
    local = np.full(knowledge.kinds, -1, dtype=np.int32)
    local[kinds] = np.arange(len(kinds))
    most = sizes[owner].astype(np.int32)
    newest = knowledge.results - 1 if is_open else -1
    cells, ends, pairs, exact = _constraints(view, results, local, index, sizes[owner], newest, most)
    rows = [Row(index[kind, allowed[kind]].tolist(), int(size), True) for kind, size in enumerate(sizes)]
    begin = 0
    spelled = zip(cells.tolist(), ends.tolist(), exact.tolist(), strict=True)
    for cell, end, is_exact in spelled:
        mine = pairs[begin:end].tolist()
        begin = end
        if view.holder[cell] == newest:
            rows.append(Row(mine, 0, False, int(view.label[cell])))
        else:
            rows.append(Row(mine, int(view.capacity[cell]), is_exact))
    owners, labels, mosts = kinds[owner].tolist(), values.tolist(), most.tolist()
    if floored:
        first = len(owners)
        if unreturned:
            owners += [knowledge.kinds] * knowledge.values
            labels += range(knowledge.values)
            mosts += [unreturned] * knowledge.values
            rows.append(Row(list(range(first, len(owners))), unreturned, True))
        founders = view.founder[inside[representatives]]
        for value in np.flatnonzero(floors).tolist():
            mine = [pair for pair in index[founders, value].tolist() if pair >= 0]
            mine += [first + value] if unreturned else []
            rows.append(Row(mine, int(floors[value]), False, is_floor=True))
    return AssignmentProblem(owners, labels, mosts, rows, tuples)


@compiled
def _constraints(
    view: KnowledgeArrays,
    results: Booleans,
    local: Integers,
    index: Integers,
    size: NDArray[np.int64],
    newest: int,
    most: Integers,
) -> tuple[Integers, NDArray[np.int64], Integers, Booleans]:
    """Of each cell of some results that restricts something: where its pairs end, they, and whether they
    must fill the cell. The most of a pair goes down to what its cells can hold.
    """
    # Arrays are sized by memberships before they are filled. Kinds are sorted, so the same history gives the
    # same problem to every solver. Most of a pair is lowered in the first pass and used in the second:
    # together they would keep cells that restrict nothing.
    room = 0
    for result in range(len(results)):
        if results[result]:
            room += view.first[result + 1] - view.first[result]
    pairs = np.empty(room * index.shape[1], dtype=np.int32)
    cells = np.empty(len(view.capacity), dtype=np.int32)
    ends = np.empty(len(view.capacity), dtype=np.int64)
    fills = np.empty(len(view.capacity), dtype=np.bool_)
    seen = np.full(len(index), -1, dtype=np.int32)
    members = np.empty(len(index), dtype=np.int32)
    count = end = 0
    for result in range(len(results)):
        if not results[result]:
            continue
        kinds = 0
        for membership in range(view.first[result], view.first[result + 1]):
            kind = local[view.kind[view.member[membership]]]
            if seen[kind] != result:
                seen[kind] = result
                members[kinds] = kind
                kinds += 1
        published = 0
        for cell in view.cell[result]:
            published += view.capacity[cell] if cell >= 0 else 0
        exact = published == view.first[result + 1] - view.first[result]
        for value in range(index.shape[1]):
            cell = view.cell[result, value]
            if cell < 0:
                continue
            begin = end
            total = 0
            for kind in np.sort(members[:kinds]):
                pair = index[kind, value]
                if pair >= 0:
                    pairs[end] = pair
                    end += 1
                    total += size[pair]
            if result != newest:
                for place in range(begin, end):
                    most[pairs[place]] = min(most[pairs[place]], view.capacity[cell])
                if not exact and total <= view.capacity[cell]:
                    end = begin
                    continue
            cells[count], ends[count], fills[count] = cell, end, exact
            count += 1
    kept = begin = end = 0
    for row in range(count):  # now that every most is known, more cells turn out to restrict nothing
        last, total = ends[row], 0
        for place in range(begin, last):
            total += most[pairs[place]]
        if fills[row] or view.holder[cells[row]] == newest or total > view.capacity[cells[row]]:
            for place in range(begin, last):
                pairs[end] = pairs[place]
                end += 1
            cells[kept], ends[kept], fills[kept] = cells[row], end, fills[row]
            kept += 1
        begin = last
    return cells[:kept].copy(), ends[:kept].copy(), pairs[:end].copy(), fills[:kept].copy()


@compiled
def component(view: KnowledgeArrays, tuple_: int) -> tuple[Booleans, NDArray[np.bool_]]:
    """Which tuples and results are connected with a tuple."""
    # Depth first with its own stack; each tuple is put on it once, so it needs one place a tuple. A result is
    # opened once: time is the memberships of the component.
    tuples = np.zeros(len(view.newest), dtype=np.bool_)
    results = np.zeros(len(view.cell), dtype=np.bool_)
    waiting = np.empty(len(view.newest), dtype=np.int32)
    waiting[0], count = tuple_, 1
    tuples[tuple_] = True
    while count > 0:
        count -= 1
        membership = view.newest[waiting[count]]
        while membership >= 0:
            result = view.result[membership]
            if not results[result]:
                results[result] = True
                for other in range(view.first[result], view.first[result + 1]):
                    if not tuples[view.member[other]]:
                        tuples[view.member[other]] = True
                        waiting[count] = view.member[other]
                        count += 1
            membership = view.earlier[membership]
    return tuples, results
