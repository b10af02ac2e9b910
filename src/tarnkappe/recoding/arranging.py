"""Kernels on the rows of regions: rows of a region lie side by side.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.native import compiled
from tarnkappe.recoding.cuts import Matrix
from tarnkappe.table.encoding import Codes, Counts


@compiled
def rearrange(
    codes: Matrix,
    weights: Counts,
    order: Counts,
    starts: Counts,
    stops: Counts,
    chosen: Counts,
    part: Codes,
    num_parts: Counts,
    first_new: Counts,
    new_starts: Counts,
    new_stops: Counts,
) -> None:
    """Bring the parts of each chosen region side by side, their rows in the order they had."""
    # Regions own disjoint ranges of rows, so each is sorted within its range, by a counting sort that keeps
    # the order of rows: later cuts then break ties as before. The old rows are copied first, into room for
    # the longest region, made once; `ends` moves on while rows are placed and must not be read after that.
    longest = 0
    for region in chosen:
        longest = max(longest, stops[region] - starts[region])
    old_codes = np.empty((longest, codes.shape[1]), np.int32)
    old_weights, old_order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for index in range(len(chosen)):
        region, new = chosen[index], first_new[index]
        start, stop = starts[region], stops[region]
        for row in range(start, stop):
            for d in range(codes.shape[1]):
                old_codes[row - start, d] = codes[row, d]
            old_weights[row - start], old_order[row - start] = weights[row], order[row]
        ends = np.zeros(num_parts[region] + 1, np.int64)
        for row in range(start, stop):
            ends[part[row] + 1] += 1
        ends[0] = start
        for number in range(num_parts[region]):
            ends[number + 1] += ends[number]
            new_starts[new + number], new_stops[new + number] = ends[number], ends[number + 1]
        for row in range(start, stop):
            place = ends[part[row]]
            ends[part[row]] += 1
            for d in range(codes.shape[1]):
                codes[place, d] = old_codes[row - start, d]
            weights[place], order[place] = old_weights[row - start], old_order[row - start]


@compiled
def gather(
    starts: Counts,
    stops: Counts,
    chosen: Counts,
    first_class: Counts,
    part: Codes,
    order: Counts,
    rows: Counts,
    classes: Codes,
) -> None:
    """The rows of some regions and the class that each would be in."""
    # Rows are written region by region, in the order that `first_class` was counted in; `rows` and `classes`
    # come with room for all of them. Nothing is copied but numbers: who checks models reads the rows
    # themselves.
    place = 0
    for index in range(len(chosen)):
        region = chosen[index]
        for row in range(starts[region], stops[region]):
            rows[place] = order[row]
            classes[place] = first_class[index] + part[row]
            place += 1


@compiled
def extents(codes: Matrix, starts: Counts, stops: Counts, low: Matrix, high: Matrix) -> None:
    """The first and the last place of each region in each dimension."""
    # Row by row with the dimensions inside, as codes lie in memory. A region has at least one row, with which
    # its box begins; an empty one would read its neighbour's.
    for region in range(len(starts)):
        for d in range(codes.shape[1]):
            low[region, d], high[region, d] = codes[starts[region], d], codes[starts[region], d]
        for row in range(starts[region] + 1, stops[region]):
            for d in range(codes.shape[1]):
                low[region, d] = min(low[region, d], codes[row, d])
                high[region, d] = max(high[region, d], codes[row, d])
