"""Kernels that find the best cuts of regions, in any dimension.

A region may be cut between two neighbouring places of a dimension, or into one child of its lowest common
label and everything else. Of all cuts with enough rows on both sides the best has the least

    |A|^(1 - balance) c(A) + |B|^(1 - balance) c(B),

where c is the cost of the box around a side in *all* dimensions, since a cut in one of them shrinks the
others too. A `balance` above 0 lets large sides count for less: they can still be cut.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.recoding.box_costs import BoxCosts, Numbers, box_cost, cell_cost
from tarnkappe.recoding.class_rules import Rules, Values, class_holds
from tarnkappe.table.encoding import Codes, Counts

Matrix = npt.NDArray[np.int32]
Cuts = npt.NDArray[np.int32]
"""A cut is a dimension, a first and a last place: rows between them, both included, are one side."""

FEW = 24
"""So many rows, or fewer, are sorted by insertion: it is faster."""
CROWDED = 8
"""With so many rows a place or more, each place is looked at as two corners instead of its rows."""


@compiled
def propose(
    codes: Matrix,
    weights: Counts,
    order: Counts,
    starts: Counts,
    stops: Counts,
    categorical: npt.NDArray[np.bool_],
    costs: BoxCosts,
    power: Numbers,
    least: int,
    rules: Rules,
    values: Values,
    num_counts: int,
    room: int,
    found: Cuts,
    estimates: Numbers,
) -> None:
    """The best cuts of each region, best first; a dimension of -1 where there are no more.

    Cuts with fewer than `least` rows on a side, or with a side that a rule forbids, are none.

    Layout: rows of a region lie side by side in `codes`, one row after the other, since a pass touches all
    dimensions of a row. For each dimension the rows are put into the order of its places; one pass backwards
    leaves the cost of everything from a place on, one pass forwards has the cost of everything before it.
    So a region of m rows and d dimensions takes m d^2 steps at most, whatever the number of cuts. Mostly it
    is far less: a dimension in which a side is as wide as the region already is not looked at any more, and
    only dimensions that grow are priced.

    Of equal estimates the one that was met first wins: dimensions in their order, cuts between places before
    children, low places before high ones. A rule takes longer to ask than a cost, so it is asked only of cuts
    that would be among the best; the counts of both sides are kept row by row.
    """
    ahead, whole = np.zeros(num_counts, np.int64), np.zeros(num_counts, np.int64)
    inside = np.empty(room, np.int64)
    others_of = np.zeros(num_counts, np.int64)
    longest = 0
    for region in range(len(starts)):
        longest = max(longest, stops[region] - starts[region])
    num_dimensions = codes.shape[1]
    by_place, keys = np.empty(longest, np.int64), np.empty(longest, np.int32)
    behind_cost, behind_rows = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    counter = np.zeros(4 * longest + 66, np.int64)
    corners = np.empty((2 * (longest // CROWDED + 1), num_dimensions), np.int32)
    corner_rows = np.empty(len(corners), np.int64)
    low, high = np.empty(num_dimensions, np.int32), np.empty(num_dimensions, np.int32)
    lows, highs = np.empty(num_dimensions, np.int32), np.empty(num_dimensions, np.int32)
    narrow, cells = np.empty(num_dimensions + 1, np.int64), np.empty(num_dimensions, np.int64)
    both_low, both_high = np.empty(num_dimensions, np.int32), np.empty(num_dimensions, np.int32)
    most_children = min(longest, costs.card.max()) + 1
    child_start, child_rows = np.empty(most_children + 1, np.int64), np.empty(most_children, np.int64)
    child_cost = np.empty(most_children, np.int64)
    # The boxes before and behind each child: everything but the child is in their union.
    boxes = np.empty((4, most_children, num_dimensions), np.int32)
    for region in range(len(starts)):
        start, stop = starts[region], stops[region]
        number = stop - start
        found[region, :, 0] = -1
        total = 0
        for row in range(start, stop):
            total += weights[row]
        if total < 2 * least:
            continue
        _box(codes, start, stop, low, high)
        whole[:] = 0
        for row in range(start, stop):
            _count(whole, values, order[row], weights[row])
        for d in range(num_dimensions):
            if low[d] == high[d]:
                continue
            table, rows_of = codes, weights
            if values.shape[1] == 0 and stop - start >= CROWDED * (high[d] - low[d] + 1):
                number = _corners(codes, weights, d, start, stop, low[d], high[d], corners, corner_rows)
                table, rows_of = corners, corner_rows
                for place in range(number):
                    by_place[place] = place
            else:
                number = stop - start
                _sort(codes, d, start, stop, low[d], high[d], by_place, keys, counter)
            children = 0
            if categorical[d]:
                at, card = costs.label_at[d], costs.card[d]
                while costs.labels[at + card + low[d]] != costs.labels[at + card + high[d]]:
                    at += card
                before = -1
                for place in range(number):
                    label = costs.labels[at + table[by_place[place], d]]
                    if label != before:
                        child_start[children] = place
                        children += 1
                        before = label
                child_start[children] = number
            # Backwards.
            _empty(lows, highs)
            _all_narrow(narrow, cells)
            rows, cost, child = 0, 0, children - 1
            for place in range(number - 1, -1, -1):
                row = by_place[place]
                cost += _extend_within(costs, lows, highs, table[row], low, high, narrow, cells)
                rows += rows_of[row]
                if place == 0 or table[by_place[place - 1], d] != table[row, d]:
                    behind_rows[place] = rows
                    behind_cost[place] = cost
                    if child >= 0 and place == child_start[child]:
                        boxes[2, child], boxes[3, child] = lows, highs
                        child -= 1
            # Forwards.
            _empty(lows, highs)
            _empty(both_low, both_high)
            _all_narrow(narrow, cells)
            rows, cost, child, since = 0, 0, 0, 0
            ahead[:] = 0
            for place in range(number):
                row = by_place[place]
                begins = place > 0 and table[by_place[place - 1], d] != table[row, d]
                if begins and rows >= least and behind_rows[place] >= least:
                    estimate = power[rows] * cost + power[behind_rows[place]] * behind_cost[place]
                    if estimate < _worst(found[region], estimates[region]):
                        others_of[:] = whole - ahead
                        if class_holds(rules, ahead, inside) and class_holds(rules, others_of, inside):
                            last = table[by_place[place - 1], d]
                            _offer(found[region], estimates[region], estimate, d, low[d], last)
                if child < children and place == child_start[child]:
                    if child > 0:
                        child_cost[child - 1] = box_cost(costs, both_low, both_high)
                        child_rows[child - 1] = rows - since
                    boxes[0, child], boxes[1, child] = lows, highs
                    since = rows
                    child += 1
                    _empty(both_low, both_high)
                cost += _extend_within(costs, lows, highs, table[row], low, high, narrow, cells)
                if children:
                    _extend(both_low, both_high, table[row])
                rows += rows_of[row]
                _count(ahead, values, order[row], rows_of[row])
            # The first child and the last one are cuts between places.
            for child in range(1, children - 1):
                others = total - child_rows[child]
                if child_rows[child] < least or others < least:
                    continue
                for e in range(num_dimensions):
                    both_low[e] = min(boxes[0, child, e], boxes[2, child + 1, e])
                    both_high[e] = max(boxes[1, child, e], boxes[3, child + 1, e])
                cost = box_cost(costs, both_low, both_high)
                estimate = power[child_rows[child]] * child_cost[child] + power[others] * cost
                if estimate >= _worst(found[region], estimates[region]):
                    continue
                ahead[:] = 0
                for place in range(child_start[child], child_start[child + 1]):
                    _count(ahead, values, order[by_place[place]], rows_of[by_place[place]])
                others_of[:] = whole - ahead
                if not (class_holds(rules, ahead, inside) and class_holds(rules, others_of, inside)):
                    continue
                first = table[by_place[child_start[child]], d]
                last = table[by_place[child_start[child + 1] - 1], d]
                _offer(found[region], estimates[region], estimate, d, first, last)


@compiled
def _worst(found: Cuts, estimates: Numbers) -> float:
    """What a cut must stay below to be among the best."""
    # Until all places are taken, every cut is among the best; infinity says so without a case in the callers.
    # The estimates are sorted, so the last one decides.
    return np.inf if found[-1, 0] < 0 else estimates[-1]


@compiled
def _count(counts: Counts, values: Values, row: int, weight: int) -> None:
    # A suppressed cell (-1) has no count. Written out instead of an array operation, since a row has one or
    # two such columns and this is called for every row.
    for column in range(values.shape[1]):
        if values[row, column] >= 0:
            counts[values[row, column]] += weight


@compiled
def _box(codes: Matrix, start: int, stop: int, low: Codes, high: Codes) -> None:
    # From an empty box: the first row extends it to itself. Row by row, as rows lie in memory. Dimensions
    # times rows; the boxes of sides are extended in passing and do not call this.
    _empty(low, high)
    for row in range(start, stop):
        _extend(low, high, codes[row])


@compiled
def _empty(low: Codes, high: Codes) -> None:
    # Low above high marks that there is nothing: whatever joins first sets both ends. Such a box must not be
    # priced, since its places are none.
    low[:] = np.iinfo(np.int32).max
    high[:] = -1


@compiled
def _extend(low: Codes, high: Codes, row: Codes) -> None:
    """Let a row join a box."""
    # Two tests, not one with `else`: the first row sets both ends. For boxes that are priced once, as that of
    # a child or of a region; the boxes of the two passes are kept by `_extend_within`.
    for d in range(len(low)):
        if row[d] < low[d]:
            low[d] = row[d]
        if row[d] > high[d]:
            high[d] = row[d]


@compiled
def _all_narrow(narrow: Counts, cells: Counts) -> None:
    # The dimensions that are looked at, and behind them how many these are: all, for an empty box, which
    # costs nothing.
    number = len(cells)
    for place in range(number):
        narrow[place], cells[place] = place, 0
    narrow[number] = number


@compiled
def _extend_within(
    costs: BoxCosts,
    lows: Codes,
    highs: Codes,
    row: Codes,
    low: Codes,
    high: Codes,
    narrow: Counts,
    cells: Counts,
) -> int:
    """Let a row join a box within another one, and tell how much more that costs.

    `cells` has what each dimension costs. Only dimensions are looked at in which the box is narrower than the
    other one, and only those that grow are priced: most rows of a pass change nothing, and most that do
    change the dimension of the pass alone.
    """
    # A full dimension gives its place to the last, so the order of `narrow` changes, which decides nothing;
    # backwards, so that the one that takes the place has been looked at. Costs are whole numbers: adding
    # differences gives the very cost of the box.
    more, number = 0, narrow[-1]
    for place in range(number - 1, -1, -1):
        d = narrow[place]
        if lows[d] <= row[d] <= highs[d]:
            continue
        lows[d], highs[d] = min(lows[d], row[d]), max(highs[d], row[d])
        cell = cell_cost(costs, d, lows[d], highs[d])
        more += cell - cells[d]
        cells[d] = cell
        if lows[d] == low[d] and highs[d] == high[d]:
            number -= 1
            narrow[place] = narrow[number]
    narrow[-1] = number
    return more


@compiled
def _corners(
    codes: Matrix, weights: Counts, d: int, start: int, stop: int, low: int, high: int, corners: Matrix,
    corner_rows: Counts,
) -> int:  # fmt: skip
    """The box of the rows at each place of a dimension as its two corners, in the order of places.

    Boxes and numbers of rows are all that costs depend on, so a region of many rows is read once in the order
    of memory, which sorted rows are not. The first corner of a place counts for all of its rows.
    """
    span = high - low + 1
    for place in range(span):
        _empty(corners[2 * place], corners[2 * place + 1])
        corner_rows[2 * place], corner_rows[2 * place + 1] = 0, 0
    for row in range(start, stop):
        place = 2 * (codes[row, d] - low)
        _extend(corners[place], corners[place + 1], codes[row])
        corner_rows[place] += weights[row]
    number = 0
    for place in range(0, 2 * span, 2):
        if corners[place + 1, d] >= 0:
            for each in range(2):
                corners[number + each] = corners[place + each]
                corner_rows[number + each] = corner_rows[place + each]
            number += 2
    return number


@compiled
def _sort(
    codes: Matrix, d: int, start: int, stop: int, low: int, high: int, by_place: Counts, keys: Codes,
    counter: Counts,
) -> None:  # fmt: skip
    """The rows of a region by their place in a dimension.

    Few rows are sorted by insertion. Many are counted place by place, unless the places are so many more than
    the rows that walking over them takes longer than sorting.
    """
    number, span = stop - start, high - low + 1
    if number <= FEW:
        for row in range(start, stop):
            place, own = row - start, codes[row, d]
            while place > 0 and codes[by_place[place - 1], d] > own:
                by_place[place] = by_place[place - 1]
                place -= 1
            by_place[place] = row
    elif span <= 4 * number + 64:
        counter[: span + 1] = 0
        for row in range(start, stop):
            counter[codes[row, d] - low + 1] += 1
        for place in range(span):
            counter[place + 1] += counter[place]
        for row in range(start, stop):
            own = codes[row, d] - low
            by_place[counter[own]] = row
            counter[own] += 1
    else:
        for row in range(start, stop):
            keys[row - start] = codes[row, d]
        by_place[:number] = np.argsort(keys[:number], kind="mergesort") + start


@compiled
def _offer(found: Cuts, estimates: Numbers, estimate: float, d: int, first: int, last: int) -> None:
    """Keep a cut if it is among the best; one that was met before wins a tie."""
    # Insertion from the end, with a strict comparison: of equals the earlier one stays in front, so the
    # result does not depend on how many are kept. Free places count as worse than anything.
    place = len(found)
    while place > 0 and (found[place - 1, 0] < 0 or estimate < estimates[place - 1]):
        place -= 1
    if place == len(found):
        return
    for other in range(len(found) - 1, place, -1):
        found[other], estimates[other] = found[other - 1], estimates[other - 1]
    found[place, 0], found[place, 1], found[place, 2] = d, first, last
    estimates[place] = estimate


@compiled
def mark(codes: Matrix, starts: Counts, stops: Counts, chosen: Counts, cuts: Cuts, part: Codes) -> None:
    """Tell for each row of some regions on which side of its cut it lies: 1 between its places, else 0."""
    # Everything between `first` and `last` is one side: a cut between two places and a child of a label are
    # told the same way. Only rows of the chosen regions are written to; others keep what they had.
    for index in range(len(chosen)):
        d, first, last = cuts[index, 0], cuts[index, 1], cuts[index, 2]
        for row in range(starts[chosen[index]], stops[chosen[index]]):
            part[row] = 1 if first <= codes[row, d] <= last else 0


@compiled
def smaller_sides(
    codes: Matrix, weights: Counts, starts: Counts, stops: Counts, chosen: Counts, cuts: Cuts,
    smaller: Counts, whole: Counts,
) -> None:  # fmt: skip
    """The rows of some regions, and those on the smaller side of the cut of each."""
    # A pass over one dimension: nothing beside finding the cut, which looks at all of them.
    for index in range(len(chosen)):
        d, first, last = cuts[index, 0], cuts[index, 1], cuts[index, 2]
        inside, total = 0, 0
        for row in range(starts[chosen[index]], stops[chosen[index]]):
            total += weights[row]
            if first <= codes[row, d] <= last:
                inside += weights[row]
        smaller[index], whole[index] = min(inside, total - inside), total


def powers(rows: int, balance: float) -> Numbers:
    """|A|^(1 - balance) for every number of rows, rounded so far that every platform has the same."""
    return np.round(4096.0 * np.arange(rows + 1, dtype=np.float64) ** (1.0 - balance))
