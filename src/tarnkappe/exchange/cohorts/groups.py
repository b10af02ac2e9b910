"""Groups of a selection: whole cohorts put together, so that everybody with the value is among enough others.

The people who have one selected value are few in each cohort. So cohorts are put together until there are k
of them, with sensitive values that keep the policy, and as little as possible is lost of what was asked for.
Everything here is a function of counts by cohort. So exchanging the records of two people of one cohort
changes nothing, whatever is asked; and groups are never cut anew, so nobody gets anything by asking twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.exchange.cohorts.cutting import QUANTILES, KnownValues, Rows
from tarnkappe.table.classes import Mask

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BESIDE = 0.01
"""How much an attribute counts that nobody has asked for."""


@dataclasses.dataclass(frozen=True, eq=False)
class Hulls:
    """How far cohorts reach in one known attribute.

    Attributes:
        low: for numbers, the least value of each cohort.
        high: for numbers, the greatest.
        present: for words, which values each cohort has.
        span: the whole range, or the number of values less one.
    """

    low: Floats
    high: Floats
    present: Mask
    span: float

    @classmethod
    def of(cls, known: KnownValues, cohort: Rows, size: int) -> Hulls:
        """Those of all cohorts; who has no cohort is left out."""
        there = cohort >= 0
        codes, own = known.codes[there], cohort[there]
        if known.scale is None:
            present = np.zeros((size, known.number), dtype=bool)
            present[own, codes] = True
            return cls(np.empty(0), np.empty(0), present, max(known.number - 1, 1))
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, own, known.scale[codes])
        np.maximum.at(high, own, known.scale[codes])
        span = float(known.scale[-1] - known.scale[0]) if known.number else 0.0
        return cls(low, high, np.empty((size, 0), dtype=bool), span or 1.0)

    @property
    def are_numbers(self) -> bool:
        """Whether the values are numbers."""
        return bool(len(self.low))

    def widths(self, chosen: Mask, among: Rows) -> Floats:
        """How much of the whole each choice of cohorts takes; each must choose one."""
        if self.are_numbers:
            low = np.where(chosen, self.low[among], np.inf).min(axis=1)
            high = np.where(chosen, self.high[among], -np.inf).max(axis=1)
            return np.asarray((high - low) / self.span)
        values = (chosen.astype(np.float32) @ self.present[among].astype(np.float32)) > 0
        return np.asarray((values.sum(axis=1) - 1) / self.span)

    def cuts(self, among: Rows, number: Counts) -> Iterator[Mask]:
        """Which cohorts would be on the left side, one cut after the other."""
        if self.are_numbers:
            middle = (self.low[among] + self.high[among]) / 2
            order = np.argsort(middle, kind="stable")
            so_far = np.cumsum(number[order])
            for share in QUANTILES:
                yield middle <= middle[order[int(np.searchsorted(so_far, share * so_far[-1]))]]
            return
        present = self.present[among]
        alone = present.sum(axis=1) == 1
        for value in np.flatnonzero(present.any(axis=0)).tolist():
            has = present[:, value]
            yield has
            yield has & alone


@dataclasses.dataclass(frozen=True, eq=False)
class GroupTree:
    """A group of cohorts, and the two that it was cut into, if it was."""

    cohorts: Rows
    sides: tuple[GroupTree, ...] = ()

    def parts(self, good: Callable[[Rows], bool]) -> list[Rows]:
        """The smallest groups that are good, as whole sides of cuts; nothing if not even all together are.

        Those of a stricter condition are put together from those of a laxer one, so that packages for
        several purposes tell no more than the finest of them.
        """
        if not good(self.cohorts):
            return []
        if self.sides and all(good(side.cohorts) for side in self.sides):
            return [part for side in self.sides for part in side.parts(good)]
        return [self.cohorts]


Good = Callable[[Counts, Mapping[str, Counts]], Mask]
"""Which choices keep the policy, by their numbers of people and their counts of each sensitive attribute."""


def group_tree(
    cohorts: Rows,
    number: Counts,
    counts: Mapping[str, Counts],
    hulls: Sequence[Hulls],
    wanted: Sequence[bool],
    good: Good,
) -> GroupTree:
    """Cut cohorts into groups, each time where most of what was asked for is gained.

    Args:
        cohorts: those that have somebody with the selected value.
        number: for all cohorts, how many have it.
        counts: for all cohorts, how many of those have each value of another sensitive attribute.
        hulls: how far cohorts reach, in each known attribute.
        wanted: which of these attributes were asked for.
        good: which groups keep the policy.
    """
    weights = [1.0 if asked else BESIDE for asked in wanted]
    if len(cohorts) < 2:
        return GroupTree(cohorts)
    for asked in (True, False):
        chosen = [hull for hull, own in zip(hulls, wanted, strict=True) if own is asked]
        left = _best_cut(cohorts, number, counts, chosen, list(zip(hulls, weights, strict=True)), good)
        if left is not None:
            sides = (cohorts[left], cohorts[~left])
            return GroupTree(
                cohorts,
                tuple(group_tree(side, number, counts, hulls, wanted, good) for side in sides),
            )
    return GroupTree(cohorts)


def _best_cut(
    cohorts: Rows,
    number: Counts,
    counts: Mapping[str, Counts],
    by: Sequence[Hulls],
    weighed: Sequence[tuple[Hulls, float]],
    good: Good,
) -> Mask | None:
    own = number[cohorts]
    cuts = [left for hull in by for left in hull.cuts(cohorts, own) if left.any() and not left.all()]
    if not cuts:
        return None
    lefts = np.stack(cuts)
    people = lefts.astype(np.int64) @ own
    everybody = int(own.sum())
    below = {name: lefts.astype(np.int64) @ table[cohorts] for name, table in counts.items()}
    total = {name: table[cohorts].sum(axis=0) for name, table in counts.items()}
    fits = good(people, below) & good(everybody - people, {n: total[n] - below[n] for n in below})
    if not fits.any():
        return None
    lefts, people = lefts[fits], people[fits]
    lost = np.zeros(len(lefts))
    for hull, weight in weighed:
        sides = hull.widths(lefts, cohorts) * people + hull.widths(~lefts, cohorts) * (everybody - people)
        lost += weight * sides
    return np.asarray(lefts[int(np.argmin(lost))])
