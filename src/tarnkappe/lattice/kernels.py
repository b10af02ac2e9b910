"""Losses in compiled form: what a node loses, and what follows from it for nodes above and below.

Each function does for one node what the loss of the same name in `loss/` does, and the tests compare them.
A loss without a kernel, for instance one that a user has written, is left to the search in Python.

Explained in docs/explanation/searches.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tarnkappe.lattice.packing import Fields, Words
from tarnkappe.lattice.problem import SearchProblem
from tarnkappe.loss import (
    AverageClassSize,
    AverageReleasedClassSize,
    Discernibility,
    DiscernibilityStar,
    EntropySuppressionAware,
    Loss,
    NormalizedClassSize,
    Precision,
)
from tarnkappe.loss.aggregate import AggregateFunction
from tarnkappe.loss.class_size import most_groups
from tarnkappe.loss.coding import CodedLoss
from tarnkappe.loss.discernibility import least_charged
from tarnkappe.loss.discernibility_star import sum_of_squares
from tarnkappe.loss.grid import Grid
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.parts import MOST_PARTS, most_parts
from tarnkappe.loss.share import ShareLoss
from tarnkappe.native import compiled
from tarnkappe.table.grouping import Counts

LEVELS, CODED, BITS, GROUPS, CHARGED, SQUARES = range(6)
"""By levels alone; by prices or bits of suppressed cells; by groups; by sizes, also of what is suppressed."""

ADD, GEOMETRIC, MAXIMUM = range(3)
"""How the losses of the columns become one number; weights are shares where it is a mean."""


class KernelPlan(NamedTuple):
    """What a compiled search is to do.

    Attributes:
        k: how many rows a kept class has at least.
        limit: how many rows may be suppressed.
        rows: how many there are.
        loss_monotone: whether nothing above a satisfying node is better.
        charges: whether suppressed rows are charged for, ever more downward.
        visits_above: whether something above a satisfying node may be better.
        climbs: whether nodes are chosen by `climb`, else by `choose`.
    """

    k: int
    limit: int
    rows: int
    loss_monotone: bool
    charges: bool
    visits_above: bool
    climbs: bool


class Kernel(NamedTuple):
    """A loss as numbers and tables.

    Attributes:
        kind: how rows are charged.
        combine: how columns become one number.
        needed: of `GROUPS`, the size that a class must have, and 1 if suppressed rows are a group, else 0.
        prices: of `CODED`, of a suppressed and of a generalized cell.
        weights: of the columns.
        levels: what each column loses at each level with all rows kept.
        shares, starts: of `CODED`, the share of its domain that each label hides, by column and level.
        parts: the most labels of each column at one level under one label at a higher level.
        shifts, masks, counts: where labels have their bits, and how many there are.
    """

    kind: int
    combine: int
    needed: Grid
    prices: Grid
    weights: Grid
    levels: Grid
    shares: Grid
    starts: Counts
    parts: Counts
    shifts: Words
    masks: Words
    counts: Counts


def kernel_of(problem: SearchProblem, fields: Fields) -> Kernel | None:
    """The loss of a problem in compiled form, if it has one. Only what is built in is taken as known."""
    loss, columns, tuples = problem.loss, problem.columns, problem.tuples
    kind = _kind_of(loss)
    if kind is None:
        return None
    levels, parts = np.zeros(fields.counts.shape), np.ones(fields.lifts.shape, np.int64)
    shares, starts = [np.zeros(0)], np.zeros(fields.counts.shape, np.int64)
    combine, weights, filled = ADD, np.ones(len(columns)), 0
    for place, (column, heights) in enumerate(zip(columns, problem.lattice.heights, strict=True)):
        for level in range(heights + 1):
            if isinstance(loss, ColumnLoss):
                levels[place, level] = loss.of_column(tuples, column, level)
            if isinstance(loss, CodedLoss) and kind == CODED:
                starts[place, level] = filled
                shares.append(_shares(loss, problem, place, level, int(fields.counts[place, level])))
                filled += len(shares[-1])
            for low in range(level) if kind in (GROUPS, CHARGED, SQUARES) else ():
                parts[place, low, level] = most_parts(tuples, column.name, low, level)
    if isinstance(loss, ColumnLoss):
        aggregate = AggregateFunction(loss.aggregate or loss.default_aggregate)
        weights = np.array([loss.weights.get(column.name, 1.0) for column in columns])
        if aggregate in (AggregateFunction.MEAN, AggregateFunction.GEOMETRIC_MEAN):
            weights = weights / (weights.sum() or 1.0)
        combine = {AggregateFunction.GEOMETRIC_MEAN: GEOMETRIC, AggregateFunction.MAXIMUM: MAXIMUM}.get(
            aggregate, ADD
        )
    needed, prices = np.zeros(2), np.zeros(2)
    if isinstance(loss, AverageClassSize | AverageReleasedClassSize | NormalizedClassSize):
        needed[:] = loss.needed_size, type(loss) is AverageClassSize
    if isinstance(loss, CodedLoss):
        prices[:] = loss.price_of_suppression, loss.price_of_generalization
    return Kernel(
        kind,
        combine,
        needed,
        prices,
        weights,
        levels,
        np.concatenate(shares),
        starts,
        parts,
        fields.shifts,
        fields.masks,
        fields.counts,
    )


def _kind_of(loss: Loss) -> int | None:
    own = type(loss)
    if getattr(loss, "factor", None) is not None or (
        isinstance(loss, ColumnLoss) and (loss.multiplies or loss.has_ranks)
    ):
        return None
    exactly = {
        AverageClassSize: GROUPS,
        AverageReleasedClassSize: GROUPS,
        NormalizedClassSize: GROUPS,
        Discernibility: CHARGED,
        DiscernibilityStar: SQUARES,
        EntropySuppressionAware: BITS,
    }
    if own in exactly:
        return exactly[own]
    if not own.__module__.startswith("tarnkappe.loss.") or not issubclass(own, ColumnLoss):
        return None
    if isinstance(loss, CodedLoss):
        known = own is Precision or isinstance(loss, ShareLoss)
        return CODED if known and not loss.may_prefer_suppression else None
    plain = own.by_column is ColumnLoss.by_column and own.bound_of_column is ColumnLoss.bound_of_column
    return LEVELS if plain else None


def _shares(loss: CodedLoss, problem: SearchProblem, place: int, level: int, labels: int) -> Grid:
    """The share of its domain that each label of a column hides at a level."""
    column, tuples = problem.columns[place], problem.tuples
    if not isinstance(loss, ShareLoss):
        return np.full(labels, loss.mean_share(tuples, column, level))
    of_value, _, whole = loss.extent(tuples, column, level)
    shares = np.zeros(labels)
    if whole > 0:
        of_label = np.arange(labels) if column.levels is None else column.levels.maps[level]
        shares[of_label] = of_value / whole
    return shares


@compiled
def charges_of(
    kernel: Kernel, words: Words, sizes: Counts, k: int, suppressed: int, rows: int, levels: Counts
) -> Grid:
    """What suppression adds to the loss of each column with all rows kept."""
    # Only classes below k are looked at, column by column: a column's shares or counts stay in the cache.
    # Other kinds charge by the levels or by sizes and get zeros. Classes times columns in time; `BITS` needs
    # one count for each label of a level.
    charges = np.zeros(len(levels))
    if suppressed == 0 or kernel.kind not in (CODED, BITS):
        return charges
    for column in range(len(levels)):
        shift, mask, level = kernel.shifts[column], kernel.masks[column], levels[column]
        start = np.uint64(kernel.starts[column, level])
        if kernel.kind == CODED:
            hidden = 0.0
            for index in range(len(sizes)):
                if sizes[index] < k:
                    hidden += sizes[index] * kernel.shares[start + (words[index] >> shift & mask)]
            charges[column] = (kernel.prices[0] * suppressed - kernel.prices[1] * hidden) / rows
        elif kernel.counts[column, level] > 1:
            counts = np.zeros(kernel.counts[column, level], np.int64)
            for index in range(len(sizes)):
                if sizes[index] < k:
                    counts[words[index] >> shift & mask] += sizes[index]
            for count in counts:
                if count > 0:
                    charges[column] += count * np.log2(suppressed / count)
    return charges


@compiled
def combined(kernel: Kernel, total: float, column: int, loss: float) -> float:
    """What columns lose together with one more."""
    # Columns are added one at a time from 0, so a partial sum is a lower bound of the whole: `bound_below`
    # uses it as such. The geometric mean adds logarithms of 1 + loss here, and `expm1` is taken once at the
    # end.
    weight: float = kernel.weights[column]
    if kernel.combine == MAXIMUM:
        return max(total, weight * loss)
    return total + weight * (math.log1p(loss) if kernel.combine == GEOMETRIC else loss)


@compiled
def loss_of(
    kernel: Kernel,
    sizes: Counts,
    k: int,
    suppressed: int,
    kept: int,
    rows: int,
    levels: Counts,
    charges: Grid,
) -> float:
    """What a node loses where classes of fewer than k rows are suppressed."""
    # The same sum as that of the class in `loss/`, with columns added in the same order; sizes become floats
    # before they are multiplied, since rows times rows may pass 64 bits.
    if kernel.kind == GROUPS:
        groups: float = kept + (kernel.needed[1] if suppressed > 0 else 0.0)
        needed: float = kernel.needed[0]
        return rows / (groups * needed) if groups > 0 else math.inf
    if kernel.kind == SQUARES:
        return float(sum_of_squares(sizes))
    total = 0.0
    if kernel.kind == CHARGED:
        for size in sizes:
            total += np.float64(size) * (size if size >= k else rows)
        return total
    for column in range(len(levels)):
        total = combined(kernel, total, column, kernel.levels[column, levels[column]] + charges[column])
    return math.expm1(total) if kernel.combine == GEOMETRIC else total


@compiled
def bound_above(kernel: Kernel, sizes: Counts, k: int, rows: int) -> float:
    """What neither a node nor anything above it goes below, where that is more than the levels tell."""
    # What classes can become when they merge: nothing above has more groups, fewer squares or less charged
    # rows. Only where the levels do not tell it already; minus infinity says so and is never the greater
    # bound.
    if kernel.kind == GROUPS:
        needed: float = kernel.needed[0]
        return rows / (most_groups(sizes, k) * needed)
    if kernel.kind == SQUARES:
        return float(sum_of_squares(sizes))
    if kernel.kind == CHARGED:
        return float(least_charged(sizes, min(k, rows)))
    return -math.inf


@compiled
def bound_below(
    kernel: Kernel,
    least: Grid,
    sizes: Counts,
    plan: KernelPlan,
    suppressed: int,
    levels: Counts,
    low: Counts,
    strides: Counts,
    charges: Grid,
) -> None:
    """Raise what the nodes up to a node lose at least by themselves (`Loss.lower_bounds_below`)."""
    # All nodes below at once: `places` and `values` grow column by column, each level a shifted copy of what
    # is filled. The levels go down, since level `low` lies at offset 0, where all others read from: it is
    # written last. A charge below 0 proves nothing of the nodes below, so it counts as 0. Nodes below in time
    # and memory.
    by_charges = kernel.kind in (CODED, BITS)
    if kernel.kind == LEVELS or (by_charges and suppressed == 0):
        return
    number = np.prod(levels - low + 1)
    places, values = np.zeros(number, np.int64), np.empty(number)
    values[0] = 0.0 if by_charges else 1.0
    filled = 1
    for column in range(len(levels)):
        for level in range(levels[column], low[column] - 1, -1):  # the first part is needed to the last
            step, offset = (level - low[column]) * strides[column], (level - low[column]) * filled
            loss = kernel.levels[column, level] + max(charges[column], 0.0)
            parts = kernel.parts[column, level, levels[column]]
            for place in range(filled):
                places[offset + place] = places[place] + step
                if by_charges:
                    values[offset + place] = combined(kernel, values[place], column, loss)
                else:
                    values[offset + place] = min(values[place] * parts, MOST_PARTS + 1.0)
        filled *= levels[column] - low[column] + 1
    if by_charges:
        for place in range(number):
            value = math.expm1(values[place]) if kernel.combine == GEOMETRIC else values[place]
            least[places[place]] = max(least[places[place]], value)
        return
    table = bounds_by_parts(kernel, sizes, plan, suppressed, int(values.max()))
    for place in range(number):
        least[places[place]] = max(least[places[place]], table[int(values[place])])


@compiled
def bounds_by_parts(kernel: Kernel, sizes: Counts, plan: KernelPlan, suppressed: int, most: int) -> Grid:
    """What is lost at least where each class falls into at most so many parts (see `loss/parts.py`)."""
    # Three sums that change by one step from `parts` to `parts` + 1: classes are put into a histogram once,
    # then every entry takes constant time. The order in the loop matters: a class of exactly `parts` times k
    # counts among those that have enough for this entry, and leaves only after it is written.
    k = plan.k if kernel.kind == GROUPS else min(plan.k, plan.rows) if kernel.kind == CHARGED else 1
    counts, rows, squares = np.zeros(most + 2), np.zeros(most + 2), np.zeros(most + 2)
    times = 0
    for size in sizes:
        if size >= plan.k or kernel.kind == SQUARES:
            place = min(size // k, most + 1)
            counts[place] += 1
            rows[place] += size
            squares[place] += np.float64(size) * size
            times += size // k
    all_rows = rows.sum()
    have, few, many = counts[1:].sum(), rows[0], squares[1:].sum()
    table, groups = np.empty(most + 1), 0.0
    for parts in range(1, most + 1):
        groups += have
        if parts > MOST_PARTS:
            groups, few, many = np.float64(times), all_rows, 0.0
        elif parts == MOST_PARTS and kernel.kind == GROUPS:
            groups = np.float64(times)
        if kernel.kind == GROUPS:
            table[parts] = plan.rows / ((groups + 1) * kernel.needed[0])
        else:
            table[parts] = k * few + many / parts
        have -= counts[parts]
        few += rows[parts]
        many -= squares[parts]
    if kernel.kind == CHARGED:
        table += np.float64(plan.rows) * suppressed
    return table
