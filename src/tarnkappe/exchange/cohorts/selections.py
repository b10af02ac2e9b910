"""Groups are made at the first request that asks for a value, for all purposes at once, and then kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.cohorts.cutting import KnownValues, Rows, counted
from tarnkappe.exchange.cohorts.groups import Counts, Good, Hulls, group_tree
from tarnkappe.exchange.cohorts.multisets import keeps
from tarnkappe.exchange.cohorts.plan import EVERYBODY, FINEST, Asked, CohortPlan, SelectionGroups
from tarnkappe.exchange.policy import SitePolicy, Thresholds
from tarnkappe.exchange.request import Purpose
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import encode_column


def with_groups(plan: CohortPlan, asked: Asked, wanted: Collection[str], policy: SitePolicy) -> CohortPlan:
    """The plan with groups of everybody who is asked for; those that are there stay as they are.

    Cohorts that came later make groups of their own. Until there are enough of their people, who keep the
    policy, these are left out.

    Args:
        plan: the cohorts.
        asked: who is asked for.
        wanted: the known attributes whose detail matters.
        policy: what groups must keep, for each purpose.
    """
    purposes = {FINEST: policy.every_purpose()[0]}
    purposes |= {str(purpose): policy.thresholds_for(purpose) for purpose in Purpose}
    found = plan.groups.get(asked)
    if asked == EVERYBODY:
        groups = _everybody(plan, purposes, found)
    else:
        groups = _selected(plan, asked, wanted, purposes, found)
    return dataclasses.replace(plan, groups={**plan.groups, asked: groups})


def _everybody(
    plan: CohortPlan, purposes: Mapping[str, Thresholds], found: SelectionGroups | None
) -> SelectionGroups:
    """Everybody is asked for: each cohort is a group, and keeps the policy in every attribute."""
    each = [[cohort] for cohort in range(plan.size)]
    shown = dict.fromkeys(purposes, plan.hidden)
    return SelectionGroups(dict.fromkeys(purposes, each), shown, found.closed if found else frozenset())


def _selected(
    plan: CohortPlan,
    asked: Asked,
    wanted: Collection[str],
    purposes: Mapping[str, Thresholds],
    found: SelectionGroups | None,
) -> SelectionGroups:
    within = plan.within(asked)
    number = np.bincount(within[within >= 0], minlength=plan.size).astype(np.int64)
    sizes = np.bincount(plan.cohort[plan.cohort >= 0], minlength=plan.size)
    present = min(limits.most_present for limits in purposes.values())
    counts, totals = _counts(plan, within, asked[0])
    if found is None:
        shown = {name: _shown(limits, counts, totals) for name, limits in purposes.items()}
        found = SelectionGroups(dict.fromkeys(purposes, ()), shown)
    grouped = {cohort for part in found.parts[FINEST] for cohort in part}
    waiting = np.array([c for c in np.flatnonzero(number).tolist() if c not in grouped], dtype=np.int64)
    if (number[waiting] > present * sizes[waiting] + 1e-9).any():
        return found  # several rare values together would be told of too many of a cohort
    hulls = [_hulls(plan, name) for name in plan.known]
    parts = {name: [list(part) for part in own] for name, own in found.parts.items()}
    for kind in (True, False):
        own = waiting[np.array([plan.kinds[c] is kind for c in waiting.tolist()], dtype=bool)]
        if not len(own):
            continue
        seen = {name: counts[name] for name in found.shown[FINEST] if name in counts}
        asked_for = [name in wanted for name in plan.known]
        tree = group_tree(own, number, seen, hulls, asked_for, _good(purposes[FINEST], totals))
        for name, limits in purposes.items():
            good = _whole(number, counts, found.shown[name], _good(limits, totals))
            parts[name] += [sorted(part.tolist()) for part in tree.parts(good)]
    return dataclasses.replace(found, parts=parts)


def _counts(plan: CohortPlan, within: Rows, selecting: str) -> tuple[dict[str, Counts], dict[str, Counts]]:
    """By cohort, and in all, how many of those who are asked for have each other sensitive value."""
    counts = {}
    for name in plan.hidden:
        if name != selecting:
            codes, values = plan.codes(name)
            counts[name] = counted(codes, len(values), within, plan.size)
    return counts, {name: table.sum(axis=0) for name, table in counts.items()}


def _shown(limits: Thresholds, counts: Mapping[str, Counts], totals: Mapping[str, Counts]) -> list[str]:
    """The sensitive attributes that keep the policy among all who are asked for; decided once."""
    if limits.insider == "none":
        return list(counts)
    return [
        name
        for name, total in totals.items()
        if total.sum() and keeps(total, limits.values_of(name), total)[0]
    ]


def _good(limits: Thresholds, totals: Mapping[str, Counts]) -> Good:
    def good(people: Counts, counts: Mapping[str, Counts]) -> Mask:
        held = np.asarray(people >= limits.k)
        if limits.insider == "none":
            return held
        for name, own in counts.items():
            held &= (own.sum(axis=1) > 0) & keeps(own, limits.values_of(name), totals[name])
        return held

    return good


def _whole(
    number: Counts, counts: Mapping[str, Counts], shown: Sequence[str], good: Good
) -> Callable[[Rows], bool]:
    """Whether a group is good, by its cohorts."""

    def is_good(cohorts: Rows) -> bool:
        own = {name: counts[name][cohorts].sum(axis=0, keepdims=True) for name in shown if name in counts}
        return bool(good(np.array([number[cohorts].sum()]), own)[0])

    return is_good


def _hulls(plan: CohortPlan, name: str) -> Hulls:
    """How far each cohort reaches in a known attribute."""
    lists = plan.hulls.column(name).combine_chunks()
    column = encode_column(name, pa.chunked_array([lists.flatten()]))
    cohort = np.repeat(np.arange(plan.size), np.diff(lists.offsets.to_numpy()))
    return Hulls.of(KnownValues.of(column), cohort, plan.size)
