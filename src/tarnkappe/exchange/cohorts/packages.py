"""The rows of a package from cohorts: labels of whole groups, and cells that hide who is conspicuous.

A label is never the range of the people who were selected: whoever is the oldest of them would be told as
selected. It reaches over everybody in the cohorts of the group, in steps of the hierarchy.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tarnkappe.exchange.catalogue import Attribute
from tarnkappe.exchange.cohorts.multisets import to_hide
from tarnkappe.exchange.cohorts.plan import FINEST, HIDDEN, KNOWN, Asked, CohortPlan
from tarnkappe.exchange.policy import Thresholds
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.recoding.labels import interval_label, set_label
from tarnkappe.recoding.runs import runs_of
from tarnkappe.state import Key
from tarnkappe.table import SUPPRESSED, Column
from tarnkappe.table.encoding import encode_column


@dataclasses.dataclass(frozen=True, eq=False)
class GroupedRows:
    """Who is in the table of one selection.

    Attributes:
        asked: whom it selects.
        people: their places in the plan.
        group: the group of each, by its number.
        groups: the cohorts of each group.
        waiting: how many people are left out for now.
    """

    asked: Asked
    people: np.ndarray[tuple[int], np.dtype[np.int64]]
    group: np.ndarray[tuple[int], np.dtype[np.int64]]
    groups: Sequence[Sequence[int]]
    waiting: int


def grouped_rows(
    plan: CohortPlan, asked: Asked, purpose: str, k: int, *, consented: bool = False
) -> GroupedRows:
    """The people of a selection by their groups; a group with fewer than k people left is left out.

    Args:
        plan: the cohorts, with groups of this selection.
        asked: the selection.
        purpose: what the package is for.
        k: how many people a group must have.
        consented: whether only those may be in it who consented to being identified again.
    """
    groups = [list(part) for part in plan.groups[asked].parts[purpose]]
    if consented:
        groups = [part for part in groups if all(plan.kinds[cohort] for cohort in part)]
    of = np.full(plan.size + 1, -1, np.int64)  # the last stands for no cohort
    for number, part in enumerate(groups):
        of[part] = number
    within = plan.within(asked)
    group = of[within]
    sizes = np.bincount(group[group >= 0], minlength=len(groups))
    group = np.where((group >= 0) & (np.append(sizes, 0)[group] >= k), group, -1)
    people = np.flatnonzero(group >= 0)
    return GroupedRows(asked, people, group[people], groups, int((within >= 0).sum()) - len(people))


class GroupLabels:
    """Writes the labels of one known attribute.

    Args:
        plan: the cohorts.
        attribute: the attribute.
        level: the least level that the package may have.
    """

    def __init__(self, plan: CohortPlan, attribute: Attribute, level: int = 0) -> None:
        self._lists = plan.hulls.column(attribute.name).combine_chunks()
        ends = self._lists.flatten()
        present = plan.people.column(KNOWN + attribute.name).combine_chunks()
        values = pa.concat_arrays([ends, present.filter(pa.array(plan.cohort >= 0))])
        column = encode_column(attribute.name, pa.chunked_array([values]))
        self.hierarchy: Hierarchy = attribute.hierarchy_for(column)
        self.column: Column = self.hierarchy.attach(column)
        self._ends = self.column.codes[: len(ends)].astype(np.int64)
        self._runs, self._level = runs_of(self.column), level

    def at_least(self, level: int) -> GroupLabels:
        """The same with another least level."""
        other = copy.copy(self)
        other._level = level
        return other

    def meant(self, cohorts: Sequence[int]) -> set[str]:
        """The values that people of a group may have."""
        codes, numbers = self._codes(cohorts), self.column.numbers
        if numbers is not None and not np.isnan(numbers[codes]).any():
            codes = np.arange(codes.min(), codes.max() + 1)
        return {self.column.labels[code] for code in codes.tolist()}

    def _codes(self, cohorts: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        offsets = self._lists.offsets.to_numpy()
        return np.concatenate([self._ends[offsets[c] : offsets[c + 1]] for c in cohorts])

    def of(self, cohorts: Sequence[int]) -> str:
        """The label of a group of cohorts."""
        codes = self._codes(cohorts)
        numbers, levels = self.column.numbers, self.column.levels
        assert levels is not None
        if numbers is None or np.isnan(numbers[codes]).any():
            return self._of_words(np.unique(codes))
        low, high = int(codes.min()), int(codes.max())
        if self._level > 0:
            own = levels.maps[min(self._level, levels.height)]
            under = np.flatnonzero((own == own[low]) | (own == own[high]))
            low, high = int(under.min()), int(under.max())
        if self._runs is not None:
            return self._runs.word(int(self._runs.label_of[low]), int(self._runs.label_of[high]))
        return interval_label(self.column.labels[low], self.column.labels[high])

    def _of_words(self, codes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
        """The lowest node above all values if it has few others, or the values."""
        levels = self.column.levels
        assert levels is not None
        first = min(self._level, levels.height)
        for level in range(first, levels.height + 1):
            labels = np.unique(levels.maps[level][codes])
            if len(labels) == 1:
                if level == first or int(levels.leaves[level][labels[0]]) <= 2 * len(codes):
                    return levels.labels[level][int(labels[0])]
                break
        return set_label([levels.labels[first][int(label)] for label in np.unique(levels.maps[first][codes])])


def sensitive_cells(
    plan: CohortPlan, rows: GroupedRows, name: str, conspicuous: Sequence[str], limits: Thresholds, key: Key
) -> list[str]:
    """The cells of a sensitive column, with `*` for conspicuous values and for others that hide them.

    Which others depends on the values of the group and a key, so it is the same in every package. Where what
    is left would tell too much, and where somebody of the group left, the whole group has `*`.
    """
    texts = plan.people.column(HIDDEN + name).take(pa.array(rows.people)).to_pylist()
    cells = [SUPPRESSED if text is None else str(text) for text in texts]
    finest = plan.groups[rows.asked].parts[FINEST]
    fine = np.full(plan.size, -1, np.int64)
    for number, part in enumerate(finest):
        fine[list(part)] = number
    cohort = plan.cohort[rows.people]
    for place in _members(fine[cohort]):
        hide = {row for row in place if cells[row] in conspicuous}
        others = sorted((row for row in place if row not in hide), key=lambda row: cells[row])
        first = str(finest[int(fine[cohort[place[0]]])][0])
        secret = key.derived("cover", str(plan.epoch), *rows.asked, "group", first, "of", name)
        chance = random.Random(secret)  # noqa: S311
        hide |= set(chance.sample(others, to_hide(len(hide), len(others), limits.cover)))
        for row in hide:
            cells[row] = SUPPRESSED
    closed, values = plan.groups[rows.asked].closed, limits.values_of(name)
    for group, place in zip(np.unique(rows.group).tolist(), _members(rows.group), strict=True):
        seen = [cells[row] for row in place if cells[row] != SUPPRESSED]
        most = max((seen.count(value) for value in set(seen)), default=0)
        tells = len(set(seen)) < values.l or most > values.share * len(place) + 1e-9
        if closed & set(rows.groups[group]) or (tells and limits.insider != "none"):
            for row in place:
                cells[row] = SUPPRESSED
    return cells


def _members(group: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[list[int]]:
    """The rows of each group, in the order of the groups."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-2)) if len(order) else np.empty(0, np.int64)
    return [each.tolist() for each in np.split(order, starts[1:])] if len(order) else []


def labelled(rows: GroupedRows, labels: Mapping[str, GroupLabels]) -> dict[str, list[str]]:
    """The cells of the known columns."""
    words = {
        name: {group: own.of(rows.groups[group]) for group in np.unique(rows.group).tolist()}
        for name, own in labels.items()
    }
    return {name: [own[group] for group in rows.group.tolist()] for name, own in words.items()}


def shown_columns(plan: CohortPlan, asked: Asked, purpose: str, wanted: Sequence[str]) -> list[str]:
    """The sensitive columns that a package may have, of those that are wanted, the first of them only.

    Two of them in one row would tell the second to who knows the first; each can be asked for by itself.
    """
    allowed = [name for name in wanted if name in plan.groups[asked].shown[purpose] and name != asked[0]]
    return allowed[:1]


def within_values(rows: GroupedRows, labels: GroupLabels, values: Sequence[str]) -> GroupedRows:
    """The rows of groups in which nobody can have another value of a known attribute."""
    inside = np.array([labels.meant(part) <= set(values) for part in rows.groups], dtype=bool)[rows.group]
    left_out = int(np.count_nonzero(~inside))
    return dataclasses.replace(
        rows, people=rows.people[inside], group=rows.group[inside], waiting=rows.waiting + left_out
    )
