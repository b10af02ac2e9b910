"""S6: the set of actions with the least loss that clears all flags.

For every attribute a level is chosen, or it is withheld. A record may be deleted only if it is outstanding in
two or more attributes even at their last useful level; a value of somebody outstanding in one attribute alone
costs this attribute, not the record. So which records go follows from which attributes are withheld, and a
set of actions is a set of withheld attributes and a level for each of the others.

The loss is the mean over all cells of level / height, a withheld or deleted cell counting 1, each attribute
weighed by what changing it costs. It is a sum over attributes, so the sets of actions can be looked at in the
order of their loss, and the first one that clears the flags of combinations too is the best of all.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tarnkappe.exchange.checking.rarity import Flagger, KnownAttribute, Pattern, pattern
from tarnkappe.exchange.statistics import PopulationProfile
from tarnkappe.table.classes import Mask

MOST_EXACT = 10
"""With more attributes than this, only conspicuous ones are considered for being withheld."""
MOST_TRIED = 10_000
"""How many sets of actions are looked at before the request is refused for want of one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Actions:
    """What is done with a selection.

    Attributes:
        levels: the level of every attribute that is released.
        withheld: the attributes that are not.
        deleted: the rows that are deleted.
        loss: what that costs, from 0 (nothing is changed) to 1.
        tried: how many sets of actions were looked at.
        exact: whether no other set that clears the flags costs less.
    """

    levels: Mapping[str, int]
    withheld: tuple[str, ...]
    deleted: Mask
    loss: float
    tried: int
    exact: bool


@dataclasses.dataclass(frozen=True, eq=False)
class _Part:
    """All sets of actions that withhold the same attributes: the levels that clear each of the others."""

    withheld: frozenset[str]
    deleted: Mask
    choices: tuple[tuple[str, tuple[int, ...]], ...]


def choose(
    known: Sequence[KnownAttribute], flagger: Flagger, profile: PopulationProfile, k: int, least_rows: int
) -> Actions | None:
    """The set of actions with the least loss; None if none clears all flags and keeps enough people.

    Args:
        known: the quasi-identifiers.
        flagger: raises the flags.
        profile: what the statistics say.
        k: how many people of the reference area must be expected to share a combination.
        least_rows: how many people must be left.
    """
    number = len(known[0].column.codes) if known else 0
    parts = list(_parts(known, flagger, number, least_rows))
    for tried, (loss, part, levels) in enumerate(_by_loss(known, parts, number), start=1):
        if _population_pattern(known, levels, part, profile, k).rare == 0:
            return Actions(
                levels, tuple(sorted(part.withheld)), part.deleted, loss, tried, len(known) <= MOST_EXACT
            )
        if tried == MOST_TRIED:
            break
    return None


def _population_pattern(
    known: Sequence[KnownAttribute],
    levels: Mapping[str, int],
    part: _Part,
    profile: PopulationProfile,
    k: int,
) -> Pattern:
    return pattern(known, levels, ~part.deleted, profile, k)


def _parts(
    known: Sequence[KnownAttribute], flagger: Flagger, number: int, least_rows: int
) -> Iterator[_Part]:
    everybody = np.ones(number, dtype=bool)
    changeable = [each.name for each in known if each.price != math.inf]
    if len(known) > MOST_EXACT:
        changeable = [
            each.name
            for each in known
            if each.name in changeable and flagger.flagged(each.name, each.useful, everybody).open.any()
        ][:MOST_EXACT]
    for size in range(len(changeable) + 1):
        for withheld in map(frozenset, itertools.combinations(changeable, size)):
            kept = [each for each in known if each.name not in withheld]
            deleted = records_to_delete(known, kept, flagger, number)
            if deleted is None or number - int(deleted.sum()) < least_rows:
                continue
            choices = tuple((each.name, clear_levels(each, flagger, ~deleted)) for each in kept)
            if all(levels for _, levels in choices):
                yield _Part(withheld, deleted, choices)


def clear_levels(each: KnownAttribute, flagger: Flagger, live: Mask) -> tuple[int, ...]:
    """The levels at which an attribute has no open flag."""
    return tuple(level for level in each.choices if not flagger.flagged(each.name, level, live).open.any())


def records_to_delete(
    known: Sequence[KnownAttribute], kept: Sequence[KnownAttribute], flagger: Flagger, number: int
) -> Mask | None:
    """The records that keep an attribute from being released even at its last useful level.

    None if one of them is outstanding in this attribute only: then the attribute must be withheld.
    Deleting records makes others rare, so it is looked again until nothing changes.
    """
    live = np.ones(number, dtype=bool)
    outstanding = np.zeros(number, dtype=bool)
    while True:
        rare = {each.name: flagger.locally_rare(each.name, live) for each in known}
        outstanding |= sum((own.astype(np.int64) for own in rare.values()), np.zeros(number, np.int64)) >= 2
        in_the_way = np.zeros(number, dtype=bool)
        for each in kept:
            in_the_way |= rare[each.name]
        if not in_the_way.any():
            return ~live
        if (in_the_way & ~outstanding).any():
            return None
        live &= ~in_the_way


def _by_loss(
    known: Sequence[KnownAttribute], parts: Sequence[_Part], number: int
) -> Iterator[tuple[float, _Part, dict[str, int]]]:
    """All sets of actions in the order of their loss; of equals, the one that withholds less comes first."""
    heap: list[tuple[float, int, tuple[int, ...]]] = []
    for index, part in enumerate(parts):
        start = (0,) * len(part.choices)
        heap.append((_loss(known, part, start, number), index, start))
    heapq.heapify(heap)
    seen = {(index, start) for _, index, start in heap}
    while heap:
        loss, index, places = heapq.heappop(heap)
        part = parts[index]
        levels = {name: choices[place] for (name, choices), place in zip(part.choices, places, strict=True)}
        yield loss, part, levels
        for position, (_, choices) in enumerate(part.choices):
            after = (*places[:position], places[position] + 1, *places[position + 1 :])
            if after[position] < len(choices) and (index, after) not in seen:
                seen.add((index, after))
                heapq.heappush(heap, (_loss(known, part, after, number), index, after))


def _loss(known: Sequence[KnownAttribute], part: _Part, places: Sequence[int], number: int) -> float:
    levels = {name: choices[place] for (name, choices), place in zip(part.choices, places, strict=True)}
    return loss_of(known, levels, int(part.deleted.sum()), number)


def loss_of(known: Sequence[KnownAttribute], levels: Mapping[str, int], deleted: int, number: int) -> float:
    """What a set of actions costs; an attribute without a level is withheld."""
    weights = {each.name: 1.0 if each.price == math.inf else each.price for each in known}
    lost = [
        weights[each.name]
        * (
            deleted
            + (number - deleted) * (levels[each.name] / each.levels.height if each.name in levels else 1.0)
        )
        for each in known
    ]
    return math.fsum(lost) / (max(number, 1) * math.fsum(weights.values())) if known else 0.0
