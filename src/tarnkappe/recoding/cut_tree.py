"""A table cut into regions by the best cuts, round by round, as long as the models allow a cut."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from tarnkappe.native.interpreted import suited
from tarnkappe.recoding import arranging, best_cuts
from tarnkappe.recoding.batch import Batch
from tarnkappe.recoding.box_costs import BoxCosts
from tarnkappe.recoding.class_rules import Ruled
from tarnkappe.recoding.deadline import Patience
from tarnkappe.recoding.dimensions import Dimension
from tarnkappe.table import Tuples
from tarnkappe.table.encoding import Codes, Counts, Progress

Regions = npt.NDArray[np.int64]
"""Numbers of regions."""

TRIES = 32
"""So many cuts of a region are tried, the best first, before the models have refused it for good."""
HALVINGS = 6
"""How often the cuts of a round are halved when the whole table objects."""
LARGE = 200
"""A region of so many rows can be cut evenly."""
LOPSIDED = 16
"""A cut of a large region is lopsided if one side has fewer than one row in so many."""
WORTH_A_THREAD = 20_000
"""So many rows take longer than starting a thread."""

Bears = Callable[[Codes], bool]
"""Whether the whole table may be written so, given the class of each row."""


class CutTree:
    """Regions of rows. The rows of a region lie side by side; equal rows never part.

    Rows come in an order that depends on their values alone: by their places, dimensions taken by name, and
    equal ones by the values that models look at. So neither the order of the rows nor that of the columns
    decides anything.
    """

    def __init__(
        self,
        rows: Tuples,
        dimensions: Sequence[Dimension],
        looked_at: Sequence[str],
        costs: BoxCosts,
        ruled: Ruled,
        least: int,
        balance: float,
        block: int,
    ) -> None:
        places = [each.place_of[each.column.codes] for each in dimensions]
        values = [rows.columns[name].codes for name in looked_at]
        self.dimensions = dimensions
        self.order = np.lexsort([*values[::-1], *places[::-1]]).astype(np.int64)
        self.codes = np.ascontiguousarray(np.stack(places, axis=1)[self.order])
        self.weights = rows.counts[self.order]
        self.made: Counter[str] = Counter()
        self.rounds = 0
        self._costs, self._ruled, self._least, self._block = costs, ruled, least, max(block, 8 * least)
        self._power = best_cuts.powers(int(rows.counts.sum()), balance)
        self._even_power = best_cuts.powers(int(rows.counts.sum()), 0.0)
        self._categorical = np.array([not each.is_ordered for each in dimensions])
        self._part: Codes = np.zeros(rows.num_tuples, np.int32)
        self.starts = np.zeros(1, np.int64)
        self.stops = np.full(1, rows.num_tuples, np.int64)
        self._in_block = np.array([rows.num_tuples <= self._block])
        self._blocks = [(0, rows.num_tuples)] if self._in_block[0] else []

    def grow(
        self, batch: Batch | None, bears: Bears | None, patience: Patience, progress: Progress | None = None
    ) -> bool:
        """Cut as long as cuts are allowed; whether all were tried.

        Args:
            batch: asks models on classes that have no rule of both sides.
            bears: asks models that look at more than a class.
            patience: asked between two rounds.
            progress: told how many rows are in regions that are done.
        """
        tries = 1 if batch is None and bears is None else TRIES
        regions, found = self._propose(np.zeros(1, np.int64), tries)
        attempt = np.zeros(len(regions), np.int64)
        while len(regions) and not patience.over:
            cuts = found[np.arange(len(regions)), attempt]
            best_cuts.mark(self.codes, self.starts, self.stops, regions, cuts, self._part)
            good = np.ones(len(regions), dtype=bool) if batch is None else self._judge(batch, regions)
            if bears is not None and good.any():
                good[good] = self._ask_table(bears, regions[good])
            for d, times in enumerate(np.bincount(cuts[good, 0]).tolist()):
                self.made[self.dimensions[d].column.name] += times
            new, new_found = self._propose(self._cut(regions[good]), tries)
            again = ~good & (attempt + 1 < tries)
            again[again] = found[again, attempt[again] + 1, 0] >= 0
            regions = np.concatenate([regions[again], new])
            found = np.concatenate([found[again], new_found])
            attempt = np.concatenate([attempt[again] + 1, np.zeros(len(new), np.int64)])
            self.rounds += 1
            if progress:
                whole = len(self.order)
                progress("cutting", whole - int((self.stops - self.starts)[regions].sum()), whole)
        return len(regions) == 0

    @property
    def regions(self) -> Regions:
        """The regions that have rows, in the order of these."""
        own = np.flatnonzero(self.stops > self.starts)
        return own[np.argsort(self.starts[own])]

    @property
    def classes(self) -> Codes:
        """The number of its region for each row, in the order of the tree."""
        regions = self.regions
        return np.repeat(
            np.arange(len(regions), dtype=np.int32), (self.stops - self.starts)[regions].astype(np.int64)
        )

    @property
    def blocks(self) -> tuple[Counts, Counts]:
        """Where the highest nodes of few rows begin and end; a larger region that was never cut is one."""
        regions = self.regions
        alone = regions[~self._in_block[regions]]
        every = sorted(
            [*self._blocks, *zip(self.starts[alone].tolist(), self.stops[alone].tolist(), strict=True)]
        )
        ends = np.array(every, np.int64).reshape(-1, 2)
        return ends[:, 0].copy(), ends[:, 1].copy()

    def boxes(self, starts: Counts, stops: Counts) -> tuple[Codes, Codes]:
        """The first and the last place of some rows that lie side by side, in each dimension."""
        low = np.empty((len(starts), len(self.dimensions)), np.int32)
        high = np.empty_like(low)
        arranging.extents(self.codes, starts, stops, low, high)
        return low, high

    def in_table_order(self, classes: Codes) -> Codes:
        """The same for each row in the order of the table."""
        own = np.empty_like(classes)
        own[self.order] = classes
        return own

    def _propose(self, regions: Regions, tries: int) -> tuple[Regions, best_cuts.Cuts]:
        """The best cuts of some regions; those that have none are left out.

        With many columns a cut in the middle gains less in one of them than `balance` takes from it, and the
        best cut takes a few rows away, again and again: slow, and it loses much. Regions that would be cut so
        are asked anew without balance.
        """
        regions, found = self._best(regions, tries, self._power)
        lopsided = self._lopsided(regions, found[:, 0])
        if len(lopsided):
            found[lopsided] = self._best(regions[lopsided], tries, self._even_power)[1]
        return regions, found

    def _lopsided(self, regions: Regions, cuts: best_cuts.Cuts) -> Regions:
        smaller, whole = np.empty(len(regions), np.int64), np.empty(len(regions), np.int64)
        smaller_sides = suited(best_cuts.smaller_sides, self.codes)
        smaller_sides(self.codes, self.weights, self.starts, self.stops, regions, cuts, smaller, whole)
        return np.flatnonzero((whole >= LARGE) & (LOPSIDED * smaller < whole))

    def _best(
        self, regions: Regions, tries: int, power: npt.NDArray[np.float64]
    ) -> tuple[Regions, best_cuts.Cuts]:
        found = np.empty((len(regions), tries, 3), np.int32)
        estimates = np.empty((len(regions), tries))
        starts, stops = self.starts[regions], self.stops[regions]
        propose = suited(best_cuts.propose, self.codes)

        def work(chosen: slice) -> None:
            propose(
                self.codes, self.weights, self.order, starts[chosen], stops[chosen], self._categorical,
                self._costs, power, self._least, self._ruled.rules, self._ruled.values,
                self._ruled.num_counts, self._ruled.room, found[chosen], estimates[chosen],
            )  # fmt: skip

        in_threads(work, stops - starts)
        some = found[:, 0, 0] >= 0
        return regions[some], found[some]

    def _judge(self, batch: Batch, regions: Regions) -> npt.NDArray[np.bool_]:
        first = 2 * np.arange(len(regions) + 1)
        length = int((self.stops - self.starts)[regions].sum())
        rows, parts = np.empty(length, np.int64), np.empty(length, np.int32)
        arranging.gather(self.starts, self.stops, regions, first, self._part, self.order, rows, parts)
        _, good = batch.judge(rows, parts, 2 * len(regions))
        return np.asarray(good.reshape(-1, 2).all(axis=1))

    def _ask_table(self, bears: Bears, regions: Regions) -> npt.NDArray[np.bool_]:
        """Which cuts the whole table bears, tried together and, where it does not, in halves."""
        smallest = max(1, len(regions) >> HALVINGS)
        waiting, allowed = [np.arange(len(regions))], np.zeros(len(regions), dtype=bool)
        classes = self.classes
        while waiting:
            tried = waiting.pop()
            trial = classes.copy()
            chosen = np.concatenate([np.flatnonzero(allowed), tried])
            for number, region in enumerate(regions[chosen].tolist()):
                rows = slice(self.starts[region], self.stops[region])
                trial[rows] = np.where(self._part[rows] == 1, len(self.starts) + number, trial[rows])
            if bears(self.in_table_order(trial)):
                allowed[tried] = True
            elif len(tried) > smallest:
                middle = len(tried) // 2
                waiting += [tried[middle:], tried[:middle]]
        return allowed

    def _cut(self, regions: Regions) -> Regions:
        """Make the cuts that were marked; the new regions are returned, the old ones are no more."""
        number = 2 * len(regions)
        starts, stops = np.empty(number, np.int64), np.empty(number, np.int64)
        two = np.full(len(self.starts), 2, np.int64)

        def work(chosen: slice) -> None:
            first = 2 * np.arange(len(regions))[chosen]
            arranging.rearrange(
                self.codes, self.weights, self.order, self.starts, self.stops, regions[chosen], self._part,
                two, first, starts, stops,
            )  # fmt: skip

        in_threads(work, (self.stops - self.starts)[regions])
        inside = np.repeat(self._in_block[regions], 2)
        small = ~inside & (stops - starts <= self._block)
        self._blocks += zip(starts[small].tolist(), stops[small].tolist(), strict=True)
        self._in_block = np.append(self._in_block, inside | small)
        self.stops[regions] = self.starts[regions]  # nothing is left in them
        before = len(self.starts)
        self.starts, self.stops = np.append(self.starts, starts), np.append(self.stops, stops)
        return np.arange(before, before + number)


def in_threads(work: Callable[[slice], None], rows: Counts) -> None:
    """Share some work among the cores, about as many rows to each; the outcome must not depend on it."""
    total = int(rows.sum())
    shares = min(os.cpu_count() or 1, total // WORTH_A_THREAD, len(rows))
    if shares <= 1:
        work(slice(0, len(rows)))
        return
    bounds = np.searchsorted(np.cumsum(rows), np.arange(1, shares) * total / shares).tolist()
    ends = list(dict.fromkeys([0, *bounds, len(rows)]))
    with ThreadPoolExecutor(shares) as pool:
        for done in [pool.submit(work, slice(*pair)) for pair in itertools.pairwise(ends)]:
            done.result()
