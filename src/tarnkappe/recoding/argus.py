"""A session of mu-ARGUS: which combinations of values are unsafe, and what is done about them.

A combination of values is unsafe if fewer than k rows have it. The data holder recodes columns globally,
one level at a time and with undo, until few unsafe combinations are left; these are then suppressed
locally, cell by cell. A suppressed cell makes every combination safe that it is part of.

Which columns are combined is the weak point of the published program. It asks how identifying a column is
(most, more, or merely identifying) and tests some pairs and triples of these kinds only, so its result
need not be k-anonymous: of the 16 rows of {0,1}^4 every pair occurs four times, every triple twice and
every row once. Here all combinations of up to three columns are tested unless the published choice is
asked for, and whoever releases the outcome has to check whole rows.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tarnkappe.errors import ColumnError, ParameterError
from tarnkappe.recoding.written import WrittenColumn
from tarnkappe.table import MISSING, SUPPRESSED, Column, Levels, Tuples
from tarnkappe.table.classes import Mask
from tarnkappe.table.encoding import Codes, Counts
from tarnkappe.table.grouping import group_codes, sum_by_group

LARGEST = 3
"""Combinations of more columns are not tested one by one."""

MOST, MORE, IDENTIFYING = "most", "more", "identifying"

ALWAYS = {
    (IDENTIFYING, MORE, MOST),
    (IDENTIFYING, MOST, MOST),
    (MOST, MOST, MOST),
    (IDENTIFYING, MORE),
    (IDENTIFYING, MOST),
    (MORE, MOST),
    (MOST, MOST),
}
WITH_SEVERAL_IDENTIFYING = {(MORE, MORE, MOST), (MORE, MOST, MOST), (MORE, MORE)}
"""The kinds that the published program combines, the latter if several columns are merely identifying."""


def published_combinations(kinds: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The pairs and triples that the published program tests.

    >>> published_combinations({"zip": "most", "age": "more", "sex": "identifying"})
    (('zip', 'age'), ('zip', 'sex'), ('age', 'sex'), ('zip', 'age', 'sex'))
    """
    several = sum(kind == IDENTIFYING for kind in kinds.values()) > 1
    tested = ALWAYS | (WITH_SEVERAL_IDENTIFYING if several else set())
    pairs, triples = (itertools.combinations(kinds, size) for size in (2, 3))
    return tuple(c for c in (*pairs, *triples) if tuple(sorted(kinds[name] for name in c)) in tested)


@dataclasses.dataclass(frozen=True)
class Unsafe:
    """What is unsafe in one combination of columns; it tells no value.

    Attributes:
        columns: which columns.
        combinations: how many combinations of their values occur fewer than k times.
        rows: how many rows have one of these.
    """

    columns: tuple[str, ...]
    combinations: int
    rows: int


@dataclasses.dataclass(frozen=True, eq=False)
class _Snapshot:
    levels: dict[str, int]
    suppressed: npt.NDArray[np.bool_]


