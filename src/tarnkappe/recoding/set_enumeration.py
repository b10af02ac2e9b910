"""Branch and bound over value sets: the set-enumeration tree of k-Optimize.

A node has a *head*, the values that are chosen, and a *tail*, those that may still be added. It is divided
by one value of the tail: below it, either the value is chosen or it is given up. (To take the values of a
tail in turn, each child getting what is left of it, is the same tree: to give one up is to go to the next.)

Classes only get smaller when values are added, so no value set with head H and values from A = head and tail
costs less than

    the rows that are suppressed at H, each at the price of a suppressed row
    + for all others, what the classes of A cost, each row being charged for at least k rows.

From this bound follows at every node, whatever is divided later:

- a value is given up if with it the bound reaches the best cost found, or too many rows are suppressed;
- a value is chosen if without it the bound reaches the best cost found;
- a value is given up if it leaves only parts below k of every class it splits: such rows are suppressed then
  and need not be without it.

An empty tail does not mean that a node is bad: its head has been counted by then. The value to divide by is
the one whose two bounds rise most and that splits most classes, so it is found anew at every node.

Explained in docs/explanation/kernels.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tarnkappe.native import compiled
from tarnkappe.recoding.partitions import MergedRows, Numbering
from tarnkappe.recoding.value_classes import (
    Effects,
    Places,
    Price,
    Values,
    choosing,
    copy_cell,
    cost_of_classes,
    giving_up,
    merge,
    split,
    table_size,
)
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Counts

Masks = npt.NDArray[np.bool_]

WITH, WITHOUT, DONE = 0, 1, 2
"""What a node of the stack does next."""

BEGIN, END, STARTS_AT, CLASSES, SUPPRESSED, BRANCH, STEP, BOUND, BOUND_WITH, BOUND_WITHOUT = range(10)
"""The numbers that are kept of each node: where its cells and its classes lie, how many classes
there are, the suppressed rows, the value it is divided by, what it does next, and the bounds."""


class Stack(NamedTuple):
    """The nodes from the root of a subtree down to the current one, and room to work in.

    Attributes:
        cells, starts: the cells and classes of all these nodes, one after the other.
        heads, tails: their value sets.
        numbers: what else is kept of each.
        spare, spare_starts, slots, target, same, effects: room for the kernels.
    """

    cells: MergedRows
    starts: Places
    heads: Masks
    tails: Masks
    numbers: Counts
    spare: MergedRows
    spare_starts: Places
    slots: Places
    target: Values
    same: Values
    effects: Effects


class Incumbent(NamedTuple):
    """The best value set so far and its cost (in an array of one, so that kernels can change it)."""

    cost: Counts
    head: Mask


def room(number: int, like: MergedRows) -> MergedRows:
    """Room for so many cells."""
    return MergedRows(*(np.empty((number, *own.shape[1:]), own.dtype) for own in like))


def new_stack(cells: MergedRows, values: int) -> Stack:
    """Room for a walk through the tree of a table."""
    number = len(cells.sizes)
    capacity = 4 * number + 64
    splits, rows, rise, fall, sums, costs, low, high = np.zeros((8, values), np.int64)
    return Stack(
        room(capacity, cells),
        np.empty(capacity + values + 3, np.int64),
        np.zeros((values + 2, values), dtype=bool),
        np.zeros((values + 2, values), dtype=bool),
        np.zeros((values + 2, 10), np.int64),
        room(number, cells),
        np.empty(number + 1, np.int64),
        np.empty(table_size(number), np.int64),
        np.arange(values).astype(np.int16),
        np.arange(values).astype(np.int16),
        Effects(splits, rows, rise, fall, np.zeros(values, dtype=bool), sums, costs, low, high),
    )


@compiled
def choose(stack: Stack, depth: int, value: int, first: Counts, least_size: int) -> None:
    """Put a value into the head of a node."""
    # The value must enter the head only after the classes are split: `split` looks for its neighbours in the
    # head. What is dropped stays suppressed below, so it is added once and never taken back.
    own, head = stack.numbers[depth], stack.heads[depth]
    starts = stack.starts[own[STARTS_AT] :]
    own[CLASSES], dropped = split(
        stack.cells, starts, own[CLASSES], value, head, first, least_size, stack.spare, stack.spare_starts
    )
    own[END] = starts[own[CLASSES]]
    own[SUPPRESSED] += dropped
    head[value] = True
    stack.tails[depth, value] = False


@compiled
def merge_given_up(stack: Stack, depth: int, numbering: Numbering) -> None:
    """Merge the cells of a node that only values told apart which are neither in its head nor in its tail."""
    # The target of a value is the nearest one before it that still counts; the first of a column always does.
    # Cells shrink in place, classes stay: given up values split none.
    own, head, tail = stack.numbers[depth], stack.heads[depth], stack.tails[depth]
    first = numbering.first
    for column in range(len(first) - 1):
        last = first[column]
        for value in range(first[column], first[column + 1]):
            if head[value] or tail[value]:
                last = value
            stack.target[value] = last
    starts = stack.starts[own[STARTS_AT] :]
    own[END] = merge(stack.cells, own[BEGIN], own[END], starts, stack.target, numbering, stack.slots)


@compiled
def settle(stack: Stack, depth: int, numbering: Numbering, price: Price, best: Incumbent) -> tuple[bool, int]:
    """Draw all conclusions at a node; whether anything is left to be divided, and how much work it was."""
    # Conclusions make others possible, so it repeats until none is left. The best cost may fall in the same
    # round and is read anew each time. Giving up comes before choosing: it merges cells, which makes the
    # dearer look at what choosing saves cheaper. A value chosen is new to the next ones only in the next
    # round, which is safe.
    own, head, tail, effects = stack.numbers[depth], stack.heads[depth], stack.tails[depth], stack.effects
    cells, starts = stack.cells, stack.starts[own[STARTS_AT] :]
    columns, work = len(numbering.first) - 1, 0
    while True:
        touched = (own[END] - own[BEGIN]) * columns
        work += touched + own[CLASSES] * len(head)
        suppressed = own[SUPPRESSED] * price.suppressed
        own[BOUND] = suppressed + choosing(
            cells, starts, own[CLASSES], head, tail, numbering.first, price, effects
        )
        if own[BOUND] >= best.cost[0] or own[SUPPRESSED] > price.limit:
            return False, work
        cost = suppressed + cost_of_classes(cells, starts, own[CLASSES], price.least_size)
        if cost < best.cost[0]:
            best.cost[0] = cost
            for value in range(len(head)):
                best.head[value] = head[value]
        given_up, left = False, False
        for value in range(len(tail)):
            if tail[value] and (
                not effects.useful[value]
                or own[BOUND] + effects.with_it[value] >= best.cost[0]
                or own[SUPPRESSED] + effects.suppressed[value] > price.limit
            ):
                tail[value] = False
                given_up = True
            left = left or tail[value]
        if not left:
            return False, work
        if given_up:
            merge_given_up(stack, depth, numbering)
            work += touched
            continue
        giving_up(cells, own[BEGIN], own[END], head, tail, numbering, price, stack.same, stack.slots, effects)
        work += 2 * touched
        chosen = False
        for value in range(len(tail)):
            if tail[value] and own[BOUND] + effects.without_it[value] >= best.cost[0]:
                choose(stack, depth, value, numbering.first, price.least_size)
                work += touched
                chosen = True
        if not chosen:
            return True, work


@compiled
def divide(stack: Stack, depth: int) -> None:
    """Find the value by which a node is divided."""
    # The product of both rises: a value that raises one bound alone leaves the other child as large as it
    # was. Bounds are stored now, since `effects` will be those of the children when the second child is asked
    # for.
    own, tail, effects = stack.numbers[depth], stack.tails[depth], stack.effects
    most = -1.0
    for value in range(len(tail)):
        if tail[value]:
            rise = (effects.with_it[value] + 1.0) * (effects.without_it[value] + 1.0) * effects.splits[value]
            if rise > most:
                most = rise
                own[BRANCH] = value
    own[STEP] = WITH
    own[BOUND_WITH] = own[BOUND] + effects.with_it[own[BRANCH]]
    own[BOUND_WITHOUT] = own[BOUND] + effects.without_it[own[BRANCH]]


@compiled
def descend(stack: Stack, depth: int, numbering: Numbering, price: Price) -> None:
    """Make the next child of a node, right behind it."""
    # A child lies right behind its node, cells and class starts alike, so going back is lowering the depth.
    # All of its numbers are copied before they are changed; STEP is raised last, as it tells which child this
    # is.
    own, child = stack.numbers[depth], stack.numbers[depth + 1]
    for index in range(len(own)):
        child[index] = own[index]
    child[BEGIN] = own[END]
    child[END] = own[END] + own[END] - own[BEGIN]
    child[STARTS_AT] = own[STARTS_AT] + own[CLASSES] + 1
    for cell in range(own[BEGIN], own[END]):
        copy_cell(stack.cells, cell, stack.cells, cell + child[BEGIN] - own[BEGIN])
    for index in range(own[CLASSES] + 1):
        start = stack.starts[own[STARTS_AT] + index]
        stack.starts[child[STARTS_AT] + index] = start + child[BEGIN] - own[BEGIN]
    for value in range(stack.heads.shape[1]):
        stack.heads[depth + 1, value] = stack.heads[depth, value]
        stack.tails[depth + 1, value] = stack.tails[depth, value]
    if own[STEP] == WITH:
        choose(stack, depth + 1, own[BRANCH], numbering.first, price.least_size)
    else:
        stack.tails[depth + 1, own[BRANCH]] = False
        merge_given_up(stack, depth + 1, numbering)
    own[STEP] += 1


@compiled
def plant(stack: Stack, cells: MergedRows, head: Mask, tail: Mask, numbering: Numbering) -> int:
    """Make a node without head at the bottom of the stack, and tell its depth.

    Its cells are those of the values in a head and a tail. The table has enough rows to be a class.
    """
    # The head is merged with the tail and only then emptied: its values tell cells apart, but `choose` must
    # split by them one after the other, which counts what is suppressed.
    number = len(cells.sizes)
    for cell in range(number):
        copy_cell(cells, cell, stack.cells, cell)
    stack.starts[0], stack.starts[1] = 0, number
    own = stack.numbers[0]
    for index in range(len(own)):
        own[index] = 0
    own[END], own[CLASSES] = number, 1
    for value in range(len(head)):
        stack.heads[0, value], stack.tails[0, value] = head[value], tail[value]
    merge_given_up(stack, 0, numbering)
    for value in range(len(head)):
        stack.heads[0, value] = False
    return int(own[BEGIN])


@compiled
def explore(
    stack: Stack,
    cells: MergedRows,
    head: Mask,
    tail: Mask,
    numbering: Numbering,
    price: Price,
    best: Incumbent,
    budget: int,
    open_heads: Masks,
    open_tails: Masks,
    open_bounds: Counts,
) -> tuple[int, int]:
    """Search the subtree of a node, depth first, until so much work is done.

    Returns how many nodes were looked at and how many are left open; the latter are noted with their bounds.
    """
    depth = plant(stack, cells, head, tail, numbering)
    for value in range(len(head)):
        if head[value]:
            choose(stack, depth, value, numbering.first, price.least_size)
    fresh, work, nodes, left = True, 0, 0, 0
    while depth >= 0:
        own = stack.numbers[depth]
        if fresh:
            fresh = False
            nodes += 1
            is_open, done = settle(stack, depth, numbering, price, best)
            work += done
            if not is_open:
                depth -= 1
                continue
            divide(stack, depth)
        if own[STEP] == DONE:
            depth -= 1
            continue
        bound = own[BOUND_WITH] if own[STEP] == WITH else own[BOUND_WITHOUT]
        if bound >= best.cost[0]:
            own[STEP] += 1
        elif work < budget and 2 * own[END] - own[BEGIN] <= len(stack.cells.sizes):
            descend(stack, depth, numbering, price)
            work += (own[END] - own[BEGIN]) * cells.codes.shape[1]
            depth += 1
            fresh = True
        else:  # it is left open, and so are all nodes above it
            for value in range(len(head)):
                open_heads[left, value] = stack.heads[depth, value]
                open_tails[left, value] = stack.tails[depth, value]
            open_heads[left, own[BRANCH]] = own[STEP] == WITH
            open_tails[left, own[BRANCH]] = False
            open_bounds[left] = bound
            left += 1
            work = budget
            own[STEP] += 1
    return nodes, left
