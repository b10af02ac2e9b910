"""What it costs to write rows as the box around them, in whole numbers.

The box of some rows is their lowest and their highest place in each dimension. What is written in a
dimension depends on the box alone, and so does its cost c_d, a share from 0 to 1: of the leaves of the
hierarchy that the written word may stand for, beyond the true one (`loss`), or of the range of the numbers
(`interval-loss`). A box costs the weighted mean of its dimensions.

Costs are in fixed point: floor(2^30 w_d c_d / sum w), so sums are whole numbers that no order of summation,
no number of threads and no platform changes. They are monotone: a box inside another one never costs more.
The cuts, the refinement and the bound all rely on that.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.loss import AggregateFunction, IntervalLoss, LeafLoss, Loss
from tarnkappe.loss.measure import ColumnLoss
from tarnkappe.loss.share import ShareLoss
from tarnkappe.native import compiled
from tarnkappe.recoding.dimensions import Dimension
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Codes, Counts

ONE = 1 << 30
"""The cost of a box that tells nothing, if every column has a weight."""

TABULATED = 512
"""A dimension of at most so many places has a table of the costs of all intervals: it is faster."""

Numbers = npt.NDArray[np.float64]

TABLE, ORDERED, LABELS = range(3)


class BoxCosts(NamedTuple):
    """The costs of all dimensions for kernels: one array for all of them, with an offset for each.

    Attributes:
        kind: TABLE (look up `table`), ORDERED (from `first` and `last`) or LABELS (walk up the levels).
        card: how many places there are.
        present: how many of them are no missing values.
        full: the cost of a cell that tells nothing.
        table_at, table: the cost of the places from low to high at low x card + high.
        place_at, first, last, scale, less: an interval costs scale x (last[high] - first[low] - less).
        label_at, height, labels, label_costs: level by level the label of each place, and what it costs.
    """

    kind: Counts
    card: Counts
    present: Counts
    full: Counts
    table_at: Counts
    table: npt.NDArray[np.int32]
    place_at: Counts
    first: Numbers
    last: Numbers
    scale: Numbers
    less: Numbers
    label_at: Counts
    height: Counts
    labels: Codes
    label_costs: Counts


@compiled
def cell_cost(costs: BoxCosts, d: int, low: int, high: int) -> int:
    """The cost of one dimension of a box."""
    # A single place costs nothing and is asked first, as it is most frequent. Truncation to whole numbers
    # keeps the order of exact costs, so a box inside another never costs more: everything else relies on
    # that.
    if low == high:
        return 0
    if costs.kind[d] == TABLE:
        return int(costs.table[costs.table_at[d] + low * costs.card[d] + high])
    if costs.kind[d] == ORDERED:
        if high >= costs.present[d]:
            return int(costs.full[d])  # no word stands for a number and a missing value but '*'
        at = costs.place_at[d]
        return int(costs.scale[d] * (costs.last[at + high] - costs.first[at + low] - costs.less[d]))
    at, card = costs.label_at[d], costs.card[d]
    for _ in range(costs.height[d]):
        if costs.labels[at + low] == costs.labels[at + high]:
            break
        at += card
    return int(costs.label_costs[at + low])


@compiled
def box_cost(costs: BoxCosts, low: Codes, high: Codes) -> int:
    """The cost of a box."""
    # Whole numbers: any order of dimensions gives the same sum. At most `ONE` in all, as weights are shares
    # of it. Not cut short: who has a limit asks `cost_with`.
    total = 0
    for d in range(len(low)):
        total += cell_cost(costs, d, low[d], high[d])
    return total


@compiled
def cost_with(costs: BoxCosts, low: Codes, high: Codes, row: Codes, limit: int) -> int:
    """The cost of a box once a row has joined; anything from the limit on if it is no less than that."""
    # The box is not changed; the row is joined in passing, dimension by dimension. Costs are never negative,
    # so the sum can stop once it has reached the limit, and what it returns then is only known to be too
    # much.
    total = 0
    for d in range(len(low)):
        total += cell_cost(costs, d, min(low[d], row[d]), max(high[d], row[d]))
        if total >= limit:
            break
    return total


@compiled
def _fill_table(costs: BoxCosts, d: int, table: npt.NDArray[np.int32]) -> None:
    # Only low <= high is written, and only that is ever asked. Places squared in memory, so it is made for
    # dimensions of few places alone; `cell_cost` must not look into the table while it is filled.
    card = costs.card[d]
    for low in range(card):
        for high in range(low, card):
            table[low * card + high] = cell_cost(costs, d, low, high)


def minimized(loss: Loss) -> tuple[ShareLoss, bool]:
    """The loss whose cells boxes are charged with, and whether it is the one that was asked for.

    Only a weighted mean or sum of the shares of single cells can be split into the costs of boxes. Under any
    other loss the shares of `loss` are minimized, with the weights of the job.
    """
    if isinstance(loss, LeafLoss | IntervalLoss) and loss.measures_cells:
        adds_up = loss.aggregate in (AggregateFunction.MEAN, AggregateFunction.SUM) and not loss.multiplies
        if adds_up and getattr(loss, "factor", None) is None:
            return loss, True
    return LeafLoss(weights=loss.weights if isinstance(loss, ColumnLoss) else {}), False


def box_costs(tuples: Tuples, dimensions: Sequence[Dimension], loss: ShareLoss) -> BoxCosts:
    """The costs of the boxes of some dimensions under a loss."""
    weights = [float(loss.weights.get(each.column.name, 1.0)) for each in dimensions]
    total = sum(weights) or 1.0
    number = len(dimensions)
    kind, card, present, full = (np.zeros(number, np.int64) for _ in range(4))
    place_at, label_at, height, table_at = (np.zeros(number, np.int64) for _ in range(4))
    scale, less = np.zeros(number), np.zeros(number)
    first, last = list[Numbers](), list[Numbers]()
    labels, label_costs = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for d, own in enumerate(dimensions):
        unit = ONE * weights[d] / total
        card[d], present[d] = own.labels.shape[1], own.present
        low, high, whole, less[d] = _ends(tuples, own, loss)
        full[d] = int(unit) if whole else 0
        scale[d] = unit / whole if whole else 0.0
        kind[d] = ORDERED if own.is_ordered else LABELS
        place_at[d], label_at[d] = sum(map(len, first)), sum(map(len, labels))
        first.append(low)
        last.append(high)
        if not own.is_ordered:
            height[d] = own.labels.shape[0] - 1
            labels.append(own.labels.reshape(-1))
            label_costs.append(_label_costs(tuples, own, loss, unit))
    costs = BoxCosts(
        kind, card, present, full, table_at, np.zeros(0, np.int32), place_at, np.concatenate(first),
        np.concatenate(last), scale, less, label_at, height, np.concatenate(labels),
        np.concatenate(label_costs),
    )  # fmt: skip
    small = [d for d in range(number) if card[d] <= TABULATED]
    tables = [np.zeros(int(card[d]) ** 2, np.int32) for d in small]
    for d, table in zip(small, tables, strict=True):
        _fill_table(costs, d, table)
    kind[small] = TABLE
    table_at[small] = np.cumsum([0, *map(len, tables)])[:-1]
    return costs._replace(table=np.concatenate([np.zeros(0, np.int32), *tables]))


def _ends(tuples: Tuples, own: Dimension, loss: ShareLoss) -> tuple[Numbers, Numbers, float, float]:
    """Where the word for a place begins and ends, the length of the whole, and what a true value takes."""
    column, levels = own.column, own.levels
    top = loss.extent(tuples, column, levels.height)
    nothing = np.zeros(0)
    if not own.is_ordered:
        return nothing, nothing, float(top.whole), 0.0
    runs, places = own.runs, own.present
    numbers = column.numbers
    assert numbers is not None
    low, high = np.zeros(own.labels.shape[1]), np.zeros(own.labels.shape[1])
    if isinstance(loss, IntervalLoss) and levels.bounds is not None:
        low[:places] = (
            numbers[:places] if runs is None or runs.bounds is None else runs.bounds[runs.label_of, 0]
        )
        high[:places] = (
            numbers[:places] if runs is None or runs.bounds is None else runs.bounds[runs.label_of, 1]
        )
        return low, high, float(top.whole), 0.0
    if runs is not None:
        low[:places], high[:places] = runs.first_leaf[runs.label_of], runs.last_leaf[runs.label_of]
    elif levels.numbers is None:
        low[:places], high[:places] = np.arange(places), np.arange(places) + 1
    else:
        low[:places] = np.searchsorted(levels.numbers, numbers[:places], "left")
        high[:places] = np.searchsorted(levels.numbers, numbers[:places], "right")
    return low, high, float(top.whole), 1.0


def _label_costs(tuples: Tuples, own: Dimension, loss: ShareLoss, unit: float) -> Counts:
    """For each level and place, what the label there costs."""
    costs = []
    for level in range(own.levels.height + 1):
        hidden, _, whole = loss.extent(tuples, own.column, level)
        share = hidden[own.code_at] / whole if whole else np.zeros(len(own.code_at))
        costs.append((unit * share).astype(np.int64))
    return np.concatenate(costs)
