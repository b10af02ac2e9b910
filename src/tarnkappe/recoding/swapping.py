"""Swapping rows between groups until every group keeps the promises.

The group that is furthest from its promises trades one row against a row of another group, wherever this
leaves the worse of the two nearer to them. It ends when nothing is left to repair or no trade helps.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from tarnkappe.recoding.judging import LEFT_OUT, GroupEvaluator
from tarnkappe.recoding.randomness import Chance
from tarnkappe.table.encoding import Codes, Counts

PARTNERS = 4
"""So many other groups are tried at each step."""

PAIRS = 25
"""So many trades with each of them, at most."""


@dataclasses.dataclass(frozen=True)
class _Trade:
    row: int
    other: int


def swap_until_good(groups: Codes, judge: GroupEvaluator, chance: Chance, most: int) -> Codes | None:
    """The groups after swaps, all of them good; None if that was not reached within `most` steps."""
    groups = groups.copy()
    kinds, number = judge.kinds.ids, int(groups.max(initial=-1)) + 1
    chosen = np.flatnonzero(groups != LEFT_OUT)
    excess = judge.excess(groups[chosen], kinds[chosen], number)
    sizes = np.bincount(groups[chosen], minlength=number)
    members = np.split(chosen[np.argsort(groups[chosen], kind="stable")], np.cumsum(sizes)[:-1])
    for _ in range(most):
        worst = int(np.argmax(excess))
        if excess[worst] <= 0:
            return groups
        partners = chance.order(number)
        partners = partners[partners != worst][:PARTNERS]
        found = _best_trade(worst, partners, members, excess, judge, chance)
        if found is None:
            return None
        trade, changed = found
        other = int(groups[trade.other])
        groups[trade.row], groups[trade.other] = other, worst
        for group, (leaves, comes) in ((worst, (trade.row, trade.other)), (other, (trade.other, trade.row))):
            members[group] = np.append(members[group][members[group] != leaves], comes)
            excess[group] = changed[group]
    return groups if excess.max() <= 0 else None


def _best_trade(
    worst: int,
    partners: Counts,
    members: list[Counts],
    excess: npt.NDArray[np.float64],
    judge: GroupEvaluator,
    chance: Chance,
) -> tuple[_Trade, dict[int, float]] | None:
    """The trade that brings the worse of both groups nearest to its promises, if one brings it nearer."""
    kinds = judge.kinds.ids
    trades: list[tuple[int, _Trade]] = []
    owners: list[Codes] = []
    codes: list[Codes] = []
    for partner in partners.tolist():
        for row, other in _pairs(members[worst], members[partner], kinds, chance):
            at = 2 * len(trades)
            trades.append((partner, _Trade(row, other)))
            for place, own, leaves, comes in (
                (at, members[worst], row, other),
                (at + 1, members[partner], other, row),
            ):
                after = np.append(own[own != leaves], comes)
                codes.append(kinds[after])
                owners.append(np.full(len(after), place, np.int32))
    if not trades:
        return None
    after = judge.excess(np.concatenate(owners), np.concatenate(codes), 2 * len(trades))
    ours, theirs = after[0::2], after[1::2]
    reached = np.maximum(ours, theirs)
    best = int(np.argmin(reached))
    partner, trade = trades[best]
    if reached[best] >= excess[worst] - 1e-12:
        return None
    return trade, {worst: float(ours[best]), partner: float(theirs[best])}


def _pairs(ours: Counts, theirs: Counts, kinds: Codes, chance: Chance) -> list[tuple[int, int]]:
    """One row of each kind on either side; which of them is left to chance where there are many."""
    mine, own_places = np.unique(kinds[ours], return_index=True)
    yours, other_places = np.unique(kinds[theirs], return_index=True)
    pairs = [
        (int(ours[i]), int(theirs[j]))
        for a, i in zip(mine, own_places, strict=True)
        for b, j in zip(yours, other_places, strict=True)
        if a != b
    ]
    if len(pairs) <= PAIRS:
        return pairs
    return [pairs[place] for place in chance.order(len(pairs))[:PAIRS].tolist()]