class ArgusSession:
    """Recoding and suppression under the eyes of the data holder.

    >>> from tarnkappe.hierarchy import Hierarchy
    >>> from tarnkappe.table.encoding import encode_column
    >>> towns = encode_column("town", pa.chunked_array([["Ulm", "Ulm", "Wels", "Graz"]]))
    >>> lands = Hierarchy.from_rows([["Ulm", "D", "*"], ["Wels", "A", "*"], ["Graz", "A", "*"]])
    >>> session = ArgusSession(Tuples.of_rows([lands.attach(towns)]), ["town"], k=2)
    >>> session.unsafe(), session.proposal()
    ((Unsafe(columns=('town',), combinations=2, rows=2),), 'town')
    >>> session.recode("town")
    >>> session.unsafe(), session.levels
    ((), {'town': 1})
    >>> session.undo()
    >>> session.suppress(), session.written()["town"].labels
    (2, ('Graz', 'Ulm', 'Wels', '*'))
    """

    def __init__(
        self,
        rows: Tuples,
        quasi_identifiers: Sequence[str],
        *,
        k: int,
        combinations: Sequence[tuple[str, ...]] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> None:
        """Begin with the values as they are, or at some levels.

        Args:
            rows: the rows one by one.
            quasi_identifiers: the columns that an attacker may know.
            k: how often a combination of values must occur.
            combinations: which columns are tested together, beside each for itself; without it, all of up to
                three. `published_combinations` has the choice of the published program.
            levels: where to begin.
        """
        self._rows, self._k = rows, k
        self._names = tuple(quasi_identifiers)
        if combinations is None:
            sizes = range(2, min(LARGEST, len(self._names)) + 1)
            combinations = [c for size in sizes for c in itertools.combinations(self._names, size)]
        alone = ((name,) for name in self._names)
        self.combinations: tuple[tuple[str, ...], ...] = (*alone, *combinations)
        self.levels: dict[str, int] = {name: (levels or {}).get(name, 0) for name in self._names}
        self._suppressed = np.zeros((len(self._names), rows.num_tuples), dtype=bool)
        self._undone: list[_Snapshot] = []

    def unsafe(self) -> tuple[Unsafe, ...]:
        """The combinations of columns in which values are unsafe."""
        found = []
        for columns in self.combinations:
            rows, number = self._outliers(columns)
            if number:
                found.append(Unsafe(columns, number, int(self._rows.counts[rows].sum())))
        return tuple(found)

    def is_unsafe(self, columns: tuple[str, ...]) -> bool:
        """Whether values of some columns are unsafe together."""
        return self._outliers(columns)[1] > 0

    def unsafe_rows(self) -> Mask:
        """The rows with an unsafe combination of values."""
        return np.asarray(np.logical_or.reduce([self._outliers(each)[0] for each in self.combinations]))

    def proposal(self, highest: Mapping[str, int] | None = None) -> str | None:
        """The column to recode next: in most unsafe combinations; of equals, the one whose name comes first.

        Columns at their highest level (of the hierarchy, or as given) are left out; None if none is left.
        """
        tops = {name: self._levels(name).height for name in self._names} | dict(highest or {})
        unsafe = self.unsafe()
        votes = {
            name: sum(each.combinations for each in unsafe if name in each.columns)
            for name in sorted(self._names)
            if self.levels[name] < tops[name]
        }
        best = max(votes, key=votes.__getitem__, default=None)
        return best if best is not None and votes[best] else None

    def recode(self, name: str) -> None:
        """Recode a column globally: one level up in every row."""
        if name not in self.levels:
            raise ColumnError(
                "recoding.no-quasi-identifier-session",
                "'{name}' is no quasi-identifier of this session",
                name=name,
            )
        if self.levels[name] == self._levels(name).height:
            raise ParameterError(
                "recoding.highest-level-can-only-suppressed",
                "'{name}' is at its highest level: it can only be suppressed",
                name=name,
            )
        self._remember()
        self.levels[name] += 1

    def suppress(self) -> int:
        """Suppress cells until no tested combination is unsafe; how many cells it took is returned.

        In every row with unsafe combinations the cell goes that is in most of them (of equals, that of the
        column whose name comes first), then it is looked again. Suppressed cells are missing elsewhere too.
        """
        self._remember()
        before = int(self._suppressed.sum())
        order = sorted(range(len(self._names)), key=self._names.__getitem__)
        while True:
            votes = np.zeros((len(self._names), self._rows.num_tuples), np.int64)
            for columns in self.combinations:
                rows, number = self._outliers(columns)
                if number:
                    votes[[self._names.index(name) for name in columns]] += rows
            bad = np.flatnonzero(votes.any(axis=0))
            if len(bad) == 0:
                return int(self._suppressed.sum()) - before
            cells = np.array(order)[np.argmax(votes[order][:, bad], axis=0)]
            self._suppressed[cells, bad] = True

    def suppress_cells(self, name: str, rows: Mask) -> None:
        """Suppress a column in some rows."""
        self._suppressed[self._names.index(name)] |= rows

    def undo(self) -> None:
        """Take back the last recoding or suppression."""
        if not self._undone:
            raise ParameterError("recoding.nothing-undo", "there is nothing to undo")
        last = self._undone.pop()
        self.levels, self._suppressed = last.levels, last.suppressed

    def copy(self) -> ArgusSession:
        """A session that goes on from here by itself."""
        other = copy.copy(self)
        other.levels, other._suppressed = dict(self.levels), self._suppressed.copy()
        other._undone = list(self._undone)
        return other

    def suppressed(self, name: str) -> Mask:
        """The rows in which a column is suppressed."""
        return np.asarray(self._suppressed[self._names.index(name)])

    def written(self) -> dict[str, WrittenColumn]:
        """The columns as they would be written."""
        return {name: self._write(name) for name in self._names}

    def codes(self, names: Iterable[str]) -> tuple[list[Codes], list[int]]:
        """The labels of some columns row by row, the last one for suppressed cells; and how many."""
        codes, sizes = [], []
        for name in names:
            levels, level = self._levels(name), self.levels[name]
            own = levels.maps[level][self._column(name).codes]
            star = levels.distinct(level)
            codes.append(np.where(self.suppressed(name), star, own).astype(np.int32))
            sizes.append(star + 1)
        return codes, sizes

    def _outliers(self, columns: tuple[str, ...]) -> tuple[Mask, int]:
        """The rows whose values in some columns are unsafe together, and how many such combinations."""
        grouping = group_codes(*self.codes(columns))
        counts: Counts = sum_by_group(grouping.ids, self._rows.counts, grouping.num_groups)
        hidden = np.logical_or.reduce([self.suppressed(name) for name in columns])
        small = (counts > 0) & (counts < self._k) & ~hidden[grouping.representatives]
        return small[grouping.ids], int(np.count_nonzero(small))

    def _write(self, name: str) -> WrittenColumn:
        (codes,), (number,) = self.codes((name,))
        column, levels, level = self._column(name), self._levels(name), self.levels[name]
        if not self.suppressed(name).any():
            values = column.values if level == 0 else pa.array(levels.labels[level], pa.string())
            return WrittenColumn(codes, values)
        labels: list[str | None] = list(levels.labels[level])
        if level == 0 and column.values.null_count:
            labels = [None if label == MISSING else label for label in labels]
        if SUPPRESSED in labels:  # the root reads like a suppressed cell, and so it is one
            codes = np.where(codes == number - 1, labels.index(SUPPRESSED), codes).astype(np.int32)
            return WrittenColumn(codes, pa.array(labels, pa.string()))
        return WrittenColumn(codes, pa.array([*labels, SUPPRESSED], pa.string()))

    def _remember(self) -> None:
        self._undone.append(_Snapshot(dict(self.levels), self._suppressed.copy()))

    def _column(self, name: str) -> Column:
        return self._rows.columns[name]

    def _levels(self, name: str) -> Levels:
        levels = self._column(name).levels
        assert levels is not None, "a quasi-identifier has a hierarchy"
        return levels
