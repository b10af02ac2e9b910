"""A table divided into regions, and how it is divided further, round by round, on all cores."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from tarnkappe.recoding import arranging, cuts
from tarnkappe.recoding.dimensions import Dimension
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.table import Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts

Regions = npt.NDArray[np.int64]
"""Numbers of regions."""

WORTH_A_THREAD = 20_000
"""So many rows take longer than starting a thread."""


class RegionPartition:
    """Regions of rows. The rows of a region lie side by side and keep the order they had."""

    def __init__(
        self, rows: Tuples, dimensions: Sequence[Dimension], least: int, allowed: Mask, *, overlap: bool
    ) -> None:
        self.dimensions = dimensions
        self._least, self._allowed, self._overlap = least, allowed, overlap
        places = [each.place_of[each.column.codes] for each in dimensions]
        # Equal rows come in the order of the table, others whatever its order.
        self.order = np.lexsort(places[::-1]).astype(np.int64)
        self._codes = np.ascontiguousarray(np.stack(places, axis=1)[self.order])
        self._weights = rows.counts[self.order]
        self._part: Codes = np.zeros(rows.num_tuples, np.int32)
        self._pools = np.zeros(1, dtype=bool)
        self._steps = np.ones(1, np.int64)
        self.starts = np.zeros(1, np.int64)
        self.stops = np.full(1, rows.num_tuples, np.int64)
        self.attempts = np.zeros(1, np.int64)
        self.num_parts = np.zeros(1, np.int64)
        self.cut_in = np.zeros(1, np.int64)
        self._card = np.array([each.labels.shape[1] for each in dimensions], np.int64)
        sizes = [each.labels.size for each in dimensions]
        self._offset = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        self._present = np.array([each.present for each in dimensions], np.int64)
        self._labels = np.concatenate([each.labels.reshape(-1) for each in dimensions])
        self._widths = np.concatenate([each.widths.reshape(-1) for each in dimensions])
        self._ranges = np.array([each.range for each in dimensions])

    def propose(self, chosen: Regions, *, by_size: bool) -> Regions:
        """Find the next cut of some regions; those that have one are returned.

        With `by_size` every part of such a cut has enough rows, and nothing else matters. Without, the models
        are still to be asked, and a pool may have too few rows.
        """
        self._steps[chosen] = 1
        self._in_threads(
            lambda own: cuts.propose(
                self._codes,
                self._weights,
                self.starts,
                self.stops,
                self.attempts,
                own,
                self._card,
                self._offset,
                self._present,
                self._labels,
                self._widths,
                self._ranges,
                self._least,
                self._allowed,
                self._overlap,
                by_size,
                self._part,
                self.num_parts,
                self._pools,
                self.cut_in,
            ),
            chosen,
        )
        return chosen[self.num_parts[chosen] > 0]

    def parts(self, chosen: Regions) -> tuple[Counts, Codes, Counts]:
        """The rows of some regions, the part of each, numbered through, and where the parts of each begin."""
        first = np.concatenate([[0], np.cumsum(self.num_parts[chosen])]).astype(np.int64)
        length = int((self.stops[chosen] - self.starts[chosen]).sum())
        rows, classes = np.empty(length, np.int64), np.empty(length, np.int32)
        arranging.gather(self.starts, self.stops, chosen, first, self._part, self.order, rows, classes)
        return rows, classes, first

    def enlarge_pools(self, chosen: Regions, first: Counts, sizes: Counts, good: Mask) -> Regions:
        """Let parts that cannot stand alone join a pool; the regions with a cut left are returned."""
        cuts.enlarge_pools(
            self.starts, self.stops, chosen, first, sizes, good, self._steps, self._part, self.num_parts,
            self._pools,
        )  # fmt: skip
        return chosen[self.num_parts[chosen] > 0]

    def cut_by_label(self, chosen: Regions) -> Mask:
        """Which of some regions are to be cut into the children of a label."""
        first_tries = self.attempts[chosen] < len(self.dimensions) * cuts.CANDIDATES
        return np.asarray(first_tries & (self._present[self.cut_in[chosen]] < 0))

    def copy(self) -> RegionPartition:
        """The same regions; what is cut there is not cut here."""
        other = copy.copy(self)
        for name, own in vars(self).items():
            if isinstance(own, np.ndarray):
                setattr(other, name, own.copy())
        return other

    def cut(self, chosen: Regions) -> Regions:
        """Make the cuts that were proposed; the new regions are returned, the old ones are no more."""
        first = np.concatenate([[0], np.cumsum(self.num_parts[chosen])]).astype(np.int64)
        number = int(first[-1])
        new_starts, new_stops = np.empty(number, np.int64), np.empty(number, np.int64)
        place = np.zeros(len(self.starts), np.int64)
        place[chosen] = first[:-1]
        self._in_threads(
            lambda own: arranging.rearrange(
                self._codes, self._weights, self.order, self.starts, self.stops, own, self._part,
                self.num_parts, place[own], new_starts, new_stops,
            ),
            chosen,
        )  # fmt: skip
        before = len(self.starts)
        self.starts, self.stops = np.append(self.starts, new_starts), np.append(self.stops, new_stops)
        self.stops[chosen] = self.starts[chosen]  # nothing is left in them
        self.attempts = np.append(self.attempts, np.zeros(number, np.int64))
        self.num_parts = np.append(self.num_parts, np.zeros(number, np.int64))
        self.cut_in = np.append(self.cut_in, np.zeros(number, np.int64))
        self._pools = np.append(self._pools, np.zeros(number, dtype=bool))
        self._steps = np.append(self._steps, np.ones(number, np.int64))
        return np.arange(before, before + number)

    @property
    def regions(self) -> Regions:
        """The regions that have rows, in the order of these."""
        own = np.flatnonzero(self.stops > self.starts)
        return own[np.argsort(self.starts[own])]

    def count(self, chosen: Regions) -> int:
        """How many rows some regions have."""
        return int((self.stops - self.starts)[chosen].sum())

    def ends(self, chosen: Regions) -> tuple[Codes, Codes]:
        """The first and the last place of some regions in each dimension."""
        low = np.empty((len(chosen), len(self.dimensions)), np.int32)
        high = np.empty_like(low)
        arranging.extents(self._codes, self.starts[chosen], self.stops[chosen], low, high)
        return low, high

    def write(self) -> dict[str, WrittenColumn]:
        """Every dimension as it is written, row by row."""
        regions = self.regions
        region_of_place = np.repeat(np.arange(len(regions)), (self.stops - self.starts)[regions])
        low, high = self.ends(regions)
        region_of_row = np.empty(len(self.order), np.int32)
        region_of_row[self.order] = region_of_place
        return {
            own.column.name: own.write(low[:, d], high[:, d], region_of_row)
            for d, own in enumerate(self.dimensions)
        }

    def _in_threads(self, work: Callable[[Regions], None], chosen: Regions) -> None:
        """Share some regions among the cores, about as many rows to each."""
        rows = (self.stops - self.starts)[chosen]
        shares = min(os.cpu_count() or 1, int(rows.sum()) // WORTH_A_THREAD, len(chosen))
        if shares <= 1:
            work(chosen)
            return
        bounds = np.searchsorted(np.cumsum(rows), np.arange(1, shares) * rows.sum() / shares)
        with ThreadPoolExecutor(shares) as pool:
            for done in [pool.submit(work, own) for own in np.split(chosen, bounds) if len(own)]:
                done.result()
