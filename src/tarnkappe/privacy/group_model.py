"""Models on groups of classes: all released classes that agree in some of the quasi-identifiers.

An attacker who knows only some of the quasi-identifiers cannot tell the classes of a group apart. What
is suppressed elsewhere leaves its group too, so a group is judged by what is kept of it, and a group
that does not meet the model is suppressed as a whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from tarnkappe.errors import ColumnError
from tarnkappe.privacy.model import Measure, Model, ModelScope
from tarnkappe.privacy.verify import class_of, text
from tarnkappe.table import SUPPRESSED, Classes, Distribution, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.grouping import (
    Codes,
    Counts,
    RowGrouping,
    group_codes,
    group_keys,
    sort_pairs_by_group,
    sum_by_group,
)


def group_classes(classes: Classes, names: Sequence[str]) -> RowGrouping:
    """Group the classes that agree in the named quasi-identifiers."""
    chosen = [i for i, column in enumerate(classes.quasi_identifiers) if column.name in names]
    if not chosen:
        return group_keys(np.zeros(classes.num_classes, np.uint64), 1)
    codes = [classes.label_codes(index) for index in chosen]
    return group_codes(codes, [int(labels.max(initial=0)) + 1 for labels in codes])


def merge_classes(distribution: Distribution, groups: RowGrouping, kept: Mask) -> Distribution:
    """The values of each group, counted over the kept classes only."""
    entries = np.flatnonzero(kept[distribution.class_of_entry])
    group_of_entry = groups.ids[distribution.class_of_entry[entries]]
    codes = distribution.codes[entries]
    pairs = group_codes([group_of_entry, codes], [groups.num_groups, distribution.column.cardinality])
    order, offsets = sort_pairs_by_group(group_of_entry[pairs.representatives], groups.num_groups)
    return Distribution(
        column=distribution.column,
        totals=distribution.totals,
        offsets=offsets,
        codes=codes[pairs.representatives][order],
        counts=sum_by_group(pairs.ids, distribution.counts[entries], pairs.num_groups)[order],
    )


def visible_only(distribution: Distribution) -> Distribution:
    """A joint distribution without the entries in which the cell of some column is suppressed."""
    visible = np.ones(distribution.column.cardinality, dtype=bool)
    for column, codes in distribution.column.parts:
        visible &= np.array([label != SUPPRESSED for label in column.labels], dtype=bool)[codes]
    if visible.all():
        return distribution
    entries = visible[distribution.codes]
    lengths: Counts = np.bincount(
        distribution.class_of_entry[entries], minlength=distribution.num_classes
    ).astype(np.int64)
    return Distribution(
        column=distribution.column,
        totals=np.where(visible, distribution.totals, 0),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        codes=distribution.codes[entries],
        counts=distribution.counts[entries],
    )


class GroupModel(Model):
    """A model on the values of one or several columns within each group.

    With suppression: let a set S of rows be kept at some levels, and let each of its groups meet the
    model. At higher levels take all classes that contain a row of S. Each of their groups contains a whole
    group of S, together perhaps with rows that were suppressed before. So if more rows never hurt, these
    classes meet the model too, and the model is monotone with suppression.
    """

    scope = ModelScope.GROUP

    @property
    @abstractmethod
    def group_columns(self) -> tuple[str, ...]:
        """The quasi-identifiers that define the groups; none stands for all of them."""

    @property
    @abstractmethod
    def value_columns(self) -> tuple[str, ...]:
        """The columns whose combinations of values are counted."""

    @abstractmethod
    def measure_groups(self, distribution: Distribution) -> Measure:
        """The measured value of each group."""

    @abstractmethod
    def groups_hold(self, distribution: Distribution) -> Mask:
        """Which groups meet the model; called with groups that have a visible value only."""

    @property
    def distributions(self) -> tuple[tuple[str, ...], ...]:
        """The columns whose values are counted."""
        return (self.value_columns,)

    def check(self, tuples: Tuples, quasi_identifiers: Sequence[str]) -> None:
        """Refuse groups by other columns than quasi-identifiers, and values that are quasi-identifiers."""
        super().check(tuples, quasi_identifiers)
        for name in self.group_columns:
            if name not in quasi_identifiers:
                raise ColumnError(
                    "privacy.no-quasi-identifier-cannot-define",
                    "{model}: '{name}' is no quasi-identifier, so it cannot define groups",
                    model=self,
                    name=name,
                )
        for name in self.value_columns:
            if name in quasi_identifiers:
                raise ColumnError(
                    "privacy.quasi-identifier-cannot-what-protected",
                    "{model}: '{name}' is a quasi-identifier, so it cannot be what is protected",
                    model=self,
                    name=name,
                )

    def measure(self, classes: Classes) -> Measure:
        """The measured value of each class: that of its group."""
        ids, distribution = self._grouped(classes, classes.released)
        return self.measure_groups(distribution)[ids]

    def holds(self, classes: Classes) -> Mask:
        """The classes whose groups meet the model if nothing is suppressed."""
        return self._hold(classes, classes.released)

    def keep(self, classes: Classes, kept: Mask) -> Mask:
        """The classes whose groups meet the model with what is kept of them.

        Groups are disjoint and are suppressed as a whole, so what is left meets the model.
        """
        return kept & self._hold(classes, kept)

    def value(self, classes: Classes, kept: Mask) -> float:
        """The worst value of a group, with what is kept of it."""
        ids, distribution = self._grouped(classes, kept)
        return self.direction.worst(self.measure_groups(distribution)[ids][kept])

    def _hold(self, classes: Classes, kept: Mask) -> Mask:
        ids, distribution = self._grouped(classes, kept)
        return (self.groups_hold(distribution) & (distribution.sizes > 0))[ids]

    def _grouped(self, classes: Classes, kept: Mask) -> tuple[Codes, Distribution]:
        distribution = visible_only(classes.distributions[self.value_columns])
        if not self.group_columns:
            return np.arange(classes.num_classes, dtype=np.int32), distribution
        groups = group_classes(classes, self.group_columns)
        return groups.ids, merge_classes(distribution, groups, kept)

    def sql_counts(self, quasi_identifiers: Sequence[str]) -> str:
        """The relation `counts(class, value, n)` of the groups, in SQL."""
        group = class_of(self.group_columns or quasi_identifiers)
        visible = " AND ".join(f"{text(name)} <> '{SUPPRESSED}'" for name in self.value_columns)
        return (
            f"counts AS (SELECT {group} AS class, {class_of(self.value_columns)} AS value, count(*) AS n"
            f" FROM release WHERE {visible} GROUP BY ALL)"
        )
