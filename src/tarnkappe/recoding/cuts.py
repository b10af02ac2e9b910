"""Kernels that cut regions of rows; rows of a region lie side by side.

A region is tried dimension by dimension, the widest first (equally wide ones in the order given), and in
each dimension one cut after the other:

1. numbers: what is missing against the rest, since an interval cannot cover both;
2. numbers: up to the median against the rest; labels: the children of the lowest common label, each for
   itself, those that cannot stand alone in one pool;
3. numbers: below the median against the rest;
4. numbers, if regions may overlap: two halves, rows with the median going to either.

Steps 2 and 3 find a cut that leaves enough rows on both sides whenever the dimension has one: any cut
further down leaves no more below than step 3, any cut further up no more above than step 2.

At last, if regions may overlap, all dimensions are tried once more for halves, those of labels too.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.table.encoding import Codes, Counts

Matrix = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]

CANDIDATES = 4
"""Cuts that are tried in each dimension."""
MISSING_APART, MEDIAN, BELOW_MEDIAN, HALVES = range(CANDIDATES)


@compiled
def propose(
    codes: Matrix,
    weights: Counts,
    starts: Counts,
    stops: Counts,
    attempts: Counts,
    chosen: Counts,
    card: Counts,
    offset: Counts,
    present: Counts,
    labels: Codes,
    widths: Numbers,
    ranges: Numbers,
    least: int,
    allowed: npt.NDArray[np.bool_],
    overlap: bool,
    by_size: bool,
    part: Codes,
    num_parts: Counts,
    pools: npt.NDArray[np.bool_],
    cut_in: Counts,
) -> None:
    """Find for each chosen region its next cut whose parts all have at least so many rows.

    Its rows get the number of their part. `num_parts` is 0 if there is no such cut (any more). With `by_size`
    a pool takes in as many children as it needs; without, the models decide that later.
    """
    num_dimensions = codes.shape[1]
    scratch = np.zeros(card.max() + 1, np.int64)
    low, high = np.empty(num_dimensions, np.int64), np.empty(num_dimensions, np.int64)
    width = np.empty(num_dimensions)
    for region in chosen:
        start, stop = starts[region], stops[region]
        num_parts[region] = 0
        pools[region] = False
        total = 0
        for row in range(start, stop):
            total += weights[row]
        if total < 2 * least:
            continue
        for d in range(num_dimensions):
            low[d], high[d] = codes[start, d], codes[start, d]
        for row in range(start + 1, stop):
            for d in range(num_dimensions):
                low[d] = min(low[d], codes[row, d])
                high[d] = max(high[d], codes[row, d])
        for d in range(num_dimensions):
            width[d] = _width(low[d], high[d], card[d], offset[d], present[d], labels, widths, ranges[d])
        order = _widest_first(width)
        attempt = attempts[region]
        while attempt < num_dimensions * (CANDIDATES + overlap):
            last_resort = attempt >= num_dimensions * CANDIDATES
            rank, kind = attempt // CANDIDATES, attempt % CANDIDATES
            if last_resort:
                rank, kind = attempt - num_dimensions * CANDIDATES, HALVES
            d = order[rank]
            ordered = present[d] >= 0
            found, pooled = 0, False
            if low[d] == high[d]:
                pass
            elif not ordered and not last_resort:
                if kind == MEDIAN:
                    found, pooled = _children(
                        codes[:, d], weights, start, stop, low[d], high[d], card[d], labels[offset[d] :],
                        least, by_size, part,
                    )  # fmt: skip
            elif allowed[kind] or last_resort:
                if kind == MISSING_APART:
                    cut = present[d] - 1
                else:
                    cut = _median(codes[:, d], weights, start, stop, low[d], high[d], total, scratch)
                    if kind == BELOW_MEDIAN:
                        cut -= 1
                if kind == HALVES:
                    found = _halve(codes[:, d], weights, start, stop, cut, total, least, part)
                else:
                    found = _split(codes[:, d], weights, start, stop, cut, total, least, part)
            if found >= 2:
                num_parts[region], pools[region], cut_in[region] = found, pooled, d
                break
            attempt += 1
        attempts[region] = attempt


@compiled
def _widest_first(width: Numbers) -> Counts:
    """The dimensions by width; equally wide ones in their order."""
    # Insertion with a strict comparison: equally wide dimensions stay in the order given, so the same table
    # is cut in the same way everywhere. Dimensions are few; a sort of numpy is not stable by itself.
    order = np.arange(len(width))
    for place in range(1, len(width)):
        moved = order[place]
        while place > 0 and width[order[place - 1]] < width[moved]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moved
    return order


@compiled
def _width(
    low: int,
    high: int,
    card: int,
    offset: int,
    present: int,
    labels: Codes,
    widths: Numbers,
    whole: float,
) -> float:
    # A share of the whole, so that numbers and labels compare. An interval cannot cover a missing value: with
    # one it is as wide as can be. Labels are climbed to the lowest that both ends share, one level after the
    # other.
    if low == high:
        return -1.0  # not to be cut
    if present >= 0:
        return 1.0 if high >= present else float(widths[offset + high] - widths[offset + low]) / whole
    at = offset
    while labels[at + low] != labels[at + high]:
        at += card
    return float(widths[at + low])


@compiled
def _median(
    places: Codes, weights: Counts, start: int, stop: int, low: int, high: int, total: int, scratch: Counts
) -> int:
    """The least place with at least half of the rows up to it."""
    # Counted by place where places are few, else halved: never more than eight places a row. `scratch` is all
    # zeros between two calls, so the loop goes on to the end after the median is found, only to clear it.
    if high - low > 8 * (stop - start):  # too many places to count them all
        while low < high:
            middle, until = (low + high) // 2, 0
            for row in range(start, stop):
                if places[row] <= middle:
                    until += weights[row]
            if 2 * until >= total:
                high = middle
            else:
                low = middle + 1
        return low
    for row in range(start, stop):
        scratch[places[row]] += weights[row]
    until, median = 0, high
    for place in range(low, high + 1):
        until += scratch[place]
        scratch[place] = 0
        if 2 * until >= total and median == high:
            median = place
    return median


@compiled
def _split(
    places: Codes, weights: Counts, start: int, stop: int, cut: int, total: int, least: int, part: Codes
) -> int:
    """Rows up to the cut against the others."""
    # One pass marks and counts at once; a refused cut leaves marks that the next try overwrites. Both sides
    # are tested by weight, since a line may stand for several rows.
    below = 0
    for row in range(start, stop):
        part[row] = places[row] > cut
        if places[row] <= cut:
            below += weights[row]
    return 2 if below >= least and total - below >= least else 0


@compiled
def _halve(
    places: Codes, weights: Counts, start: int, stop: int, median: int, total: int, least: int, part: Codes
) -> int:
    """Half of the rows against the others: below the median, above it, and those with it as they come."""
    # Rows with the median go to the first half until it is full, in their order, so both halves come out the
    # same on every run. What is below the median must be counted before, in a pass of its own.
    below = 0
    for row in range(start, stop):
        if places[row] < median:
            below += weights[row]
    wanted = total // 2 - below
    for row in range(start, stop):
        if places[row] == median and wanted > 0:
            part[row] = 0
            wanted -= weights[row]
        else:
            part[row] = places[row] >= median
    return 2 if total // 2 >= least else 0


@compiled
def _children(
    places: Codes,
    weights: Counts,
    start: int,
    stop: int,
    low: int,
    high: int,
    card: int,
    labels: Codes,
    least: int,
    by_size: bool,
    part: Codes,
) -> tuple[int, bool]:
    """A part for each child of the lowest common label; those with too few rows are one part, the first."""
    # From the level below the lowest common label, found by climbing one too far and going back. Children of
    # one label have neighbouring numbers, so they are an array from `first` on, however many labels there
    # are.
    at = 0
    while labels[at + low] != labels[at + high]:
        at += card
    at -= card
    first = labels[at + low]
    number = labels[at + high] - first + 1
    occurs, sizes = np.zeros(number, np.bool_), np.zeros(number, np.int64)
    for row in range(start, stop):
        child = labels[at + places[row]] - first
        sizes[child] += weights[row]
        occurs[child] = True
    return _renumber(
        places, start, stop, labels[at:], first, occurs, sizes, sizes >= least, least, by_size, part
    )


@compiled
def _smallest(sizes: Counts, free: npt.NDArray[np.bool_]) -> int:
    """The first of the smallest of those that are free; -1 if none is."""
    # The first of equally small ones, by a strict comparison, as everywhere here. One pass each time: pools
    # take in few children.
    found = -1
    for place in range(len(sizes)):
        if free[place] and (found < 0 or sizes[place] < sizes[found]):
            found = place
    return found


@compiled
def _renumber(
    places: Codes,
    start: int,
    stop: int,
    labels: Codes,
    first: int,
    occurs: npt.NDArray[np.bool_],
    sizes: Counts,
    good: npt.NDArray[np.bool_],
    least: int,
    by_size: bool,
    part: Codes,
) -> tuple[int, bool]:
    # The pool is part 0 and takes in the smallest children, one, two, then four at a time, until it is large
    # enough: doubling keeps the passes few. Rows are marked only if there is a cut.
    pooled, pool = False, 0
    for child in range(len(sizes)):
        if occurs[child] and not good[child]:
            pooled = True
            pool += sizes[child]
    step = 1
    while by_size and pooled and pool < least and step > 0:
        moved = 0
        while moved < step:
            child = _smallest(sizes, occurs & good)
            if child < 0:
                break
            good[child] = False
            pool += sizes[child]
            moved += 1
        step = 2 * step if moved == step else 0
    number = 1 if pooled else 0
    numbers = np.zeros(len(sizes), np.int32)
    for child in range(len(sizes)):
        if occurs[child] and good[child]:
            numbers[child] = number
            number += 1
    if by_size and pooled and pool < least:
        return 0, False
    for row in range(start, stop):
        part[row] = numbers[labels[places[row]] - first]
    return number, pooled


@compiled
def enlarge_pools(
    starts: Counts,
    stops: Counts,
    chosen: Counts,
    first_class: Counts,
    sizes: Counts,
    good: npt.NDArray[np.bool_],
    steps: Counts,
    part: Codes,
    num_parts: Counts,
    pools: npt.NDArray[np.bool_],
) -> None:
    """Put into the pool of each chosen region the parts that cannot stand alone.

    If all others can, the smallest of them join it: one, the next time two, then four. The classes of a
    region are its parts, from `first_class`. A region that is left with one part has no cut: 0 parts.
    """
    for index in range(len(chosen)):
        region, at = chosen[index], first_class[index]
        number = num_parts[region]
        first = 1 if pools[region] else 0
        joins = ~good[at : at + number]
        if pools[region]:
            joins[0] = True
        alone = True
        for place in range(first, number):
            alone &= not joins[place]
        if alone:
            for _ in range(min(steps[region], number - first)):
                joins[_smallest(sizes[at : at + number], ~joins)] = True
            steps[region] *= 2
        numbers = np.zeros(number, np.int32)
        left = 1
        for place in range(number):
            if not joins[place]:
                numbers[place] = left
                left += 1
        pools[region] = True
        num_parts[region] = left if left >= 2 else 0
        for row in range(starts[region], stops[region]):
            part[row] = numbers[part[row]]
