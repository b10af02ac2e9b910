"""Rows in buckets of neighbours: a bucket is halved as long as both halves keep the promises.

As in multidimensional partitioning, a bucket is cut at the median of the column in which it is widest; where
this breaks a promise, the next column is tried. All buckets of a round are cut and judged together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.recoding.bucket_assignment import similarity_ranks
from tarnkappe.table import Column
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts, Progress
from tarnkappe.table.grouping import group_codes

Ranks = npt.NDArray[np.int32]
Judgement = Callable[[Codes], Mask]
"""Takes the bucket of each row (-1 for none) and says which buckets break a promise."""


def split_rows(columns: Sequence[Column], forbidden: Judgement, progress: Progress | None = None) -> Codes:
    """The bucket of each row; all rows together must keep the promises."""
    ranks = np.stack([similarity_ranks(column)[column.codes] for column in columns])
    widths = np.array([max(column.cardinality - 1, 1) for column in columns], dtype=np.float64)
    buckets = np.zeros(ranks.shape[1], np.int32)
    open_buckets = np.ones(1, dtype=bool)
    while open_buckets.any():
        if progress:
            progress("bucketing", len(open_buckets) - int(open_buckets.sum()), len(open_buckets))
        buckets, open_buckets = _round(ranks, widths, buckets, open_buckets, forbidden)
    return buckets


def _round(
    ranks: Ranks, widths: npt.NDArray[np.float64], buckets: Codes, open_buckets: Mask, forbidden: Judgement
) -> tuple[Codes, Mask]:
    """Halve every open bucket that can be halved; the halves are open, and the others closed."""
    number = len(open_buckets)
    order, starts, sizes = _sorted(buckets, number)
    extents = _extents(ranks, order, starts) / widths[:, None]
    preference = np.argsort(-extents, axis=0, kind="stable")
    todo, right = open_buckets & (sizes > 1), np.zeros(len(buckets), dtype=bool)
    halved = np.zeros(number, dtype=bool)
    for choice in range(len(ranks)):
        column = preference[choice]
        todo &= extents[column, np.arange(number)] > 0
        if not todo.any():
            break
        tried = _upper_half(ranks, column, buckets, todo)
        halves = np.where(todo[buckets], 2 * buckets + tried, -1)
        compact = np.unique(halves[halves >= 0])
        bad = compact[forbidden(_renumbered(halves, compact))] // 2
        good = todo.copy()
        good[bad] = False
        right |= good[buckets] & tried
        halved |= good
        todo &= ~good
    split = group_codes([2 * buckets + right], [2 * number])
    return split.ids, halved[buckets[split.representatives]]


def _renumbered(halves: Codes, present: Codes) -> Codes:
    return np.where(halves < 0, -1, np.searchsorted(present, halves)).astype(np.int32)


def _upper_half(ranks: Ranks, column: Codes, buckets: Codes, todo: Mask) -> Mask:
    """Which rows are above the cut of their bucket: that nearest to the middle with no side empty."""
    number = len(todo)
    values = ranks[column[buckets], np.arange(len(buckets))]
    order = np.lexsort((values, buckets))
    starts = np.searchsorted(buckets[order], np.arange(number))
    sizes = np.bincount(buckets, minlength=number)
    median = values[order[np.minimum(starts + sizes // 2, len(order) - 1)]]
    below = np.bincount(buckets, values < median[buckets], number)
    to_median = np.bincount(buckets, values <= median[buckets], number)
    # The median goes up unless nothing would be left below, or going down is nearer to the middle.
    up = (below > 0) & ((to_median == sizes) | (np.abs(2 * below - sizes) <= np.abs(2 * to_median - sizes)))
    return np.asarray(np.where(up[buckets], values >= median[buckets], values > median[buckets]))


def _sorted(buckets: Codes, number: int) -> tuple[Counts, Counts, Counts]:
    order = np.argsort(buckets, kind="stable")
    sizes = np.bincount(buckets, minlength=number).astype(np.int64)
    return order, np.cumsum(sizes) - sizes, sizes


def _extents(ranks: Ranks, order: Counts, starts: Counts) -> npt.NDArray[np.int32]:
    sorted_ranks = ranks[:, order]
    greatest = np.maximum.reduceat(sorted_ranks, starts, axis=1)
    return np.asarray(greatest - np.minimum.reduceat(sorted_ranks, starts, axis=1))
