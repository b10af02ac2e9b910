"""Cohorts: people who are alike in what everybody may know of them, in groups that are as small as allowed.

People are cut in two again and again, each time by the known attribute in which they differ most, as Mondrian
does (LeFevre et al. 2006, doi:10.1109/ICDE.2006.101); but nothing is looked at that is not known anyway, so
who is in a cohort tells nobody anything. Only then are the sensitive values counted. Where those of a cohort
do not keep the policy, nobody of the part that was cut last is admitted: to undo the cut instead would tell
that one of its sides failed. (10 men and 20 women, 12 of them with HIV: if the cut by sex is undone because
one man has HIV, the cohort shows a share of 0.60 without HIV, and who knows the rule gets 0.90 for a man.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.table import Column
from tarnkappe.table.classes import Mask

Rows = npt.NDArray[np.int64]
QUANTILES = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where numbers are cut, in the order in which that is tried."""


@dataclasses.dataclass(frozen=True, eq=False)
class KnownValues:
    """What everybody may know of everybody, in one attribute.

    Attributes:
        codes: the value of each person, as a number in the order of the values.
        scale: the values as numbers; None if they are words.
        number: how many values there are.
    """

    codes: Rows
    scale: npt.NDArray[np.float64] | None
    number: int

    @classmethod
    def of(cls, column: Column) -> KnownValues:
        """Those of a column; with a missing value among them, numbers are words like any other."""
        numbers = column.numbers
        scale = None if numbers is None or np.isnan(numbers).any() else numbers
        return cls(column.codes.astype(np.int64), scale, column.cardinality)

    def width(self, people: Rows) -> float:
        """How much of the whole range some people take."""
        codes = self.codes[people]
        if self.scale is None:
            return (int(np.count_nonzero(np.bincount(codes))) - 1) / max(self.number - 1, 1)
        span = self.scale[-1] - self.scale[0] if self.number else 0.0
        return float(self.scale[codes.max()] - self.scale[codes.min()]) / (span or 1.0)

    def cuts(self, people: Rows) -> Iterator[Mask]:
        """Who would be on the left side, one cut after the other."""
        codes = self.codes[people]
        if self.scale is not None:
            order = np.sort(codes)
            for share in QUANTILES:
                yield codes <= order[int(share * (len(order) - 1))]
            return
        counts = np.bincount(codes, minlength=self.number)
        frequent = np.argsort(-counts, kind="stable")
        few = int(np.searchsorted(np.cumsum(counts[frequent]), len(codes) / 2, side="right"))
        yield np.isin(codes, frequent[: max(few, 1)])
        if few > 1:
            yield codes == frequent[0]


@dataclasses.dataclass(frozen=True, eq=False)
class Cohort:
    """People who stay together, and the cuts that led to them, by number."""

    people: Rows
    cuts: tuple[int, ...]


def cohorts(
    known: Sequence[KnownValues], people: Rows, least: int, weights: Sequence[float] | None = None
) -> list[Cohort]:
    """Cut people until no part of at least so many can be cut into two.

    Args:
        known: what everybody may know.
        people: whom to cut, by their places in the columns.
        least: how many people a part has at least.
        weights: how much each attribute matters.
    """
    found: list[Cohort] = []
    waiting = [Cohort(people, ())] if len(people) else []
    number = 0
    while waiting:
        part = waiting.pop()
        left = _cut(known, part.people, least, weights or [1.0] * len(known))
        if left is None:
            found.append(part)
            continue
        cuts = (*part.cuts, number)
        waiting += [Cohort(part.people[~left], cuts), Cohort(part.people[left], cuts)]
        number += 1
    return found


def admitted(parts: Sequence[Cohort], keeps: Callable[[Rows], bool]) -> list[bool]:
    """Which cohorts are admitted: those that keep the policy, and whose last cut gave none that does not."""
    failed = [part for part in parts if not keeps(part.people)]
    undone = {part.cuts[-1] for part in failed if part.cuts}
    alone = {id(part) for part in failed}
    return [id(part) not in alone and not undone & set(part.cuts) for part in parts]


def _cut(known: Sequence[KnownValues], people: Rows, least: int, weights: Sequence[float]) -> Mask | None:
    """Who is on the left side of the first cut that leaves enough people on both."""
    if len(people) < 2 * least:
        return None
    wide = [weight * each.width(people) for each, weight in zip(known, weights, strict=True)]
    for place in sorted(range(len(known)), key=lambda place: (-wide[place], place)):
        if wide[place] <= 0:
            return None
        for left in known[place].cuts(people):
            if least <= np.count_nonzero(left) <= len(people) - least:
                return left
    return None


def counted(codes: Rows, number: int, groups: Rows, size: int) -> npt.NDArray[np.int64]:
    """How many people of each group have each value; who has no group, or no value, is left out."""
    there = (groups >= 0) & (codes >= 0)
    cells = groups[there] * number + codes[there]
    return np.bincount(cells, minlength=size * number).reshape(size, number).astype(np.int64)
