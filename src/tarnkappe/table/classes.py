"""Distinct tuples, equivalence classes and what is known of each class.

`Tuples` is the compact form of a table on which all searches and checks run: the distinct
combinations of the columns that matter, each with how often it occurs. `Classes` are the equivalence
classes that a choice of generalization levels makes of them. A `ClassState` adds which classes are kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.table.encoding import Codes, Column, Counts, Levels, join_columns
from tarnkappe.table.grouping import RowGrouping, group_codes, group_keys, sort_pairs_by_group, sum_by_group
from tarnkappe.table.table import SUPPRESSED

Mask = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class Tuples:
    """Combinations of values with how often they occur.

    Attributes:
        columns: the columns by name; their codes have one entry per tuple.
        counts: in how many rows of the table to be released each tuple occurs.
        population: in how many rows of the whole population it occurs, if one is given.
        reference: in how many rows of the whole input it occurs, where these are only a part of its rows.
            Distributions are compared with that of the whole input.
    """

    columns: Mapping[str, Column]
    counts: Counts
    population: Counts | None = None
    reference: Counts | None = None

    @classmethod
    def of_rows(cls, columns: Iterable[Column]) -> Tuples:
        """Every row as a tuple of its own."""
        named = {column.name: column for column in columns}
        num_rows = len(next(iter(named.values())).codes)
        return cls(named, np.ones(num_rows, dtype=np.int64))

    @property
    def num_tuples(self) -> int:
        """How many tuples there are."""
        return len(self.counts)

    @cached_property
    def num_rows(self) -> int:
        """How many rows of the table the tuples stand for."""
        return int(self.counts.sum())

    def with_levels(self, levels: Mapping[str, Levels]) -> Tuples:
        """The same tuples, with generalizations for some of the columns."""
        columns = {n: c.with_levels(levels[n]) if n in levels else c for n, c in self.columns.items()}
        return dataclasses.replace(self, columns=columns)

    def select(self, names: Iterable[str]) -> Tuples:
        """The same tuples with some of the columns only."""
        return dataclasses.replace(self, columns={name: self.columns[name] for name in names})

    def distinct(self) -> Tuples:
        """The same table with equal tuples merged."""
        columns = list(self.columns.values())
        grouping = group_codes([c.codes for c in columns], [c.cardinality for c in columns])
        if grouping.num_groups == self.num_tuples:
            return self  # millions of tuples that an engine has merged need not be copied

        def merged(counts: Counts | None) -> Counts | None:
            return None if counts is None else sum_by_group(grouping.ids, counts, grouping.num_groups)

        return Tuples(
            {c.name: c.take(grouping.representatives) for c in columns},
            sum_by_group(grouping.ids, self.counts, grouping.num_groups),
            merged(self.population),
            merged(self.reference),
        )

    def part(self, chosen: Mask) -> Tuples:
        """Some of the tuples as a table of their own, still to be compared with the whole input.

        The others stay with a count of 0, as tuples that occur in a population only do.
        """
        return dataclasses.replace(
            self,
            counts=np.where(chosen, self.counts, 0),
            population=None if self.population is None else np.where(chosen, self.population, 0),
            reference=self.counts if self.reference is None else self.reference,
        )

    def classes(
        self,
        quasi_identifiers: Sequence[str],
        levels: Sequence[int] | None = None,
        distributions: Iterable[tuple[str, ...]] = (),
    ) -> Classes:
        """The equivalence classes at the given levels (without levels: of the values themselves).

        Args:
            quasi_identifiers: the columns that define the classes.
            levels: the generalization level of each of them.
            distributions: the columns, or combinations of columns, whose values are counted per class.
        """
        chosen = tuple(self.columns[name] for name in quasi_identifiers)
        at = (0,) * len(chosen) if levels is None else tuple(levels)
        grouping = _group(chosen, at, self.num_tuples)
        ids, num_groups = grouping.ids, grouping.num_groups
        population = self.population
        return Classes(
            tuples=self,
            quasi_identifiers=chosen,
            levels=at,
            sizes=sum_by_group(ids, self.counts, num_groups),
            population=None if population is None else sum_by_group(ids, population, num_groups),
            known_ids=ids,
            representatives=grouping.representatives,
            distributions={
                names: self._distribution(names, ids, num_groups) for names in dict.fromkeys(distributions)
            },
        )

    def label_counts(self, name: str, level: int) -> Counts:
        """In how many rows each label of a column occurs at a level."""
        cache: dict[tuple[str, int], Counts] = self.__dict__.setdefault("_label_counts", {})
        if (name, level) not in cache:
            column = self.columns[name]
            counts = column.counts(self.counts)
            if column.levels is not None and level > 0:
                labels = column.levels.maps[level]
                counts = sum_by_group(labels, counts, column.levels.distinct(level))
            cache[name, level] = counts
        return cache[name, level]

    def _distribution(self, names: tuple[str, ...], ids: Codes, num_groups: int) -> Distribution:
        column = self._joint(names)
        weights = self.visible_counts(names)
        reference = weights if self.reference is None else self._visible(names, self.reference)
        pairs = group_codes([ids, column.codes], [num_groups, column.cardinality])
        counts = sum_by_group(pairs.ids, weights, pairs.num_groups)
        occurring = np.flatnonzero(counts)
        first = pairs.representatives[occurring]
        order, offsets = sort_pairs_by_group(ids[first], num_groups)
        return Distribution(
            column=column,
            totals=column.counts(reference),
            offsets=offsets,
            codes=column.codes[first][order],
            counts=counts[occurring][order],
        )

    def visible_counts(self, names: tuple[str, ...]) -> Counts:
        """In how many rows each tuple occurs; 0 where the first of some columns has a suppressed cell."""
        return self._visible(names, self.counts)

    def _visible(self, names: tuple[str, ...], counts: Counts) -> Counts:
        column = self.columns[names[0]]
        return np.where(np.array([label == SUPPRESSED for label in column.labels])[column.codes], 0, counts)

    def _joint(self, names: tuple[str, ...]) -> Column:
        cache: dict[tuple[str, ...], Column] = self.__dict__.setdefault("_joint_columns", {})
        if names not in cache:
            cache[names] = join_columns([self.columns[name] for name in names])
        return cache[names]


def _group(columns: Sequence[Column], levels: Sequence[int], num_tuples: int) -> RowGrouping:
    if not columns:  # nobody can be told apart, all rows are one class
        return group_keys(np.zeros(num_tuples, np.uint64), 1)
    return group_codes(
        [column.codes for column in columns],
        [num_labels(column, level) for column, level in zip(columns, levels, strict=True)],
        [labels_at(column, level) for column, level in zip(columns, levels, strict=True)],
    )


def labels_at(column: Column, level: int) -> Codes | None:
    """The label of each code of a column at a level, or None if the codes are the labels."""
    return None if column.levels is None or level == 0 else column.levels.maps[level]


def num_labels(column: Column, level: int) -> int:
    """How many labels a column has at a level."""
    return column.cardinality if column.levels is None or level == 0 else column.levels.distinct(level)


@dataclasses.dataclass(frozen=True, eq=False)
class Distribution:
    """How often each value of a column occurs in each class (sparse) and in the whole table.

    The entries of class `c` are `codes[offsets[c]:offsets[c + 1]]` with their `counts`. `totals` are
    the counts in the whole input table, rows that will be suppressed included. Suppressed cells are
    left out, so the counts of a class may sum to less than its size.
    """

    column: Column
    totals: Counts
    offsets: Counts
    codes: Codes
    counts: Counts

    @property
    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Counts:
        """How many rows each class has."""
        return sum_by_group(self.class_of_entry, self.counts, self.num_classes)

    @cached_property
    def class_of_entry(self) -> Codes:
        """The class of every entry."""
        return np.repeat(np.arange(self.num_classes, dtype=np.int32), np.diff(self.offsets))

    def dense(self) -> Counts:
        """The counts as a matrix, one row per class and one column per value."""
        matrix = np.zeros((self.num_classes, self.column.cardinality), dtype=np.int64)
        np.add.at(matrix, (self.class_of_entry, self.codes), self.counts)
        return matrix


@dataclasses.dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of a table at one choice of levels: all that a model or a loss may see.

    Attributes:
        tuples: the table that the classes are of.
        quasi_identifiers: the columns that define the classes.
        levels: the generalization level of each of them.
        sizes: rows to be released in each class (0 for a class that occurs in the population only).
        population: rows of the population in each class, if a population is given.
        representatives: one tuple of each class.
        distributions: counts of sensitive values, by the columns they are of.
        known_ids: the class of each tuple, where it is known.
    """

    tuples: Tuples
    quasi_identifiers: tuple[Column, ...]
    levels: tuple[int, ...]
    sizes: Counts
    population: Counts | None
    representatives: Counts
    distributions: Mapping[tuple[str, ...], Distribution]
    known_ids: Codes | None = None

    @cached_property
    def ids(self) -> Codes:
        """The class of each tuple. A search makes classes from other classes and never looks at tuples."""
        if self.known_ids is not None:
            return self.known_ids
        groups = _group(self.quasi_identifiers, self.levels, self.tuples.num_tuples).ids
        number = np.empty(self.num_classes, np.int32)  # classes may be in any order
        number[groups[self.representatives]] = np.arange(self.num_classes, dtype=np.int32)
        return number[groups]

    @property
    def num_rows(self) -> int:
        """How many rows the whole input table has."""
        return self.tuples.num_rows

    @property
    def num_classes(self) -> int:
        """How many classes there are, those without rows to release included."""
        return len(self.sizes)

    @cached_property
    def released(self) -> Mask:
        """The classes that have rows to release."""
        return self.sizes > 0

    def label_codes(self, index: int) -> Codes:
        """The label code of each class in one quasi-identifier."""
        column = self.quasi_identifiers[index]
        codes = column.codes[self.representatives]
        level = self.levels[index]
        return codes if column.levels is None or level == 0 else column.levels.maps[level][codes]

    def labels(self, class_index: int) -> dict[str, str]:
        """What the members of a class have in common, in the user's words."""
        shown: dict[str, str] = {}
        for column, level in zip(self.quasi_identifiers, self.levels, strict=True):
            code = int(column.codes[self.representatives[class_index]])
            if column.levels is None or level == 0:
                shown[column.name] = column.labels[code]
            else:
                shown[column.name] = column.levels.labels[level][column.levels.maps[level][code]]
        return shown


@dataclasses.dataclass(frozen=True, eq=False)
class ClassState:
    """Classes and which of them are kept; the others are suppressed."""

    classes: Classes
    kept: Mask

    @cached_property
    def suppressed_rows(self) -> int:
        """How many rows are suppressed."""
        return self.classes.num_rows - int(self.classes.sizes @ self.kept)

    @cached_property
    def num_kept(self) -> int:
        """How many classes are released."""
        return int(np.count_nonzero(self.kept))


def release_everything(classes: Classes) -> ClassState:
    """The state in which no class with rows is suppressed."""
    return ClassState(classes, classes.released.copy())
