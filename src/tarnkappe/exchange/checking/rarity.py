"""S5: which values of a selection are conspicuous, here and in the population."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tarnkappe.exchange.catalogue import Attribute
from tarnkappe.exchange.findings import Flag
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.exchange.statistics import PopulationDistribution, PopulationProfile
from tarnkappe.exchange.statistics.profile import Bounds, Fits, Words, bounds, joint_bound, ratios
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.table import Column, Levels
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes

LOCAL = (Flag.UNIQUE, Flag.RARE_LOCAL)
"""Flags that only more people with the same value can clear."""


@dataclasses.dataclass(frozen=True, eq=False)
class KnownAttribute:
    """One quasi-identifier of a selection, as an attacker may know it.

    Attributes:
        attribute: the attribute.
        column: its values, with their generalization.
        hierarchy: the whole hierarchy, which has more values than occur.
        least: the least level at which it may be released; the purpose needs no more detail.
        price: what changing it costs; infinite if it must not be changed.
        selected: how it is distributed among people with what the selection was made by.
        everybody: how it is distributed among everybody.
    """

    attribute: Attribute
    column: Column
    hierarchy: Hierarchy
    least: int = 0
    price: float = 1.0
    selected: PopulationDistribution = dataclasses.field(
        default_factory=lambda: PopulationDistribution((), {})
    )
    everybody: PopulationDistribution = dataclasses.field(
        default_factory=lambda: PopulationDistribution((), {})
    )

    @property
    def name(self) -> str:
        """The attribute."""
        return self.attribute.name

    @property
    def levels(self) -> Levels:
        """How the values generalize."""
        assert self.column.levels is not None
        return self.column.levels

    @property
    def useful(self) -> int:
        """The greatest level at which it may be released; at the root it is withheld."""
        return self.attribute.last_useful_level(self.levels.height)

    @property
    def choices(self) -> range:
        """The levels at which it may be released."""
        return range(self.least, (self.least if self.price == np.inf else self.useful) + 1)

    def labels_of_rows(self, level: int) -> Codes:
        """The label of every row at a level."""
        return self.levels.maps[level][self.column.codes]

    def depends(self, peak: float) -> list[str]:
        """The values of the statistics that are typical of what people were selected by."""
        found = ratios(self.selected, self.everybody)
        return [value for value, ratio in found.items() if ratio > peak or ratio * peak < 1]


@dataclasses.dataclass(frozen=True, eq=False)
class Flagged:
    """The flags of the labels of one attribute at one level.

    Attributes:
        counts: how many people of the selection have each label.
        flags: for each flag, the labels that have it.
        open: the labels that may not be released at this level.
        unknown: the labels whose share of the population nobody knows well enough.
    """

    counts: Counts
    flags: Mapping[Flag, Mask]
    open: Mask
    unknown: Mask

    def people(self, flag: Flag) -> int:
        """How many people have a label with this flag."""
        return int(self.counts[self.flags[flag]].sum())


class Flagger:
    """Raises flags on the attributes of one selection."""

    def __init__(self, known: Sequence[KnownAttribute], thresholds: Thresholds) -> None:
        self.known = {each.name: each for each in known}
        self._thresholds = thresholds
        self._shares: dict[tuple[str, int], Bounds | None] = {}
        self._typical: dict[tuple[str, int], Mask] = {}
        self._flagged: dict[tuple[str, int, bytes], Flagged] = {}
        self._rare: dict[tuple[str, bytes], Mask] = {}

    def flagged(self, name: str, level: int, live: Mask) -> Flagged:
        """The flags of one attribute at one level, among the rows that are not deleted."""
        key = name, level, np.packbits(live).tobytes()
        if key not in self._flagged:
            self._flagged[key] = self._flag(self.known[name], level, live)
        return self._flagged[key]

    def locally_rare(self, name: str, live: Mask) -> Mask:
        """The rows whose value is rare here even at the last useful level."""
        key = name, np.packbits(live).tobytes()
        if key not in self._rare:
            each = self.known[name]
            found = self.flagged(name, each.useful, live)
            rare = np.logical_or.reduce([found.flags[flag] for flag in LOCAL])
            self._rare[key] = np.asarray(rare[each.labels_of_rows(each.useful)] & live)
        return self._rare[key]

    def _flag(self, each: KnownAttribute, level: int, live: Mask) -> Flagged:
        limits = self._thresholds
        number = each.levels.distinct(level)
        counts = np.bincount(each.labels_of_rows(level)[live], minlength=number).astype(np.int64)
        there = counts > 0
        here = counts / max(int(counts.sum()), 1)
        flags = {
            Flag.UNIQUE: counts == 1,
            Flag.RARE_LOCAL: there & (counts < limits.rare),
            Flag.RARE_GLOBAL: np.zeros(number, dtype=bool),
            Flag.PEAK: np.zeros(number, dtype=bool),
            Flag.TYPICAL: there & self._typical_labels(each, level),
        }
        shares, unknown = self._bounds(each, level), there
        if shares is not None:
            flags[Flag.RARE_GLOBAL] = there & (shares.high < limits.rare_global)
            flags[Flag.PEAK] = there & (
                (here > limits.peak * shares.high) | (here * limits.peak < shares.low)
            )
            unknown = there & (shares.low < shares.high)
        is_open = np.logical_or.reduce([flags[flag] for flag in (*LOCAL, Flag.RARE_GLOBAL, Flag.PEAK)])
        if level == 0 and each.useful > 0:  # ranges are the answer to what is typical
            is_open = is_open | flags[Flag.TYPICAL]
        return Flagged(counts, flags, is_open, unknown)

    def _bounds(self, each: KnownAttribute, level: int) -> Bounds | None:
        key = each.name, level
        if key not in self._shares:
            distribution = each.selected or each.everybody
            self._shares[key] = (
                bounds(distribution, each.levels.labels[level], each.hierarchy) if distribution else None
            )
        return self._shares[key]

    def _typical_labels(self, each: KnownAttribute, level: int) -> Mask:
        key = each.name, level
        if key not in self._typical:
            values = each.depends(self._thresholds.peak)
            words = Words(each.hierarchy, values)
            self._typical[key] = np.array(
                [
                    any(f is not Fits.OUTSIDE for f in words.fits(label))
                    for label in each.levels.labels[level]
                ],
                dtype=bool,
            )
        return self._typical[key]


@dataclasses.dataclass(frozen=True)
class Pattern:
    """What is known of the combinations of values of a selection in the population.

    Attributes:
        combinations: how many there are.
        rare: how many of them fewer than k people of the reference area are expected to have.
        people: how many people of the selection have such a combination.
        unknown: how many of the others nobody knows well enough to clear them.
        within: how many of the rare ones only what is known of their groups shows to be rare.
    """

    combinations: int
    rare: int
    people: int
    unknown: int
    within: int = 0


def pattern(
    known: Sequence[KnownAttribute], levels: Mapping[str, int], live: Mask, profile: PopulationProfile, k: int
) -> Pattern:
    """Whether combinations of values are rare in the population, as far as the statistics prove it.

    Independence is never assumed. Of a combination that no joint distribution covers, the rarest of its
    values is an upper bound: if even that is too rare, the combination is; if not, nothing is known. Within a
    group that a combination names, such as an occupation, what is rare there bounds it too: also what the
    people were selected by.
    """
    chosen = [each for each in known if each.name in levels]
    rows = np.flatnonzero(live)
    if not chosen or not len(rows):
        return Pattern(0, 0, 0, 0)
    codes: dict[str, npt.NDArray[np.int32]] = {
        each.name: each.labels_of_rows(levels[each.name])[rows] for each in chosen
    }
    groups = group_codes(list(codes.values()), [each.levels.distinct(levels[each.name]) for each in chosen])
    sizes = np.bincount(groups.ids, minlength=groups.num_groups)
    first = {name: own[groups.representatives] for name, own in codes.items()}
    labels = {each.name: each.levels.labels[levels[each.name]] for each in chosen}
    hierarchies = {each.name: each.hierarchy for each in chosen}
    expected = np.full(groups.num_groups, np.inf)
    covered = np.zeros(groups.num_groups, dtype=bool)
    for distribution in profile.joint():
        names = distribution.attributes
        if not set(names) <= set(labels) or distribution.population is None:
            continue
        if len(names) == 1:
            shares = bounds(distribution, labels[names[0]], hierarchies[names[0]])
            most = shares.high[first[names[0]]]
        else:
            some = group_codes([first[name] for name in names], [len(labels[name]) for name in names])
            own = {name: first[name][some.representatives] for name in names}
            most = joint_bound(distribution, labels, hierarchies, own)[some.ids]
        expected = np.minimum(expected, distribution.population * most)
        covered |= set(names) == set(labels)
    rare_anyway = expected < k
    for (kind, value), distribution in profile.within_groups():
        if kind in labels and distribution.population is not None:
            members = np.array([label == value for label in labels[kind]])[first[kind]]
            within = _most_within(distribution, labels, hierarchies, first, profile)
            expected = np.where(members, np.minimum(expected, distribution.population * within), expected)
    rare = expected < k
    return Pattern(
        groups.num_groups,
        int(rare.sum()),
        int(sizes[rare].sum()),
        int(np.count_nonzero(~rare & ~covered)),
        int(np.count_nonzero(rare & ~rare_anyway)),
    )


def _most_within(
    distribution: PopulationDistribution,
    labels: Mapping[str, Sequence[str]],
    hierarchies: Mapping[str, Hierarchy],
    first: Mapping[str, npt.NDArray[np.int32]],
    profile: PopulationProfile,
) -> npt.NDArray[np.float64] | float:
    """At most which share of a group has the values of each combination, by one attribute of the group."""
    (name,) = distribution.attributes if len(distribution.attributes) == 1 else ("",)
    if name in labels:
        return bounds(distribution, labels[name], hierarchies[name]).high[first[name]]
    if name != profile.anchor.attribute:
        return 1.0
    shares = [distribution.shares.get((value,)) for value in profile.anchor.values]
    known = sum(share + distribution.margin for share in shares if share is not None)
    return float(min(1.0, known + (distribution.unknown if None in shares else 0.0)))
