"""Privacy models asked of groups of rows, however these were formed.

Where a release does not generalize, an attacker who knows a person's quasi-identifiers is left with a group
of rows to choose from. Models on classes are asked of these groups. Models that count people beyond the
release, look at labels, or look at several classes at once speak of generalized quasi-identifiers: they are
refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.privacy import (
    DifferentialPrivacy,
    EpsilonMAnonymity,
    KullbackLeiblerCloseness,
    Model,
    ModelScope,
    PersonalizedAnonymity,
    needed_distributions,
)
from tarnkappe.table import Classes, Column, Role, Table, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import RowGrouping, group_codes, group_keys, sum_by_group

GROUP = "(group)"
LEFT_OUT = -1
"""The group of a row that is in none."""

SPOILED_BY_MIXING: tuple[type[Model], ...] = (
    EpsilonMAnonymity,
    KullbackLeiblerCloseness,
    PersonalizedAnonymity,
)
"""Models that several groups may meet and a mixture of them not."""


def mixing_remarks(parts: Sequence[Model]) -> tuple[str, ...]:
    """What is to be said where an attacker cannot tell which of several groups a person is in.

    He weighs what each of them tells. A mixture of distributions that are diverse, or close to that of the
    whole table, is so too; of some models this is not true.
    """
    return tuple(
        f"Mixtures: every group meets {part}. Where several groups are possible for a person, what they tell "
        "together, weighed by their likelihood, may not."
        for part in parts
        if isinstance(part, SPOILED_BY_MIXING)
    )


def group_models(models: Sequence[Model], method: str) -> tuple[Model, ...]:
    """The parts of some models, all of which can be asked of groups of rows."""
    parts = tuple(part for model in models for part in model.parts)
    for part in parts:
        speaks_of_labels = part.looks_beyond_release or part.measures_labels
        if isinstance(part, DifferentialPrivacy) or part.scope is not ModelScope.CLASS or speaks_of_labels:
            raise ParameterError(
                "recoding.speaks-generalized-quasi-identifiers",
                "{part} speaks of generalized quasi-identifiers, and {method} does not generalize: use "
                "models on sensitive columns and on the size of groups, or another method",
                part=part.name,
                method=method,
            )
    return parts


def require_sensitive(table: Table, models: Sequence[Model], method: str) -> None:
    """Refuse models on columns that are not sensitive: groups do not hide what stays beside a person."""
    for name in (name for names in needed_distributions(models) for name in names):
        if table.roles[name] is not Role.SENSITIVE:
            raise ColumnError(
                "recoding.no-sensitive-column-protects",
                "'{name}' is no sensitive column, and {method} protects sensitive columns only: give it the"
                " role 'sensitive', or use another method",
                name=name,
                method=method,
            )


def free_name(name: str, table: Table) -> str:
    """A name that no column of a table has."""
    while name in table.column_names:
        name += "_"
    return name


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without its dictionary: a dictionary would tell values of rows that are not released."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


@dataclasses.dataclass(frozen=True, eq=False)
class GroupEvaluator:
    """Asks models of groups.

    Attributes:
        rows: the rows one by one.
        parts: the models, see `group_models`.
    """

    rows: Tuples
    parts: tuple[Model, ...]

    @cached_property
    def kinds(self) -> RowGrouping:
        """Rows that the models cannot tell apart are of one kind."""
        if not self._names:
            return group_keys(np.zeros(self.rows.num_tuples, np.uint64), 1)
        columns = [self.rows.columns[name] for name in self._names]
        return group_codes([c.codes for c in columns], [c.cardinality for c in columns])

    @cached_property
    def kind_counts(self) -> Counts:
        """How many rows are of each kind."""
        return sum_by_group(self.kinds.ids, self.rows.counts, self.kinds.num_groups)

    def violating(self, groups: Codes) -> Mask:
        """Which groups some model forbids; rows that are left out are in none."""
        chosen = groups != LEFT_OUT
        number = int(groups.max(initial=-1)) + 1
        return self._forbidden(self._classes(groups[chosen], self.kinds.ids[chosen], number))[:number]

    def excess(self, groups: Codes, kinds: Codes, number: int) -> npt.NDArray[np.float64]:
        """How far each of some groups, given by the kinds of their members, is from keeping the promises.

        It is above 0 for groups that a model forbids and at most 0 for the others; the unit is the bound.
        """
        classes = self._classes(groups, kinds, number)
        worst = np.full(classes.num_classes, -np.inf)
        for part in self.parts:
            sign = -1.0 if part.direction.high_is_good else 1.0
            far = sign * (part.measure(classes) - part.bound) / max(abs(part.bound), 1e-9)
            far = np.nan_to_num(far, nan=1e9, posinf=1e9, neginf=-1e9)
            good = part.holds(classes)
            worst = np.maximum(worst, np.where(good, np.minimum(far, 0.0), np.maximum(far, 1e-12)))
        return worst[:number]

    def _forbidden(self, classes: Classes) -> Mask:
        good = np.ones(classes.num_classes, dtype=bool)
        for part in self.parts:
            good &= part.holds(classes)
        return ~good

    def _classes(self, groups: Codes, kinds: Codes, number: int) -> Classes:
        """Groups as classes in their own order, compared with the distributions of the whole input.

        The whole input stands in one more class without a row.
        """
        whole = self.kinds.num_groups
        all_groups = np.concatenate([groups, np.full(whole, number)]).astype(np.int32)
        places = self.kinds.representatives[np.concatenate([kinds, np.arange(whole)])]
        order = np.argsort(all_groups, kind="stable")  # classes are numbered as they first occur
        column = Column(GROUP, all_groups[order], pa.array(np.arange(number + 1)))
        tuples = Tuples(
            {GROUP: column, **{name: self.rows.columns[name].take(places[order]) for name in self._names}},
            np.concatenate([np.ones(len(groups), np.int64), np.zeros(whole, np.int64)])[order],
            reference=np.concatenate([np.zeros(len(groups), np.int64), self.kind_counts])[order],
        )
        return tuples.classes((GROUP,), None, needed_distributions(self.parts))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for names in needed_distributions(self.parts) for name in names))
