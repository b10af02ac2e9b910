"""The people that an attacker knows of, and where they fit into a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tarnkappe.errors import ColumnError
from tarnkappe.hierarchy import Hierarchy
from tarnkappe.risk.cells import covering
from tarnkappe.risk.pairs import Pairs, people_in_classes
from tarnkappe.table import Classes, Table, Tuples, encode
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import as_text

Counts = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]


class KnownPeople:
    """People and what is known of them; those of whom the same is known are one kind of person."""

    def __init__(self, table: Table, quasi_identifiers: Iterable[str]) -> None:
        """Take the columns of the table that are quasi-identifiers; an attacker need not know all."""
        known = [name for name in dict.fromkeys(quasi_identifiers) if name in table.column_names]
        if not known:
            raise ColumnError(
                "risk.people-no-quasi-identifier",
                "of the people no quasi-identifier is known: name the columns as the release does",
            )
        self.table = table
        rows = Tuples.of_rows(encode(table, known).values())
        grouping = rows.classes(known)
        self.kinds: Tuples = rows.distinct()
        self.sizes: Counts = grouping.sizes
        self.kind_of_row: npt.NDArray[np.int32] = grouping.ids

    @property
    def number(self) -> int:
        """How many people there are."""
        return self.table.num_rows

    def known(self, kind: int) -> dict[str, str]:
        """What is known of a kind of person."""
        return {name: column.labels[int(column.codes[kind])] for name, column in self.kinds.columns.items()}

    def names(self, kinds: Sequence[int]) -> tuple[str, ...]:
        """The names of the people of some kinds; nothing if no column of the table names them."""
        return self.names_of_rows(np.flatnonzero(np.isin(self.kind_of_row, list(kinds))))

    def names_of_rows(self, rows: Indices) -> tuple[str, ...]:
        """The names of some people by their place in the table."""
        return all_names(self.table, rows)


class Fit:
    """Which of the people fit which released classes."""

    def __init__(
        self, people: KnownPeople, classes: Classes, kept: Mask, hierarchies: Mapping[str, Hierarchy]
    ) -> None:
        self.people, self.classes = people, classes
        pairs = people_in_classes(people.kinds, classes, hierarchies)
        released = kept[pairs.right]
        self.pairs = Pairs(pairs.left[released], pairs.right[released])
        """Kinds of people (left) and the released classes that they fit (right)."""

    @cached_property
    def class_sizes(self) -> Counts:
        """How many of the people fit each class."""
        counts = np.zeros(self.classes.num_classes, np.int64)
        np.add.at(counts, self.pairs.right, self.people.sizes[self.pairs.left])
        return counts

    @cached_property
    def choices(self) -> Counts:
        """How many classes each kind of person fits."""
        return np.bincount(self.pairs.left, minlength=len(self.people.sizes)).astype(np.int64)

    def classes_for(self, kind: int) -> Indices:
        """The classes that a kind of person fits."""
        start, stop = np.searchsorted(self.pairs.left, [kind, kind + 1])
        return self.pairs.right[start:stop]

    def of_kinds(self, kinds: npt.NDArray[np.integer]) -> Indices:
        """The classes that some kinds of people fit."""
        return np.unique(self.pairs.right[np.isin(self.pairs.left, kinds)])

    def surely_in(self, class_index: int) -> tuple[str, ...]:
        """The names of those who fit only this class, unless more people fit it than are in it.

        An attacker knows that the people he looks for are in the release. If more people fit a class than
        it has rows, somebody is not, and nobody is named.
        """
        if self.class_sizes[class_index] > self.classes.sizes[class_index]:
            return ()
        kinds = self.pairs.left[self.pairs.right == class_index]
        return self.people.names(kinds[self.choices[kinds] == 1].tolist())


def all_names(people: Table, rows: Indices) -> tuple[str, ...]:
    """The names of some people: the cells of all identifiers; nothing if no column names them."""
    columns = [
        as_text(people.data.column(name).take(rows).combine_chunks()).to_pylist()
        for name in people.identifiers
    ]
    return tuple(" ".join(part or "" for part in parts) for parts in zip(*columns, strict=True))


def matching(where: Mapping[str, str], people: Table) -> Mask:
    """The people who have the values that a condition names; cells such as `3*` are understood."""
    found = np.ones(people.num_rows, dtype=bool)
    for name, cell in where.items():
        column = encode(people, [name])[name]
        found &= covering([cell], column.labels).toarray()[0][column.codes] > 0
    return found
